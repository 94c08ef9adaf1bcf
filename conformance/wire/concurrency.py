"""Limit of concurrent requests, lowered if concurrency alone gets requests refused."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.wire.rate_limit_headers import leaves_requests

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from conformance.wire.exchange import Response

_LOOKED_AT: Final = 16
_REFUSED: Final = 6
"""Refusals of the latest concurrent requests after which fewer are sent at once."""

_REFUSED_WITH_ROOM: Final = 3
"""The same for requests whose key had quota left: only concurrency explains their refusal."""

_ALONE_LOOKED_AT: Final = 8
_ALONE_REFUSED: Final = 4
"""Refusals of the latest requests sent alone, after which concurrency is not the cause."""


class ConcurrencyLimiter:
    """Limits the number of concurrent requests; used in one event loop.

    The limit is halved, down to one, if a gateway returns 503 to many concurrent requests, or a service 429 although
    the key had quota left. If requests sent alone are refused too, concurrency is not the cause, and the full limit
    holds again.

    Args:
        most: The full limit.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = most
        self._workers = asyncio.Semaphore(most)
        self._changed = asyncio.Event()
        self._under_way = 0
        self._beside: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._with_room: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._alone: deque[bool] = deque(maxlen=_ALONE_LOOKED_AT)
        self._is_ineffective = False

    @property
    def now(self) -> int:
        """The present limit."""
        return self._limit

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[bool]:
        """Wait for a free slot and hold it inside a ``with``, which yields whether other requests are in flight."""
        async with self._workers:
            while self._under_way >= self._limit:
                await self._changed.wait()
            self._under_way += 1
            try:
                yield self._under_way > 1
            finally:
                self._under_way -= 1
                self._wake()

    def learn(self, response: Response | None, *, beside_others: bool, had_room: bool = False) -> None:
        """Adapt the limit to a response.

        Args:
            response: The response, or None.
            beside_others: Whether other requests were in flight.
            had_room: Whether its key had quota left by the service's earlier headers.
        """
        if response is None or self._is_ineffective:
            return
        with_room = response.status == HTTPStatus.TOO_MANY_REQUESTS and (had_room or leaves_requests(response))
        refused = with_room or response.status == HTTPStatus.SERVICE_UNAVAILABLE
        if beside_others:
            self._with_room.append(with_room)
        (self._beside if beside_others else self._alone).append(refused)
        if self._limit == 1 and self._alone.count(True) >= _ALONE_REFUSED:
            self._is_ineffective = True
            self._set_limit(self._most)
        elif self._limit > 1 and self._is_too_high():
            self._set_limit(self._limit // 2)

    def _is_too_high(self) -> bool:
        return self._beside.count(True) >= _REFUSED or self._with_room.count(True) >= _REFUSED_WITH_ROOM

    def _set_limit(self, limit: int) -> None:
        self._limit = limit
        for seen in (self._beside, self._with_room, self._alone):
            seen.clear()
        self._wake()

    def _wake(self) -> None:
        """Wake all waiting tasks."""
        self._changed.set()
        self._changed.clear()
