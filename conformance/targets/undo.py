"""Undoing of the changes in a journal."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.targets.census import take_census
from conformance.targets.journal import Journal, JournalError
from conformance.targets.journal_entries import Action, Entry, State
from conformance.targets.ownership import Ownership, OwnershipState
from conformance.targets.queries import (
    GONE,
    PAGES,
    OwnEngagements,
    QueryClient,
    data_of,
    describe_result,
    identifier_of,
    latest_items,
    member_roles,
    own_among,
)
from conformance.targets.recorder import owner
from conformance.targets.remains import reopen_remaining
from conformance.wire import requests
from conformance.wire.exchange import KEY_REFUSED, SUCCESSES, NoResponse
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.targets.membership import Membership
    from conformance.targets.queries import Listed
    from conformance.wire.exchange import Response

_FEW: Final = 3
_TRIES: Final = 3
"""The most deletions of an engagement if their responses are lost."""

_LONGEST_WAIT: Final = 2.0
"""The longest wait, in seconds, for writes without a response."""

_CLOCKS_APART: Final = 60.0
"""Seconds by which the clocks of the run, the service and a later cleanup may differ."""


@dataclass(slots=True)
class UndoResult:
    """Result of undoing.

    Attributes:
        undone: The number of settled journal entries.
        left: The changes that could not be undone, a sentence each.
        lasting: The changes that the interface cannot undo, a sentence each.
        writes: The writes, a clause each.
        listed: The engagements of the main key's organization, if they were listed after the last deletion.
    """

    undone: int = 0
    left: list[str] = field(default_factory=list)
    lasting: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    listed: Listed | None = None


def clean_up(
    journal: Journal,
    ownership: Ownership,
    membership: Membership,
    queries: QueryClient,
    base_url: str,
    *,
    moved: bool = False,
    lateness: float = 0.0,
) -> UndoResult:
    """Undo the changes of an earlier run, if the service is that of its journal.

    Args:
        journal: The journal of that run.
        ownership: Observes all reads, and knows the owners of engagements.
        membership: Observes all lists of members, and knows which may be removed.
        queries: Sends requests, with the main key by default.
        base_url: The present base URL of the service.
        moved: Whether the service may have another address than during the run.
        lateness: See ``undo``.

    Raises:
        JournalError: It is another service, or another organization.
    """
    if journal.place.base_url != base_url and not moved:
        raise JournalError(
            f"The journal is about {journal.place.base_url}, and this is {base_url}: nothing was undone. "
            "If the service has moved, add --moved."
        )
    if not journal.pending():
        return UndoResult(lasting=journal.lasting())
    response = queries.send(requests.get_organization())
    is_shown = _ensure_same_organization(journal, response, is_elsewhere=journal.place.base_url != base_url)
    reason: str | None = None
    if isinstance(response, str):
        reason = f"the organization could not be read: {response}"
    elif response.status in KEY_REFUSED:
        reason = f"the key is refused with status {response.status}"
    elif not is_shown and not _sees_own(journal, ownership, queries):
        reason = f"neither the organization nor an engagement of the run could be read: status {response.status}"
    if reason is not None:
        return UndoResult(left=[f"Nothing was undone, because {reason}."], lasting=journal.lasting())
    has_made = any(entry.id is not None for entry in journal.pending())
    result = undo(journal, ownership, membership, queries, is_cleanup=True, lateness=lateness)
    if has_made or result.writes:
        result.left += reopen_remaining(
            journal, ownership, queries, *take_census(queries, journal.names, result.listed)
        )
    return result


def _ensure_same_organization(journal: Journal, response: Response | str, *, is_elsewhere: bool) -> bool:
    """Ensure that the main key belongs to the organization of the run.

    Returns:
        Whether the response shows the organization, if the run knew it.

    Raises:
        JournalError: It is another organization, or a service that may have moved does not show it.
    """
    known = journal.place.organization, journal.place.created_at
    data = {} if isinstance(response, str) else data_of(response)
    shown = tuple(value if isinstance(value := data.get(name), str) else None for name in ("id", "createdAt"))
    if any(None not in pair and pair[0] != pair[1] for pair in zip(known, shown, strict=True)):
        raise JournalError(
            f"The journal is about the organization {known[0]} created at {known[1]}, and the key belongs to the "
            f"organization {shown[0]} created at {shown[1]}: nothing was undone."
        )
    if is_elsewhere and None in {*known, *shown}:
        raise JournalError("Nothing was undone, because the organization does not show whether the service has moved.")
    return known[0] is None or shown[0] is not None


def _sees_own(journal: Journal, ownership: Ownership, queries: QueryClient) -> bool:
    """Whether the main key can read an engagement of the run."""
    entries = [entry for entry in journal.pending() if owner(entry.key) == MAIN_KEY]
    made = [entry.id for entry in entries if entry.action is Action.CREATE_ENGAGEMENT and entry.id is not None]
    queries.send_all([requests.get_engagement(identifier) for identifier in made[:_FEW]])
    return any(ownership.state(identifier) is OwnershipState.OWN for identifier in made[:_FEW])


def undo(
    journal: Journal,
    ownership: Ownership,
    membership: Membership,
    queries: QueryClient,
    *,
    is_cleanup: bool = False,
    lateness: float = 0.0,
) -> UndoResult:
    """Undo pending changes: engagements first, then members, roles and the organization's name.

    It writes only to data that a read shows to be as the run left it. It is idempotent: if nothing is left, it sends
    nothing. A full disk does not stop it.

    Args:
        journal: The changes of the run, which undoing settles.
        ownership: Observes all reads, and knows the owners of engagements.
        membership: Observes all lists of members, and knows which may be removed.
        queries: Sends requests.
        is_cleanup: Whether the run is over: its report no longer names the ids that do not show the run's mark.
        lateness: Seconds in which a write without a response may still be carried out. It is waited for, but not long;
            then it is left.
    """
    undoing = _Undoing(journal, ownership, membership, queries, is_cleanup=is_cleanup, lateness=lateness)
    pending = journal.pending()
    latest = max((entry.at for entry in pending if entry.state is State.INTENDED), default=0.0)
    time.sleep(min(max(0.0, latest + lateness - time.time()), _LONGEST_WAIT))
    if journal.trusted:
        membership.give(entry.subject or "" for entry in pending if entry.action is Action.MAKE_MEMBER)
    journal.undoing = True
    try:
        if pending:
            if journal.proved:
                undoing.engagements()
            undoing.others()
    finally:
        journal.undoing = False
    undoing.result.undone = sum(entry.state is State.SETTLED for entry in pending)
    undoing.result.lasting = journal.lasting()
    if is_cleanup:
        undoing.foreign()
    return undoing.result


class _Undoing:
    """One pass over the pending entries of a journal."""

    def __init__(
        self,
        journal: Journal,
        ownership: Ownership,
        membership: Membership,
        queries: QueryClient,
        *,
        is_cleanup: bool,
        lateness: float,
    ) -> None:
        self.result = UndoResult()
        self._lateness = lateness
        self._journal = journal
        self._ownership = ownership
        self._membership = membership
        self._queries = queries
        self._is_cleanup = is_cleanup
        self._garbled: set[str] = set()
        self._tried: set[str] = set()

    def engagements(self) -> None:
        """Delete the engagements that the run created, including those whose id is unknown."""
        entries = self._pending(Action.CREATE_ENGAGEMENT)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            mine = [entry for entry in entries if owner(entry.key) == key]
            if key == OTHER_KEY and self._is_elsewhere():
                self._leave(f"Engagements of the other organization were left: {len(mine)}; the key is of another.")
                continue
            self._ownership.made((entry.id for entry in mine if entry.id is not None), key)
            self._delete([entry.id for entry in mine if entry.id is not None], key)
            left = self._pending(Action.CREATE_ENGAGEMENT)
            if nameless := [entry for entry in mine if entry in left and self._has_no_id(entry, key)]:
                self._search(nameless, key)

    def _is_elsewhere(self) -> bool:
        """Whether the other organization's key in a cleanup belongs to another organization than during the run."""
        known = self._journal.place.other_organization
        if not self._is_cleanup or known is None:
            return False
        found = self._queries.send(requests.get_organization(), OTHER_KEY)
        shown = None if isinstance(found, str) else identifier_of(data_of(found))
        return shown not in {None, known}

    def others(self) -> None:
        """Remove members and restore roles and names, if the journal is trusted."""
        if self._journal.trusted:
            self._members()
            self._roles()
            self._names()
            return
        actions = {entry.action for entry in self._journal.pending()}
        named = ", ".join(sorted(actions - {Action.CREATE_ENGAGEMENT} if self._journal.proved else actions))
        if named and self._journal.proved:
            self._leave(f"Not undone, because the journal was written with another key: {named}.")
        elif named:
            self._leave(
                f"Not undone, because neither the key nor the prefix shows that a run wrote the journal: {named}."
            )

    def foreign(self) -> None:
        """Name the engagements in responses to creations that do not show the run's mark."""
        for identifier in self._ownership.foreign_ids:
            sentence = f"The engagement {identifier} was left alone: it does not show that it is the run's."
            (self.result.left if identifier in self._garbled else self.result.lasting).append(sentence)

    def _members(self) -> None:
        """Remove the members that were created for the run."""
        for entry in self._pending(Action.MAKE_MEMBER):
            user_id = entry.subject or ""
            removal = requests.remove_member(user_id)
            try:
                self._membership.ensure([removal])
            except NoResponse as withheld:
                self._leave(f"The member {user_id} was not removed: {withheld}.")
                continue
            response = self._queries.send(removal)
            if not _is_gone(response):
                self._leave(f"The member {user_id} could not be removed: {describe_result(response)}.")
                continue
            self.result.writes.append(f"the member {user_id} was removed")
            changes = [other for other in self._pending(Action.CHANGE_ROLE) if other.subject == entry.subject]
            self._settle(entry, *changes)

    def _roles(self) -> None:
        """Restore the roles of members that have a role that the run requested."""
        entries = self._pending(Action.CHANGE_ROLE)
        roles = member_roles(self._queries) if entries else None
        for user_id in dict.fromkeys(entry.subject or "" for entry in entries):
            changes = [entry for entry in entries if (entry.subject or "") == user_id]
            error = self._restore_role(user_id, changes, roles)
            if error is None and any(map(self._may_come, changes)):
                error = f"The role of {user_id} may still be changed: a request got no response."
            if error is not None:
                self._leave(error)
                continue
            self._settle(*changes)

    def _restore_role(self, user_id: str, changes: Sequence[Entry], roles: Mapping[str, str] | None) -> str | None:
        """Restore a member's role; return why that failed, as a sentence, or None."""
        before = changes[-1].before
        if roles is None:
            return f"The role of {user_id} may have been changed: the members could not be listed."
        now = roles.get(user_id)
        if now in {None, before}:
            return None
        if before not in {"admin", "member"}:
            return f"The role of {user_id} may have been changed, and the interface cannot make it {before} again."
        if now not in {entry.wanted for entry in changes}:
            return f"The role of {user_id} is {now}, which the run did not request; it was left unchanged."
        response = self._queries.send(requests.update_member_role(user_id, {"role": before}))
        self.result.writes.append(f"the role of {user_id} was made {before} again")
        return (
            None
            if _is_gone(response)
            else f"The role of {user_id} could not be made {before} again: {describe_result(response)}."
        )

    def _names(self) -> None:
        """Restore the names of organizations that have a name of the run."""
        entries = self._pending(Action.RENAME_ORGANIZATION)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            renamings = [entry for entry in entries if owner(entry.key) == key]
            may_differ = any(entry.state is not State.REFUSED for entry in renamings)
            error = self._restore_name(key, renamings)
            if error is None and any(map(self._may_come, renamings)):
                error = "The organization may still be renamed: a request got no response."
            if error is not None and may_differ:
                self._leave(error)
            if error is None or not may_differ:
                self._settle(*renamings)

    def _restore_name(self, key: str, renamings: Sequence[Entry]) -> str | None:
        """Restore an organization's name; return why that failed, as a sentence, or None."""
        before = renamings[-1].before
        if before is None:
            return "The organization may have been renamed, and its name before is not known."
        found = self._queries.send(requests.get_organization(), key)
        if (now := _name_in(found)) is None:
            reason = f"its name could not be read ({describe_result(found)})"
            return f'The organization could not be named "{before}" again: {reason}.'
        given = {text for entry in renamings for text in (entry.subject, entry.became)}
        if now == before:
            return None
        if now not in given:
            return f'The organization is named "{now}", but not by the run; its name before was "{before}".'
        response = self._queries.send(requests.update_organization({"name": before}), key)
        if isinstance(response, str) or response.status not in SUCCESSES:
            return f'The organization could not be named "{before}" again: {describe_result(response)}.'
        now = _name_in(response)
        self.result.writes.append(f'the organization was named "{before}" again')
        return None if now in {before, None} else f'The organization was to become "{before}", but became "{now}".'

    def _states(self, ids: Iterable[str], key: str) -> dict[str, OwnershipState | None]:
        """Return the owners of engagements; those not known to be the run's are read."""
        known = {identifier: self._ownership.state(identifier, key) for identifier in dict.fromkeys(ids)}
        unread = [identifier for identifier, state in known.items() if state is not OwnershipState.OWN]
        self._queries.send_all([requests.get_engagement(identifier) for identifier in unread], key)
        return {identifier: self._ownership.state(identifier, key) for identifier in known}

    def _has_no_id(self, entry: Entry, key: str) -> bool:
        """Whether only the name can find a created engagement: it has no id, or another user's."""
        return entry.id is None or self._ownership.state(entry.id, key) is OwnershipState.ANOTHERS

    def _delete(self, ids: Sequence[str], key: str) -> bool:
        """Delete the run's engagements among these ids; return whether none of them is left.

        If the response to a deletion is lost, the engagement is read before it is deleted again, because another user's
        may have its id by then.
        """
        remaining, left = list(dict.fromkeys(ids)), 0
        for tries_left in reversed(range(_TRIES)):
            states = self._states(remaining, key)
            unread = [identifier for identifier, state in states.items() if state is None and tries_left]
            for identifier, state in states.items():
                if state is OwnershipState.ABSENT:
                    self._settle_id(identifier, key)
                elif state in {None, OwnershipState.UNREADABLE} and identifier not in unread:
                    reason = "no read shows that it is the run's"
                    self._leave(f"The engagement {identifier} was not deleted, because {reason}.")
                    left += 1
            own = [identifier for identifier, state in states.items() if state is OwnershipState.OWN]
            deletions = [requests.delete_engagement(identifier) for identifier in own]
            self._tried |= set(own)
            remaining = unread
            for identifier, response in zip(own, self._queries.send_all(deletions, key), strict=True):
                if isinstance(response, str) and tries_left:
                    remaining.append(identifier)
                elif _is_gone(response):
                    self.result.writes.append(f"the engagement {identifier} was deleted")
                    self._settle_id(identifier, key)
                else:
                    self._leave(f"The engagement {identifier} could not be deleted: {describe_result(response)}.")
                    left += 1
        return not left

    def _settle_id(self, identifier: str, key: str) -> None:
        entries = self._pending(Action.CREATE_ENGAGEMENT)
        self._settle(*(entry for entry in entries if entry.id == identifier and owner(entry.key) == key))

    def _search(self, entries: Sequence[Entry], key: str) -> None:
        """Search by the run's prefix for engagements without a known id, and for refused creations.

        If all creations were refused, only the first page is searched, with the latest engagements.
        """
        lost = [entry for entry in entries if entry.state is not State.REFUSED]
        listed = latest_items(self._queries, pages=PAGES if lost else 1, key=key)
        found = listed if isinstance(listed, str) else own_among(listed, self._journal.names)
        if not isinstance(listed, str) and key == MAIN_KEY and not own_among(listed, self._journal.names).ids:
            self.result.listed = listed
        gone = not isinstance(found, str) and self._delete(found.ids, key)
        for identifier in () if isinstance(found, str) or not lost else found.ids:
            if self._ownership.state(identifier, key) is OwnershipState.ANOTHERS:
                self._leave(
                    f"The engagement {identifier} has a name of the run, but was created before or after it: "
                    "it was left alone."
                )
        if gone:
            self._settle(*(entry for entry in entries if entry.state is State.REFUSED))
        if gone and not isinstance(found, str) and found.complete:
            garbled = self._may_be_garbled(lost, found, key)
            self._garbled |= {entry.id or "" for entry in garbled}
            lost = [entry for entry in lost if entry not in garbled]
            told = [entry for entry in lost if not self._may_come(entry)]
            self._settle(*(entry for entry in told if self._has_a_name(entry) or self._is_older(found, entry)))
        if unclear := sum(entry.state is not State.SETTLED for entry in lost):
            reason = f": {found}" if isinstance(found, str) else ""
            self._leave(f"Creations with unknown results: {unclear}{reason}.")

    def _may_be_garbled(self, lost: Sequence[Entry], found: OwnEngagements, key: str) -> list[Entry]:
        """Return the creations whose engagements may be the run's, if the search did not find as many others."""
        if not self._is_cleanup or len(found.ids) >= len(lost):
            return []
        doubtful = [entry for entry in lost if entry.id is not None and entry.id not in self._tried]
        return [entry for entry in doubtful if self._ownership.may_be_own(entry.id or "", key)]

    def _may_come(self, entry: Entry) -> bool:
        """Whether a write without a response may still be carried out."""
        return entry.state is State.INTENDED and time.time() - entry.at < self._lateness

    def _has_a_name(self, entry: Entry) -> bool:
        return self._journal.names.owns(entry.subject)

    def _is_older(self, found: OwnEngagements, entry: Entry) -> bool:
        """Whether all other engagements are older than a creation, so that it created none, whatever its name was."""
        return found.latest_other < entry.at - _CLOCKS_APART

    def _pending(self, action: Action) -> list[Entry]:
        return [entry for entry in self._journal.pending() if entry.action is action]

    def _settle(self, *entries: Entry) -> None:
        for entry in entries:
            try:
                self._journal.settle(entry)
            except JournalError as error:
                # Undoing the other changes matters more than the journal.
                sentence = f"{error} What was undone could not be marked as undone in the journal."
                self.result.left += [sentence] if sentence not in self.result.left else []

    def _leave(self, sentence: str) -> None:
        self.result.left.append(sentence)


def _name_in(response: Response | str) -> str | None:
    name = None if isinstance(response, str) else data_of(response).get("name")
    return name if isinstance(name, str) else None


def _is_gone(response: Response | str) -> bool:
    """Whether a deletion, a removal or a change succeeded, or its object was gone."""
    return not isinstance(response, str) and (response.status in GONE or response.status in SUCCESSES)
