"""Laws of the rate-limit headers of every response."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from conformance.oracle.outcomes import NonConformity
from conformance.oracle.rendering import one_of, render
from conformance.wire.rate_limit_headers import date_of

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

LIMIT: Final = "X-RateLimit-Limit"
REMAINING: Final = "X-RateLimit-Remaining"
RESET: Final = "X-RateLimit-Reset"
_TIME: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_PAST: Final = 5 * 60
_CLOCKS_APART: Final = 5 * 60
_AHEAD: Final = 366 * 24 * 3600


def headers_present(exchange: Exchange) -> bool:
    """Require the three headers."""
    missing = [name for name in (LIMIT, REMAINING, RESET) if exchange.response.header(name) is None]
    if missing:
        raise NonConformity(
            f"{one_of(*missing)} is missing",
            exchange,
            expected=f"{LIMIT}, {REMAINING} and {RESET}",
            actual=f"no {one_of(*missing)}",
        )
    return True


def limit_positive(exchange: Exchange) -> bool:
    """Require the limit to be an integer above zero."""
    given = value(exchange, LIMIT)
    if given is None:
        return False
    if not whole(given):
        raise NonConformity(
            f"{LIMIT} is not a positive integer", exchange, expected="an integer above 0", actual=render(given)
        )
    return True


def remaining_in_range(exchange: Exchange) -> bool:
    """Require Remaining to be an integer from zero to the limit."""
    given, limit = value(exchange, REMAINING), value(exchange, LIMIT)
    if given is None:
        return False
    most = whole(limit) if limit is not None else None
    if not _digits(given) or (most is not None and int(given) > most):
        expected = "an integer from 0" + (f" to {most}" if most is not None else "")
        raise NonConformity(f"{REMAINING} is out of range", exchange, expected=expected, actual=render(given))
    return True


def reset_is_time(exchange: Exchange) -> bool:
    """Require Reset to be a Unix time in seconds, hardly past and at most a year ahead."""
    given = value(exchange, RESET)
    if given is None:
        return False
    now = service_time(exchange)
    slack = _PAST if date(exchange) is not None else _PAST + _CLOCKS_APART  # only two clocks can be compared
    earliest, latest = now - slack, now + _AHEAD + slack
    if not _TIME.fullmatch(given) or not earliest <= float(given) <= latest:
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
        clock = "the run's clock" if date(exchange) is None else "the response's Date"
        raise NonConformity(
            f"{RESET} is not a plausible time for the end of a window",
            exchange,
            expected=f"a Unix time in seconds from {int(earliest)} to {int(latest)} (by {clock}, {moment})",
            actual=render(given),
        )
    return True


def whole(text: str) -> int | None:
    """Return the number of a header, if it is an integer above zero."""
    return int(text) if _digits(text) and int(text) > 0 else None


def remaining(exchange: Exchange) -> int | None:
    """Return Remaining, if it is valid."""
    given = value(exchange, REMAINING)
    return int(given) if given is not None and _digits(given) else None


def limit(exchange: Exchange) -> int | None:
    """Return the limit, if it is valid."""
    given = value(exchange, LIMIT)
    return whole(given) if given is not None else None


def reset(exchange: Exchange) -> str | None:
    """Return the text of the Reset header."""
    return value(exchange, RESET)


def _digits(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,400}", text) is not None


def value(exchange: Exchange, name: str) -> str | None:
    """Return the value of a header; if a gateway repeats it with the same value, it counts once."""
    values = exchange.received.values(name) if exchange.received else ()
    if len(values) == 1:
        return values[0].strip()
    return ", ".join(sorted({given.strip() for given in values})) if values else None


def ahead(exchange: Exchange) -> float | None:
    """Return the seconds from the response to its Reset, if that is valid."""
    given = reset(exchange)
    if given is None or not _TIME.fullmatch(given):
        return None
    return float(given) - service_time(exchange)


def service_time(exchange: Exchange) -> float:
    """Return the time of a response in seconds of the epoch, by its Date, or by the run's clock without one."""
    dated = date(exchange)
    return exchange.ended_at.timestamp() if dated is None else dated


def date(exchange: Exchange) -> float | None:
    """Return the time of a response's Date in seconds of the epoch."""
    return date_of(exchange.received) if exchange.received else None
