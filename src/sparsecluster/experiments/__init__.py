"""The paper's experiments as declarations; one runner, one table of results, renderers that read only that table."""
