"""Reading tables from files of many formats, and saving fitted estimators."""

from ._shared import Options
from .limits import FileError
from .tables import Loaded, read_table

__all__ = ["FileError", "Loaded", "Options", "read_table"]
