"""Exit statuses of the commands, and of pytest with this suite's plugin."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from signal import Signals


class Exit(IntEnum):
    """Exit status of a run, or of another command; only verify, countersign and witness have ``NOT_HERE``."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNTESTABLE = 3
    UNDECIDED = 4
    NOT_HERE = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143

    @classmethod
    def of(cls, ended_by: Signals) -> Exit:
        """Return the exit status after a signal."""
        return cls(128 + ended_by)
