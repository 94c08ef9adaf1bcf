"""Parts of POSIX that Windows lacks, or macOS before Python 3.13; all other modules are portable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
    from os import (
        CLD_EXITED,
        O_NOCTTY,
        O_NOFOLLOW,
        O_NONBLOCK,
        P_PID,
        WEXITED,
        WNOHANG,
        WNOWAIT,
        fchmod,
        killpg,
        pread,
        set_blocking,
        waitid,
    )  # fmt: skip
    from resource import RLIMIT_CORE, getrlimit, setrlimit
    from select import POLLIN, POLLOUT, poll
    from signal import SIGHUP, SIGKILL
except ImportError:
    raise ImportError(
        "conformance needs Linux, or macOS with Python 3.13 or later; on Windows, use WSL or the container image."
    ) from None

__all__ = [
    "CLD_EXITED", "LOCK_EX", "LOCK_NB", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "POLLIN", "POLLOUT", "P_PID", "SIGHUP",
    "SIGKILL", "WEXITED", "WNOHANG", "WNOWAIT", "fchmod", "flock", "fork_context", "killpg", "leave_no_core_file",
    "poll", "pread", "set_blocking", "waitid",
]  # fmt: skip


def leave_no_core_file() -> None:
    """Disable core files, which would contain the keys in memory, for this process and its child processes."""
    _, most = getrlimit(RLIMIT_CORE)
    setrlimit(RLIMIT_CORE, (0, most))


def fork_context() -> ForkContext:
    """Return multiprocessing's context of forked processes."""
    from multiprocessing import get_context  # noqa: PLC0415 - most commands fork nothing

    return get_context("fork")
