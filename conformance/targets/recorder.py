"""Observer of the wire that records every change in the journal before it is sent."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final

from conformance.json_text import text_or_none
from conformance.targets.journal_entries import Action, ChangeState, Entry
from conformance.targets.journal_file import JournalError
from conformance.targets.names import PREFIX, normalized
from conformance.targets.responses import (
    GONE,
    data_of,
    fixed_fields,
    identifier_of,
    is_another,
    listed_members,
    moment_of,
    object_in,
    person_in,
    roles_of,
)
from conformance.wire.exchange import REFUSALS, SUCCESSES, TOO_MANY_REQUESTS, NotSent
from conformance.wire.gateways import MAX_TARGET
from conformance.wire.redaction import STAND_IN
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from conformance.targets.journal import Journal
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_ACTIONS: Final = {
    "createEngagement": (Action.CREATE_ENGAGEMENT, "name"),
    "updateCurrentOrganization": (Action.RENAME_ORGANIZATION, "name"),
    "inviteMember": (Action.INVITE, "email"),
    "updateMemberRole": (Action.CHANGE_ROLE, None),
    "removeMember": (Action.REMOVE_MEMBER, None),
}
_LONGEST_SUBJECT: Final = 200
_SURELY_STORED: Final = timedelta(seconds=1)
"""The time after an update in which a faulty service may still store fields that only the service sets."""
_NO_NAME: Final = frozenset({"", "undefined", "null", "none"})
"""Names that a careless service stores for an update without one; any other is another user's."""


@dataclass(slots=True)
class _Sent:
    """A journal entry, and whether an attempt at it was observed."""

    entry: Entry
    attempted: bool = False


class JournalRecorder:
    """Thread-safe observer of the wire that writes the journal.

    Args:
        journal: The journal.
        give_up: Called with the reason if the journal cannot be written.
    """

    def __init__(self, journal: Journal, give_up: Callable[[str], None] = lambda _: None) -> None:
        self._journal = journal
        self._give_up = give_up
        self._lock = threading.RLock()
        self._open: defaultdict[Request, list[_Sent]] = defaultdict(list)
        self._names: dict[str, str] = {}
        self._present_names: dict[str, str] = {}
        self._sent_names: set[str] = set()
        self._roles: dict[str, str] = {}
        self._fields: dict[str, object] = {}
        self._fields_sent_at: datetime | None = None
        self._names_with_hidden_text: set[str] = set()
        self._is_elsewhere = False

    def ensure_harmless(self, requests: Sequence[Request]) -> None:
        """Ensure that requests can be undone.

        Raises:
            NotSent: A request contains a text that the target file hides, or would rename an organization whose name
                contains one, or an organization that has a name of another run or was renamed during the run.
        """
        for request in requests:
            named = (request.identifier or "").encode("utf-8", "replace")
            if STAND_IN.search(named) or STAND_IN.search(request.body or b""):
                raise NotSent("it contains a text that the target file hides")
            action, _ = self._action(request)
            if action is Action.RENAME_ORGANIZATION and (reason := self._unrestorable(request)):
                raise NotSent(reason)

    def _unrestorable(self, request: Request) -> str | None:
        """Return why the name of an organization could not be restored after a renaming; None if it could."""
        key = owner(request.key_name)
        before = self._names.get(key)
        if key == MAIN_KEY and self._is_elsewhere:
            return "the main key shows another organization than before"
        if key in self._names_with_hidden_text:
            return "the organization's name contains a text that the target file hides, and could not be restored"
        if before is not None and PREFIX.match(normalized(before)):
            return "the organization has a name of another run, which may restore the name before"
        if before is not None and self._present_names.get(key) != before:
            return "another user renamed the organization during the run"
        return None

    def before(self, request: Request) -> None:
        """Record a change before its request is sent.

        Raises:
            JournalError: It cannot be recorded, so the request must not be sent.
        """
        action, member = self._action(request)
        if action is None:
            return
        key = request.key_name
        if action is Action.RENAME_ORGANIZATION:
            sent = object_in(request.body).get("name")
            self._sent_names |= {normalized(str(sent)), normalized(json.dumps(sent))}
        subject = request.identifier if member is None else shortened(self._text(object_in(request.body), member))
        with self._lock, self._raising_give_up():
            before = {
                Action.RENAME_ORGANIZATION: self._names.get(owner(key)),
                Action.UPDATE_WITHOUT_FIELDS: self._names.get(owner(key)),
                Action.CHANGE_ROLE: shortened(self._roles.get(request.identifier or "")),
            }.get(action)
            wanted = shortened(object_in(request.body).get("role")) if action is Action.CHANGE_ROLE else None
            self._open[request].append(_Sent(self._journal.intend(action, key, subject, before, wanted)))
            if action is Action.RENAME_ORGANIZATION and owner(key) == MAIN_KEY:
                self._intend_fields(key, fixed_fields(object_in(request.body)))

    def _intend_fields(self, key: str, sent: Mapping[str, object]) -> None:
        """Record fields of the organization that an update sends although only the service sets them."""
        if before := {name: self._fields[name] for name in sent if name in self._fields}:
            self._journal.intend(Action.CHANGE_FIELDS, key, None, json.dumps(before), json.dumps(sent))

    def _text(self, body: Mapping[str, object], member: str) -> object:
        """Return the member's text, or the description if only that shows the run's prefix."""
        description = body.get("description")
        is_recognizable = member != "name" or self._journal.names.owns(body.get(member))
        return body.get(member) if is_recognizable or not self._journal.names.owns(description) else description

    def _action(self, request: Request) -> tuple[Action, str | None] | tuple[None, None]:
        """Return the action of a request, and the member of its body that names the subject."""
        if not request.is_proper or self._journal.undoing:
            return None, None
        if request.operation.id == "updateCurrentOrganization" and request.body == b"{}":
            # Without a known name, nothing could be restored.
            return (Action.UPDATE_WITHOUT_FIELDS, None) if owner(request.key_name) in self._names else (None, None)
        return _ACTIONS.get(request.operation.id, (None, None))

    def after(self, exchange: Exchange) -> None:
        """Record the result of an attempt."""
        request = exchange.request
        if not request.is_proper or self._journal.undoing:
            return
        with self._lock, self._raising_give_up():
            if (sent := self._sent(request, exchange.attempt)) is not None:
                self._conclude(sent, exchange)
            else:
                self._learn(exchange)

    @contextmanager
    def _raising_give_up(self) -> Iterator[None]:
        """Give up the run if the journal cannot be written."""
        try:
            yield
        except JournalError as error:
            self._give_up(str(error))
            raise

    def _sent(self, request: Request, attempt: int) -> _Sent | None:
        """Return the entry of an attempt; equal requests in flight need not be distinguished."""
        found = next((sent for sent in self._open.get(request, ()) if sent.attempted == (attempt > 1)), None)
        if found is not None:
            found.attempted = True
        return found

    def _conclude(self, sent: _Sent, exchange: Exchange) -> None:
        response, request = exchange.received, exchange.request
        # Without a response, with a gateway's, or before a retry, the entry stays intended.
        if response is None or (response.status == TOO_MANY_REQUESTS and not request.expects_429):
            return
        if sent.entry.action is Action.RENAME_ORGANIZATION and fixed_fields(object_in(request.body)):
            self._fields_sent_at = exchange.ended_at
        if response.status in REFUSALS:
            self._open[request].remove(sent)
            self._journal.refused(sent.entry)
        elif response.status in SUCCESSES:
            self._open[request].remove(sent)
            self._carried_out(sent.entry, request, exchange)

    def _carried_out(self, entry: Entry, request: Request, exchange: Exchange) -> None:
        if entry.action is Action.CREATE_ENGAGEMENT:
            self._created(entry, exchange)
            return
        self._journal.done(entry)
        if entry.action is Action.RENAME_ORGANIZATION:
            shown = data_of(exchange.received)
            if isinstance(name := shown.get("name"), str):
                self._sent_names.add(normalized(name))
            self._learn_name(request.key_name, shown)
            if _is_given_back(entry, exchange):
                self._settle(Action.RENAME_ORGANIZATION, lambda other: owner(other.key) == owner(entry.key))
        elif entry.action is Action.UPDATE_WITHOUT_FIELDS:
            self._updated_without_fields(entry, data_of(exchange.received).get("name"))
        elif entry.action is Action.CHANGE_ROLE and object_in(request.body).get("role") == entry.before:
            self._settle(Action.CHANGE_ROLE, lambda other: other.subject == entry.subject)
        elif entry.action is Action.REMOVE_MEMBER:
            self._removed(entry)

    def _updated_without_fields(self, entry: Entry, name: object) -> None:
        if name == entry.before:
            self._journal.settle(entry)
        elif isinstance(name, str) and name.strip().casefold() in _NO_NAME:
            self._sent_names.add(normalized(name))
            self._journal.became(entry, name)

    def _created(self, entry: Entry, exchange: Exchange) -> None:
        data = data_of(exchange.received)
        if (made_id := identifier_of(data)) is not None and len(made_id) <= MAX_TARGET:
            self._journal.done(entry, made_id)
        # Without an id, or with one that no request can have, only its name can find it, as if there were no response.

    def _removed(self, entry: Entry) -> None:
        """Settle the entries of a removed member: its role changes, and its creation for the run."""
        self._settle(Action.CHANGE_ROLE, lambda other: other.subject == entry.subject)
        if self._settle(Action.MAKE_MEMBER, lambda other: other.subject == entry.subject):
            self._journal.settle(entry)

    def _settle(self, action: Action, belongs: Callable[[Entry], bool]) -> bool:
        found = [entry for entry in self._journal.unsettled(action) if belongs(entry)]
        for entry in found:
            self._journal.settle(entry)
        return bool(found)

    def _learn(self, exchange: Exchange) -> None:
        """Learn the state of the organization and its members before the run's changes."""
        key, operation, response = exchange.request.key_name, exchange.operation_id, exchange.received
        if response is None:
            return
        succeeded, full = response.status in SUCCESSES, key in {MAIN_KEY, OTHER_KEY}
        shown = exchange.request.credential
        permitted = shown is None or not (shown.invalid or shown.authorization is None)
        if operation == "deleteEngagement" and ((succeeded and permitted) or (response.status in GONE and full)):
            gone = exchange.request.identifier
            self._settle(Action.CREATE_ENGAGEMENT, lambda entry: entry.id == gone and owner(entry.key) == owner(key))
        elif not full:
            return
        elif operation == "getCurrentOrganization" and succeeded:
            self._learn_organization(exchange)
        elif operation == "listMembers" and succeeded and key == MAIN_KEY:
            members = listed_members(response)
            self._learn_roles(roles_of(members))
            for entry in self._journal.unsettled(Action.MAKE_MEMBER):
                member = members.get(entry.subject or "", {})
                if member and not (entry.person and entry.person.joined_at) and not is_another(member, entry.person):
                    self._journal.shown(entry, person_in(member))

    def _learn_organization(self, exchange: Exchange) -> None:
        key, data = exchange.request.key_name, data_of(exchange.received)
        if key == MAIN_KEY:
            self._learn_fields(exchange, fixed_fields(data))
            self._is_elsewhere = self._journal.place.is_other_than(data)
        if key == MAIN_KEY and isinstance(data.get("id"), str):
            self._journal.belongs_to(data["id"], text_or_none(data.get("createdAt")), moment_of(exchange))
        if key == OTHER_KEY and isinstance(data.get("id"), str):
            self._journal.uses_other(data["id"])
        self._learn_name(key, data)

    def _learn_fields(self, exchange: Exchange, shown: Mapping[str, object]) -> None:
        """Learn the fields before the run's updates, or settle these if they have changed nothing.

        If a field changes afterwards, another user has changed it, and it must stay.
        """
        entries = self._journal.unsettled(Action.CHANGE_FIELDS)
        before = [object_in((entry.before or "").encode()) for entry in entries]
        is_late = self._fields_sent_at is not None and exchange.started_at >= self._fields_sent_at + _SURELY_STORED
        is_updating = any(sent.entry.action is Action.RENAME_ORGANIZATION for sent in chain(*self._open.values()))
        if is_late and not is_updating and all(shown.get(name) == was[name] for was in before for name in was):
            self._settle(Action.CHANGE_FIELDS, lambda _: True)
            entries = []
        if not entries:
            self._fields = dict(shown)

    def _learn_name(self, key: str, data: Mapping[str, object]) -> None:
        """Learn an organization's name before the run, what became of the last renaming, or another user's name."""
        name = data.get("name")
        renamings = [
            entry for entry in self._journal.unsettled(Action.RENAME_ORGANIZATION) if owner(entry.key) == owner(key)
        ]
        if not isinstance(name, str):
            return
        # A faulty service may have stored what it refused, also a value that is no text.
        is_given = self._journal.names.owns(name) or normalized(name) in self._sent_names
        if not is_given or name == self._names.get(owner(key)):
            self._present_names[owner(key)] = name
        if not renamings:
            self._names.setdefault(owner(key), name)
            if STAND_IN.search(name.encode("utf-8", "replace")):
                self._names_with_hidden_text.add(owner(key))
        elif (
            is_given
            and (last := renamings[-1]).became is None
            and last.state is ChangeState.DONE
            and name not in {last.subject, last.before}
        ):
            self._journal.became(last, name)

    def _learn_roles(self, roles: Mapping[str, str]) -> None:
        changed = {entry.subject for entry in self._journal.unsettled(Action.CHANGE_ROLE)}
        for user_id, role in roles.items():
            if role and user_id not in changed:
                self._roles.setdefault(user_id, role)


def owner(key: str) -> str:
    """Return the full key of a key's organization: the other organization's, or else the main key."""
    return key if key == OTHER_KEY else MAIN_KEY


def shortened(value: object) -> str | None:
    """Return the beginning of a text as the journal has it; None if it is no text."""
    return value[:_LONGEST_SUBJECT] if isinstance(value, str) else None


def _is_given_back(entry: Entry, exchange: Exchange) -> bool:
    """Whether a renaming restored the organization's name, and the response shows no other name."""
    shown = data_of(exchange.received).get("name")
    is_same = entry.subject is not None and entry.subject == entry.before
    return is_same and (not isinstance(shown, str) or shown == entry.before)
