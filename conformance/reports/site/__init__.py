"""Static site over many runs: requirements and observations by implementation, and the history of each."""

from conformance.reports.site.pages import site_files
from conformance.reports.site.stored import StoredRun, read_runs

__all__ = ["StoredRun", "read_runs", "site_files"]
