"""SIGINT and SIGTERM: the first one ends the run in good order, a second one at once."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Watches for signals inside a ``with``.

    Attributes:
        signal: The name of the first signal that came, or None.
        farewell: What is written to stderr when a second one ends everything.
    """

    def __init__(self) -> None:
        self.signal: str | None = None
        self.farewell = "Ended at once. To undo what the run has left: conformance cleanup DIR"
        self._stop: Callable[[str], None] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def stopping(self, stop: Callable[[str], None]) -> Iterator[None]:
        """Inside this ``with`` the first signal stops the sending and ends the block; one that came before stops it too."""
        self._stop = stop
        try:
            if self.signal is not None:
                stop(f"interrupted by {self.signal}")
            yield
        except KeyboardInterrupt:
            if self.signal is None:
                raise
        finally:
            self._stop = None

    def _came(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's signature
        if self.signal is not None:
            sys.stderr.write(self.farewell + "\n")
            sys.stderr.flush()
            os._exit(128 + number)
        self.signal = signal.Signals(number).name
        if self._stop is not None:
            stop, self._stop = self._stop, None
            stop(f"interrupted by {self.signal}")
            raise KeyboardInterrupt
