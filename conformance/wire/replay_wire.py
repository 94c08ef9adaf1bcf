"""A wire that answers from the recording of a run instead of a network."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, defaultdict, deque
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import NoResponse, NotSent
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.wire.client import Observer
    from conformance.wire.exchange import Exchange, SentRequest
    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request
    from conformance.wire.settings import WireSettings
    from conformance.wire.waits import Waiting

_UNDOING: Final = "undoing"
"""Who sends what no check asked for, after the checks."""

_CONNECTION: Final = "connection"
"""Who searches for a target that was lost; nobody waits for that."""

OWNERSHIP: Final = "ownership"
"""Who reads what a guard must know before something is written to it."""

_BESIDE: Final = frozenset({_CONNECTION, OWNERSHIP})
"""Senders that no check waits for: whether they send anything depends on which of two checks comes first."""

_GIVEN_UP: Final = "the run was stopped"


class NotRecorded(Exception):
    """A check asks for what the recording does not hold: it belongs to another suite, or was changed."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """What a request and its record have in common."""

    check: str
    method: str
    url: str
    body: bytes | None
    credential: str | None
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, check: str, request: Request, sent: SentRequest) -> RequestKey:
        """The likeness of a request, by the record of its request."""
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
"""A request's attempts, the first one first."""


def _may_be_sent_again(exchange: Exchange) -> bool:
    """Whether a further attempt may follow: what had its response was not sent again."""
    try:
        _ = exchange.response
    except NoResponse:
        return True
    return False


class _Waiting:
    """The chains that nobody has asked for, by what they are alike in and by their last number; no step searches."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        begun: defaultdict[tuple[RequestKey, int], deque[_Chain]] = defaultdict(deque)
        chains: list[tuple[RequestKey, _Chain]] = []
        for exchange in exchanges:
            likeness = RequestKey.of(exchange.check, exchange.request, exchange.sent_request)
            earlier = begun[likeness, exchange.attempt - 1]
            if earlier:
                chain = earlier.popleft()
                chain.append(exchange)
            else:
                chain = [exchange]
                chains.append((likeness, chain))
            if _may_be_sent_again(exchange):
                begun[likeness, exchange.attempt].append(chain)
        self._chains: defaultdict[RequestKey, OrderedDict[int, _Chain]] = defaultdict(OrderedDict)
        self._alike = {chain[-1].number: likeness for likeness, chain in chains}
        for likeness, chain in chains:
            self._chains[likeness][chain[-1].number] = chain

    def take(self, likeness: RequestKey, number: int | None) -> _Chain | None:
        """The first chain of a likeness, or the one whose last number is given; None if there is none."""
        chains = self._chains.get(likeness)
        if not chains:
            return None
        return chains.popitem(last=False)[1] if number is None else chains.pop(number, None)

    def claim(self, number: int) -> _Chain:
        """The chain that ends with a number, whatever it is like; empty if none waits."""
        likeness = self._alike.get(number)
        return [] if likeness is None else self._chains[likeness].pop(number, [])

    @property
    def any_for_checks(self) -> bool:
        """Whether something is left that a check may ask for."""
        return any(chains for likeness, chains in self._chains.items() if likeness.check != _UNDOING)

    @property
    def exchanges(self) -> list[Exchange]:
        """All that nobody has asked for."""
        return [exchange for chains in self._chains.values() for chain in chains.values() for exchange in chain]


class ReplayWire:
    """Answers requests from a recording; what ``Wire`` offers to checks and scenarios is here too.

    Args:
        settings: The target as it was, with other keys of the same names.
        redactor: Knows those keys.
        exchanges: The recording.
        under: The context manager that names who sends, and who that is.
        withheld: Why the next calls were not sent in the recorded run; None if they were.
        stopped: Why the recorded run sent nothing more at some time; None if it came to its end.
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
        ordered = sorted(exchanges, key=lambda one: one.number)
        over = next((exchange.number for exchange in ordered if exchange.check == _UNDOING), math.inf)
        beside = [exchange for exchange in ordered if exchange.check in _BESIDE and exchange.number < over]
        self._beside = {exchange.number: exchange for exchange in beside}
        self._waiting = _Waiting(exchange for exchange in ordered if exchange.check not in _BESIDE)
        self.stopped = stopped
        self.unrecorded: list[str] = []

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Everything given so far, and what was sent beside it by then, in order of numbers."""
        with self._lock:
            reached = max(self._given, default=0) if self._waiting.any_for_checks else math.inf
            beside = {number: exchange for number, exchange in self._beside.items() if number < reached}
            return tuple(exchange for _, exchange in sorted((self._given | beside).items()))

    @property
    def waiting(self) -> Waiting | None:
        """None: a replay waits for nothing."""
        return None

    @property
    def sent(self) -> int:
        """How many requests the recorded run had sent by then."""
        with self._lock:
            return max(self._given, default=0)

    @property
    def is_over(self) -> bool:
        """Never, as far as pauses go: they take no time."""
        return False

    @property
    def service_clock(self) -> float | None:
        """What the recorded run took the service's clock to be ahead of its own, in seconds."""
        return self._service_clock()

    @property
    def unused(self) -> list[Exchange]:
        """The exchanges that nobody has asked for, in order of numbers."""
        with self._lock:
            left = [exchange for exchange in self._waiting.exchanges if exchange.check != _UNDOING]
        return sorted(left, key=lambda exchange: exchange.number)

    def send(self, request: Request) -> Exchange:
        """The recorded exchange of a request.

        Raises:
            NotRecorded: There is none.
            RunStopped: The recorded run was over by then.
        """
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """The recorded exchanges of requests, in the order of the calls.

        Raises:
            NotRecorded: One of them has none.
            RunStopped: The recorded run was over by then.
            NotSent: One of them was withheld in the recorded run.
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
            except RunStopped as stopped:  # amid calls of which some had been sent
                over = over or stopped
        if over is not None:
            raise over
        return given

    def claim(self, numbers: Iterable[int]) -> None:
        """Give exchanges that were sent by something which is not done again."""
        with self._lock:
            claimed = [exchange for number in numbers for exchange in self._waiting.claim(number)]
            self._given |= {exchange.number: exchange for exchange in claimed}

    def observe(self, observer: Observer) -> None:
        """Let an observer see every exchange from now on."""
        self._observers.append(observer)

    def checking(self, name: str) -> AbstractContextManager[None]:
        """Name the check or scenario that asks, inside a ``with``."""
        return self._under(name)

    @contextmanager
    def undoing(self, seconds: float | None = None) -> Iterator[None]:  # noqa: ARG002 - as the wire has it
        """Do nothing: a recording has no limits."""
        yield

    def undisturbed(self) -> AbstractContextManager[None]:
        """Do nothing: what others wrote meanwhile is recorded."""
        return nullcontext()

    def end(self, reason: str) -> None:
        """Nothing ends a replay but its recording."""

    def stop(self, reason: str) -> None:
        """Give nothing more that is not recorded, and say why. An earlier reason stays."""
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
        if self.stopped is not None and _GIVEN_UP in (exchanges[-1].error or ""):
            raise RunStopped(self.stopped, exchanges[-1])
        return exchanges[-1]

    def _taken(self, request: Request, number: int | None) -> _Chain:
        likeness = RequestKey.of(
            self._current(), request, self._request_builder.record(request, self._request_builder.writable(request)[0])
        )
        with self._lock:
            found = self._waiting.take(likeness, number)
        if found is not None:
            return found
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        message = f"{likeness.check} asks for {likeness.method} {likeness.url}, which the recording does not hold"
        self.unrecorded.append(message)
        raise NotRecorded(message)


def are_alike(requests: Sequence[Request]) -> bool:
    """Whether some of several requests cannot be told apart by their records."""
    seen = {
        (request.method, request.path, request.body, None if request.credential is None else request.credential.name)
        for request in requests
    }
    return len(seen) < len(requests)
