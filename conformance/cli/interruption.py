"""Signal handling of a run: the first signal ends it in order, a second one at once."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.posix import SIGHUP
from conformance.wire.run_limits import StopCause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, SIGHUP)
_STDERR: Final = 2


class _Interrupted(KeyboardInterrupt):
    """A signal was received.

    If a plain ``KeyboardInterrupt`` leaves an ``exec`` of text, CPython ends ``python -m`` by SIGINT, even if the
    exception is caught later; the exit status of the run would be lost.
    """


class Interruption:
    """Signal handlers inside a ``with``; a SIGHUP that is ignored, as under nohup, stays ignored.

    Attributes:
        signal: The first signal received, or None.
        final_message: The message on stderr when a second signal ends the process.
        kill_children: Kills the child processes then; must not wait for a lock.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.final_message = "Ended at once. To undo what the run has left: conformance cleanup DIR"
        self.kill_children: Callable[[], None] = lambda: None
        self._stop: Callable[[str], None] | None = None
        self._raises = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._on_unraisable
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN or number != SIGHUP:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._unraisable

    def stops(self, stop: Callable[[str], None]) -> None:
        """Set the function that the first signal calls with its reason; call it now if a signal was received before."""
        self._stop = stop
        if self.signal is not None:
            stop(self._reason)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let the first signal also end the ``with`` block, by ``KeyboardInterrupt``."""
        self._raises = True
        try:
            yield
        except KeyboardInterrupt:
            if self.signal is None:
                raise
        finally:
            self._raises = False

    @property
    def _reason(self) -> str:
        return f"{StopCause.SIGNAL}{'' if self.signal is None else self.signal.name}"

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Ignore a ``KeyboardInterrupt`` that a finalizer swallowed: the run is stopped anyway."""
        if self.signal is None or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._unraisable(unraisable)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's signature
        if self.signal is not None:
            with suppress(OSError):  # not by sys.stderr: the signal may have interrupted a write to it
                os.write(_STDERR, f"Exit {128 + number}: {self.final_message}\n".encode(errors="replace"))
            self.kill_children()
            os._exit(128 + number)
        self.signal = signal.Signals(number)
        if self._stop is not None:
            self._stop(self._reason)
        if self._raises:
            self._raises = False
            raise _Interrupted
