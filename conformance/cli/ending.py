"""How a run ends: its exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.reports.model import Report


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
