"""Scenarios: functions that send requests once for many checks to judge."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, overload

from conformance.oracle.outcomes import CheckOutcome
from conformance.targets.capabilities import MissingMeans
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

F = TypeVar("F", bound="Callable[[Any], Any]")
R = TypeVar("R", bound="_Run")
T = TypeVar("T")

_ATTEMPTS: Final = 3
_BETWEEN: Final = 1.0
"""Seconds before the first retry of a scenario; twice as many before the second."""


MARKED: Final[dict[str, tuple[Callable[[Any], Any], bool]]] = {}
"""The functions marked as scenarios, by name; each with whether the run may send nothing else during it."""


@overload
def scenario(function: F) -> F: ...


@overload
def scenario(*, alone: bool) -> Callable[[F], F]: ...


def scenario(function: F | None = None, *, alone: bool = False) -> F | Callable[[F], F]:
    """Mark a function of the run as a scenario; checks get its result by a parameter of its name.

    Args:
        function: The scenario.
        alone: Whether the run may send nothing else during it.

    Raises:
        ValueError: Another scenario has this name.
    """

    def mark(marked: F) -> F:
        if marked.__name__ in MARKED:
            raise ValueError(f"there are two scenarios named {marked.__name__}")
        MARKED[marked.__name__] = (marked, alone)
        return marked

    return mark if function is None else mark(function)


def scenario_named(name: str) -> Callable[[Any], Any]:
    """Return the scenario of this name, which laws and rules of the oracle know by name only."""
    return MARKED[name][0]


class _Wire(Protocol):
    def checking(self, name: str) -> AbstractContextManager[None]: ...


class _Run(Protocol):
    @property
    def wire(self) -> _Wire: ...

    def sleep(self, seconds: float) -> None: ...


class Scenarios(Generic[R]):
    """The scenarios of a run, each run once, several concurrently if they are independent.

    Args:
        run: The argument of each scenario.
        together: Maximum number of concurrent scenarios.
    """

    def __init__(self, run: R, together: int) -> None:
        self._run = run
        self._pool = ThreadPoolExecutor(max_workers=together, thread_name_prefix="scenario")
        self._lock = threading.Lock()
        self._results: dict[Callable[[R], Any], Future[Any]] = {}

    def prepare(self, scenarios: Iterable[Callable[[R], Any]]) -> None:
        """Start scenarios in the background; ``result`` returns their results."""
        for scenario in scenarios:
            self._pool.submit(self._started, scenario)

    def result(self, scenario: Callable[[R], T]) -> T:
        """Return the result of a scenario; run it now if it was not started yet.

        Raises:
            Exception: The exception that ended the scenario.
        """
        found: T = self._started(scenario).result()
        return found

    def result_if_any(self, scenario: Callable[[R], T]) -> T | None:
        """Return the result of a scenario that has begun; None if it has not, or if it ended without a result."""
        with self._lock:
            begun = scenario in self._results
        with suppress(CheckOutcome, NoResponse, MissingMeans):
            return self.result(scenario) if begun else None
        return None

    def wait_for(self, scenario: Callable[[R], object]) -> None:
        """Wait until a scenario has run, with any result."""
        with suppress(CheckOutcome, NoResponse, MissingMeans):
            self.result(scenario)

    def finish_background(self) -> None:
        """Wait until no scenario runs in the background; none is started there later."""
        self._pool.shutdown(wait=True)

    def close(self) -> None:
        """Start no further scenario and wait for the running ones."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _started(self, scenario: Callable[[R], Any]) -> Future[Any]:
        """Return the future of a scenario; run it in this thread if it was not started yet."""
        with self._lock:
            is_new = scenario not in self._results
            future = self._results.setdefault(scenario, Future())
        if is_new:
            self._run_scenario(scenario, future)
        return future

    def _run_scenario(self, scenario: Callable[[R], Any], future: Future[Any]) -> None:
        """Run a scenario; retry it if a broken connection or a gateway ended it."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._run.wire.checking(scenario.__name__):
                    future.set_result(scenario(self._run))
            except NoResponse as no_response:
                if attempt == _ATTEMPTS or no_response.permanent:
                    future.set_exception(no_response)
                    return
                self._run.sleep(_BETWEEN * attempt)
            except BaseException as error:  # noqa: BLE001 - each check that needs the scenario raises it again
                future.set_exception(error)
                return
            else:
                return
