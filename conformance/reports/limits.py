"""Limits of response times that the user sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reports.pictures.latency import quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.reports.model import Limit
    from conformance.wire.exchange import Exchange

SHARES: Final = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}


def measured_limits(limits: Mapping[str, float], exchanges: Iterable[Exchange]) -> list[Limit]:
    """Return each limit with what all responses of a run took, in milliseconds; nothing without a response."""
    times = sorted(exchange.seconds * 1000 for exchange in exchanges if exchange.received is not None)
    if not times:
        return []
    measured = {name: round(quantile(times, SHARES[name]), 1) for name in limits}
    return [
        {"name": name, "limit": limit, "measured": measured[name], "kept": measured[name] <= limit}
        for name, limit in limits.items()
    ]


def broken_limits(limits: Iterable[Limit]) -> list[str]:
    """Return a clause for each limit that was not met."""
    return [
        f"limits.{limit['name']} is {limit['limit']:g}, and {limit['measured']:g} ms were measured"
        for limit in limits
        if not limit["kept"]
    ]
