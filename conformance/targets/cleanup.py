"""Undoing of the changes of an earlier run, if the service is that of its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.json_text import text_or_none
from conformance.targets.census import take_census
from conformance.targets.journal_entries import Action
from conformance.targets.journal_file import JournalError
from conformance.targets.ownership import Ownership, OwnershipState
from conformance.targets.pending import UndoResult
from conformance.targets.recorder import owner
from conformance.targets.remains import reopen_remaining
from conformance.targets.responses import data_of
from conformance.targets.undo import undo
from conformance.wire import requests
from conformance.wire.exchange import KEY_REFUSED
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from conformance.targets.journal import Journal
    from conformance.targets.membership import Membership
    from conformance.targets.queries import QueryClient
    from conformance.wire.exchange import Response

_FEW: Final = 3


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
    data = data_of(response)
    shown = tuple(text_or_none(data.get(name)) for name in ("id", "createdAt"))
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
