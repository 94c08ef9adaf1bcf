"""The static site over many runs: who keeps what, who does what where the text is open, and how each got there."""

from conformance.reports.site.pages import site_files
from conformance.reports.site.stored import StoredRun, read_runs

__all__ = ["StoredRun", "read_runs", "site_files"]
