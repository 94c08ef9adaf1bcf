"""Detection of a service clock that was set back during the run, by the Date headers of its responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle.laws.rate_limits import date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_INEXACT: Final = 2.0
"""Seconds by which a Date may differ from the time it was written, plus a second for the drift of the clocks."""


def was_set_back(exchange: Exchange, exchanges: Iterable[Exchange]) -> bool:
    """Whether the service's clock was set back before an exchange.

    Args:
        exchange: The exchange.
        exchanges: The exchanges of the run; only the earlier ones count.
    """
    ahead = _ahead(exchange)
    if ahead is None:
        return False
    before = (_ahead(earlier) for earlier in exchanges if earlier.number < exchange.number)
    return any(then is not None and then - ahead > _INEXACT + exchange.seconds for then in before)


def _ahead(exchange: Exchange) -> float | None:
    """Return the seconds by which a response's Date is ahead of the run's clock at its end; None without a Date."""
    dated = date(exchange)
    return None if dated is None else dated - exchange.started_at.timestamp() - exchange.seconds
