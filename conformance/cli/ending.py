"""How a run ends: its exit status."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from signal import Signals

    from conformance.reports.model import Report


class Exit(IntEnum):
    """The exit statuses of ``conformance run``."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNTESTABLE = 3
    UNDECIDED = 4
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143

    @classmethod
    def of(cls, ended_by: Signals) -> Exit:
        """The exit status after a signal."""
        return cls(128 + ended_by)


def exit_status(report: Report, *, trouble: str | None, strict: bool, known: Collection[str] = ()) -> Exit:
    """The exit status of a run that nobody interrupted.

    Args:
        report: What it found.
        trouble: Why the target could not be tested, or what went wrong with the suite; None for neither.
        strict: Whether nothing may be left untested or undecided.
        known: Requirements whose failure is not new.
    """
    outcomes = [entry["outcome"] for entry in report["requirements"]]
    failed = [entry["id"] for entry in report["requirements"] if entry["outcome"] == "failed" and not entry["waived"]]
    if set(failed) - set(known):
        return Exit.FAILED
    if trouble is not None:
        return Exit.UNTESTABLE
    if strict and ("untested" in outcomes or "cantTell" in outcomes):
        return Exit.UNDECIDED
    return Exit.OK
