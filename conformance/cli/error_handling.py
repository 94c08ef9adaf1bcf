"""Error handling for steps of a run, so that every run gets a report."""

from __future__ import annotations

from traceback import format_exception
from typing import TYPE_CHECKING, TypeVar

from conformance.reports.wording import counted
from conformance.targets.pending import UndoResult
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run_session import RunSession

_T = TypeVar("_T")


def reach(session: RunSession, errors: list[str]) -> str | None:
    """Reach the target; return why nothing can be tested, as a sentence, or None if the target was reached.

    Raises:
        TargetFileError: The key belongs to another organization than the target file names.
    """
    try:
        return session.reach()
    except TargetFileError:
        raise
    except Exception as error:  # noqa: BLE001 - no error may prevent the report
        errors.append(_traced(error))
        session.run.wire.stop("the suite itself failed")
        return "The suite itself failed before any check."


def undo(session: RunSession, errors: list[str]) -> None:
    """Undo what the run did; if an error of the suite ends the undoing, the report says so."""
    attempt(session.undo, errors)
    if session.undone is None:
        journal = session.run.journal
        pending = counted(len(journal.pending()), "change")
        left = [f"An error of the suite ended the undoing; {pending} in the journal may be left."]
        session.undone = UndoResult(left=left, lasting=journal.lasting())


def attempt(step: Callable[[], _T], errors: list[str]) -> _T | None:
    """Return the result of a step; None after an error, which is appended to the suite's own errors."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - no error may prevent the report
        errors.append(_traced(error))
        return None


def _traced(error: Exception) -> str:
    return f"{type(error).__name__}\n{''.join(format_exception(error))}"
