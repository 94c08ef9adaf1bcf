"""Outcomes and how they combine, in the terms of EARL (W3C Evaluation and Report Language 1.0)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection


class Outcome(StrEnum):
    """Outcome of a check, a requirement or a class."""

    PASSED = "passed"
    FAILED = "failed"
    CANT_TELL = "cantTell"
    INAPPLICABLE = "inapplicable"
    UNTESTED = "untested"


class Verdict(StrEnum):
    """Result of a run."""

    CONFORMANT = "conformant"
    NON_CONFORMANT = "non-conformant"
    INCONCLUSIVE = "inconclusive"


_OF_CHECKS: Final = (Outcome.FAILED, Outcome.CANT_TELL, Outcome.PASSED, Outcome.UNTESTED, Outcome.INAPPLICABLE)
_OF_REQUIREMENTS: Final = (Outcome.FAILED, Outcome.CANT_TELL, Outcome.UNTESTED, Outcome.PASSED)


def of_checks(outcomes: Collection[Outcome]) -> Outcome:
    """Return the outcome of a requirement from those of its checks; the worst decides."""
    return next((outcome for outcome in _OF_CHECKS if outcome in outcomes), Outcome.UNTESTED)


def of_requirements(outcomes: Collection[str]) -> Outcome:
    """Return the outcome of a class: passed only if a requirement passed, and none failed, is undecided or untested."""
    return next((outcome for outcome in _OF_REQUIREMENTS if outcome in outcomes), Outcome.UNTESTED)


def verdict(core: Outcome, every: Collection[Outcome], *, failed_unwaived: bool) -> Verdict:
    """Return the verdict of a run.

    Args:
        core: The outcome of the core class, with waived failures counted as passed.
        every: The outcomes of all requirements.
        failed_unwaived: Whether a requirement failed without a waiver.
    """
    if failed_unwaived:
        return Verdict.NON_CONFORMANT
    if core is Outcome.PASSED and Outcome.CANT_TELL not in every:
        return Verdict.CONFORMANT
    return Verdict.INCONCLUSIVE
