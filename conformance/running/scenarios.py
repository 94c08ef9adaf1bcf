"""Journeys: sequences of requests that are sent once and judged by many checks."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.oracle.outcomes import CheckOutcome
from conformance.targets.capabilities import MissingMeans
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.running.run import Run

T = TypeVar("T")

_ATTEMPTS: Final = 3
_BETWEEN: Final = 1.0
"""Seconds before a journey is begun anew, and as many more before the second time: what ended it may pass."""


class Scenarios:
    """The journeys of a run, each walked once, several at a time where they do not disturb one another.

    Args:
        run: What a journey is given.
        together: How many may be under way at once.
    """

    def __init__(self, run: Run, together: int) -> None:
        self._run = run
        self._pool = ThreadPoolExecutor(max_workers=together, thread_name_prefix="journey")
        self._lock = threading.Lock()
        self._results: dict[Callable[[Run], Any], Future[Any]] = {}

    def prepare(self, walks: Iterable[Callable[[Run], Any]]) -> None:
        """Start journeys in the background; their results are fetched by ``result``."""
        for walk in walks:
            self._pool.submit(self._walk_quietly, walk)

    def result(self, walk: Callable[[Run], T]) -> T:
        """What a journey gave; it is walked now if nobody has begun it yet.

        Raises:
            Exception: Whatever ended the journey.
        """
        with self._lock:
            future = self._results.get(walk)
            mine = future is None
            if future is None:
                future = self._results[walk] = Future()
        if mine:
            self._walk(walk, future)
        found: T = future.result()
        return found

    def wait_for(self, walk: Callable[[Run], object]) -> None:
        """Let a journey be walked before something else, whatever it comes to."""
        with suppress(CheckOutcome, NoResponse, MissingMeans):
            self.result(walk)

    def narrow(self) -> None:
        """Wait until no journey is under way in the background, for what must be alone with the target."""
        self._pool.shutdown(wait=True)

    def close(self) -> None:
        """Begin no further journey and wait for those under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _walk_quietly(self, walk: Callable[[Run], Any]) -> None:
        with self._lock:
            if walk in self._results:
                return
            future = self._results[walk] = Future()
        self._walk(walk, future)

    def _walk(self, walk: Callable[[Run], Any], future: Future[Any]) -> None:
        """Walk a journey; one that a broken connection or a gateway ended is begun anew."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._run.wire.checking(walk.__name__):
                    future.set_result(walk(self._run))
            except NoResponse as no_response:
                if attempt == _ATTEMPTS or no_response.lasting:
                    future.set_exception(no_response)
                    return
                self._run.sleep(_BETWEEN * attempt)
            except BaseException as error:  # noqa: BLE001 - it is raised again in each check that needs the journey
                future.set_exception(error)
                return
            else:
                return
