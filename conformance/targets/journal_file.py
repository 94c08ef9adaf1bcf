"""File of a journal: sealed lines of JSON that one process at a time appends durably."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from conformance.files import DOCUMENT, read_file
from conformance.posix import LOCK_EX, LOCK_NB, O_NOFOLLOW, O_NONBLOCK, flock, pread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conformance.targets.seal import Seal

JOURNAL: Final = "journal.jsonl"

_LONGEST_HEAD: Final = 4096
_LINE: Final = re.compile(rb"[^\n]+")
_MOST_LINES: Final = 500_000
"""The most lines of a journal that are not empty; a run sends fewer changes than that in a day."""


class JournalError(Exception):
    """The journal cannot be written or read; the message is a plain sentence."""


class JournalFile:
    """The file of a journal.

    Attributes:
        path: The path of the file.
        seal: Seals the lines; None for lines without seals.
    """

    def __init__(self, path: Path, seal: Seal | None = None) -> None:
        self.path = path
        self.seal = seal
        self._claim: int | None = None
        self._descriptor: int | None = None
        self._written = 0

    def claim(self) -> None:
        """Create the file, if there is none, and keep other processes from claiming it before ``close``.

        Raises:
            JournalError: It cannot be written, or a run is using it.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._claim = self._claimed()
        except OSError as error:
            raise self._unwritable(error) from None

    def _claimed(self) -> int:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            head = _record(os.read(descriptor, _LONGEST_HEAD).partition(b"\n")[0]) or {}
            os.close(descriptor)
            raise JournalError(
                f"{self.path.parent} is in use by a run in progress (process {head.get('pid')}, "
                f"begun {head.get('at')}): wait for its end, or name another folder."
            ) from None
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    @property
    def size(self) -> int:
        """The size of a claimed file in bytes."""
        return 0 if self._claim is None else os.fstat(self._claim).st_size

    @property
    def is_lost(self) -> bool:
        """Whether the file was deleted, replaced or truncated since it was claimed."""
        if self._claim is None:
            return False
        try:
            there, own = self.path.stat(), os.fstat(self._claim)
        except OSError:
            return True
        return not os.path.samestat(there, own) or there.st_size < self._written

    def close(self) -> None:
        """Close and release the file; a later line opens it again."""
        self._close_descriptor()
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def begin(self, record: Mapping[str, object]) -> None:
        """Empty the file and write its first line.

        Raises:
            JournalError: It cannot be written.
        """
        try:
            os.truncate(self.path, 0)
        except OSError as error:
            raise self._unwritable(error) from None
        self.append(record, durable=True)

    def append(self, record: Mapping[str, object], *, durable: bool = False) -> None:
        """Write a line; ``durable`` waits until it is on the disk.

        Raises:
            JournalError: It cannot be written.
        """
        line = self._line(record)
        try:
            if self._descriptor is None:
                self._descriptor = self._opened()
            while line:
                written = os.write(self._descriptor, line)
                line, self._written = line[written:], self._written + written
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            # After the next opening, writing begins on a new line.
            self._close_descriptor()
            raise self._unwritable(error) from None

    def _opened(self) -> int:
        """Open the file for appending, on a new line if the last line is incomplete."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(descriptor).st_size
        if size and pread(descriptor, 1, size - 1) != b"\n":
            os.write(descriptor, b"\n")
        return descriptor

    def _close_descriptor(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _unwritable(self, error: OSError) -> JournalError:
        return JournalError(f"{self.path} cannot be written: {error.strerror}.")

    def _line(self, record: Mapping[str, object]) -> bytes:
        """Return a record as a sealed line."""
        sealed = record if self.seal is None else {**record, "seal": self.seal.of(json.dumps(record))}
        return json.dumps(sealed).encode("ascii") + b"\n"

    def is_sealed(self, record: Mapping[str, Any]) -> bool:
        """Whether a record has its seal."""
        rest = {name: value for name, value in record.items() if name != "seal"}
        try:
            return self.seal is not None and self.seal.is_on(json.dumps(rest), record.get("seal"))
        except RecursionError:
            return False

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the lines that are JSON objects.

        Raises:
            JournalError: It cannot be read, or has more lines than any run writes.
        """
        try:
            data = read_file(self.path, DOCUMENT)
        except FileNotFoundError:
            raise JournalError(f"There is no journal: {self.path} does not exist.") from None
        except OSError as error:
            raise JournalError(f"{self.path} cannot be read: {error.strerror}.") from None
        yield from self._records(data)

    def changed(self, change: Callable[[str], str]) -> bytes:
        """Return the content of the file with its texts changed, and its lines sealed again.

        Raises:
            OSError: It cannot be read.
            JournalError: It has more lines than any run writes.
        """
        pieces = [
            self._line(
                {
                    name: change(value) if isinstance(value, str) else value
                    for name, value in record.items()
                    if name != "seal"
                }
            )
            for record in self._records(self.path.read_bytes())
        ]
        return b"".join(pieces)

    def _records(self, data: bytes) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(_LINE.finditer(data)):
            if number == _MOST_LINES:
                raise JournalError(f"{self.path} is not the journal of a run: it has more than {_MOST_LINES} lines.")
            if (record := _record(line[0])) is not None:
                yield record


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
