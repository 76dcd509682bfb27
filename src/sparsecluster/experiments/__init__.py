"""The tables and figures of the paper as experiments.

`catalogue` declares the experiments, `runner` runs them and stores every result in a table on disk, and `render`,
`figures` and `pages` turn that table into pages without computing anything else than means and standard deviations.
"""
