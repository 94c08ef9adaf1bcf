"""Course of each key's rate limit over a run, by the headers of its responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.rate_limit_headers import quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.rate_limit_headers import Quota

    Point = tuple[float, Quota]

_WIDTH: Final = 240
HEIGHT: Final = 32
MOST_KEYS: Final = 8
"""Most keys that are drawn: those with a 429 first, then the most used."""


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one key.

    Attributes:
        key: The name of the key.
        responses: The number of responses with all three headers.
        limits: The limits in these headers, in the order of their first appearance.
        lowest: The lowest number of remaining requests.
        refused: The number of responses with 429.
        line: The remaining share of the limit over time, as points of a line in a picture of 240 by 32 units.
        refusals: The x positions of the 429 responses in the picture.
    """

    key: str
    responses: int
    limits: tuple[int, ...]
    lowest: int
    refused: int
    line: str
    refusals: tuple[float, ...]


def courses(exchanges: Sequence[Exchange]) -> tuple[list[Course], int]:
    """Return the courses of the most relevant keys over the whole run, and the number of omitted keys."""
    responded = [exchange for exchange in exchanges if exchange.received is not None]
    if not responded:
        return [], 0
    began = min(exchange.started_at.timestamp() for exchange in responded)
    lasted = max(exchange.ended_at for exchange in responded).timestamp() - began or 1.0
    by_key: dict[str, list[Exchange]] = {}
    for exchange in sorted(responded, key=lambda exchange: exchange.ended_at):
        credential = exchange.request.credential
        if credential is None or credential.authorization is not None:
            by_key.setdefault(exchange.request.key_name, []).append(exchange)
    found = [course for key, sent in by_key.items() if (course := _course(key, sent, began, lasted)) is not None]
    ordered = sorted(found, key=lambda course: (-course.refused, -course.responses, course.key))
    return ordered[:MOST_KEYS], len(ordered[MOST_KEYS:])


def _course(key: str, sent: Sequence[Exchange], began: float, lasted: float) -> Course | None:
    def across(exchange: Exchange) -> float:
        return round(_WIDTH * (exchange.ended_at.timestamp() - began) / lasted, 1)

    points = [
        (across(exchange), headers)
        for exchange in sent
        if exchange.received is not None and (headers := quota(exchange.received)) is not None
    ]
    if not points:
        return None
    refused = [
        across(exchange)
        for exchange in sent
        if exchange.received is not None and exchange.received.status == TOO_MANY_REQUESTS
    ]
    return Course(
        key,
        len(points),
        tuple(dict.fromkeys(headers.limit for _, headers in points)),
        min(headers.remaining for _, headers in points),
        len(refused),
        " ".join(f"{x:g},{y:g}" for x, y in _line(points)),
        tuple(dict.fromkeys(refused)),
    )


def _line(points: Iterable[Point]) -> list[tuple[float, float]]:
    """Return one point for each horizontal unit: the lowest remaining share there."""
    lowest: dict[float, float] = {}
    for x, headers in points:
        share = headers.remaining / headers.limit if headers.limit else 0.0
        lowest[round(x)] = min(share, lowest.get(round(x), 1.0))
    return [(x, round(HEIGHT * (1 - share), 1)) for x, share in sorted(lowest.items())]
