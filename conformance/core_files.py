"""No core file: the memory of a process that handles keys holds them."""

from __future__ import annotations

import resource


def leave_no_core_file() -> None:
    """Let this process, and those that it starts, write no core file when a signal or a crash ends it."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
