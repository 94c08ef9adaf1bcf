"""A wire that answers from the recording of a run instead of a network."""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.wire.exchange import Unanswered, Withheld
from conformance.wire.limits import RunStopped
from conformance.wire.preparing import Preparer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.wire.call import Call
    from conformance.wire.client import Observer
    from conformance.wire.exchange import Exchange, SentRequest
    from conformance.wire.redaction import Redactor
    from conformance.wire.settings import WireSettings

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
class Likeness:
    """What a call and its record have in common."""

    check: str
    method: str
    url: str
    body: bytes | None
    credential: str | None
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, check: str, call: Call, request: SentRequest) -> Likeness:
        """The likeness of a call, by the record of its request."""
        own = {name.lower() for name, _ in call.headers} | {"authorization"}
        return cls(
            check=check,
            method=request.method,
            url=request.url,
            body=None if call.body is None else request.body,
            credential=None if call.credential is None else call.credential.name,
            headers=tuple((name.lower(), value) for name, value in request.headers if name.lower() in own),
        )


@dataclass(slots=True)
class _Chain:
    """A call's attempts, the first one first."""

    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def last(self) -> Exchange:
        return self.exchanges[-1]

    def is_followed_by(self, exchange: Exchange) -> bool:
        """Whether an exchange may be the next attempt: what had its answer was not sent again."""
        if self.last.attempt != exchange.attempt - 1:
            return False
        try:
            _ = self.last.answer
        except Unanswered:
            return True
        return False


class ReplayWire:
    """Answers calls from a recording; what ``Wire`` offers to checks and journeys is here too.

    Args:
        settings: The target as it was, with other keys of the same names.
        redactor: Knows those keys.
        exchanges: The recording.
        under: The context manager that names who sends, and who that is.
        withheld: Why the next calls were not sent in the recorded run; None where they were.
        stopped: Why the recorded run sent nothing more at some time; None where it came to its end.
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
        self._preparer = Preparer(settings, redactor)
        self._under = under
        self._current = current
        self._order = order
        self._service_clock = service_clock
        self._withheld = withheld
        self._lock = threading.Lock()
        self._observers: list[Observer] = []
        self._given: dict[int, Exchange] = {}
        self._beside: dict[int, Exchange] = {}
        self._waiting: defaultdict[Likeness, deque[_Chain]] = defaultdict(deque)
        for exchange in sorted(exchanges, key=lambda one: one.number):
            self._file(exchange)
        self.stopped = stopped
        self.missed: list[str] = []

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Everything given so far, and what was sent beside it by then, in order of numbers."""
        with self._lock:
            waits = any(chains for likeness, chains in self._waiting.items() if likeness.check != _UNDOING)
            reached = max(self._given, default=0) if waits else math.inf
            beside = {number: exchange for number, exchange in self._beside.items() if number < reached}
            return tuple(exchange for _, exchange in sorted((self._given | beside).items()))

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
    def unasked(self) -> list[Exchange]:
        """The exchanges that nobody has asked for, in order of numbers."""
        with self._lock:
            left = [exchange for chains in self._waiting.values() for chain in chains for exchange in chain.exchanges]
        return sorted(
            (exchange for exchange in left if exchange.check != _UNDOING), key=lambda exchange: exchange.number
        )

    def send(self, call: Call) -> Exchange:
        """The recorded exchange of a call.

        Raises:
            NotRecorded: There is none.
            RunStopped: The recorded run was over by then.
        """
        return self.send_all([call])[0]

    def send_all(self, calls: Sequence[Call]) -> list[Exchange]:
        """The recorded exchanges of calls, in the order of the calls.

        Raises:
            NotRecorded: One of them has none.
            RunStopped: The recorded run was over by then.
            Withheld: One of them was withheld in the recorded run.
        """
        if (reason := self._withheld()) is not None:
            raise Withheld(reason)
        numbers: Sequence[int | None] = self._order() if are_alike(calls) else ()
        numbers = numbers if len(numbers) == len(calls) else [None] * len(calls)
        given: list[Exchange] = []
        over: RunStopped | None = None
        for call, number in zip(calls, numbers, strict=True):
            try:
                given.append(self._give(call, number))
            except RunStopped as stopped:  # amid calls of which some had been sent
                over = over or stopped
        if over is not None:
            raise over
        return given

    def claim(self, numbers: Iterable[int]) -> None:
        """Give exchanges that were sent by something which is not done again."""
        wanted = set(numbers)
        with self._lock:
            found = [chain for chains in self._waiting.values() for chain in chains if chain.last.number in wanted]
            for chains in self._waiting.values():
                for chain in [one for one in chains if one in found]:
                    chains.remove(chain)
            self._given |= {exchange.number: exchange for chain in found for exchange in chain.exchanges}

    def observe(self, observer: Observer) -> None:
        """Let an observer see every exchange from now on."""
        self._observers.append(observer)

    def checking(self, name: str) -> AbstractContextManager[None]:
        """Name the check or journey that asks, inside a ``with``."""
        return self._under(name)

    @contextmanager
    def undoing(self, seconds: float | None = None) -> Iterator[None]:  # noqa: ARG002 - as the wire has it
        """Do nothing: a recording has no limits."""
        yield

    def stop(self, reason: str) -> None:
        """Give nothing more that is not recorded, and say why. An earlier reason stays."""
        self.stopped = self.stopped or reason

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def _file(self, exchange: Exchange) -> None:
        if exchange.check in _BESIDE:
            self._beside[exchange.number] = exchange
            return
        chains = self._waiting[Likeness.of(exchange.check, exchange.call, exchange.request)]
        begun = next((chain for chain in chains if chain.is_followed_by(exchange)), None)
        if begun is None:
            chains.append(_Chain([exchange]))
        else:
            begun.exchanges.append(exchange)

    def _give(self, call: Call, number: int | None) -> Exchange:
        for observer in self._observers:
            observer.before(call)
        chain = self._taken(call, number)
        exchanges = [replace(exchange, call=call) for exchange in chain.exchanges]
        with self._lock:
            self._given |= {exchange.number: exchange for exchange in exchanges}
        for exchange in exchanges:
            for observer in self._observers:
                observer.after(exchange)
        if self.stopped is not None and _GIVEN_UP in (exchanges[-1].trouble or ""):
            raise RunStopped(self.stopped, exchanges[-1])
        return exchanges[-1]

    def _taken(self, call: Call, number: int | None) -> _Chain:
        likeness = Likeness.of(self._current(), call, self._preparer.record(call, self._preparer.writable(call)))
        with self._lock:
            chains = self._waiting.get(likeness, deque())
            found = next((chain for chain in chains if number is None or chain.last.number == number), None)
            if found is not None:
                chains.remove(found)
                return found
        if self.stopped is not None:
            raise RunStopped(self.stopped)
        message = f"{likeness.check} asks for {likeness.method} {likeness.url}, which the recording does not hold"
        self.missed.append(message)
        raise NotRecorded(message)


def are_alike(calls: Sequence[Call]) -> bool:
    """Whether some of several calls cannot be told apart by their records."""
    seen = {
        (call.method, call.path, call.body, None if call.credential is None else call.credential.name) for call in calls
    }
    return len(seen) < len(calls)
