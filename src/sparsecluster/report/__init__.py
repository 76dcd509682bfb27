"""A result as a dictionary first and a page second."""

from .page import report_page
from .summary import summarize
from .write import write_report

__all__ = ["report_page", "summarize", "write_report"]
