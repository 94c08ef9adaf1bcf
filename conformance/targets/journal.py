"""Write-ahead journal: every change of a run is recorded before it is sent, so that it can be undone."""

from __future__ import annotations

import math
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.json_text import text_or_none
from conformance.targets.journal_entries import Action, ChangeState, Entry, Person
from conformance.targets.journal_file import JOURNAL, JournalError, JournalFile
from conformance.targets.names import PREFIX, RunNames
from conformance.targets.responses import person_in
from conformance.targets.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_FORMAT: Final = "conformance-journal/2"
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

    def is_other_than(self, organization: Mapping[str, Any]) -> bool:
        """Whether a response shows another organization: a faulty service may change an id or a time, but not both."""
        pairs = ((self.organization, organization.get("id")), (self.created_at, organization.get("createdAt")))
        return all(isinstance(shown, str) and known not in {None, shown} for known, shown in pairs)


class Journal:
    """Thread-safe entries of one run, in memory and in ``journal.jsonl``.

    Attributes:
        names: The names of the run.
        place: The service and organization that the run changes.
        begun: The start of the run, in seconds of the epoch by our clock.
        undoing: Whether the run is over: requests then add no entry, and responses say nothing about its changes.
        trusted: Whether a run with the present main key wrote all of it.
        proved: Whether the run that its prefix belongs to wrote it, with the present main key or another one.
    """

    def __init__(self, file: JournalFile, names: RunNames, place: Place) -> None:
        self._file = file
        self._lock = threading.RLock()
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
        journal = cls(JournalFile(folder / JOURNAL, Seal(key, names.prefix)), names, Place(base_url))
        try:
            journal._file.claim()
            cls._ensure_nothing_left(journal._file)
            head = {"format": _FORMAT, "prefix": names.prefix, "base_url": base_url}
            more = {"origin": names.origin, "challenge": names.challenge}
            known = {name: text for name, text in more.items() if text is not None}
            journal._file.begin({**head, **known, "at": _now(), "pid": os.getpid()})
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
        file = JournalFile(folder / JOURNAL)
        if not os.path.lexists(file.path):
            yield
            return
        file.claim()
        try:
            cls._ensure_nothing_left(file)
            yield
        finally:
            file.close()

    @classmethod
    def claim(cls, folder: Path, key: str) -> Self:
        """Open the journal of an earlier run for undoing; no other process can use it before ``close``.

        Raises:
            JournalError: There is no valid journal, or its run goes on.
        """
        cls.read(folder)  # before a file is created
        file = JournalFile(folder / JOURNAL)
        file.claim()
        journal = cls._of(file, key)
        journal.undoing = True
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
        return cls._of(JournalFile(folder / JOURNAL), key)

    @classmethod
    def _of(cls, file: JournalFile, key: str | None) -> Self:
        records = file.records()
        head = next(records, {})
        head = head if head.get("format") == _FORMAT else {}
        prefix, base_url = text_or_none(head.get("prefix")), text_or_none(head.get("base_url"))
        if prefix is None or base_url is None or PREFIX.fullmatch(prefix) is None:
            raise JournalError(f"{file.path} is not the journal of a run.")
        file.seal = None if key is None else Seal(key, prefix)
        names = RunNames(prefix, text_or_none(head.get("origin")), text_or_none(head.get("challenge")))
        journal = cls(file, names, Place(base_url))
        journal.begun = _seconds(head.get("at"))
        journal.trusted = file.is_sealed(head)
        journal.proved = journal.trusted or (key is not None and journal.names.is_proved)
        for record in records:
            if not journal.trusted or file.is_sealed(record):
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
        """Whether the file was deleted, replaced or truncated since this run claimed it."""
        return self._file.is_lost

    def close(self) -> None:
        """Close and release the file; a later entry opens it again."""
        with self._lock:
            self._file.close()

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
            self._file.append(fields | known, durable=True)
            self._take(entry)
            return entry

    def done(self, entry: Entry, made_id: str | None = None) -> None:
        """Record that a change was carried out, and the id of the created object."""
        with self._lock:
            entry.id = made_id
            self._write_state(entry, ChangeState.DONE, **({} if made_id is None else {"id": made_id}))

    def became(self, entry: Entry, name: str) -> None:
        """Record the name that the service shows right after a renaming."""
        with self._lock:
            entry.became = name
            self._file.append({"entry": entry.number, "became": name})

    def shown(self, entry: Entry, person: Person) -> None:
        """Record the person whom the provisioner, or later the service's list, shows under a created member's id."""
        with self._lock:
            entry.person = person
            self._file.append({"entry": entry.number, **person._asdict()})

    def refused(self, entry: Entry) -> None:
        """Record that the service refused a change."""
        with self._lock:
            self._write_state(entry, ChangeState.REFUSED)

    def settle(self, entry: Entry) -> None:
        """Record that nothing is left of a change."""
        with self._lock:
            if entry.state is not ChangeState.SETTLED:
                self._unsettled[entry.action].pop(entry.number, None)
                self._write_state(entry, ChangeState.SETTLED)

    def reopen(self, entry: Entry) -> None:
        """Record that a settled change is still there, so that a later cleanup undoes it."""
        with self._lock:
            self._unsettled[entry.action][entry.number] = entry
            self._write_state(entry, ChangeState.DONE)

    def member_made(self, user_id: str, role: str, email: str) -> None:
        """Record a member that the provisioner created for the run and that must be removed after it."""
        entry = self.intend(Action.MAKE_MEMBER, "provisioner", user_id, role)
        if email:
            self.shown(entry, person_in({"email": email}))
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
                self._file.append(known)

    def uses_other(self, organization: str) -> None:
        """Record the other organization, once; cleanup undoes its changes in no other."""
        with self._lock:
            if self.place.other_organization is None:
                self.place = replace(self.place, other_organization=organization)
                self._file.append({"other_organization": organization})

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first."""
        with self._lock:
            return list(self._entries.values())

    def changes(self) -> list[dict[str, object]]:
        """Return all changes with their state, for the report."""
        return [
            {"action": entry.action.value, "subject": entry.subject, "id": entry.id, "state": entry.state.value}
            for entry in self.entries()
        ]

    def unsettled(self, action: Action) -> list[Entry]:
        """Return the unsettled entries of one action, the oldest first."""
        with self._lock:
            return list(self._unsettled[action].values())

    def pending(self) -> list[Entry]:
        """Return the entries whose changes may have to be undone, the latest first.

        They include refused creations and updates of organizations, because a faulty service may have carried them out.
        """
        return [entry for entry in reversed(self.entries()) if _undoable(entry)]

    def lasting(self) -> list[str]:
        """Return the changes that the interface cannot undo, a sentence each."""
        return [
            _LASTING[entry.action].format(entry.subject, "was" if entry.state is ChangeState.DONE else "may have been")
            for entry in self.entries()
            if entry.action in _LASTING
            and entry.state in {ChangeState.INTENDED, ChangeState.DONE}
            and entry.subject is not None
        ]

    def changed(self, change: Callable[[str], str]) -> bytes:
        """Return the content of the file with its texts changed, and its lines sealed again."""
        with self._lock:
            return self._file.changed(change)

    @classmethod
    def _ensure_nothing_left(cls, file: JournalFile) -> None:
        folder = file.path.parent
        if file.size and cls.read(folder).pending():
            command = f"conformance cleanup {folder}"
            raise JournalError(f"{folder} contains the journal of a run that left changes behind: run {command} first.")

    def _write_state(self, entry: Entry, state: ChangeState, **more: str) -> None:
        """Change the state of an entry and record it, also if the line cannot be written."""
        entry.state = state
        self._file.append({"entry": entry.number, "is": state, **more})

    def _take(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        self._unsettled[entry.action][entry.number] = entry

    def _replay(self, record: Mapping[str, Any]) -> None:
        """Apply a line of an earlier run; lines of an unknown form are ignored."""
        if (organization := text_or_none(record.get("organization"))) is not None and self.place.organization is None:
            since, created_at = _time(record.get("since")), text_or_none(record.get("created_at"))
            self.place = replace(self.place, organization=organization, created_at=created_at, since=since)
        other = text_or_none(record.get("other_organization"))
        if other is not None and self.place.other_organization is None:
            self.place = replace(self.place, other_organization=other)
        number = record.get("entry")
        if not isinstance(number, int) or isinstance(number, bool):
            return
        if number > self._last and record.get("do") in tuple(Action):
            self._last = number
            subject, before, wanted = (text_or_none(record.get(name)) for name in ("subject", "before", "wanted"))
            key, at = text_or_none(record.get("key")) or "api_key", _seconds(record.get("at"))
            self._take(Entry(number, Action(record["do"]), key, subject, before, wanted, at=at))
        elif number in self._entries and record.get("is") in tuple(ChangeState):
            self._restate(self._entries[number], ChangeState(record["is"]), record)
        elif number in self._entries:
            self._describe(self._entries[number], record)

    def _describe(self, entry: Entry, record: Mapping[str, Any]) -> None:
        if (became := text_or_none(record.get("became"))) is not None:
            entry.became = became
        joined_at, email = (text_or_none(record.get(name)) for name in Person._fields)
        if joined_at is not None and email is not None:
            entry.person = Person(joined_at, email)

    def _restate(self, entry: Entry, state: ChangeState, record: Mapping[str, Any]) -> None:
        entry.state = state
        entry.id = text_or_none(record.get("id")) or entry.id
        if state is ChangeState.SETTLED:
            self._unsettled[entry.action].pop(entry.number, None)


def _undoable(entry: Entry) -> bool:
    if entry.action in {Action.CREATE_ENGAGEMENT, Action.RENAME_ORGANIZATION, Action.CHANGE_FIELDS}:
        return entry.state is not ChangeState.SETTLED
    if entry.action in {Action.CHANGE_ROLE, Action.MAKE_MEMBER, Action.UPDATE_WITHOUT_FIELDS}:
        return entry.state in {ChangeState.INTENDED, ChangeState.DONE}
    return False


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
    """Return a time in seconds of the epoch; 0 if it is unreadable, or not a time in every time zone."""
    try:
        moment = datetime.fromisoformat(str(at))
        return moment.timestamp() if MINYEAR < moment.year < MAXYEAR else 0.0
    except (ValueError, OverflowError):
        return 0.0
