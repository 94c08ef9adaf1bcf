"""The algebra of outcomes, in the terms of EARL (W3C Evaluation and Report Language 1.0)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection


class Outcome(StrEnum):
    """What became of a check, a requirement or a class."""

    PASSED = "passed"
    FAILED = "failed"
    CANT_TELL = "cantTell"
    INAPPLICABLE = "inapplicable"
    UNTESTED = "untested"


class Verdict(StrEnum):
    """What the whole run says of the target."""

    CONFORMANT = "conformant"
    NON_CONFORMANT = "non-conformant"
    INCONCLUSIVE = "inconclusive"


_OF_CHECKS: Final = (Outcome.FAILED, Outcome.CANT_TELL, Outcome.PASSED, Outcome.UNTESTED, Outcome.INAPPLICABLE)
_OF_REQUIREMENTS: Final = (Outcome.FAILED, Outcome.CANT_TELL, Outcome.UNTESTED, Outcome.PASSED, Outcome.INAPPLICABLE)


def of_checks(outcomes: Collection[Outcome]) -> Outcome:
    """The outcome of a requirement from those of its checks: what decides against it counts first."""
    return next((outcome for outcome in _OF_CHECKS if outcome in outcomes), Outcome.UNTESTED)


def of_requirements(outcomes: Collection[Outcome]) -> Outcome:
    """The outcome of a class: passed only where nothing in it failed or stayed open."""
    return next((outcome for outcome in _OF_REQUIREMENTS if outcome in outcomes), Outcome.UNTESTED)


def verdict(core: Outcome, every: Collection[Outcome], *, failed_unwaived: bool) -> Verdict:
    """The verdict of a run.

    Args:
        core: The outcome of the core class, its waived failures taken for passed.
        every: The outcomes of all requirements.
        failed_unwaived: Whether a requirement failed that nobody waived.
    """
    if failed_unwaived:
        return Verdict.NON_CONFORMANT
    if core is Outcome.PASSED and Outcome.CANT_TELL not in every:
        return Verdict.CONFORMANT
    return Verdict.INCONCLUSIVE
