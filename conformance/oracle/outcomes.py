"""What a check can come to: the exceptions that its words raise, and the evidence that they gather."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


class CheckOutcome(Exception):
    """A conclusion that ends a check.

    Attributes:
        exchanges: The exchanges that it rests on.
    """

    def __init__(self, message: str, *exchanges: Exchange) -> None:
        super().__init__(message)
        self.message = message
        self.exchanges = exchanges


class NonConformity(CheckOutcome):
    """The target broke the requirement.

    Attributes:
        expected: Every outcome that would have been right, in words.
        actual: What came instead.
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
    """Nothing can be said: something that another requirement is responsible for stood in the way."""


class Inapplicable(CheckOutcome):
    """The requirement's condition never came about on this target."""


class Untested(CheckOutcome):
    """What the check needs is not there; the message says what to add."""


_evidence: ContextVar[list[Exchange] | None] = ContextVar("evidence", default=None)


class Evidence:
    """Gathers the exchanges that the words of one check judge."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def __enter__(self) -> Self:
        self._token = _evidence.set(self.exchanges)
        return self

    def __exit__(self, *_: object) -> None:
        _evidence.reset(self._token)


def evidence(*exchanges: Exchange) -> None:
    """Note that the running check has judged these exchanges."""
    gathered = _evidence.get()
    if gathered is not None:
        gathered.extend(exchanges)
