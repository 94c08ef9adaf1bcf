"""How many requests are under way at once: as many as were asked for, or fewer where that alone gets them refused."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from conformance.wire.exchange import Answer

_LOOKED_AT: Final = 16
_REFUSED: Final = 6
"""Refusals of the latest requests beside others, after which fewer are sent at once."""

_ALONE_LOOKED_AT: Final = 8
_ALONE_REFUSED: Final = 4
"""Refusals of the latest requests that went alone, after which it was not for the others."""


class Width:
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
        self._gate: AbstractAsyncContextManager[None] = nullcontext()
        self._under_way = 0
        self._beside: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._alone: deque[bool] = deque(maxlen=_ALONE_LOOKED_AT)
        self._in_vain = False

    @property
    def now(self) -> int:
        """How many go through at once now."""
        return self._width

    @asynccontextmanager
    async def one(self) -> AsyncIterator[bool]:
        """Wait until one more may be sent, inside a ``with``; it tells whether that goes beside others."""
        async with self._workers, self._gate:
            self._under_way += 1
            try:
                yield self._under_way > 1
            finally:
                self._under_way -= 1

    def learn(self, answer: Answer | None, *, beside_others: bool, had_room: bool = False) -> None:
        """See whether a request was refused.

        Args:
            answer: What came.
            beside_others: Whether it went beside others.
            had_room: Whether its key had requests left for it, by what the service had told.
        """
        if answer is None or self._in_vain:
            return
        refused = answer.status == HTTPStatus.SERVICE_UNAVAILABLE or (
            had_room and answer.status == HTTPStatus.TOO_MANY_REQUESTS
        )
        (self._beside if beside_others else self._alone).append(refused)
        if self._width == 1 and self._alone.count(True) >= _ALONE_REFUSED:
            self._in_vain = True
            self._let_through(self._most)
        elif self._width > 1 and self._beside.count(True) >= _REFUSED:
            self._let_through(self._width // 2)

    def _let_through(self, width: int) -> None:
        self._width = width
        self._gate = nullcontext() if width == self._most else asyncio.Semaphore(width)
        self._beside.clear()
        self._alone.clear()
