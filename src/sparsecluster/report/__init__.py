"""Reports: the summary of a fit as a dictionary, and an HTML page made from it."""

from .page import report_page
from .summary import summarize
from .write import write_report

__all__ = ["report_page", "summarize", "write_report"]
