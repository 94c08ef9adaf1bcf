"""Protection of a run from a closed stdout or stderr, which must not prevent undoing."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from types import TracebackType

_NAMES: Final = ("stdout", "stderr")


class Lasting:
    """A text stream that discards its output once its reader has closed it.

    Args:
        stream: The underlying stream.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of the stream
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, or discard it if the stream is closed."""
        try:
            self._stream.write(text)
        except OSError:
            self._silence()
        return len(text)

    def flush(self) -> None:
        """Flush, or discard the text if the stream is closed."""
        try:
            self._stream.flush()
        except OSError:
            self._silence()

    def _silence(self) -> None:
        """Redirect the stream to the null device, including its buffer."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self._stream.fileno())
        finally:
            os.close(nowhere)


class LastingOutput:
    """A ``with`` block in which printing never raises ``OSError``, and missing streams are replaced."""

    def __enter__(self) -> Self:
        self._before = {name: getattr(sys, name) for name in _NAMES}
        self._nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - closed by __exit__
        for name, stream in self._before.items():
            setattr(sys, name, Lasting(self._nowhere if stream is None else stream))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, stream in self._before.items():
            getattr(sys, name).flush()
            setattr(sys, name, stream)
        self._nowhere.close()
