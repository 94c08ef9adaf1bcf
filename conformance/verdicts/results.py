"""Results of checks, and listeners to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, Untested
from conformance.reports.outcome import Outcome
from conformance.wire.exchange import Exchange, NoResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CAMEL_CASE: Final = re.compile(r"[a-z]+[A-Z]")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of a check, with its evidence."""

    check: str
    message: str
    expected: str
    actual: str
    pointer: str | None
    exchanges: tuple[Exchange, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes:
        check: The check's name: its module and function, with its parameter.
        requirement: The id of the judged requirement.
        outcome: The outcome.
        reason: Why it neither passed nor failed, as a sentence; or None.
        failure: The failure, if there is one.
        exchanges: The exchanges that it judged, and those of the exception that ended it.
        seconds: Its duration without its scenarios.
        error: Whether the suite itself failed.
        expected: The behaviours that its assertions permit, in words.
    """

    check: str
    requirement: str
    outcome: Outcome
    reason: str | None
    failure: Failure | None
    exchanges: tuple[Exchange, ...] = field(repr=False)
    seconds: float
    error: bool = False
    expected: tuple[str, ...] = ()


class CheckListener(Protocol):
    """A listener to the checks of a run."""

    def planned(self, requirements: Sequence[str]) -> None:
        """Take the requirement of each check to run."""

    def began(self, check: str, requirement: str) -> None:
        """Take the check that begins."""

    def ended(self, result: CheckResult) -> None:
        """Take the result of a check."""


def result_of(
    check: str,
    requirement: str,
    raised: BaseException | None,
    *,
    in_preamble: bool,
    evidence: Sequence[Exchange],
    expected: Iterable[str] = (),
    seconds: float,
) -> CheckResult:
    """Return the result of a check.

    Args:
        check: The name of the check.
        requirement: The id of the judged requirement.
        raised: The exception that ended it, or None.
        in_preamble: Whether its setup raised the exception, before anything was judged.
        evidence: The exchanges that it judged.
        expected: The behaviours that its assertions permit, in words.
        seconds: Its duration.
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
        case NonConformity() if any(
            exchange.received and exchange.received.is_altered for exchange in raised.exchanges
        ):
            outcome = Outcome.CANT_TELL
            reason = f"{sentence(raised)} But a text that the target file hides was redacted from a response."
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
    judged = tuple(dict.fromkeys(exchanges))
    return CheckResult(check, requirement, outcome, reason, failure, judged, seconds, error, tuple(expected))


def sentence(raised: BaseException) -> str:
    """Return the message of an exception as a sentence; operationIds and field names keep their letter case."""
    text = str(raised)
    if not _CAMEL_CASE.match(text):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
