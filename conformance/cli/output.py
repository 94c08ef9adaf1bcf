"""stdout and stderr that may end before the run does: a closed pipe or terminal must not keep it from undoing."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from types import TracebackType

_NAMES: Final = ("stdout", "stderr")


class _Lasting:
    """A text stream that is silent from the moment on when nobody takes what it writes.

    Args:
        stream: The stream behind it.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if anybody takes it."""
        try:
            self._stream.write(text)
        except OSError:
            self._silence()
        return len(text)

    def flush(self) -> None:
        """Hand on what was written, if anybody takes it."""
        try:
            self._stream.flush()
        except OSError:
            self._silence()

    def _silence(self) -> None:
        """Let what is still buffered go nowhere, also when the interpreter ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self._stream.fileno())
        finally:
            os.close(nowhere)


class LastingOutput:
    """Inside this ``with`` nothing that is printed raises ``OSError``, and streams that are missing are there."""

    def __enter__(self) -> Self:
        self._before = {name: getattr(sys, name) for name in _NAMES}
        self._nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - closed by __exit__
        for name, stream in self._before.items():
            setattr(sys, name, _Lasting(self._nowhere if stream is None else stream))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, stream in self._before.items():
            getattr(sys, name).flush()
            setattr(sys, name, stream)
        self._nowhere.close()
