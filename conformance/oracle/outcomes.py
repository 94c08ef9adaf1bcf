"""Outcomes of a check: the exceptions that assertions raise, and the evidence that they collect."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


class CheckOutcome(Exception):
    """An outcome that ends a check.

    Attributes:
        exchanges: The exchanges that it is based on.
    """

    def __init__(self, message: str, *exchanges: Exchange) -> None:
        super().__init__(message)
        self.message = message
        self.exchanges = exchanges


class NonConformity(CheckOutcome):
    """The target broke the requirement.

    Attributes:
        expected: Every permitted behaviour, in words.
        actual: The actual behaviour.
        pointer: The place in the body (RFC 6901), if there is one.
    """

    def __init__(
        self, message: str, *exchanges: Exchange, expected: str, actual: str, pointer: str | None = None
    ) -> None:
        super().__init__(message, *exchanges)
        self.expected = expected
        self.actual = actual
        self.pointer = pointer


class CantTell(CheckOutcome):
    """The check is undecided: a fault that another requirement covers prevented the judgement."""


class Inapplicable(CheckOutcome):
    """The requirement's condition never occurred on this target."""


class Untested(CheckOutcome):
    """The check lacks something; the message says what to add."""


_evidence: ContextVar[Evidence | None] = ContextVar("evidence", default=None)


class Evidence:
    """Collector of the exchanges that the assertions of one check judge.

    Attributes:
        exchanges: The exchanges.
        expected: The behaviours that the assertions permit, in words, each once.
    """

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.expected: dict[str, None] = {}

    def __enter__(self) -> Self:
        self._token = _evidence.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _evidence.reset(self._token)


def evidence(*exchanges: Exchange, expected: str | None = None) -> None:
    """Record that the running check has judged these exchanges, and every behaviour that it permits, in words."""
    gathered = _evidence.get()
    if gathered is not None:
        gathered.exchanges.extend(exchanges)
        if expected is not None:
            gathered.expected[expected] = None
