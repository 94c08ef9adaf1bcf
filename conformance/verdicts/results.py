"""What single checks came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, Untested
from conformance.verdicts.outcome import Outcome
from conformance.wire.exchange import Exchange, NoResponse

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a check failed, with its evidence."""

    check: str
    message: str
    expected: str
    actual: str
    pointer: str | None
    exchanges: tuple[Exchange, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check came to.

    Attributes:
        check: The check's name: its module and function, with its parameter.
        requirement: The id of the requirement that it judges.
        outcome: What it came to.
        reason: Why it is neither passed nor failed, as a sentence; or None.
        failure: The failure, if there is one.
        exchanges: The exchanges that it judged or stumbled over.
        seconds: How long it ran, without its journeys.
        error: Whether the suite itself went wrong.
    """

    check: str
    requirement: str
    outcome: Outcome
    reason: str | None
    failure: Failure | None
    exchanges: tuple[Exchange, ...] = field(repr=False)
    seconds: float
    error: bool = False


def result_of(
    check: str,
    requirement: str,
    raised: BaseException | None,
    *,
    in_preamble: bool,
    evidence: Sequence[Exchange],
    seconds: float,
) -> CheckResult:
    """The result of a check from what it raised and judged.

    Args:
        check: The name of the check.
        requirement: The requirement that it cites.
        raised: What ended it, or None.
        in_preamble: Whether that was in its preamble, where nothing can be judged.
        evidence: The exchanges that its words judged.
        seconds: How long it ran.
    """
    failure = None
    exchanges = (*evidence, *getattr(raised, "exchanges", ()))
    error = False
    match raised:
        case None if evidence:
            outcome, reason = Outcome.PASSED, None
        case None:
            outcome, reason, error = (
                Outcome.CANT_TELL,
                "The check judged nothing, which is an error of the suite.",
                True,
            )
        case NonConformity() if any(one.received and one.received.is_altered for one in raised.exchanges):
            outcome = Outcome.CANT_TELL
            reason = f"{sentence(raised)} But a text that the target file hides stood in an answer, and was taken out."
        case NonConformity() if not in_preamble:
            outcome, reason = Outcome.FAILED, None
            failure = Failure(check, raised.message, raised.expected, raised.actual, raised.pointer, raised.exchanges)
        case Inapplicable():
            outcome, reason = Outcome.INAPPLICABLE, sentence(raised)
        case Untested():
            outcome, reason = Outcome.UNTESTED, sentence(raised)
        case NonConformity() | CantTell() | NoResponse():
            outcome, reason = Outcome.CANT_TELL, sentence(raised)
        case _:
            outcome, reason, error = Outcome.CANT_TELL, f"An error of the suite: {type(raised).__name__}.", True
    return CheckResult(check, requirement, outcome, reason, failure, tuple(dict.fromkeys(exchanges)), seconds, error)


def sentence(raised: BaseException) -> str:
    """What an exception says, as a sentence."""
    text = str(raised)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
