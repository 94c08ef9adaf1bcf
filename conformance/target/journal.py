"""The write-ahead journal: what a run changes, written down before it is sent, so that it can be undone."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.target.changes import Action, Entry, State
from conformance.target.names import RunNames

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["FILE_NAME", "Action", "Entry", "Journal", "JournalError", "State"]

FILE_NAME: Final = "journal.jsonl"

_FORMAT: Final = "conformance-journal/1"


class JournalError(Exception):
    """The journal cannot be written or read; the message is a plain sentence."""


_LASTING: Final = {
    Action.INVITE: "{0} {1} invited; an invitation expires after seven days.",
    Action.REMOVE_MEMBER: "The member {0} {1} removed.",
}


class Journal:
    """The entries of one run, in memory and in ``journal.jsonl``; it may be used from several threads.

    Attributes:
        names: The names of the run.
        organization: The id of the organization of the main key, once it is known.
        undoing: Whether the run is being undone: what is sent then ticks off entries and makes none.
    """

    def __init__(self, path: Path, names: RunNames) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._descriptor: int | None = None
        self._entries: dict[int, Entry] = {}
        self._last = 0
        self._unsettled: dict[Action, dict[int, Entry]] = {action: {} for action in Action}
        self.names = names
        self.organization: str | None = None
        self.undoing = False

    @classmethod
    def open(cls, folder: Path, run_prefix: str) -> Self:
        """Begin the journal of a new run.

        Args:
            folder: The report's folder; it is made where it does not exist.
            run_prefix: What all names of the run begin with.

        Raises:
            JournalError: It cannot be written, or the folder holds the journal of a run that left something.
        """
        path = folder / FILE_NAME
        if path.exists() and cls.read(folder).pending():
            command = f"conformance cleanup {folder}"
            raise JournalError(f"{folder} holds the journal of a run that left something behind: run {command} first.")
        journal = cls(path, RunNames(run_prefix))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from None
        journal._append({"format": _FORMAT, "prefix": run_prefix, "at": _now()}, durable=True)
        return journal

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The journal of an earlier run; what is settled from now on is added to its file.

        A line that was torn by a sudden end is passed over: its change was never sent.

        Raises:
            JournalError: There is no journal, or it is none.
        """
        path = folder / FILE_NAME
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise JournalError(f"There is no {FILE_NAME} in {folder}.") from None
        except OSError as error:
            raise JournalError(f"{path} cannot be read: {error.strerror}.") from None
        records = [record for line in lines if (record := _record(line)) is not None]
        prefix = records[0].get("prefix") if records and records[0].get("format") == _FORMAT else None
        if not isinstance(prefix, str) or not prefix:
            raise JournalError(f"{path} is not the journal of a run.")
        journal = cls(path, RunNames(prefix))
        for record in records[1:]:
            journal._replay(record)
        return journal

    def close(self) -> None:
        """Close the file; a later entry opens it again."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def intend(self, action: Action, key: str, subject: str | None, before: str | None = None) -> Entry:
        """Write down a change that is about to be sent; it is on the disk when this returns.

        Raises:
            JournalError: It could not be written, so the change must not be sent.
        """
        with self._lock:
            # A number is used once, also where writing its line failed half-way.
            self._last += 1
            at = _now()
            entry = Entry(self._last, action, key, subject, before, at=_seconds(at))
            fields = {"entry": entry.number, "at": at, "do": action, "key": key, "subject": subject}
            self._append(fields | ({"before": before} if before is not None else {}), durable=True)
            self._take(entry)
            return entry

    def done(self, entry: Entry, made_id: str | None = None, *, doubtful: bool = False, timely: bool = False) -> None:
        """Note that a change was carried out, and what its answer told; see ``Entry``."""
        with self._lock:
            entry.state, entry.id, entry.doubtful, entry.timely = State.DONE, made_id, doubtful, timely
            told = {"id": made_id, "doubtful": doubtful or None, "timely": (doubtful and timely) or None}
            known = {name: value for name, value in told.items() if value is not None}
            self._append({"entry": entry.number, "is": State.DONE, **known})

    def refused(self, entry: Entry) -> None:
        """Note that the service refused a change."""
        with self._lock:
            entry.state = State.REFUSED
            self._append({"entry": entry.number, "is": State.REFUSED})

    def settle(self, entry: Entry) -> None:
        """Tick a change off: nothing is left of it."""
        with self._lock:
            if entry.state is not State.SETTLED:
                entry.state = State.SETTLED
                self._unsettled[entry.action].pop(entry.number, None)
                self._append({"entry": entry.number, "is": State.SETTLED})

    def member_made(self, user_id: str, role: str) -> None:
        """Note a member that the provisioner made for the run, who is to be removed after it."""
        entry = self.intend(Action.MAKE_MEMBER, "provisioner", user_id, role)
        self.done(entry)

    def belongs_to(self, organization: str) -> None:
        """Note the organization of the main key, once; cleaning up refuses to work on another."""
        with self._lock:
            if self.organization is None:
                self.organization = organization
                self._append({"organization": organization})

    def entries(self) -> list[Entry]:
        """All entries, the oldest first."""
        with self._lock:
            return list(self._entries.values())

    def unsettled(self, action: Action) -> list[Entry]:
        """The entries of one kind of change that have not been ticked off, the oldest first."""
        with self._lock:
            return list(self._unsettled[action].values())

    def pending(self) -> list[Entry]:
        """What may have left something that can be undone, the latest first.

        A refused creation or renaming is among it, because a faulty service may have carried it out.
        """
        return [entry for entry in reversed(self.entries()) if _undoable(entry)]

    def lasting(self) -> list[str]:
        """What the interface has no way of undoing, a sentence each."""
        return [
            _LASTING[entry.action].format(entry.subject, "was" if entry.state is State.DONE else "may have been")
            for entry in self.entries()
            if entry.action in _LASTING and entry.state in {State.INTENDED, State.DONE} and entry.subject is not None
        ]

    def _append(self, record: Mapping[str, object], *, durable: bool = False) -> None:
        """Write a line; ``durable`` waits until it would survive a crash of the machine."""
        line = json.dumps(record).encode("ascii") + b"\n"
        try:
            if self._descriptor is None:
                self._descriptor = _open(self._path)
            while line:
                line = line[os.write(self._descriptor, line) :]
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            # Opened again, it goes on with a new line after what may be half of one.
            self.close()
            raise _unwritable(self._path, error) from None

    def _take(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        self._unsettled[entry.action][entry.number] = entry

    def _replay(self, record: Mapping[str, Any]) -> None:
        """Take in a line of an earlier run; lines of another shape than ours say nothing."""
        if isinstance(record.get("organization"), str):
            self.organization = record["organization"]
        number = record.get("entry")
        if not isinstance(number, int) or isinstance(number, bool):
            return
        if number > self._last and record.get("do") in tuple(Action):
            self._last = number
            subject, before, at = _text(record, "subject"), _text(record, "before"), _seconds(record.get("at"))
            self._take(Entry(number, Action(record["do"]), _text(record, "key") or "api_key", subject, before, at=at))
        elif number in self._entries and record.get("is") in tuple(State):
            self._restate(self._entries[number], State(record["is"]), record)

    def _restate(self, entry: Entry, state: State, record: Mapping[str, Any]) -> None:
        entry.state = state
        entry.id = _text(record, "id") or entry.id
        entry.doubtful = entry.doubtful or record.get("doubtful") is True
        entry.timely = entry.timely or record.get("timely") is True
        if state is State.SETTLED:
            self._unsettled[entry.action].pop(entry.number, None)


def _undoable(entry: Entry) -> bool:
    if entry.action in {Action.CREATE_ENGAGEMENT, Action.RENAME_ORGANIZATION}:
        return entry.state is not State.SETTLED
    if entry.action in {Action.CHANGE_ROLE, Action.MAKE_MEMBER}:
        return entry.state in {State.INTENDED, State.DONE}
    return False


def _open(path: Path) -> int:
    """Open a journal to add to it, on a line of its own where the last one was torn."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        os.write(descriptor, b"\n")
    return descriptor


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(record: Mapping[str, Any], member: str) -> str | None:
    value = record.get(member)
    return value if isinstance(value, str) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(at: object) -> float:
    try:
        return datetime.fromisoformat(str(at)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _unwritable(path: Path, error: OSError) -> JournalError:
    return JournalError(f"{path} cannot be written: {error.strerror}.")
