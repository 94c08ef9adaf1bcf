"""Effects of requests: the values that an exchange gives to the fields of an engagement."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final

from conformance.oracle.permissions import Rule, rule_of

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

TEXTS: Final = ("name", "description")
STATUS: Final = "status"
EXISTENCE: Final = "existence"
_EXISTS: Final = "exists"
DELETED: Final = "deleted"

MICROSECONDS: Final = 1_000_000
"""The microseconds of a second."""
_ALWAYS_ACCEPTED: Final = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]| (?! )){8,30}[A-Za-z0-9.]")
_ALWAYS_ECHOED: Final = re.compile(r"(?=.{1,32}\Z)[A-Za-z0-9._-]+(?: [A-Za-z0-9._-]+)*")


@dataclass(frozen=True, slots=True)
class Interval:
    """The time from a request to its response, in microseconds; all effects of the request happen within it."""

    start: float
    end: float

    @classmethod
    def of(cls, exchange: Exchange) -> Interval:
        """Return the interval of an exchange, as exact as a recording keeps it."""
        start = round(exchange.started_at.timestamp() * MICROSECONDS)
        return cls(start, start + round(exchange.seconds * MICROSECONDS))

    def before(self, other: Interval) -> bool:
        """Whether this interval ended before the other one began."""
        return self.end <= other.start

    def overlaps(self, other: Interval) -> bool:
        """Whether the two intervals overlap."""
        return not self.before(other) and not other.before(self)


@dataclass(eq=False, slots=True)
class Effect:
    """One value that a request gives to a field, or may give.

    Attributes:
        exchange: The exchange.
        field: ``name``, ``description``, ``status`` or ``existence``.
        value: The value; None for a text that the service was free to change.
        interval: The time within which it happens; without an end if it may still happen at any time.
        certain: Whether it happens at all.
    """

    exchange: Exchange
    field: str
    value: str | None
    interval: Interval
    certain: bool

    def fits(self, value: str) -> bool:
        """Whether a read of that value may have come after this effect and before any other."""
        return self.value is None or self.value == value


def must_read_back_exactly(text: str) -> bool:
    """Whether an accepted text must read back exactly: no odd blanks, no control characters, in normal form C."""
    return text.isprintable() and " ".join(text.split()) == text and unicodedata.is_normalized("NFC", text)


def must_be_accepted(value: object) -> bool:
    """Whether a value is a text that every service must accept, because it has no reason to refuse or change it.

    These are 10 to 32 letters, digits and a few signs, first a letter: names may have to begin with one.
    """
    return isinstance(value, str) and _ALWAYS_ACCEPTED.fullmatch(value) is not None


def must_be_echoed(value: object) -> bool:
    """Whether a service that accepts a value must repeat it: a few words of plain characters, even if like a number."""
    return isinstance(value, str) and _ALWAYS_ECHOED.fullmatch(value) is not None


def effects_of(exchange: Exchange) -> list[Effect]:
    """Return the effects of a request on one engagement; a refused request has none, whatever its key.

    The effects of a request that was accepted although its key must be refused are possible.
    """
    if not exchange.was_sent or exchange.refused:
        return []
    interval = Interval.of(exchange)
    certain = exchange.accepted and rule_of(exchange.request) is not Rule.REFUSED
    if not exchange.accepted:
        interval = Interval(interval.start, inf)
    effects: list[Effect] = []
    match exchange.operation_id:
        case "createEngagement":
            effects = _created(exchange, interval, certain=certain)
        case "updateEngagement":
            effects = _edited(exchange, interval, certain=certain)
        case "archiveEngagement":
            effects = [Effect(exchange, STATUS, "archived", interval, certain)]
        case "unarchiveEngagement":
            # The interface leaves its effect and time open, so a read must show it.
            effects = [Effect(exchange, STATUS, "active", Interval(interval.start, inf), certain=False)]
        case "deleteEngagement":
            effects = [Effect(exchange, EXISTENCE, DELETED, interval, certain)]
    return effects


def _created(exchange: Exchange, interval: Interval, *, certain: bool) -> list[Effect]:
    body = exchange.sent_object
    values: dict[str, str | None] = dict.fromkeys(TEXTS)
    if body is not None:
        values["description"] = _text(body.get("description"))
        if body.get("name") is not None:  # a creation without a name must be refused; its effect is open
            values["name"] = _text(body["name"])
    texts = [Effect(exchange, name, value, interval, certain) for name, value in values.items()]
    born = Effect(exchange, EXISTENCE, _EXISTS, interval, certain)
    return [*texts, Effect(exchange, STATUS, "active", interval, certain), born]


def _edited(exchange: Exchange, interval: Interval, *, certain: bool) -> list[Effect]:
    body = exchange.sent_object
    if body is None:
        return [Effect(exchange, name, None, interval, certain=False) for name in TEXTS]
    sent = {name: body[name] for name in TEXTS if name in body}
    if any(not isinstance(value, str | None) for value in sent.values()):  # such an edit must be refused as a whole
        certain = False
    return [
        # The effect of null is open: a service may ignore it.
        Effect(exchange, name, _text(value), interval, certain and isinstance(value, str))
        for name, value in sent.items()
    ]


def _text(value: object) -> str | None:
    if value is None:
        return ""
    return value if isinstance(value, str) and must_read_back_exactly(value) else None
