"""Deletion of the engagements that a run created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.targets.journal_entries import Action, ChangeState, Entry
from conformance.targets.ownership import Ownership, OwnershipState
from conformance.targets.queries import PAGES, OwnEngagements, QueryClient, latest_items, own_among
from conformance.targets.recorder import owner
from conformance.targets.responses import data_of, describe_result, identifier_of, is_done
from conformance.wire import requests
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.targets.pending import Pending

_TRIES: Final = 3
"""The most deletions of an engagement if their responses are lost."""

_CLOCKS_APART: Final = 60.0
"""Seconds by which the clocks of the run, the service and a later cleanup may differ."""


class CreatedEngagements:
    """The engagements that a run created, and their deletion.

    Args:
        pending: The pending entries of the run's journal.
        ownership: Observes all reads, and knows the owners of engagements.
        queries: Sends requests.
        is_cleanup: Whether the run is over.
    """

    def __init__(self, pending: Pending, ownership: Ownership, queries: QueryClient, *, is_cleanup: bool) -> None:
        self._pending = pending
        self._ownership = ownership
        self._queries = queries
        self._is_cleanup = is_cleanup
        self._unrecognizable_ids: set[str] = set()
        self._tried: set[str] = set()

    def delete(self) -> None:
        """Delete the engagements that the run created, including those whose id is unknown."""
        entries = self._pending.of(Action.CREATE_ENGAGEMENT)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            of_key = [entry for entry in entries if owner(entry.key) == key]
            if key == OTHER_KEY and self._is_elsewhere():
                self._pending.leave(
                    f"Engagements of the other organization were left: {len(of_key)}; the key is of another."
                )
                continue
            self._ownership.learn_created((entry.id for entry in of_key if entry.id is not None), key)
            self._delete_own([entry.id for entry in of_key if entry.id is not None], key)
            left = self._pending.of(Action.CREATE_ENGAGEMENT)
            if nameless := [entry for entry in of_key if entry in left and self._has_no_id(entry, key)]:
                self._search(nameless, key)

    def _is_elsewhere(self) -> bool:
        """Whether the other organization's key in a cleanup belongs to another organization than during the run."""
        known = self._pending.journal.place.other_organization
        if not self._is_cleanup or known is None:
            return False
        found = self._queries.send(requests.get_organization(), OTHER_KEY)
        shown = identifier_of(data_of(found))
        return shown not in {None, known}

    def name_foreign(self) -> None:
        """Name the engagements in responses to creations that do not show the run's prefix."""
        result = self._pending.result
        for identifier in self._ownership.foreign_ids:
            sentence = f"The engagement {identifier} was left alone: it does not show that it is the run's."
            (result.left if identifier in self._unrecognizable_ids else result.lasting).append(sentence)

    def _states(self, ids: Iterable[str], key: str) -> dict[str, OwnershipState | None]:
        """Return the owners of engagements; those not known to be the run's, or no longer certainly, are read."""
        known = {identifier: self._ownership.state(identifier, key) for identifier in dict.fromkeys(ids)}
        unread = [
            identifier
            for identifier, state in known.items()
            if state is not OwnershipState.OWN or not self._ownership.is_certain(identifier, key)
        ]
        self._queries.send_all([requests.get_engagement(identifier) for identifier in unread], key)
        return {identifier: self._ownership.state(identifier, key) for identifier in known}

    def _has_no_id(self, entry: Entry, key: str) -> bool:
        """Whether only the name can find a created engagement: it has no id, or another user's."""
        return entry.id is None or self._ownership.state(entry.id, key) is OwnershipState.ANOTHERS

    def _delete_own(self, ids: Sequence[str], key: str) -> bool:
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
                    self._pending.leave(f"The engagement {identifier} was not deleted, because {reason}.")
                    left += 1
            own = [identifier for identifier, state in states.items() if state is OwnershipState.OWN]
            deletions = [requests.delete_engagement(identifier) for identifier in own]
            self._tried |= set(own)
            remaining = unread
            for identifier, response in zip(own, self._queries.send_all(deletions, key), strict=True):
                if isinstance(response, str) and tries_left:
                    remaining.append(identifier)
                elif is_done(response):
                    self._pending.result.writes.append(f"the engagement {identifier} was deleted")
                    self._settle_id(identifier, key)
                else:
                    self._pending.leave(
                        f"The engagement {identifier} could not be deleted: {describe_result(response)}."
                    )
                    left += 1
        return not left

    def _settle_id(self, identifier: str, key: str) -> None:
        entries = self._pending.of(Action.CREATE_ENGAGEMENT)
        self._pending.settle(*(entry for entry in entries if entry.id == identifier and owner(entry.key) == key))

    def _search(self, entries: Sequence[Entry], key: str) -> None:
        """Search by the run's prefix for engagements without a known id, and for refused creations.

        If all creations were refused, only the first page is searched, with the latest engagements.
        """
        lost = [entry for entry in entries if entry.state is not ChangeState.REFUSED]
        listed = latest_items(self._queries, pages=PAGES if lost else 1, key=key)
        if isinstance(listed, str):
            if lost:
                self._pending.leave(f"Creations with unknown results: {len(lost)}: {listed}.")
            return
        found = own_among(listed, self._pending.journal.names)
        if key == MAIN_KEY and not found.ids:
            self._pending.result.listed = listed
        gone = self._delete_own(found.ids, key)
        for identifier in found.ids if lost else ():
            if self._ownership.state(identifier, key) is OwnershipState.ANOTHERS:
                self._pending.leave(
                    f"The engagement {identifier} has a name of the run, but was created before or after it: "
                    "it was left alone."
                )
        if gone:
            self._pending.settle(*(entry for entry in entries if entry.state is ChangeState.REFUSED))
        if gone and found.complete:
            unrecognizable = self._unrecognizable(lost, found, key)
            self._unrecognizable_ids |= {entry.id or "" for entry in unrecognizable}
            lost = [entry for entry in lost if entry not in unrecognizable]
            finished = [entry for entry in lost if not self._pending.is_outstanding(entry)]
            self._pending.settle(*(entry for entry in finished if self._has_a_name(entry) or _is_older(found, entry)))
        if unclear := sum(entry.state is not ChangeState.SETTLED for entry in lost):
            self._pending.leave(f"Creations with unknown results: {unclear}.")

    def _unrecognizable(self, lost: Sequence[Entry], found: OwnEngagements, key: str) -> list[Entry]:
        """Return the creations whose engagements may be the run's without its name, if the search found fewer."""
        if not self._is_cleanup or len(found.ids) >= len(lost):
            return []
        doubtful = [entry for entry in lost if entry.id is not None and entry.id not in self._tried]
        return [entry for entry in doubtful if self._ownership.may_be_own(entry.id or "", key)]

    def _has_a_name(self, entry: Entry) -> bool:
        return self._pending.journal.names.owns(entry.subject)


def _is_older(found: OwnEngagements, entry: Entry) -> bool:
    """Whether all other engagements are older than a creation, so that it created none, whatever its name was."""
    return found.latest_other < entry.at - _CLOCKS_APART
