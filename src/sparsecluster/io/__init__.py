"""Reading tables of many kinds from disk."""

from .tables import Loaded, Options, read_table
from .text import FileError

__all__ = ["FileError", "Loaded", "Options", "read_table"]
