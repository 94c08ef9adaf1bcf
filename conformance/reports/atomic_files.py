"""Atomic writing of files: all of them complete, or none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.posix import fchmod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_READABLE = 0o644


def place(files: Mapping[Path, bytes | Callable[[], Iterable[bytes]]]) -> None:
    """Write each file under a temporary name, and rename all of them after all are on the disk.

    Args:
        files: The content of each file, or a function that makes it in pieces.

    Raises:
        OSError: A file could not be written; existing files are unchanged.
    """
    written: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            written[path] = _write_beside(path, [content] if isinstance(content, bytes) else content())
        for path, temporary in written.items():
            temporary.replace(path)
    finally:
        for temporary in written.values():
            temporary.unlink(missing_ok=True)
    for folder in {path.parent for path in files}:
        _settle(folder)


def _write_beside(path: Path, content: Iterable[bytes]) -> Path:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            for piece in content:
                stream.write(piece)
            stream.flush()
            fchmod(stream.fileno(), _READABLE & ~_umask())
            os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _umask() -> int:
    """Return the process's umask, which the system returns only when it is set."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _settle(folder: Path) -> None:
    """Sync the folder, so that the renames survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
