"""Whether the main key is still served: one that expired or was revoked amid a run says nothing about the service."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import SUCCESSES
from conformance.wire.requests import get_organization, list_engagements, list_members

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

    Ask = Callable[[Request, int], Awaitable[Exchange]]

REFUSED: Final = frozenset({401, 403})
"""Statuses of a request whose key is not good, or not good for it."""

_ENDED: Final = "the main key was refused"
_QUESTIONS: Final = ((0.0, get_organization()), (0.2, list_members()), (0.5, list_engagements()))
"""What is asked before a key is given up, and the seconds before each question: a hiccup is the service's."""

_REMEMBERED: Final = 200
"""Exchanges of which one is told as the last before the key ended; more than are ever under way."""


class MainKey:
    """Tells the end of the main key from refusals that a good key meets, too.

    Args:
        credential: The main key.
        pause: Lets time pass.

    Attributes:
        ended: That the key is refused and since when, as a clause; None while it is served.
    """

    def __init__(self, credential: Credential, pause: Callable[[float], Awaitable[None]]) -> None:
        self.ended: str | None = None
        self._credential = credential
        self._pause = pause
        self._asking = asyncio.Lock()
        self._was_served = False
        self._permitted: set[tuple[str, int]] = set()
        self._waiting: list[int] = []
        self._before: deque[tuple[int, str]] = deque(maxlen=_REMEMBERED)

    def is_shown_by(self, request: Request) -> bool:
        """Whether a request shows the main key."""
        return request.credential is None or request.credential.authorization == self._credential.authorization

    async def has_ended(self, exchange: Exchange, ask: Ask) -> bool:
        """Whether an exchange was refused because the main key is refused for everything.

        Args:
            exchange: The exchange, before anybody sees it.
            ask: Sends a request once, with the number of the attempt.
        """
        is_main, refused = self.is_shown_by(exchange.request), is_refusal(exchange)
        self._was_served |= is_main and _has_succeeded(exchange)
        if refused and is_main and self._was_served and self.ended is None:
            await self._find_out(exchange, ask)
        if refused and self.ended is not None:
            return True
        self._before.append((exchange.number, f"{exchange.request.operation.id} of {exchange.check}"))
        return False

    async def _find_out(self, exchange: Exchange, ask: Ask) -> None:
        """Ask whether the key is served: once for all refusals that came before, and once for each kind of request."""
        kind = exchange.request.operation.id, exchange.status
        self._waiting.append(exchange.number)
        try:
            async with self._asking:
                if self.ended is not None or kind in self._permitted:
                    return
                if await self._is_served(ask):
                    self._permitted.add(kind)
                else:
                    self.ended = self._told(min(self._waiting))
        finally:
            self._waiting.remove(exchange.number)

    async def _is_served(self, ask: Ask) -> bool:
        for attempt, (pause, question) in enumerate(_QUESTIONS, 1):
            await self._pause(pause)
            exchange = await ask(question, attempt)
            if exchange.judgeable and not is_refusal(exchange):
                return True
        return False

    def _told(self, first: int) -> str:
        told = f"{_ENDED} from request {first} on"
        before = [one for one in self._before if one[0] < first]
        if not before:
            return told
        number, what = max(before)
        return f"{told} (request {number}, before it, was {what})"


def is_refusal(exchange: Exchange) -> bool:
    """Whether the key that an exchange shows was refused."""
    return exchange.received is not None and exchange.received.status in REFUSED


def unjudged(exchange: Exchange, why: str) -> Exchange:
    """A refusal that says nothing about the service; its status stays in the record, as a trouble.

    Args:
        exchange: The exchange.
        why: What follows "it was refused with 401".
    """
    status = None if exchange.received is None else exchange.received.status
    return replace(exchange, received=None, error=f"it was refused with {status} {why}")


def rests_on_ended_key(refusals: Sequence[Exchange], exchanges: Iterable[Exchange], stopped: str | None) -> bool:
    """Whether the last of some refusals, of whatever keys, came when the main key may have ended already.

    Args:
        refusals: The refusals of one check, at least one.
        exchanges: All exchanges of the run.
        stopped: Why the run sends nothing more, or None.
    """
    if stopped is None or not stopped.startswith(_ENDED):
        return False
    last = max(one.number for one in refusals)
    return not any(one.number > last and one.request.credential is None and _has_succeeded(one) for one in exchanges)


def _has_succeeded(exchange: Exchange) -> bool:
    return exchange.received is not None and exchange.received.status in SUCCESSES
