"""Undoing of the changes in a journal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from conformance.targets.journal_entries import Action, ChangeState
from conformance.targets.pending import Pending, UndoResult
from conformance.targets.undo_engagements import CreatedEngagements
from conformance.targets.undo_organization import restore_fields, restore_members, restore_names

if TYPE_CHECKING:
    from conformance.targets.journal import Journal
    from conformance.targets.membership import Membership
    from conformance.targets.ownership import Ownership
    from conformance.targets.queries import QueryClient

_LONGEST_WAIT: Final = 2.0
"""The longest wait, in seconds, for writes without a response."""


def undo(
    journal: Journal,
    ownership: Ownership,
    membership: Membership,
    queries: QueryClient,
    *,
    is_cleanup: bool = False,
    lateness: float = 0.0,
) -> UndoResult:
    """Undo pending changes: engagements first, then members, roles and the organization's name and fields.

    It writes only to data that a read shows to be as the run left it. It is idempotent: if nothing is left, it sends
    nothing. A full disk does not stop it.

    Args:
        journal: The changes of the run, which undoing settles.
        ownership: Observes all reads, and knows the owners of engagements.
        membership: Observes all lists of members, and knows which may be removed.
        queries: Sends requests.
        is_cleanup: Whether the run is over: its report no longer names the ids that do not show the run's prefix.
        lateness: Seconds in which a write without a response may still be carried out. It is waited for, but not long;
            then it is left.
    """
    pending, entries = Pending(journal, lateness), journal.pending()
    created = CreatedEngagements(pending, ownership, queries, is_cleanup=is_cleanup)
    latest = max((entry.at for entry in entries if entry.state is ChangeState.INTENDED), default=0.0)
    time.sleep(min(max(0.0, latest + lateness - time.time()), _LONGEST_WAIT))
    if journal.trusted:
        membership.admit_all(entry.subject or "" for entry in entries if entry.action is Action.MAKE_MEMBER)
    journal.undoing = True
    if journal.proved:
        created.delete()
    if journal.trusted:
        restore_members(pending, membership, queries)
        restore_names(pending, queries)
        restore_fields(pending, queries)
    else:
        _leave_unproved(pending)
    pending.result.undone = sum(entry.state is ChangeState.SETTLED for entry in entries)
    pending.result.lasting = journal.lasting()
    if is_cleanup:
        created.name_foreign()
    return pending.result


def _leave_unproved(pending: Pending) -> None:
    """Name the actions that an untrusted journal does not prove."""
    journal = pending.journal
    actions = {entry.action for entry in journal.pending()}
    named = ", ".join(sorted(actions - {Action.CREATE_ENGAGEMENT} if journal.proved else actions))
    if named and journal.proved:
        pending.leave(f"Not undone, because the journal was written with another key: {named}.")
    elif named:
        pending.leave(
            f"Not undone, because neither the key nor the prefix shows that a run wrote the journal: {named}."
        )
