"""Reading tables from files of many formats, and saving fitted estimators."""

from .tables import Loaded, Options, read_table
from .text import FileError

__all__ = ["FileError", "Loaded", "Options", "read_table"]
