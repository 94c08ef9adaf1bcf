"""Using up the window of a key: the number of requests served before it is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.laws import rate_limits
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Untested
from conformance.oracle.permissions import KEYS
from conformance.scenarios.keys_in_turn import RetryNewKeys
from conformance.targets.fixtures import NEW_KEY
from conformance.wire import requests
from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.rate_limit_headers import ServiceClock, quota
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_HIGHEST_LIMIT: Final = 300
"""Highest limit, in requests per window, that is tested."""

TRIES: Final = 3
"""Most times that a window is used up."""

LONGEST_MADE: Final = 30.0
"""Seconds to wait for the window of a key made for this run; it should end within 10 s."""

SURELY_LEFT: Final = 2
"""Requests left, in a response or before it, that let the next request through."""

_LEAST: Final = 2
_SPARE: Final = 8
_SHORT_WINDOW: Final = 2.0


@dataclass(slots=True)
class ExhaustedWindow:
    """Requests sent to use up a key's window.

    Attributes:
        limit: The limit that the service states.
        served: The successes.
        missed: The response to a read of a missing engagement within the limit, which must not restore the window.
        refused: The responses with 429.
        refused_list: A long list, sent alone, that got 429 although requests were left; None if it was served.
        beyond: A response that came beyond the limit without a 429; None if there is none.
        exclusive: Whether only this run uses the key.
    """

    limit: int
    served: list[Exchange] = field(default_factory=list)
    missed: Exchange | None = None
    refused: list[Exchange] = field(default_factory=list)
    refused_list: Exchange | None = None
    beyond: Exchange | None = None
    exclusive: bool = False
    _by_reset: Counter[str] = field(default_factory=Counter)

    def take(self, exchange: Exchange) -> None:
        """Record a response.

        Raises:
            CantTell: It is neither a success nor a refusal beyond the limit.
        """
        if exchange.status == TOO_MANY_REQUESTS:
            self.refused.append(exchange)
        elif exchange.succeeded:
            self.served.append(exchange)
            self._by_reset[rate_limits.reset(exchange) or ""] += 1
            if self._is_beyond(exchange):
                self.beyond = self.beyond or exchange
        elif max(self._by_reset.values(), default=0) >= self.limit or self._is_used_up_by_missed:
            self.beyond = self.beyond or exchange
        else:
            read.success(exchange)

    @property
    def _is_used_up_by_missed(self) -> bool:
        return self.missed is not None and rate_limits.remaining(self.missed) == 0

    def take_list(self, page: Exchange) -> None:
        """Record the response to a long list that was sent alone, which must be served if requests are left."""
        left = [rate_limits.remaining(exchange) or 0 for exchange in self._in_window_of(page)]
        if self.exclusive and page.status == TOO_MANY_REQUESTS and min(left, default=0) >= SURELY_LEFT:
            self.refused_list = page
        elif page.succeeded or page.status == TOO_MANY_REQUESTS:
            self.take(page)

    def _is_beyond(self, success: Exchange) -> bool:
        """Whether a success exceeds the limit, whichever algorithm the service uses.

        A fixed or sliding window allows the limit once per reset. A bucket that refills all the time, and two
        windows in a row, allow up to twice as much in less than a window's time.
        """
        of_one_reset = self._by_reset[rate_limits.reset(success) or ""]
        ahead = _ahead(success)
        if of_one_reset > self.limit and (ahead is None or ahead > _SHORT_WINDOW):
            return True
        elapsed = (success.started_at - self.served[0].started_at).total_seconds() + success.seconds
        in_one_window = ahead is not None and elapsed < ahead - 1
        return max(of_one_reset, len(self.served) if in_one_window else 0) > 2 * self.limit + 2

    @property
    def shows_what_is_left(self) -> bool:
        """Whether the first response of a new key shows that its own request is no longer in Remaining."""
        return self.exclusive and bool(self.served) and rate_limits.remaining(self.served[0]) == self.limit - 1

    @property
    def early(self) -> Exchange | None:
        """The first 429, if the window had a request left before it; None if it had none, or other users have the key.

        This holds if Remaining is what is left after the request, see ``shows_what_is_left``.
        """
        if self.refused_list is not None:
            return self.refused_list
        if not self.refused:
            return None
        before = self._in_window_of(self.refused[0])
        left = [rate_limits.remaining(exchange) or 0 for exchange in before]
        last = max((exchange.number for exchange in before), default=0)
        if any(exchange.number > last and rate_limits.remaining(exchange) == 0 for exchange in self.served):
            return None  # a bucket that refills names the same reset again later
        return self.refused[0] if self.exclusive and left and min(left) >= 1 and not self.is_crowded else None

    def _in_window_of(self, response: Exchange) -> list[Exchange]:
        """Return the responses within the limit that name the reset of another response."""
        window = rate_limits.reset(response)
        sent = self.served if self.missed is None else [*self.served, self.missed]
        return [exchange for exchange in sent if rate_limits.reset(exchange) == window]

    @property
    def is_crowded(self) -> bool:
        """Whether refused requests had requests left, as when the service limits simultaneous requests."""
        return bool(self.refused) and all((rate_limits.remaining(exchange) or 0) > 0 for exchange in self.refused)

    def take_alone(self, exchange: Exchange) -> None:
        """Record the response to a request sent alone: a success means that there were too many at once before."""
        if exchange.succeeded:
            self.refused.clear()
        self.take(exchange)

    @property
    def over(self) -> bool:
        """Whether enough is known, or so many requests were sent that more would show nothing."""
        sent = len(self.served) + len(self.refused)
        return bool(self.refused) or self.beyond is not None or sent >= TRIES * (self.limit + _SPARE)

    @property
    def left(self) -> int:
        """The number of requests to send next: the rest of the latest window, and a few at least."""
        latest = max(self.served, key=lambda exchange: exchange.number)
        return min(max(_LEAST, rate_limits.remaining(latest) or 0), self.limit + _SPARE)


def exhaust(run: Run, key: Credential) -> ExhaustedWindow:
    """Send requests until the key is refused, or must have been."""
    is_unused = is_made(run, key.name) and all(sent.request.key_name != key.name for sent in run.wire.exchanges)
    first = RetryNewKeys(run).send(at_once(requests.get_organization(), key))
    if is_unused:
        _ensure_unused(first)
    if first.status == TOO_MANY_REQUESTS:  # too many at once, or this run or another client has used the key
        first = run.send(requests.get_organization().with_key(key))
    limit = rate_limits.limit(read.success(first))
    if limit is None or quota(first.response) is None:
        raise CantTell("the rate-limit headers cannot be read", first)
    _ensure_budget(run, limit)
    exhausted = ExhaustedWindow(limit, exclusive=is_made(run, key.name))
    exhausted.take(first)
    asked = at_once(requests.get_organization(), key)
    together = True
    while not exhausted.over:
        is_first = together and exhausted.missed is None and exhausted.left > 1
        lists = is_first and exhausted.left > SURELY_LEFT
        for exchange in run.send_all([asked] * (exhausted.left - is_first - lists)) if together else [run.send(asked)]:
            exhausted.take(exchange)
        if lists and not exhausted.refused:
            exhausted.take_list(run.send(at_once(requests.list_members(perPage=MAX_PER_PAGE), key)))
        if is_first and not exhausted.refused:
            missing = run.send(at_once(requests.get_engagement(run.names.name("missing")), key))
            if missing.status == TOO_MANY_REQUESTS:
                exhausted.take(missing)
            else:
                exhausted.missed = missing
        if together and exhausted.is_crowded:
            together = False
            exhausted.take_alone(run.send(asked))
    return exhausted


def is_made(run: Run, name: str) -> bool:
    """Whether the provisioner made a key in this run, so that only this run uses it."""
    members = run.fixtures.members.values()
    if any(member.is_new and member.credential is not None and member.credential.name == name for member in members):
        return True
    return name in {*KEYS, OTHER_KEY, "throttled", NEW_KEY} and name not in run.profile.keys


def _ensure_unused(first: Exchange) -> None:
    """Ensure that a key made for this run has requests left after its first one, in a window that ends soon.

    Raises:
        CantTell: It has none left.
        Untested: Its window ends too late to wait for.
    """
    window = quota(first.response)
    if window is None:
        return
    ahead = min(_ahead(first) or 0.0, window.reset - first.started_at.timestamp())
    if ahead > LONGEST_MADE:
        raise Untested(
            f"the throttled key that the provisioner made has a reset {ahead:.0f} s ahead, too far to wait for; "
            "make its window end within 10 s"
        )
    if window.remaining == 0 and (first.status == TOO_MANY_REQUESTS or window.limit > 1):
        message = "the throttled key that the provisioner made is used up at its first request"
        raise CantTell(f"{message} ({describe_response(first)}), and the suite does not wait for its reset", first)


def _ensure_budget(run: Run, limit: int) -> None:
    most = run.options.max_requests
    left = _HIGHEST_LIMIT if most is None else most - run.wire.sent
    if limit > _HIGHEST_LIMIT:
        raise Untested(f"a limit of {limit} requests is above the maximum {_HIGHEST_LIMIT}; name a throttled key")
    if limit + 2 * _SPARE > left and most is not None:
        raise Untested(f"a limit of {limit} requests is above the {max(left, 0)} requests left; raise --max-requests")


def at_once(asked: Request, key: Credential) -> Request:
    """Return a request that is neither delayed nor retried because of its limit."""
    return replace(asked, credential=key, expects_429=True)


def _ahead(exchange: Exchange) -> float | None:
    """Return the seconds from a response's Date to its reset, up to a second too many; None without a Date."""
    clock, window = ServiceClock(), quota(exchange.response)
    clock.learn(exchange.response, exchange.started_at)
    return None if window is None or clock.offset is None else window.reset - clock.time(exchange.started_at)
