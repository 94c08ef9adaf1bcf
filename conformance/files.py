"""Safe reader for untrusted files: regular, within a size limit, and without blocking."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final

from conformance.posix import O_NOCTTY, O_NONBLOCK, POLLIN, poll

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

_MIB: Final = 1 << 20
TEXT: Final = _MIB
"""The most bytes of a file that a person writes: a target file, waivers, a key."""
DOCUMENT: Final = 64 * _MIB
"""The most bytes of a report, a journal or an envelope."""
RECORDING: Final = 1024 * _MIB
"""The most bytes of a recording."""

_PIECE: Final = 1 << 16
_OPENING_MS: Final = 2_000
"""The longest time until a program opens the other end of a pipe."""
_SILENCE_MS: Final = 60_000
"""The longest time in which that program may write nothing; it may ask for a password."""


def read_file(path: Path, limit: int, *, piped: bool = False) -> bytes:
    """Return the content of a file.

    Args:
        path: The file; links are followed.
        limit: The most bytes of the file.
        piped: Whether it may also be a pipe or a device such as ``/dev/stdin``.

    Raises:
        OSError: It cannot be read; ``strerror`` is the reason, to follow "cannot be read:".
    """
    descriptor = _opened(path)
    with os.fdopen(descriptor, "rb") as stream:
        mode = os.fstat(descriptor).st_mode
        if piped and _is_stream(mode):
            content = _flow(descriptor, limit, is_pipe=stat.S_ISFIFO(mode))
        else:
            content = _whole(stream, _size(descriptor, path, limit), limit)
    if len(content) > limit:
        raise _too_large(path, limit)
    return content


def is_file(path: Path) -> bool:
    """Whether a path leads to a regular file; False if that cannot be found out."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib's raises if a name is too long


def is_stream(path: Path) -> bool:
    """Whether a path leads to a pipe or a device such as ``/dev/stdin``."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return _is_stream(mode)


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 digest of a regular file of at most ``RECORDING`` bytes, in hexadecimal.

    Raises:
        OSError: See ``read_file``.
    """
    with open_file(path, RECORDING) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_file(path: Path, limit: int) -> BufferedReader:
    """Open a regular file within a size limit.

    Raises:
        OSError: See ``read_file``.
    """
    descriptor = _opened(path)
    try:
        _size(descriptor, path, limit)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | O_NONBLOCK | O_NOCTTY)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None


def _size(descriptor: int, path: Path, limit: int) -> int:
    """Return the size of a file that is regular and not too large."""
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if found.st_size > limit:
        raise _too_large(path, limit)
    return found.st_size


def _whole(stream: BufferedReader, size: int, limit: int) -> bytes:
    """Return all of a regular file, or a byte more than the limit if it has grown since its size was read."""
    content = stream.read(size + 1)
    return content if len(content) <= size else content + stream.read(limit - size)


def _flow(descriptor: int, limit: int, *, is_pipe: bool) -> bytes:
    """Return the content of a pipe or a device up to its end, or slightly more than the limit."""
    poller = poll()
    poller.register(descriptor, POLLIN)
    content = bytearray()
    while len(content) <= limit:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:  # a program has the other end open and has not written yet
            _ready(poller, _SILENCE_MS)
            continue
        if not piece and (content or not is_pipe or not _ready(poller, _OPENING_MS) & POLLIN):
            break
        content += piece
    return bytes(content)


def _ready(poller: poll, milliseconds: int) -> int:
    """Wait for events of the one descriptor of a poller."""
    events = poller.poll(milliseconds)
    if not events:
        raise TimeoutError(errno.ETIMEDOUT, "no program wrote to it")
    return events[0][1]


def _too_large(path: Path, limit: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {limit // _MIB} MiB", str(path))
