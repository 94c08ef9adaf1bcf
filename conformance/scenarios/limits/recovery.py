"""Waiting until a refused key is served again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.timestamps import parse_timestamp
from conformance.scenarios.limits.exhaust_window import LONGEST_MADE, at_once, is_made
from conformance.wire import requests
from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.rate_limit_headers import date_of, quota

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

GRACE: Final = 2.0
"""Seconds after the reset within which the key must be served again."""

_LONGEST_WAIT: Final = 75.0
"""Most seconds to wait for a reset."""

_LONGEST_LAG: Final = 30.0
"""Seconds by which clocks of the service may differ for a reset to count by either of them."""
_POLLS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 20.0, 25.0)


def send_after_reset(run: Run, key: Credential, refusal: Exchange) -> tuple[Exchange | None, str]:
    """Send a request after the reset in a 429, at once and then after the grace.

    Returns:
        The last response, or one of a later window that the run itself has used up; or None with the reason why there
        is no result.
    """
    window = quota(refusal.response)
    if window is None:
        return None, "the rate-limit headers of the 429 cannot be read"
    lag = max(clocks_apart(run.wire.exchanges), _lag(run))
    if run.wire.service_clock is None or lag > _LONGEST_LAG:
        return _poll(run, key)
    longest = LONGEST_MADE + lag if is_made(run, key.name) else _LONGEST_WAIT
    if seconds_until(run, window.reset) > longest:
        return None, f"the reset is more than {longest:.0f} s ahead, too far to wait for"
    response = refusal
    late = [0.1, GRACE + 0.1]
    if lag > 1:
        late.append(GRACE + 0.1 + lag + 1)
    for seconds in late:
        run.sleep(max(0.0, seconds_until(run, window.reset + seconds)))
        response = run.send(at_once(requests.get_organization(), key))
        if response.status != TOO_MANY_REQUESTS:
            return response, ""
    return _served_in_later_window(run, refusal, window.reset) or response, ""


def _served_in_later_window(run: Run, refusal: Exchange, reset: float) -> Exchange | None:
    """Return a success of a refused key after the refusal, in a window that ends after the one of the refusal."""
    later = (exchange for exchange in run.wire.exchanges if exchange.number > refusal.number and exchange.succeeded)
    of_key = (exchange for exchange in later if exchange.request.key_name == refusal.request.key_name)
    windows = ((exchange, quota(exchange.response)) for exchange in of_key)
    return next((exchange for exchange, window in windows if window is not None and window.reset > reset), None)


def _lag(run: Run) -> float:
    """Return the seconds by which the clock of createdAt is behind that of the Date headers, cut to whole seconds.

    A front server may set the Date, while the application computes the reset by its own clock.
    """
    lags = [
        dated - created.timestamp()
        for exchange in of_operation(run.wire.exchanges, "createEngagement")
        for resource in readable_resources(exchange)
        if (created := parse_timestamp(resource.get("createdAt"))) is not None
        and (dated := date_of(exchange.response)) is not None
    ]
    return max(0.0, min(lags, default=0.0))


def clocks_apart(exchanges: Iterable[Exchange]) -> float:
    """Return the seconds by which the clocks of the Date headers differ for certain, as with several servers.

    A Date is cut to whole seconds, and set at some time between the request and the end of its response.
    """
    dated = [
        (exchange, date)
        for exchange in exchanges
        if exchange.received and (date := date_of(exchange.received)) is not None
    ]
    least = [date - exchange.started_at.timestamp() - exchange.seconds for exchange, date in dated]
    most = [date + 1 - exchange.started_at.timestamp() for exchange, date in dated]
    return max(0.0, max(least) - min(most)) if dated else 0.0


def _poll(run: Run, key: Credential) -> tuple[Exchange | None, str]:
    """Send requests at intervals, since without a Date the service's clock is unknown."""
    for pause in _POLLS:
        run.sleep(pause)
        response = run.send(at_once(requests.get_organization(), key))
        if response.status != TOO_MANY_REQUESTS:
            return response, ""
    return None, "the service states no time, or several, so the time of the reset is unknown"


def seconds_until(run: Run, reset: float) -> float:
    """Return the seconds until the service's clock shows a time, judged by its Date headers; never too few."""
    return reset - (run.clock.now().timestamp() + (run.wire.service_clock or 0.0))
