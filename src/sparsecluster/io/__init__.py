"""Reading tables from files of many formats, and saving fitted estimators."""

from ._columns import Other
from ._shared import Options
from .limits import FileError
from .streams import Stream, read_blocks
from .tables import Loaded, read_table
from .truth import read_truth

__all__ = ["FileError", "Loaded", "Options", "Other", "Stream", "read_blocks", "read_table", "read_truth"]
