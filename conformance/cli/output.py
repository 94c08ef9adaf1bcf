"""Protection of a run from a closed stdout or stderr, which must not prevent undoing."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES: Final = ("stdout", "stderr")


class UnbreakableStream:
    """A text stream that discards its output once its reader has closed it."""

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


@contextmanager
def lasting_output() -> Iterator[None]:
    """Let printing in a ``with`` block never raise ``OSError``, and replace missing streams."""
    before = {name: getattr(sys, name) for name in _NAMES}
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        for name, stream in before.items():
            setattr(sys, name, UnbreakableStream(nowhere if stream is None else stream))
        try:
            yield
        finally:
            for name, stream in before.items():
                getattr(sys, name).flush()
                setattr(sys, name, stream)
