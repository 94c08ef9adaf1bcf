"""Suppression of core files, which would contain the keys in memory."""

from __future__ import annotations

import resource


def leave_no_core_file() -> None:
    """Disable core files for this process and its child processes."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
