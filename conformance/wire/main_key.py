"""Detection of a main key that expired or was revoked during a run, which says nothing about the service."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import KEY_REFUSED
from conformance.wire.requests import get_organization, list_engagements, list_members
from conformance.wire.run_limits import StopCause

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

    Ask = Callable[[Request, int], Awaitable[Exchange]]

_PROBES: Final = ((0.0, get_organization()), (0.2, list_members()), (0.5, list_engagements()))
"""Requests that are sent before a key is given up, and the seconds before each, so that one fault is not enough."""

_REMEMBERED: Final = 200
"""Exchanges among which the last before the key's end is searched; more than are ever in flight."""


class MainKey:
    """Distinguishes the end of the main key from refusals of a valid key.

    Args:
        credential: The main key.
        pause: Pauses for some seconds.

    Attributes:
        ended: Since when the key is refused, as a clause; None while it is accepted.
    """

    def __init__(self, credential: Credential, pause: Callable[[float], Awaitable[None]]) -> None:
        self.ended: str | None = None
        self._credential = credential
        self._pause = pause
        self._lock = asyncio.Lock()
        self._was_served = False
        self._permitted: set[tuple[str, int]] = set()
        self._waiting: list[int] = []
        self._before: deque[tuple[int, str]] = deque(maxlen=_REMEMBERED)

    def is_shown_by(self, request: Request) -> bool:
        """Whether a request uses the main key."""
        return request.credential is None or request.credential.authorization == self._credential.authorization

    async def has_ended(self, exchange: Exchange, ask: Ask) -> bool:
        """Whether an exchange was refused because the main key is refused for everything.

        Args:
            exchange: The exchange, before it is recorded.
            ask: Sends a request once, given the number of the attempt.
        """
        is_main, refused = self.is_shown_by(exchange.request), is_refusal(exchange)
        self._was_served |= is_main and exchange.accepted
        if refused and is_main and self._was_served and self.ended is None:
            await self._probe(exchange, ask)
        if refused and self.ended is not None:
            return True
        self._before.append((exchange.number, f"{exchange.operation_id} of {exchange.check}"))
        return False

    async def _probe(self, exchange: Exchange, ask: Ask) -> None:
        """Find out whether the key is accepted, once for all earlier refusals and for each operation and status."""
        kind = exchange.operation_id, exchange.status
        self._waiting.append(exchange.number)
        try:
            async with self._lock:
                if self.ended is not None or kind in self._permitted:
                    return
                if await self._is_served(ask):
                    self._permitted.add(kind)
                else:
                    self.ended = self._reason(min(self._waiting))
        finally:
            self._waiting.remove(exchange.number)

    async def _is_served(self, ask: Ask) -> bool:
        for attempt, (pause, request) in enumerate(_PROBES, 1):
            await self._pause(pause)
            exchange = await ask(request, attempt)
            if exchange.judgeable and not is_refusal(exchange):
                return True
        return False

    def _reason(self, first: int) -> str:
        reason = f"{StopCause.KEY_REFUSED} from request {first} on"
        before = [served for served in self._before if served[0] < first]
        if not before:
            return reason
        number, what = max(before)
        return f"{reason} (request {number}, before it, was {what})"


def is_refusal(exchange: Exchange) -> bool:
    """Whether the key of an exchange was refused."""
    return exchange.received_status in KEY_REFUSED


def unjudged(exchange: Exchange, why: str) -> Exchange:
    """Return a refusal as an exchange without a response; the status stays in its ``error``.

    Args:
        exchange: The exchange.
        why: The continuation of "it was refused with 401".
    """
    return replace(exchange, received=None, error=f"it was refused with {exchange.received_status} {why}")


def rests_on_ended_key(refusals: Sequence[Exchange], exchanges: Iterable[Exchange], stopped: str | None) -> bool:
    """Whether the main key may have ended before the last of several refusals, of any keys.

    Args:
        refusals: The refusals of one check; at least one.
        exchanges: All exchanges of the run.
        stopped: The reason why the run sends nothing more, or None.
    """
    if StopCause.of(stopped) is not StopCause.KEY_REFUSED:
        return False
    last = max(refusal.number for refusal in refusals)
    later = (exchange for exchange in exchanges if exchange.number > last)
    return not any(exchange.request.credential is None and exchange.accepted for exchange in later)
