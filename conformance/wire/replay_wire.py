"""Wire that returns the recorded exchanges of a run instead of sending requests."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, defaultdict, deque
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import CONNECTION, CUT_OFF, OWNERSHIP, UNDOING, NoResponse, NotSent
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from conformance.wire.client import Observer
    from conformance.wire.exchange import Exchange, SentRequest
    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request
    from conformance.wire.settings import WireSettings
    from conformance.wire.waits import Waiting

BESIDE: Final = frozenset({CONNECTION, OWNERSHIP})
"""Senders that no check waits for: whether they send anything depends on the order of checks."""


class NotRecorded(Exception):
    """A check sends a request that is not in the recording: it is of another suite, or was changed."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The properties by which a request and its record are matched."""

    check: str
    method: str
    url: str
    body: bytes | None
    credential: str | None
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, check: str, request: Request, sent: SentRequest) -> RequestKey:
        """Return the key of a request by its record."""
        own = {name.lower() for name, _ in request.headers} | {"authorization"}
        return cls(
            check=check,
            method=sent.method,
            url=sent.url,
            body=None if request.body is None else sent.body,
            credential=None if request.credential is None else request.credential.name,
            headers=tuple((name.lower(), value) for name, value in sent.headers if name.lower() in own),
        )


_Chain = list["Exchange"]
"""The attempts of a request in order."""


def _may_be_sent_again(exchange: Exchange) -> bool:
    """Whether a retry may follow: a request that got its response was not sent again."""
    try:
        _ = exchange.response
    except NoResponse:
        return True
    return False


def _purpose(request: Request) -> tuple[object, ...]:
    """Return the facts about a request that it does not show itself."""
    is_probe = request.probe is not None
    return request.operation.id, is_probe, request.repeatable, request.expects_429, request.unjudged


class _Unreplayed:
    """The chains not replayed yet, by request key and by last number, in constant time."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        begun: defaultdict[tuple[RequestKey, int], deque[_Chain]] = defaultdict(deque)
        chains: list[tuple[RequestKey, _Chain]] = []
        for exchange in exchanges:
            key = RequestKey.of(exchange.check, exchange.request, exchange.sent_request)
            earlier = begun[key, exchange.attempt - 1]
            if earlier:
                chain = earlier.popleft()
                chain.append(exchange)
            else:
                chain = [exchange]
                chains.append((key, chain))
            if _may_be_sent_again(exchange):
                begun[key, exchange.attempt].append(chain)
        self._chains: defaultdict[RequestKey, OrderedDict[int, _Chain]] = defaultdict(OrderedDict)
        self._alike = {chain[-1].number: key for key, chain in chains}
        for key, chain in chains:
            self._chains[key][chain[-1].number] = chain

    def take(self, key: RequestKey, number: int | None) -> _Chain | None:
        """Take the first chain of a request key, or the chain with this last number; None if there is none."""
        chains = self._chains.get(key)
        if not chains:
            return None
        return chains.popitem(last=False)[1] if number is None else chains.pop(number, None)

    def claim(self, number: int) -> _Chain:
        """Take the chain with this last number, whatever its request; empty if there is none."""
        key = self._alike.get(number)
        return [] if key is None else self._chains[key].pop(number, [])

    @property
    def any_for_checks(self) -> bool:
        """Whether a chain of a check is left."""
        return any(chains for key, chains in self._chains.items() if key.check != UNDOING)

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges not replayed yet."""
        return [exchange for chains in self._chains.values() for chain in chains.values() for exchange in chain]


class ReplayWire:
    """Replays a recording with the interface that ``Wire`` has for checks and scenarios.

    Args:
        settings: The recorded target, with other keys of the same names.
        redactor: Takes out those keys.
        exchanges: The recording.
        under: The context manager that sets the sender.
        current: Returns the sender.
        order: Returns the numbers of the next requests if their records are equal.
        service_clock: Returns the recorded offset of the service's clock.
        withheld: Returns why the next requests were not sent in the recorded run; None if they were.
        stopped: Why the recorded run stopped early; None if it was complete.

    Attributes:
        unrecorded: The requests that the recording does not contain, a sentence each.
        unlike: The replayed exchanges whose requests have other headers, or another purpose, than in this suite.
    """

    def __init__(  # noqa: PLR0913 - a recording has these parts
        self,
        settings: WireSettings,
        redactor: Redactor,
        exchanges: Iterable[Exchange],
        *,
        under: Callable[[str], AbstractContextManager[None]],
        current: Callable[[], str],
        order: Callable[[], Sequence[int]] = tuple,
        service_clock: Callable[[], float | None] = lambda: None,
        withheld: Callable[[], str | None] = lambda: None,
        stopped: str | None = None,
    ) -> None:
        for name, value in settings.secrets:
            redactor.add(name, value)
        self._request_builder = RequestBuilder(settings, redactor)
        self._under = under
        self._current = current
        self._order = order
        self._service_clock = service_clock
        self._withheld = withheld
        self._lock = threading.Lock()
        self._observers: list[Observer] = []
        self._given: dict[int, Exchange] = {}
        ordered = sorted(exchanges, key=lambda exchange: exchange.number)
        over = next((exchange.number for exchange in ordered if exchange.check == UNDOING), math.inf)
        beside = [exchange for exchange in ordered if exchange.check in BESIDE and exchange.number < over]
        self._beside = {exchange.number: exchange for exchange in beside}
        self._unreplayed = _Unreplayed(exchange for exchange in ordered if exchange.check not in BESIDE)
        self.stopped = stopped
        self.unrecorded: list[str] = []
        self.unlike: list[Exchange] = []

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The exchanges replayed so far, and those of other senders by then, in order of numbers."""
        with self._lock:
            reached = max(self._given, default=0) if self._unreplayed.any_for_checks else math.inf
            beside = {number: exchange for number, exchange in self._beside.items() if number < reached}
            return tuple(exchange for _, exchange in sorted((self._given | beside).items()))

    @property
    def waiting(self) -> Waiting | None:
        """None, because a replay does not wait."""
        return None

    @property
    def sent(self) -> int:
        """The number of requests that the recorded run had sent by then."""
        with self._lock:
            return max(self._given, default=0)

    @property
    def is_over(self) -> bool:
        """False, because pauses take no time in a replay."""
        return False

    @property
    def service_clock(self) -> float | None:
        """Seconds by which the service's clock was ahead in the recorded run."""
        return self._service_clock()

    @property
    def unused(self) -> list[Exchange]:
        """The exchanges that no check has requested, in order of numbers."""
        with self._lock:
            left = [exchange for exchange in self._unreplayed.exchanges if exchange.check != UNDOING]
        return sorted(left, key=lambda exchange: exchange.number)

    def send(self, request: Request) -> Exchange:
        """Return the recorded exchange of a request.

        Raises:
            NotRecorded: There is none.
            RunStopped: The recorded run was over by then.
        """
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Return the recorded exchanges of requests, in the order of the requests.

        Raises:
            NotRecorded: A request has none.
            RunStopped: The recorded run was over by then.
            NotSent: A guard refused one of them in the recorded run.
        """
        if (reason := self._withheld()) is not None:
            raise NotSent(reason)
        numbers: Sequence[int | None] = self._order() if are_alike(requests) else ()
        numbers = numbers if len(numbers) == len(requests) else [None] * len(requests)
        given: list[Exchange] = []
        over: RunStopped | None = None
        for request, number in zip(requests, numbers, strict=True):
            try:
                given.append(self._give(request, number))
            except RunStopped as stopped:  # some of the requests had been sent
                over = over or stopped
        if over is not None:
            raise over
        return given

    def claim(self, numbers: Iterable[int]) -> None:
        """Mark exchanges as replayed whose sender does not run in a replay."""
        with self._lock:
            claimed = [exchange for number in numbers for exchange in self._unreplayed.claim(number)]
            self._given |= {exchange.number: exchange for exchange in claimed}

    def observe(self, observer: Observer) -> None:
        """Add an observer of every exchange from now on."""
        self._observers.append(observer)

    def checking(self, name: str) -> AbstractContextManager[None]:
        """Attribute requests to a check or scenario inside a ``with``."""
        return self._under(name)

    def undoing(self) -> AbstractContextManager[None]:
        """Do nothing: a recording has no limits."""
        return nullcontext()

    def undisturbed(self) -> AbstractContextManager[None]:
        """Do nothing: the writes of other scenarios are recorded."""
        return nullcontext()

    def end(self, reason: str) -> None:
        """Do nothing: only the recording ends a replay."""

    def stop(self, reason: str) -> None:
        """Set the reason why requests without a recording are stopped. An earlier reason stays."""
        self.stopped = self.stopped or reason

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def _give(self, request: Request, number: int | None) -> Exchange:
        for observer in self._observers:
            observer.before(request)
        chain = self._taken(request, number)
        exchanges = [replace(exchange, request=request) for exchange in chain]
        with self._lock:
            self._given |= {exchange.number: exchange for exchange in exchanges}
        for exchange in exchanges:
            for observer in self._observers:
                observer.after(exchange)
        if self.stopped is not None and CUT_OFF in (exchanges[-1].error or ""):
            raise RunStopped(self.stopped, exchanges[-1])
        return exchanges[-1]

    def _taken(self, request: Request, number: int | None) -> _Chain:
        record = self._request_builder.record(request, self._request_builder.writable(request)[0])
        key = RequestKey.of(self._current(), request, record)
        with self._lock:
            found = self._unreplayed.take(key, number)
        if found is not None:
            sent = record, _purpose(request)
            self.unlike += [
                candidate for candidate in found if (candidate.sent_request, _purpose(candidate.request)) != sent
            ]
            return found
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        message = f"{key.check} asks for {key.method} {key.url}, which the recording does not contain"
        self.unrecorded.append(message)
        raise NotRecorded(message)


def are_alike(requests: Sequence[Request]) -> bool:
    """Whether several requests have equal records."""
    seen = {
        (request.method, request.path, request.body, None if request.credential is None else request.credential.name)
        for request in requests
    }
    return len(seen) < len(requests)
