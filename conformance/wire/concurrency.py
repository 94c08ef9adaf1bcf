"""How many requests are under way at once: as many as were asked for, or fewer where that alone gets them refused."""

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
"""Refusals of the latest requests beside others, after which fewer are sent at once."""

_REFUSED_WITH_ROOM: Final = 3
"""The same of those for which the key had room: nothing but the others explains these."""

_ALONE_LOOKED_AT: Final = 8
_ALONE_REFUSED: Final = 4
"""Refusals of the latest requests that went alone, after which it was not for the others."""


class ConcurrencyLimiter:
    """Lets so many requests through at once; used in one event loop.

    Where a gateway answers 503 to many requests beside others, or a service 429 although the key had room for them,
    half as many go through from then on, down to one at a time. Where those that go alone are refused as well, it was
    not for that, and all go through again.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._width = most
        self._workers = asyncio.Semaphore(most)
        self._changed = asyncio.Event()
        self._under_way = 0
        self._beside: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._with_room: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._alone: deque[bool] = deque(maxlen=_ALONE_LOOKED_AT)
        self._in_vain = False

    @property
    def now(self) -> int:
        """How many go through at once now."""
        return self._width

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[bool]:
        """Wait until one more may be sent, inside a ``with``; it tells whether that goes beside others."""
        async with self._workers:
            while self._under_way >= self._width:
                await self._changed.wait()
            self._under_way += 1
            try:
                yield self._under_way > 1
            finally:
                self._under_way -= 1
                self._wake()

    def learn(self, response: Response | None, *, beside_others: bool, had_room: bool = False) -> None:
        """See whether a request was refused.

        Args:
            response: What came.
            beside_others: Whether it went beside others.
            had_room: Whether its key had requests left for it, by what the service had told before.
        """
        if response is None or self._in_vain:
            return
        with_room = response.status == HTTPStatus.TOO_MANY_REQUESTS and (had_room or leaves_requests(response))
        refused = with_room or response.status == HTTPStatus.SERVICE_UNAVAILABLE
        if beside_others:
            self._with_room.append(with_room)
        (self._beside if beside_others else self._alone).append(refused)
        if self._width == 1 and self._alone.count(True) >= _ALONE_REFUSED:
            self._in_vain = True
            self._let_through(self._most)
        elif self._width > 1 and self._is_too_wide():
            self._let_through(self._width // 2)

    def _is_too_wide(self) -> bool:
        return self._beside.count(True) >= _REFUSED or self._with_room.count(True) >= _REFUSED_WITH_ROOM

    def _let_through(self, width: int) -> None:
        self._width = width
        for seen in (self._beside, self._with_room, self._alone):
            seen.clear()
        self._wake()

    def _wake(self) -> None:
        """Let everything that waits look again."""
        self._changed.set()
        self._changed.clear()
