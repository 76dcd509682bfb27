"""Reading tables from files of many formats, and saving fitted estimators."""

from ._shared import Options
from .limits import FileError
from .tables import Loaded, Stream, read_blocks, read_table

__all__ = ["FileError", "Loaded", "Options", "Stream", "read_blocks", "read_table"]
