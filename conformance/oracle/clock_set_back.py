"""Whether the service's clock was set back during the run, by the Date headers of its responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle.rate_limit_laws import date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_INEXACT: Final = 2.0
"""Seconds by which a Date may differ from the time at which it was written, and a second for the clocks' drift."""


def was_set_back(exchange: Exchange, exchanges: Iterable[Exchange]) -> bool:
    """Whether the clock was set back before an exchange.

    Args:
        exchange: The exchange.
        exchanges: Those of the run; only the ones before it count.
    """
    ahead = _ahead(exchange)
    if ahead is None:
        return False
    before = (_ahead(earlier) for earlier in exchanges if earlier.number < exchange.number)
    return any(then is not None and then - ahead > _INEXACT + exchange.seconds for then in before)


def _ahead(exchange: Exchange) -> float | None:
    """Seconds that a response's Date is ahead of the run's clock at its end; None without a Date."""
    dated = date(exchange)
    return None if dated is None else dated - exchange.started_at.timestamp() - exchange.seconds
