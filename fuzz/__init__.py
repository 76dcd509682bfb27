"""A campaign of generated cases against the whole package. Run it with `python -m fuzz`; see `--help`."""
