"""A result as a dict first and a page second."""

from .page import report_page, write_report
from .summary import summarize

__all__ = ["report_page", "summarize", "write_report"]
