"""Changes of a run that a service still shows after it responded that they were undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.targets.journal_entries import Action, ChangeState
from conformance.targets.journal_file import JournalError
from conformance.targets.queries import all_members, latest_items, own_among
from conformance.targets.recorder import owner
from conformance.targets.responses import data_of, is_another, roles_of
from conformance.targets.undo_organization import is_given
from conformance.wire.requests import MAIN_KEY, get_engagement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.targets.census import Census
    from conformance.targets.journal import Journal
    from conformance.targets.journal_entries import Entry
    from conformance.targets.ownership import Ownership
    from conformance.targets.queries import Listed, QueryClient


def reopen_remaining(
    journal: Journal, ownership: Ownership, queries: QueryClient, census: Census, listed: Listed | str
) -> list[str]:
    """Reopen the settled entries whose changes are still there, so that a cleanup tries again.

    Engagements that a list still shows are read; a read that shows none counts only after a deletion, because it may be
    late. Members are listed if the run made some or changed roles.

    Args:
        journal: The changes of the run, after undoing.
        ownership: Knows which engagements were deleted.
        queries: Sends requests.
        census: The organization after undoing.
        listed: Its latest engagements, or why they could not be listed.

    Returns:
        What is still there, a sentence each.
    """
    found = [
        *_engagements(journal, ownership, queries, listed),
        *_members(journal, queries),
        *_name(journal, census.get("name")),
    ]
    sentences = [sentence for _, sentence in found]
    for entry, _ in found:
        try:
            journal.reopen(entry)
        except JournalError as error:
            sentences.append(str(error))
    return list(dict.fromkeys(sentences))


def _engagements(
    journal: Journal, ownership: Ownership, queries: QueryClient, listed: Listed | str
) -> Iterator[tuple[Entry, str]]:
    entries = _settled(journal, Action.CREATE_ENGAGEMENT)
    for key in sorted({owner(entry.key) for entry in entries}):
        shown = listed if key == MAIN_KEY else latest_items(queries, pages=1, key=key)
        there = {} if isinstance(shown, str) else dict.fromkeys(own_among(shown, journal.names).ids)
        of_key = [entry for entry in entries if owner(entry.key) == key and entry.id in there]
        reads = queries.send_all([get_engagement(entry.id or "") for entry in of_key], key)
        for entry, response in zip(of_key, reads, strict=True):
            is_shown = not isinstance(response, str) and journal.names.owns_engagement(data_of(response))
            if is_shown or not ownership.was_deleted(entry.id or ""):
                yield entry, f"The engagement {entry.id} is still there."


def _members(journal: Journal, queries: QueryClient) -> Iterator[tuple[Entry, str]]:
    made = {entry.subject: entry for entry in _settled(journal, Action.MAKE_MEMBER)}
    changed = [entry for entry in _settled(journal, Action.CHANGE_ROLE) if entry.subject not in made]
    members = (all_members(queries) if made or changed else None) or {}
    roles = roles_of(members)
    for user_id, entry in made.items():
        if user_id in members and not is_another(members[user_id], entry.person):
            yield entry, f"The member {user_id} is still there after its removal."
    for user_id in dict.fromkeys(entry.subject or "" for entry in changed):
        changes = [entry for entry in changed if entry.subject == user_id]
        now, before = roles.get(user_id), changes[0].before
        if now != before and now in {entry.wanted for entry in changes}:
            sentence = f"The role of {user_id} is still {now} after it was made {before} again."
            yield from ((entry, sentence) for entry in changes)


def _name(journal: Journal, now: object) -> Iterator[tuple[Entry, str]]:
    settled = _settled(journal, Action.RENAME_ORGANIZATION, Action.UPDATE_WITHOUT_FIELDS)
    entries = [entry for entry in settled if owner(entry.key) == MAIN_KEY]
    before = entries[0].before if entries else None
    if before is not None and isinstance(now, str) and now != before and is_given(entries, now):
        sentence = f'The organization is still named "{now}" after it was named "{before}" again.'
        yield from ((entry, sentence) for entry in entries)


def _settled(journal: Journal, *actions: Action) -> list[Entry]:
    return [entry for entry in journal.entries() if entry.action in actions and entry.state is ChangeState.SETTLED]
