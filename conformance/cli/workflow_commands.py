"""Guard for stdout and stderr: no output line is a workflow command of GitHub, Azure or TeamCity."""

from __future__ import annotations

import io
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, Final, cast

if TYPE_CHECKING:
    from typing_extensions import Buffer

_BLANK: Final = (
    rb"(?:[\t\v\f\x1c-\x20]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"
)
"""A character that a pipeline skips at the beginning of a line, in UTF-8."""
_COMMAND: Final = re.compile(rb"(?<![^\r\n])" + _BLANK + rb"*+:(?=:)|##[A-Za-z]*+(?=\[)")
"""The prefix of a GitHub command at the start of a line, or of an Azure or TeamCity command anywhere in it."""
_REMEMBERED: Final = 200


class WithoutCommands(io.BufferedIOBase):
    r"""A stream of bytes that writes a ``\`` into each command prefix, so that no pipeline obeys it.

    Args:
        below: The stream that takes the bytes.
    """

    def __init__(self, below: io.BufferedIOBase) -> None:
        self.below = below
        self._line = b""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Write the data without command prefixes."""
        content = bytes(data)
        self.below.write(self._harmless(content))
        return len(content)

    def _harmless(self, content: bytes) -> bytes:
        """Return the content with marks in command prefixes, also in one that the previous write began."""
        begun, whole = len(self._line), self._line + content
        line = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
        self._line = whole[line : line + _REMEMBERED]
        ends = [found.end() for found in _COMMAND.finditer(whole) if found.end() >= begun]
        return b"\\".join(whole[start:end] for start, end in pairwise([begun, *ends, len(whole)]))

    def flush(self) -> None:
        """Flush the stream below."""
        self.below.flush()

    def fileno(self) -> int:
        """Return the descriptor of the stream below."""
        return self.below.fileno()

    def isatty(self) -> bool:
        """Whether the stream below is a terminal."""
        return self.below.isatty()


def guard_output() -> None:
    """Guard stdout and stderr, if the process has them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _without_commands(stream))


def write_exactly(data: bytes) -> None:
    """Write the content of a file to stdout unchanged."""
    stream = sys.stdout.buffer
    sys.stdout.flush()
    below = stream.below if isinstance(stream, WithoutCommands) else stream
    below.write(data)
    below.flush()


def _without_commands(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return the stream without commands; it escapes a character that its encoding lacks, which must not end a run."""
    return io.TextIOWrapper(
        cast("BinaryIO", WithoutCommands(cast("io.BufferedIOBase", stream.buffer))),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
