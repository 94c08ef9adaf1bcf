"""Write-ahead journal: every change of a run is recorded before it is sent, so that it can be undone."""

from __future__ import annotations

import json
import math
import os
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.files import DOCUMENT, read_file
from conformance.posix import LOCK_EX, LOCK_NB, O_NOFOLLOW, O_NONBLOCK, flock, pread
from conformance.targets.journal_entries import Action, Entry, State
from conformance.targets.names import PREFIX, RunNames
from conformance.targets.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

JOURNAL: Final = "journal.jsonl"

_FORMAT: Final = "conformance-journal/2"
_LONGEST_HEAD: Final = 4096
_LINE: Final = re.compile(rb"[^\n]+")
_MOST_LINES: Final = 500_000
"""The most lines of a journal that are not empty; a run sends fewer changes than that in a day."""


class JournalError(Exception):
    """The journal cannot be written or read; the message is a plain sentence."""


_LASTING: Final = {
    Action.INVITE: "{0} {1} invited; an invitation expires after seven days.",
    Action.REMOVE_MEMBER: "The member {0} {1} removed.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The service and the organization that a run changes.

    Attributes:
        base_url: The base URL of the service.
        organization: The id of the main key's organization, once it is known.
        created_at: The creation time of that organization, as the service writes it.
        since: The start of the run, in seconds of the epoch by the service's clock.
        other_organization: The id of the other organization, once it is known.
    """

    base_url: str
    organization: str | None = None
    created_at: str | None = None
    since: float | None = None
    other_organization: str | None = None


class Journal:
    """Thread-safe entries of one run, in memory and in ``journal.jsonl``.

    Attributes:
        names: The names of the run.
        place: The service and organization that the run changes.
        begun: The start of the run, in seconds of the epoch by our clock.
        undoing: Whether the run is being undone: requests then settle entries and add none.
        trusted: Whether a run with the present main key wrote all of it.
        proved: Whether the run that its prefix belongs to wrote it, with the present main key or another one.
    """

    def __init__(self, path: Path, names: RunNames, place: Place, seal: Seal | None = None) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._seal = seal
        self._claim: int | None = None
        self._descriptor: int | None = None
        self._written = 0
        self._entries: dict[int, Entry] = {}
        self._last = 0
        self._unsettled: dict[Action, dict[int, Entry]] = {action: {} for action in Action}
        self.names = names
        self.place = place
        self.begun = _seconds(_now())
        self.undoing = False
        self.trusted = True
        self.proved = True

    @classmethod
    def open(cls, folder: Path, names: RunNames, base_url: str, key: str) -> Self:
        """Create the journal of a new run; no other run can use it before ``close``.

        Args:
            folder: The report's folder; it is created if it does not exist.
            names: The names of the run.
            base_url: The base URL of the service.
            key: The main key, which seals the lines.

        Raises:
            JournalError: It cannot be written, or another run in the folder is active or left changes.
        """
        path = folder / JOURNAL
        journal = cls(path, names, Place(base_url), Seal(key, names.prefix))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            journal._claim = _claimed(path)
            journal._begin()
        except OSError as error:
            journal.close()
            raise _unwritable(path, error) from None
        except JournalError:
            journal.close()
            raise
        return journal

    @classmethod
    @contextmanager
    def unused(cls, folder: Path) -> Iterator[None]:
        """Keep other runs out of a folder inside a ``with``.

        Raises:
            JournalError: A run in the folder is active or left changes.
        """
        path = folder / JOURNAL
        if not os.path.lexists(path):
            yield
            return
        try:
            claim = _claimed(path)
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            cls._ensure_nothing_left(path)
            yield
        finally:
            os.close(claim)

    @classmethod
    def claim(cls, folder: Path, key: str) -> Self:
        """Open the journal of an earlier run for undoing; no other process can use it before ``close``.

        Raises:
            JournalError: There is no valid journal, or its run goes on.
        """
        cls.read(folder)  # before a file is created
        try:
            claim = _claimed(folder / JOURNAL)
        except OSError as error:
            raise _unwritable(folder / JOURNAL, error) from None
        journal = cls.read(folder, key)
        journal._claim = claim  # noqa: SLF001 - of the class itself
        return journal

    @classmethod
    def read(cls, folder: Path, key: str | None = None) -> Self:
        """Read the journal of an earlier run; entries settled later are added to its file.

        It skips incomplete lines of a crash, whose changes were never sent. It skips lines without a seal in a journal
        that was sealed with this key, which no run wrote.

        Args:
            folder: The report's folder.
            key: The main key; without it the journal is not trusted.

        Raises:
            JournalError: There is no valid journal.
        """
        path = folder / JOURNAL
        try:
            data = read_file(path, DOCUMENT)
        except FileNotFoundError:
            raise JournalError(f"There is no journal: {path} does not exist.") from None
        except OSError as error:
            raise JournalError(f"{path} cannot be read: {error.strerror}.") from None
        records = _records(path, data)
        head = next(records, {})
        head = head if head.get("format") == _FORMAT else {}
        prefix, base_url = _text(head, "prefix"), _text(head, "base_url")
        if prefix is None or base_url is None or PREFIX.fullmatch(prefix) is None:
            raise JournalError(f"{path} is not the journal of a run.")
        seal = None if key is None else Seal(key, prefix)
        names = RunNames(prefix, _text(head, "origin"), _text(head, "challenge"))
        journal = cls(path, names, Place(base_url), seal)
        journal.begun = _seconds(head.get("at"))
        journal.trusted = seal is not None and _is_sealed(head, seal)
        journal.proved = journal.trusted or (seal is not None and journal.names.is_proved)
        for record in records:
            if not journal.trusted or seal is None or _is_sealed(record, seal):
                journal._replay(record)
        return journal

    @property
    def period(self) -> tuple[float, float]:
        """Start times of the run and of its last change, in seconds of the epoch by the service's clock.

        Our clock is used if the run never learned the service's clock.
        """
        last = max([self.begun, *(entry.at for entry in self.entries())])
        since = self.begun if self.place.since is None else self.place.since
        return since, since + (last - self.begun)

    @property
    def is_lost(self) -> bool:
        """Whether the file was deleted, replaced or truncated since this run opened it."""
        if self._claim is None:
            return False
        try:
            there, own = self._path.stat(), os.fstat(self._claim)
        except OSError:
            return True
        return not os.path.samestat(there, own) or there.st_size < self._written

    def close(self) -> None:
        """Close and release the file; a later entry opens it again."""
        with self._lock:
            self._shut()
            if self._claim is not None:
                os.close(self._claim)
                self._claim = None

    def intend(
        self, action: Action, key: str, subject: str | None, before: str | None = None, wanted: str | None = None
    ) -> Entry:
        """Record a change that is about to be sent, durably on disk.

        Raises:
            JournalError: It cannot be written, so the change must not be sent.
        """
        with self._lock:
            # A number is used once, even if writing its line failed.
            self._last += 1
            at = _now()
            entry = Entry(self._last, action, key, subject, before, wanted, at=_seconds(at))
            fields = {"entry": entry.number, "at": at, "do": action, "key": key, "subject": subject}
            more = {"before": before, "wanted": wanted}
            known = {name: value for name, value in more.items() if value is not None}
            self._append(fields | known, durable=True)
            self._take(entry)
            return entry

    def done(self, entry: Entry, made_id: str | None = None) -> None:
        """Record that a change was carried out, and the id of the created object."""
        with self._lock:
            entry.state, entry.id = State.DONE, made_id
            self._append({"entry": entry.number, "is": State.DONE, **({} if made_id is None else {"id": made_id})})

    def became(self, entry: Entry, name: str) -> None:
        """Record the name that the service shows right after a renaming."""
        with self._lock:
            entry.became = name
            self._append({"entry": entry.number, "became": name})

    def refused(self, entry: Entry) -> None:
        """Record that the service refused a change."""
        with self._lock:
            entry.state = State.REFUSED
            self._append({"entry": entry.number, "is": State.REFUSED})

    def settle(self, entry: Entry) -> None:
        """Record that nothing is left of a change."""
        with self._lock:
            if entry.state is not State.SETTLED:
                entry.state = State.SETTLED
                self._unsettled[entry.action].pop(entry.number, None)
                self._append({"entry": entry.number, "is": State.SETTLED})

    def reopen(self, entry: Entry) -> None:
        """Record that a settled change is still there, so that a later cleanup undoes it."""
        with self._lock:
            entry.state = State.DONE
            self._unsettled[entry.action][entry.number] = entry
            self._append({"entry": entry.number, "is": State.DONE})

    def member_made(self, user_id: str, role: str) -> None:
        """Record a member that the provisioner created for the run and that must be removed after it."""
        entry = self.intend(Action.MAKE_MEMBER, "provisioner", user_id, role)
        self.done(entry)

    def belongs_to(self, organization: str, created_at: str | None, since: float | None) -> None:
        """Record the main key's organization, once; cleanup refuses any other.

        Args:
            organization: Its id.
            created_at: Its creation time, as the service writes it.
            since: The start of the run, in seconds of the epoch by the service's clock.
        """
        with self._lock:
            if self.place.organization is None:
                known = {"organization": organization, "created_at": created_at, "since": since}
                self.place = replace(self.place, organization=organization, created_at=created_at, since=since)
                self._append(known)

    def uses_other(self, organization: str) -> None:
        """Record the other organization, once; cleanup undoes its changes in no other."""
        with self._lock:
            if self.place.other_organization is None:
                self.place = replace(self.place, other_organization=organization)
                self._append({"other_organization": organization})

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first."""
        with self._lock:
            return list(self._entries.values())

    def unsettled(self, action: Action) -> list[Entry]:
        """Return the unsettled entries of one action, the oldest first."""
        with self._lock:
            return list(self._unsettled[action].values())

    def pending(self) -> list[Entry]:
        """Return the entries whose changes may have to be undone, the latest first.

        They include refused creations and renamings, because a faulty service may have carried them out.
        """
        return [entry for entry in reversed(self.entries()) if _undoable(entry)]

    def lasting(self) -> list[str]:
        """Return the changes that the interface cannot undo, a sentence each."""
        return [
            _LASTING[entry.action].format(entry.subject, "was" if entry.state is State.DONE else "may have been")
            for entry in self.entries()
            if entry.action in _LASTING and entry.state in {State.INTENDED, State.DONE} and entry.subject is not None
        ]

    def changed(self, change: Callable[[str], str]) -> bytes:
        """Return the content of the file with its texts changed, and its lines sealed again."""
        with self._lock:
            records = list(_records(self._path, self._path.read_bytes()))
        pieces = [
            self._line(
                {
                    name: change(value) if isinstance(value, str) else value
                    for name, value in record.items()
                    if name != "seal"
                }
            )
            for record in records
        ]
        return b"".join(pieces)

    def _line(self, record: Mapping[str, object]) -> bytes:
        """Return a record as a sealed line."""
        sealed = record if self._seal is None else {**record, "seal": self._seal.of(json.dumps(record))}
        return json.dumps(sealed).encode("ascii") + b"\n"

    def _append(self, record: Mapping[str, object], *, durable: bool = False) -> None:
        """Write a line; ``durable`` waits until it is on the disk."""
        line = self._line(record)
        try:
            if self._descriptor is None:
                self._descriptor = _open(self._path)
            while line:
                written = os.write(self._descriptor, line)
                line, self._written = line[written:], self._written + written
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            # After the next opening, writing begins on a new line.
            self._shut()
            raise _unwritable(self._path, error) from None

    def _begin(self) -> None:
        """Empty the file, if an earlier run has left no changes, and write the first line."""
        self._ensure_nothing_left(self._path)
        os.truncate(self._path, 0)
        head = {"format": _FORMAT, "prefix": self.names.prefix, "base_url": self.place.base_url}
        more = {"origin": self.names.origin, "challenge": self.names.challenge}
        known = {name: text for name, text in more.items() if text is not None}
        self._append({**head, **known, "at": _now(), "pid": os.getpid()}, durable=True)

    @classmethod
    def _ensure_nothing_left(cls, path: Path) -> None:
        folder = path.parent
        if path.stat().st_size and cls.read(folder).pending():
            command = f"conformance cleanup {folder}"
            raise JournalError(f"{folder} contains the journal of a run that left changes behind: run {command} first.")

    def _shut(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        self._unsettled[entry.action][entry.number] = entry

    def _replay(self, record: Mapping[str, Any]) -> None:
        """Apply a line of an earlier run; lines of an unknown form are ignored."""
        if (organization := _text(record, "organization")) is not None and self.place.organization is None:
            since, created_at = _time(record.get("since")), _text(record, "created_at")
            self.place = replace(self.place, organization=organization, created_at=created_at, since=since)
        if (other := _text(record, "other_organization")) is not None and self.place.other_organization is None:
            self.place = replace(self.place, other_organization=other)
        number = record.get("entry")
        if not isinstance(number, int) or isinstance(number, bool):
            return
        if number > self._last and record.get("do") in tuple(Action):
            self._last = number
            subject, before, wanted = (_text(record, name) for name in ("subject", "before", "wanted"))
            key, at = _text(record, "key") or "api_key", _seconds(record.get("at"))
            self._take(Entry(number, Action(record["do"]), key, subject, before, wanted, at=at))
        elif number in self._entries and record.get("is") in tuple(State):
            self._restate(self._entries[number], State(record["is"]), record)
        elif number in self._entries:
            self._entries[number].became = _text(record, "became")

    def _restate(self, entry: Entry, state: State, record: Mapping[str, Any]) -> None:
        entry.state = state
        entry.id = _text(record, "id") or entry.id
        if state is State.SETTLED:
            self._unsettled[entry.action].pop(entry.number, None)


def _undoable(entry: Entry) -> bool:
    if entry.action in {Action.CREATE_ENGAGEMENT, Action.RENAME_ORGANIZATION}:
        return entry.state is not State.SETTLED
    if entry.action in {Action.CHANGE_ROLE, Action.MAKE_MEMBER}:
        return entry.state in {State.INTENDED, State.DONE}
    return False


def _open(path: Path) -> int:
    """Open a journal for appending, on a new line if the last line is incomplete."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    size = os.fstat(descriptor).st_size
    if size and pread(descriptor, 1, size - 1) != b"\n":
        os.write(descriptor, b"\n")
    return descriptor


def _claimed(path: Path) -> int:
    """Open a journal for this process alone.

    Raises:
        JournalError: A run is using it.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        head = _record(os.read(descriptor, _LONGEST_HEAD).partition(b"\n")[0]) or {}
        os.close(descriptor)
        raise JournalError(
            f"{path.parent} is in use by a run in progress (process {head.get('pid')}, "
            f"begun {head.get('at')}): wait for its end, or name another folder."
        ) from None
    return descriptor


def _is_sealed(record: Mapping[str, Any], seal: Seal) -> bool:
    rest = {name: value for name, value in record.items() if name != "seal"}
    try:
        return seal.is_on(json.dumps(rest), record.get("seal"))
    except RecursionError:
        return False


def _records(path: Path, data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the lines that are JSON objects.

    Raises:
        JournalError: It has more lines than any run writes.
    """
    for number, line in enumerate(_LINE.finditer(data)):
        if number == _MOST_LINES:
            raise JournalError(f"{path} is not the journal of a run: it has more than {_MOST_LINES} lines.")
        if (record := _record(line[0])) is not None:
            yield record


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(record: Mapping[str, Any], member: str) -> str | None:
    value = record.get(member)
    return value if isinstance(value, str) else None


def _time(value: object) -> float | None:
    """Return a time in seconds of the epoch; None if the value is no finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(at: object) -> float:
    try:
        return datetime.fromisoformat(str(at)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _unwritable(path: Path, error: OSError) -> JournalError:
    return JournalError(f"{path} cannot be written: {error.strerror}.")
