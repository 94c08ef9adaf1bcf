"""Undoes what a journal says that a run has left, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.targets.journal import Journal, JournalError
from conformance.targets.journal_entries import Action, Entry, State
from conformance.targets.ownership import Ownership, OwnershipState
from conformance.targets.queries import (
    GONE,
    MAIN_KEY,
    PAGES,
    OwnEngagements,
    QueryClient,
    data_of,
    describe_result,
    latest_items,
    member_roles,
    own_among,
)
from conformance.targets.recorder import owner
from conformance.wire import requests
from conformance.wire.exchange import SUCCESSES, NoResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.targets.membership import Membership
    from conformance.targets.queries import Listed
    from conformance.wire.exchange import Response

_REFUSED: Final = frozenset({401, 403})
_FEW: Final = 3
_TRIES: Final = 3
"""How often an engagement is deleted whose deletion is not answered."""

_CLOCKS_APART: Final = 60.0
"""Seconds by which the clocks of the run, of the service and of a later cleanup may differ."""


@dataclass(slots=True)
class UndoResult:
    """What undoing came to.

    Attributes:
        undone: How many entries of the journal it settled.
        left: What should have been undone and could not, a sentence each.
        lasting: What the interface has no way of undoing, a sentence each.
        writes: What was written for that, a clause each.
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
) -> UndoResult:
    """Undo what an earlier run has left, if the service is the one that its journal is about.

    Args:
        journal: The journal of that run.
        ownership: Sees all reads, and tells whose engagements are.
        membership: Sees all lists of members, and tells who may be removed.
        queries: Sends requests, with the main key if they name none.
        base_url: Where the service is now.
        moved: Whether it may have another address than at the time of the run.

    Raises:
        JournalError: It is another service, or another organization.
    """
    if not journal.pending():
        return UndoResult(lasting=journal.lasting())
    if journal.place.base_url != base_url and not moved:
        raise JournalError(
            f"The journal is about {journal.place.base_url}, and this is {base_url}: nothing was undone. "
            "If the service has moved, add --moved."
        )
    response = queries.send(requests.get_organization())
    is_shown = _ensure_same_organization(journal, response, is_elsewhere=journal.place.base_url != base_url)
    reason: str | None = None
    if isinstance(response, str):
        reason = f"the organization could not be read: {response}"
    elif response.status in _REFUSED:
        reason = f"the key is refused with status {response.status}"
    elif not is_shown and not _sees_own(journal, ownership, queries):
        reason = f"neither the organization nor an engagement of the run could be read: status {response.status}"
    if reason is not None:
        return UndoResult(left=[f"Nothing was undone, because {reason}."], lasting=journal.lasting())
    result = undo(journal, ownership, membership, queries)
    result.lasting += [
        f"The engagement {identifier} was left alone: it does not show that it is the run's."
        for identifier in ownership.foreign_ids
    ]
    return result


def _ensure_same_organization(journal: Journal, response: Response | str, *, is_elsewhere: bool) -> bool:
    """Make sure that the main key does not belong to another organization than that of the run.

    Returns:
        Whether the response shows that it is the same, as far as the run knew it.

    Raises:
        JournalError: It is another one, or a service that may be another one does not show it.
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
    """Whether the main key shows something that the run made."""
    entries = [entry for entry in journal.pending() if owner(entry.key) == MAIN_KEY]
    made = [entry.id for entry in entries if entry.action is Action.CREATE_ENGAGEMENT and entry.id is not None]
    queries.send_all([requests.get_engagement(identifier) for identifier in made[:_FEW]])
    return any(ownership.state(identifier) is OwnershipState.OWN for identifier in made[:_FEW])


def undo(journal: Journal, ownership: Ownership, membership: Membership, queries: QueryClient) -> UndoResult:
    """Undo what is pending: engagements first, then members, roles and the organization's name.

    Nothing is written to that a read does not show to be as the run left it. Doing it twice is harmless, and where the
    first time left nothing the second sends nothing. A full disk does not keep it from going on.

    Args:
        journal: What the run has done; what is undone is ticked off in it.
        ownership: Sees all reads, and tells whose engagements are.
        membership: Sees all lists of members, and tells who may be removed.
        queries: Sends requests.
    """
    undoing = _Undoing(journal, ownership, membership, queries)
    pending = journal.pending()
    if journal.trusted:
        membership.give(entry.subject or "" for entry in pending if entry.action is Action.MAKE_MEMBER)
    journal.undoing = True
    try:
        if pending:
            undoing.engagements()
            undoing.others()
    finally:
        journal.undoing = False
    undoing.result.undone = sum(entry.state is State.SETTLED for entry in pending)
    undoing.result.lasting = journal.lasting()
    return undoing.result


class _Undoing:
    """One pass over the pending entries of a journal."""

    def __init__(self, journal: Journal, ownership: Ownership, membership: Membership, queries: QueryClient) -> None:
        self.result = UndoResult()
        self._journal = journal
        self._ownership = ownership
        self._membership = membership
        self._queries = queries

    def engagements(self) -> None:
        """Delete the engagements that the run made, those whose id it never learnt included."""
        entries = self._pending(Action.CREATE_ENGAGEMENT)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            mine = [entry for entry in entries if owner(entry.key) == key]
            self._ownership.made((entry.id for entry in mine if entry.id is not None), key)
            self._delete([entry.id for entry in mine if entry.id is not None], key)
            left = self._pending(Action.CREATE_ENGAGEMENT)
            if nameless := [entry for entry in mine if entry in left and self._has_no_id(entry, key)]:
                self._search(nameless, key)

    def others(self) -> None:
        """Remove members, and give roles and names back, if nobody else can have written the journal."""
        if self._journal.trusted:
            self._members()
            self._roles()
            self._names()
            return
        actions = {entry.action for entry in self._journal.pending()} - {Action.CREATE_ENGAGEMENT}
        if actions:
            named = ", ".join(sorted(actions))
            self._leave(f"Not undone, because the journal was written with another key: {named}.")

    def _members(self) -> None:
        """Remove the members that were made for the run."""
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
        """Give members the roles back that they had before the run, if they have one that the run asked for."""
        entries = self._pending(Action.CHANGE_ROLE)
        roles = member_roles(self._queries) if entries else None
        for user_id in dict.fromkeys(entry.subject or "" for entry in entries):
            changes = [entry for entry in entries if (entry.subject or "") == user_id]
            if (error := self._restore_role(user_id, changes, roles)) is not None:
                self._leave(error)
                continue
            self._settle(*changes)

    def _restore_role(self, user_id: str, changes: Sequence[Entry], roles: Mapping[str, str] | None) -> str | None:
        """Why a member does not have the role of before in the end, as a sentence; None if it has."""
        before = changes[-1].before
        if roles is None:
            return f"The role of {user_id} may have been changed: the members could not be listed."
        now = roles.get(user_id)
        if now in {None, before}:
            return None
        if before not in {"admin", "member"}:
            return f"The role of {user_id} may have been changed, and the interface cannot make it {before} again."
        if now not in {entry.wanted for entry in changes}:
            return f"The role of {user_id} is {now}, which the run did not ask for; it was left alone."
        response = self._queries.send(requests.update_member_role(user_id, {"role": before}))
        self.result.writes.append(f"the role of {user_id} was made {before} again")
        return (
            None
            if _is_gone(response)
            else f"The role of {user_id} could not be made {before} again: {describe_result(response)}."
        )

    def _names(self) -> None:
        """Give organizations the names back that they had before the run, if they have one that the run gave."""
        entries = self._pending(Action.RENAME_ORGANIZATION)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            renamings = [entry for entry in entries if owner(entry.key) == key]
            may_differ = any(entry.state is not State.REFUSED for entry in renamings)
            error = self._restore_name(key, renamings)
            if error is not None and may_differ:
                self._leave(error)
            if error is None or not may_differ:
                self._settle(*renamings)

    def _restore_name(self, key: str, renamings: Sequence[Entry]) -> str | None:
        """Why an organization does not have the name of before in the end, as a sentence; None if it has."""
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
        if now not in given and not self._journal.names.owns(now):
            return f'The organization is named "{now}", which the run did not do; before it was "{before}".'
        response = self._queries.send(requests.update_organization({"name": before}), key)
        if isinstance(response, str) or response.status not in SUCCESSES:
            return f'The organization could not be named "{before}" again: {describe_result(response)}.'
        now = _name_in(response)
        self.result.writes.append(f'the organization was named "{before}" again')
        return None if now in {before, None} else f'The organization was to be named "{before}", and became "{now}".'

    def _states(self, ids: Iterable[str], key: str) -> dict[str, OwnershipState | None]:
        """Whose engagements are; those that no read has shown to be the run's are read now."""
        known = {identifier: self._ownership.state(identifier, key) for identifier in dict.fromkeys(ids)}
        unread = [identifier for identifier, state in known.items() if state is not OwnershipState.OWN]
        self._queries.send_all([requests.get_engagement(identifier) for identifier in unread], key)
        return {identifier: self._ownership.state(identifier, key) for identifier in known}

    def _has_no_id(self, entry: Entry, key: str) -> bool:
        """Whether only a name can find what a creation made: no id came, or that of another user's engagement."""
        return entry.id is None or self._ownership.state(entry.id, key) is OwnershipState.ANOTHERS

    def _delete(self, ids: Sequence[str], key: str) -> bool:
        """Delete those of some engagements that are the run's; whether none of the run's is left among them.

        If the answer to a deletion is lost, the engagement is read before it is deleted again: another user's may have
        its id by then.
        """
        own, left = list(dict.fromkeys(ids)), 0
        for tries_left in reversed(range(_TRIES)):
            states = self._states(own, key)
            for identifier, state in states.items():
                if state is OwnershipState.ABSENT:
                    self._settle_id(identifier, key)
                elif state in {None, OwnershipState.UNREADABLE}:
                    reason = "no read shows that it is the run's"
                    self._leave(f"The engagement {identifier} was not deleted, because {reason}.")
                    left += 1
            own = [identifier for identifier, state in states.items() if state is OwnershipState.OWN]
            deletions = [requests.delete_engagement(identifier) for identifier in own]
            responses = dict(zip(own, self._queries.send_all(deletions, key), strict=True))
            own = [identifier for identifier, response in responses.items() if isinstance(response, str) and tries_left]
            for identifier in responses.keys() - own:
                if _is_gone(responses[identifier]):
                    self.result.writes.append(f"the engagement {identifier} was deleted")
                    self._settle_id(identifier, key)
                else:
                    result = describe_result(responses[identifier])
                    self._leave(f"The engagement {identifier} could not be deleted: {result}.")
                    left += 1
        return not left

    def _settle_id(self, identifier: str, key: str) -> None:
        entries = self._pending(Action.CREATE_ENGAGEMENT)
        self._settle(*(entry for entry in entries if entry.id == identifier and owner(entry.key) == key))

    def _search(self, entries: Sequence[Entry], key: str) -> None:
        """Look by the run's prefix for creations without an id, and for refused ones of a faulty service.

        A refused one alone is looked for on the first page only, where it would be among the latest.
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
                    f"The engagement {identifier} has a name of the run, and was not created while it went on: "
                    "it was left alone."
                )
        if gone:
            self._settle(*(entry for entry in entries if entry.state is State.REFUSED))
        if gone and not isinstance(found, str) and found.complete:
            self._settle(*(entry for entry in lost if self._has_a_name(entry) or self._is_older(found, entry)))
        if unclear := sum(entry.state is not State.SETTLED for entry in lost):
            reason = f": {found}" if isinstance(found, str) else ""
            self._leave(f"Creations of which it is unknown what they made: {unclear}{reason}.")

    def _has_a_name(self, entry: Entry) -> bool:
        return self._journal.names.owns(entry.subject)

    def _is_older(self, found: OwnEngagements, entry: Entry) -> bool:
        """Whether all that others have is older than a creation, so that nothing came of it, whatever its name was."""
        return found.latest_other < entry.at - _CLOCKS_APART

    def _pending(self, action: Action) -> list[Entry]:
        return [entry for entry in self._journal.pending() if entry.action is action]

    def _settle(self, *entries: Entry) -> None:
        for entry in entries:
            try:
                self._journal.settle(entry)
            except JournalError as error:
                # What else there is to undo matters more than the ticks.
                sentence = f"{error} What was undone could not be marked as undone in the journal."
                self.result.left += [sentence] if sentence not in self.result.left else []

    def _leave(self, sentence: str) -> None:
        self.result.left.append(sentence)


def _name_in(response: Response | str) -> str | None:
    name = None if isinstance(response, str) else data_of(response).get("name")
    return name if isinstance(name, str) else None


def _is_gone(response: Response | str) -> bool:
    """Whether a deletion, a removal or a change came to what was wanted, or had nothing left to do."""
    return not isinstance(response, str) and (response.status in GONE or response.status in SUCCESSES)
