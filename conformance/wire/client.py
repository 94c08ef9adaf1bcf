"""The wire: the HTTP client through which the suite sends every request."""

from __future__ import annotations

import asyncio
import threading
import time
from bisect import insort
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, Protocol

from conformance.wire.attempt import Sender
from conformance.wire.clock import Clock, SystemClock
from conformance.wire.connection import ConnectionPool
from conformance.wire.dispatcher import Dispatcher, Job
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.resolving import DaemonExecutor
from conformance.wire.run_limits import Limits, RunStopped, Undoing
from conformance.wire.write_locks import WriteLocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import httpx

    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request
    from conformance.wire.settings import WireSettings
    from conformance.wire.waits import Waiting

    Guard = Callable[[Sequence[Request]], object]

_CLOSING: Final = 5.0
_POLL_SECONDS: Final = 0.02
_FINISHING: Final = 4.0
"""Seconds that a write in flight gets when the run is stopped."""

_LIVENESS_SECONDS: Final = 1.0
_CLOSED: Final = "the wire was closed"


class Observer(Protocol):
    """Observer of every exchange of the run; called in the sending thread, so it must be fast."""

    def before(self, request: Request) -> None:
        """Handle a request that is about to be sent; an exception prevents that and is raised by ``send``."""

    def after(self, exchange: Exchange) -> None:
        """Handle a recorded exchange: one for every attempt of a request."""


@dataclass(slots=True)
class _Batch:
    """Requests whose responses one thread waits for."""

    results: list[Exchange | None]
    outbox: SimpleQueue[tuple[int, Exchange | BaseException, bool]] = field(default_factory=SimpleQueue)
    under_way: dict[int, asyncio.Task[Exchange] | None] = field(default_factory=dict)
    failure: BaseException | None = None


class Wire:
    """Thread-safe client of one target that records every exchange.

    Args:
        settings: The target and the limits.
        redactor: Takes out the run's secrets; those of the settings are added to it.
        clock: The run's clock.
        transport: The transport in place of connections to the target (``httpx.ASGITransport`` for an application in
            this process).

    Raises:
        ValueError: The settings name certificate authorities that cannot be used.
    """

    def __init__(
        self,
        settings: WireSettings,
        redactor: Redactor,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        for name, value in settings.secrets:
            redactor.add(name, value)
        clock = clock or SystemClock()
        request_builder = RequestBuilder(settings, redactor)
        if transport is None:
            transport = ConnectionPool(settings.ssl_context(), settings.workers, settings.proxy_server())
        sender = Sender(request_builder, clock, transport)
        self._limits = Limits(settings, clock)
        self._dispatcher = Dispatcher(settings, request_builder, sender, self._limits, clock, self._record)
        self._sender = sender
        self._width = settings.workers
        self._exchanges: list[Exchange] = []
        self._guards: list[Guard] = []
        self._write_locks = WriteLocks()
        self._observers: list[Observer] = []
        self._tasks: dict[asyncio.Task[Exchange], Job] = {}
        self._check: ContextVar[str] = ContextVar("check", default="run")
        self._undoing: ContextVar[Undoing | None] = ContextVar("undoing", default=None)
        self._closing = False
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor())
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)
        self._thread.start()

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """All exchanges so far by number, retries included."""
        return tuple(self._exchanges)

    @property
    def sent(self) -> int:
        """The number of requests sent, retries included."""
        return self._limits.sent

    @property
    def stopped(self) -> str | None:
        """The reason why nothing more is sent; None while the run goes on."""
        return self._limits.stopped

    @property
    def is_over(self) -> bool:
        """Whether no further request would be sent; to be read before a pause."""
        return self._limits.is_over()

    @property
    def service_clock(self) -> float | None:
        """Seconds that the service's clock is ahead of the suite's by its latest Date headers; None before any."""
        return self._dispatcher.rate_limiter.service.offset

    @property
    def waiting(self) -> Waiting | None:
        """The wait of the requests in flight, with its end; None if they do not wait."""
        return self._dispatcher.waiting

    def send(self, request: Request) -> Exchange:
        """Send a request, with retries if they are needed and safe.

        Returns:
            The last attempt; its ``response`` raises ``NoResponse`` if there is none.

        Raises:
            RunStopped: The run is over.
        """
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send independent requests, several at once.

        It waits for writes of other scenarios to the same resources.

        Returns:
            The last attempt of each, in the order of the calls.

        Raises:
            RunStopped: The run is over; earlier responses are recorded.
            NotSent: A guard refused one of them; none is sent then.
        """
        with self._write_locks.of(self._check.get(), requests):
            for guard in self._guards:
                guard(requests)
            return self._send_all(requests)

    def _send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        batch = _Batch([None] * len(requests))
        waiting = deque(enumerate(requests))
        try:
            while batch.under_way or (waiting and batch.failure is None):
                while waiting and len(batch.under_way) < self._width and batch.failure is None:
                    try:
                        self._begin(batch, *waiting.popleft())
                    except RunStopped as stopped:  # requests in flight are still completed
                        batch.failure = stopped
                if batch.under_way:
                    self._collect(batch)
        except BaseException:
            self._abandon(batch)
            raise
        if batch.failure is not None:
            raise batch.failure
        return [exchange for exchange in batch.results if exchange is not None]

    def undisturbed(self) -> AbstractContextManager[None]:
        """Block the writes of other scenarios inside a ``with``, which begins when those in flight are complete.

        The block must not wait for another scenario.
        """
        return self._write_locks.undisturbed(self._check.get())

    def reserve_for(self, to_undo: Callable[[], int]) -> None:
        """Reserve the time and the main key's requests that undoing takes.

        Args:
            to_undo: Returns the current number of changes to undo.
        """
        self._limits.to_undo = to_undo

    def guard(self, guard: Guard) -> None:
        """Let a guard inspect all requests from now on before they are sent.

        Args:
            guard: Raises ``NotSent`` if one of several requests must not be sent; it may send reads itself.
        """
        self._guards.append(guard)

    def observe(self, observer: Observer) -> None:
        """Add an observer of every exchange from now on."""
        self._observers.append(observer)

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Attribute the exchanges of this thread to a check or scenario inside a ``with``."""
        token = self._check.set(name)
        try:
            yield
        finally:
            self._check.reset(token)

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Let this thread send inside a ``with`` even if the run is over or its budget is used up.

        It may for the settings' ``undo_seconds``, and after ``stop`` for ``hurried_undo_seconds`` at most.
        """
        if self.stopped is not None:
            self._await_writes()
        token = self._undoing.set(self._limits.undoing())
        try:
            yield
        finally:
            self._undoing.reset(token)

    def end(self, reason: str) -> None:
        """End the run gracefully: requests in flight are completed, and every later send raises ``RunStopped``.

        Args:
            reason: The reason as a clause. An earlier reason stays.
        """
        self._limits.end(reason)

    def stop(self, reason: str) -> None:
        """End the run at once: reads in flight are cancelled, and every later send raises ``RunStopped``.

        Writes in flight get some seconds, because a service carries them out anyway, perhaps after the undoing.

        Args:
            reason: The reason as a clause. An earlier reason stays.
        """
        self._limits.hurry(reason)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel_all)

    def close(self) -> None:
        """Cancel requests in flight, undoing included, and close the connections; idempotent."""
        self._limits.hurry(_CLOSED)
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(_CLOSING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING)
        self._loop.close()

    def _begin(self, batch: _Batch, index: int, request: Request) -> None:
        if self.stopped is not None and self._undoing.get() is None:
            raise RunStopped(self.stopped)  # before an observer records what is not sent
        if self._undoing.get() is None:
            self._limits.ensure_room(len(self._tasks))  # likewise
        for observer in self._observers:
            observer.before(request)

        def report(exchange: Exchange) -> None:
            batch.outbox.put((index, exchange, False))

        job = Job(request, self._check.get(), self._undoing.get(), report)
        try:
            self._loop.call_soon_threadsafe(self._start, job, batch, index)
        except RuntimeError:  # the loop is closed
            raise RunStopped(self.stopped or _CLOSED) from None
        batch.under_way.setdefault(index)

    def _collect(self, batch: _Batch) -> None:
        """Take one report of the requests in flight."""
        index, result, ended = self._next(batch)
        if ended:
            del batch.under_way[index]
            if isinstance(result, BaseException):
                batch.failure = batch.failure or result
            else:
                batch.results[index] = result
        elif not isinstance(result, BaseException):
            for observer in self._observers:
                observer.after(result)

    def _next(self, batch: _Batch) -> tuple[int, Exchange | BaseException, bool]:
        while True:
            try:
                return batch.outbox.get(timeout=_LIVENESS_SECONDS)
            except Empty:
                if not self._thread.is_alive():  # another thread closed the wire just when this one began
                    raise RunStopped(self.stopped or _CLOSED) from None

    def _abandon(self, batch: _Batch) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: self._cancel(task for task in batch.under_way.values() if task))

    def _await_writes(self) -> None:
        """Wait for the writes in flight of a run that is over: what they did can be undone once it is done."""
        end = time.monotonic() + _FINISHING + _LIVENESS_SECONDS
        while any(map(_is_writing, list(self._tasks.values()))) and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)

    def _start(self, job: Job, batch: _Batch, index: int) -> None:
        if self._closing:
            batch.outbox.put((index, RunStopped(self.stopped or _CLOSED), True))
            return

        def ended(task: asyncio.Task[Exchange]) -> None:
            del self._tasks[task]
            batch.outbox.put((index, self._result(task, job), True))

        task = self._loop.create_task(self._dispatcher.carry_out(job))
        batch.under_way[index] = task
        self._tasks[task] = job
        task.add_done_callback(ended)

    def _result(self, task: asyncio.Task[Exchange], job: Job) -> Exchange | BaseException:
        if task.cancelled():
            past = [] if job.exchange is None else [job.exchange]
            return RunStopped(self.stopped or "it was given up", *past)
        return task.exception() or task.result()

    def _record(self, exchange: Exchange) -> None:
        insort(self._exchanges, exchange, key=lambda recorded: recorded.number)

    def _cancel_all(self) -> None:
        self._dispatcher.abandon()
        self._cancel([task for task, job in self._tasks.items() if job.undoing is None])

    def _cancel(self, tasks: Iterable[asyncio.Task[Exchange]]) -> None:
        """Cancel tasks; those whose writes are in flight later."""
        for task in tasks:
            job = self._tasks.get(task)
            if job is not None and _is_writing(job):
                self._loop.call_later(_FINISHING, task.cancel)
            else:
                task.cancel()

    async def _shut(self) -> None:
        self._closing = True
        search = self._dispatcher.abandon()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *search, return_exceptions=True)
        await self._sender.aclose()


def _is_writing(job: Job) -> bool:
    """Whether a write of the run is in flight, which the service may carry out although its response is not awaited."""
    return job.undoing is None and job.is_in_flight and job.request.method != "GET"
