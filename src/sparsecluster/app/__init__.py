"""`sparsecluster app`: a page on this machine for people who do not use a terminal.

The server holds files and starts the package's own commands, `info` and `fit`, in processes of their own, so it loads
nothing heavy and computes nothing. What is shown as the command is what was run.
"""
