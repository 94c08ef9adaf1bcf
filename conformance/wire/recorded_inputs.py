"""What checks were told beside HTTP: noted in a run, and told again when it is judged again."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from conformance.wire.replay_wire import NotRecorded
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

_T = TypeVar("_T")

RUN: Final = "run"
"""Who asks where neither a check nor a scenario does."""


class RecordedInputs(Protocol):
    """Answers questions of checks, from the run itself or from what was noted of it."""

    @property
    def current(self) -> str:
        """The check or scenario that this thread works for."""

    def under(self, check: str) -> AbstractContextManager[None]:
        """Let this thread work for a check, inside a ``with``."""

    def record(
        self, question: str, response: Callable[[], _T], write: Callable[[_T], object], read: Callable[[Any], _T]
    ) -> _T:
        """The answer to a question; the same check may ask it several times.

        Args:
            question: The question.
            response: Finds the response in a run.
            write: Makes JSON of a response, without secrets.
            read: Makes a response of that JSON.

        Raises:
            NotRecorded: Nothing was noted of this question.
        """

    def record_if_any(self, question: str, response: Callable[[], _T]) -> _T | None:
        """The answer to a question that is mostly answered with nothing, which is then not noted; JSON as it is."""


class _CurrentCheck:
    """Knows whom each thread works for."""

    def __init__(self) -> None:
        self._check: ContextVar[tuple[str, int | None]] = ContextVar("check", default=(RUN, None))

    @property
    def current(self) -> str:
        """The check or scenario that this thread works for.

        A thread that a check has begun in its own context, to do something meanwhile, goes by a name of its own: which
        of the two comes first is no matter of the seed.
        """
        check, thread = self._check.get()
        return check if thread in {None, threading.get_ident()} else f"{check}, meanwhile"

    @contextmanager
    def under(self, check: str) -> Iterator[None]:
        """Let this thread work for a check, inside a ``with``."""
        token = self._check.set((check, threading.get_ident()))
        try:
            yield
        finally:
            self._check.reset(token)


class InputRecorder(_CurrentCheck):
    """The notes of a run."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._lines: list[Mapping[str, object]] = []
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._aside: ContextVar[list[int] | None] = ContextVar("aside", default=None)

    @property
    def lines(self) -> Sequence[Mapping[str, object]]:
        """The notes so far; texts in them may hold secrets."""
        with self._lock:
            return tuple(self._lines)

    def record(
        self,
        question: str,
        response: Callable[[], _T],
        write: Callable[[_T], object],
        read: Callable[[Any], _T],  # noqa: ARG002 - what a replay needs
    ) -> _T:
        """The response, which is noted together with the exchanges that were sent for it."""
        exchanges: list[int] = []
        token = self._aside.set(exchanges)
        try:
            found = response()
        finally:
            self._aside.reset(token)
        sent = {"exchanges": exchanges} if exchanges else {}
        self._add({"check": self.current, "asked": question, "told": write(found), **sent})
        return found

    def record_if_any(self, question: str, response: Callable[[], _T]) -> _T | None:
        """The response, which is noted with the number of the question where it is not empty.

        What is sent to find another answer is not done again in a replay, so that it counts for nothing.
        """
        found = response()
        if self._aside.get() is not None:
            return found
        key = self.current, question
        with self._lock:
            self._counts[key] += 1
            number = self._counts[key]
        if found is not None and found != []:
            self._add({"check": key[0], "asked": question, "time": number, "told": found})
        return found

    def sent(self, numbers: Iterable[int]) -> None:
        """Remember exchanges that were sent while a response is being found."""
        aside = self._aside.get()
        if aside is not None:
            aside.extend(numbers)

    def _add(self, line: Mapping[str, object]) -> None:
        with self._lock:
            self._lines.append(line)


class InputPlayer(_CurrentCheck):
    """The notes of a recorded run.

    Args:
        lines: The notes.
        stopped: Why the run sent nothing more at some time, so that what was asked later was not noted; None if it
            came to its end.

    Attributes:
        unrecorded: What was asked and not noted, a sentence each.
        claim: Told of the exchanges that were sent for a response.
    """

    def __init__(self, lines: Iterable[Mapping[str, Any]], stopped: str | None = None) -> None:
        super().__init__()
        self._stopped = stopped
        self.unrecorded: list[str] = []
        self.claim: Callable[[Iterable[int]], object] = tuple
        self._lock = threading.Lock()
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._lines_of: defaultdict[tuple[str, str], deque[Mapping[str, Any]]] = defaultdict(deque)
        self._rare: dict[tuple[str, str, int], Any] = {}
        for line in lines:
            if "time" in line:
                self._rare[line["check"], line["asked"], line["time"]] = line["told"]
            else:
                self._lines_of[line["check"], line["asked"]].append(line)

    @property
    def unused(self) -> list[str]:
        """What was noted and not asked, a sentence each."""
        with self._lock:
            left = [key for key, lines in self._lines_of.items() for _ in lines]
            left += [(check, question) for check, question, _ in self._rare]
        return [
            f"the recorded run told {check} the answer to {question}, which nobody asked" for check, question in left
        ]

    def record(
        self,
        question: str,
        response: Callable[[], _T],  # noqa: ARG002 - what a run needs
        write: Callable[[_T], object],  # noqa: ARG002 - as above
        read: Callable[[Any], _T],
    ) -> _T:
        """The response that was noted.

        Raises:
            NotRecorded: Nothing was.
            RunStopped: Nothing was, because the run had been stopped.
        """
        key = self.current, question
        with self._lock:
            lines = self._lines_of.get(key)
            line = lines.popleft() if lines else None
        if line is None and self._stopped is not None:
            raise RunStopped(self._stopped)
        if line is None:
            message = f"{key[0]} asks for {question}, which the run did not record"
            self.unrecorded.append(message)
            raise NotRecorded(message)
        self.claim(line.get("exchanges", ()))
        return read(line["told"])

    def record_if_any(self, question: str, response: Callable[[], _T]) -> _T | None:  # noqa: ARG002 - what a run needs
        """The response that was noted for this time of asking; None for nothing."""
        key = self.current, question
        with self._lock:
            self._counts[key] += 1
            found: _T | None = self._rare.pop((*key, self._counts[key]), None)
        return found
