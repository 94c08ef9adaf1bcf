"""Inputs of checks beside HTTP responses, recorded in a run and replayed when it is re-evaluated."""

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

_RUN: Final = "run"
"""The name for questions outside of checks and scenarios."""


class RecordedInputs(Protocol):
    """Source of the inputs of checks: the run itself or its recording."""

    @property
    def current(self) -> str:
        """The check or scenario of this thread."""

    def under(self, check: str) -> AbstractContextManager[None]:
        """Attribute this thread to a check inside a ``with``."""

    def record(
        self, question: str, find: Callable[[], _T], write: Callable[[_T], object], read: Callable[[Any], _T]
    ) -> _T:
        """Return the answer to a question, which a check may ask several times.

        Args:
            question: The question.
            find: Returns the answer; a replay does not call it.
            write: Converts an answer to JSON, without secrets.
            read: Converts that JSON to an answer.

        Raises:
            NotRecorded: The question was not recorded.
        """

    def record_if_any(self, question: str, find: Callable[[], _T]) -> _T | None:
        """Return the answer to a question, as JSON; an empty answer, the usual one, is not recorded."""


class _CurrentCheck:
    """Knows the check of each thread."""

    def __init__(self) -> None:
        self._check: ContextVar[tuple[str, int | None]] = ContextVar("check", default=(_RUN, None))

    @property
    def current(self) -> str:
        """The check or scenario of this thread.

        A thread that a check started in its own context has its own name, because the order of the two threads does not
        depend on the seed.
        """
        check, thread = self._check.get()
        return check if thread in {None, threading.get_ident()} else f"{check}, meanwhile"

    @contextmanager
    def under(self, check: str) -> Iterator[None]:
        """Attribute this thread to a check inside a ``with``."""
        token = self._check.set((check, threading.get_ident()))
        try:
            yield
        finally:
            self._check.reset(token)


class InputRecorder(_CurrentCheck):
    """Records the inputs of a run."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._lines: list[Mapping[str, object]] = []
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._aside: ContextVar[list[int] | None] = ContextVar("aside", default=None)

    @property
    def lines(self) -> Sequence[Mapping[str, object]]:
        """The inputs so far; their texts may contain secrets."""
        with self._lock:
            return tuple(self._lines)

    def record(
        self,
        question: str,
        find: Callable[[], _T],
        write: Callable[[_T], object],
        read: Callable[[Any], _T],  # noqa: ARG002 - used in a replay
    ) -> _T:
        """Return the answer, and record it with the exchanges that were sent for it."""
        exchanges: list[int] = []
        token = self._aside.set(exchanges)
        try:
            found = find()
        finally:
            self._aside.reset(token)
        sent = {"exchanges": exchanges} if exchanges else {}
        self._add({"check": self.current, "asked": question, "told": write(found), **sent})
        return found

    def record_if_any(self, question: str, find: Callable[[], _T]) -> _T | None:
        """Return the answer, and record it with the number of the question unless it is empty.

        Nothing is recorded while another answer is being found, because a replay does not repeat that.
        """
        found = find()
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
        """Remember exchanges that were sent while an answer is being found."""
        aside = self._aside.get()
        if aside is not None:
            aside.extend(numbers)

    def _add(self, line: Mapping[str, object]) -> None:
        with self._lock:
            self._lines.append(line)


class InputPlayer(_CurrentCheck):
    """Replays the inputs of a recorded run.

    Args:
        lines: The inputs.
        stopped: Why the run stopped early, so that later questions were not recorded; None if it was complete.

    Attributes:
        unrecorded: The questions that were not recorded, a sentence each.
        claim: Called with the exchanges that were sent for an answer.
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
        """The recorded answers that no check asked for, a sentence each."""
        with self._lock:
            left = [key for key, lines in self._lines_of.items() for _ in lines]
            left += [(check, question) for check, question, _ in self._rare]
        return [
            f"the recorded run gave {check} an answer to {question}, which no check asked for"
            for check, question in left
        ]

    def record(
        self,
        question: str,
        find: Callable[[], _T],  # noqa: ARG002 - used in a run
        write: Callable[[_T], object],  # noqa: ARG002 - as above
        read: Callable[[Any], _T],
    ) -> _T:
        """Return the recorded answer.

        Raises:
            NotRecorded: There is none.
            RunStopped: There is none, because the run had been stopped.
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

    def record_if_any(self, question: str, find: Callable[[], _T]) -> _T | None:  # noqa: ARG002 - used in a run
        """Return the answer that was recorded for this repetition of the question, or None."""
        key = self.current, question
        with self._lock:
            self._counts[key] += 1
            found: _T | None = self._rare.pop((*key, self._counts[key]), None)
        return found
