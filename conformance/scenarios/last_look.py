"""Last look: reads of everything that the run changed, as late as possible and with several keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import by_untouchable_member, untouchable_member
from conformance.scenarios.access.reserved_engagements import (
    NEEDED_STATUS,
    LastChange,
    ReservedEngagements,
    engagements_in_every_state,
)
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.engagements.creating import creating
from conformance.scenarios.engagements.histories import histories
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_by_turns, send_with, with_scoped_key
from conformance.scenarios.lists.filtered import readable
from conformance.scenarios.lists.finding import latest, places_of_repeats
from conformance.scenarios.members.member_list import removed_members, roles_last_listed
from conformance.scenarios.members.removal import Removal, removal
from conformance.scenarios.members.role_changes import key_of_bystander, role_changes
from conformance.scenarios.organization.counts import Counts, Reader, counts_of
from conformance.scenarios.organization.organization_walk import role_walk
from conformance.scenarios.tour import tour
from conformance.scenarios.untried import untried_refusals
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_LATE: Final = {Effort.QUICK: 0.0, Effort.STANDARD: 10.0, Effort.DEEP: 10.0}
"""Seconds after the last change."""
_MOST: Final = {Effort.QUICK: 8, Effort.STANDARD: 40, Effort.DEEP: 150}
"""Engagements that are read, each with another history if there are as many."""
_CHANGED: Final = (LastChange.EDITED, LastChange.UNARCHIVED, LastChange.ARCHIVED, LastChange.EDIT_REFUSED)
"""The engagements that the last changes are about."""
_ACTIVE_LAST: Final = (LastChange.EDITED, LastChange.NEW)
_ARCHIVED_LAST: Final = (LastChange.UNARCHIVED, LastChange.EDIT_REFUSED)
"""The engagements that are active, or archived, after the last changes."""
_FILTERS: Final = {"listEngagements": ("status", "active"), "listMembers": ("role", "member")}
_PAGE: Final = 7
"""Items on the pages that are read last, if no names are equal."""


@dataclass(frozen=True, slots=True)
class LastLook:
    """Responses at the end of a run, beside those that the ledger judges.

    Attributes:
        removal: The removal of a member who had used its key; None if there was none.
        by_removed: Requests with the keys of removed members, which were allowed them before.
        of_other: The counts of the other organization; None without its key.
    """

    removal: Removal | None
    by_removed: tuple[Exchange, ...]
    of_other: Counts | None


@scenario(alone=True)
def last_look(run: Run) -> LastLook:
    """Use a removed key, then read lists, the organization and many engagements, with the main key and with others.

    The others read before and after some last changes, which shows whether they go on seeing an earlier state.
    """
    run.scenarios.wait_for(tour)
    run.scenarios.wait_for(untried_refusals)
    reserved = run.scenarios.result_if_any(engagements_in_every_state) or ReservedEngagements({}, {})
    changed = [requests.get_engagement(reserved.ids[state]) for state in _CHANGED if state in reserved.ids]
    # The archive of an engagement that was archived before is later than the first archives of others.
    archived = latest(run, status="archived", sort="updatedAt", order="desc")
    lists = [*(latest(run, status=status) for status in (None, "active")), archived]
    organization = [requests.get_organization(), requests.list_members(perPage=MAX_PER_PAGE)]
    page = requests.list_members(perPage=2, page=2)
    by_others = with_scoped_key(run, "engagements:read", *lists[:1], *changed)
    run.send_all(by_others)
    _edit_creation_of_removed(run)
    members, roles = _members_left(run), roles_last_listed(run)
    _change(run, reserved, _key_of_admin(members, roles))
    removal_of_admin = _remove_members(run, members, roles)
    run.sleep(_LATE[run.effort])
    removed, by_removed = _by_removed(run, reserved)
    reads = [requests.get_engagement(identifier) for identifier in _of_every_history(run)]
    *_, by_name = run.send_all([*lists, *organization, requests.list_engagements(sort="name", perPage=MAX_PER_PAGE)])
    run.send(latest(run, status="archived", sort="updatedAt", order="asc"))  # only the order differs from the one above
    size = _size_between_equal_names(by_name)
    run.send_all([requests.list_engagements(sort="name", perPage=size, page=page) for page in (1, 2)])
    send_by_turns(run, [*dict.fromkeys([*changed, *reads])])
    by_others += with_scoped_key(run, "engagements:read", latest(run, status="archived", sort="name"))
    run.send_all([*by_others, *with_scoped_key(run, "organizations:read", *organization, page)])
    run.send_all(by_untouchable_member(run))
    return LastLook(removed, by_removed + removal_of_admin, _by_other_organization(run))


def _edit_creation_of_removed(run: Run) -> None:
    """Edit the engagement that the removed member had created.

    Not after the other last changes, because a service may keep a list over the last of them until an edit.
    """
    done = run.scenarios.result_if_any(removal)
    for before in [attempt.before for attempt in done.attempts] if done is not None else []:
        if before.operation_id == "createEngagement" and (made := read.identifier_or_none(before)) is not None:
            run.send(requests.update_engagement(made, {"description": "Its creator has left"}))


def _size_between_equal_names(page: Exchange) -> int:
    """Return a page size that divides two engagements of equal names; ``_PAGE`` if no names are equal."""
    items = readable((page,)) if page.judgeable else []
    return next(places_of_repeats([item.get("name") for item in items]), _PAGE)


def _change(run: Run, reserved: ReservedEngagements, admin: Credential | None) -> None:
    """Change engagements that share a name, with several keys and reads in between, for the ledger."""
    ids, idle = reserved.ids, _idle(run)
    if idle is None or not {*_CHANGED, LastChange.NEW, LastChange.ARCHIVED_AGAIN} <= ids.keys():
        return
    edited, unarchived, again = (
        ids[state] for state in (LastChange.EDITED, LastChange.UNARCHIVED, LastChange.ARCHIVED_AGAIN)
    )
    bystander, listing = requests.get_engagement(ids[LastChange.NEW]), latest(run)
    active = latest(run, status="active", sort="name")
    archived = latest(run, status="archived", sort="createdAt", order="desc")  # not in the order of their archives
    described = {"description": "Described at the end of the run"}
    refused = {"name": reserved.name, "description": "Edited at the end of the run"}
    main, writer, member = None, scoped_key_or_none(run, "engagements:write"), key_of_bystander(run)
    steps = (
        # A service may keep a list until another change. The edit has no description, so that the one of a refused edit
        # shows if it comes with it.
        *((main, bystander), (main, listing), (main, active)),
        *((writer, requests.update_engagement(edited, {"name": reserved.freed})), (main, active)),
        # The main key has last read another name, which must not come back. Two engagements get equal edits.
        (main, requests.update_engagement(edited, described)),
        # The member's key has last read another description, which a service may write back with the archive.
        *((member, requests.get_engagement(idle)), (main, requests.update_engagement(idle, described))),
        (member, requests.archive_engagement(idle)),
        # Long after the last change, so that updatedAt must move. A service may keep a status for each key.
        (writer, requests.update_engagement(unarchived, {"name": 5, "description": 5})),
        (member, requests.archive_engagement(unarchived)),
        (main, requests.update_engagement(unarchived, refused)),
        *((main, bystander), (main, listing), (main, active), (main, archived)),
        *((main, requests.delete_engagement(ids[LastChange.ARCHIVED])), (main, bystander), (main, archived)),
        (admin, requests.update_engagement(ids[LastChange.EDIT_REFUSED], refused)),
        *((main, bystander), (main, requests.update_engagement(ids[LastChange.EDIT_REFUSED], {"name": 5}))),
        *((main, requests.unarchive_engagement(again)), (main, requests.get_engagement(again)), (main, archived)),
        (writer, requests.archive_engagement(again)),  # the last lists show whether it lasts
    )
    for key, request in steps:
        send_with(run, key, request)
    _try_in_vain(run, member, edited, ids[LastChange.ARCHIVED])


def _idle(run: Run) -> str | None:
    """Return an active engagement that no other scenario needs any more; None if it was not created."""
    made = run.scenarios.result_if_any(creating)
    return None if made is None else read.identifier_or_none(made.described.response)


def _try_in_vain(run: Run, member: Credential | None, active: str, deleted: str) -> None:
    """Send invalid bodies, and changes of a deleted engagement, with a member's key; and an invitation with another.

    Args:
        run: The run.
        member: The member's key; None for the main key.
        active: An engagement that may be edited.
        deleted: A deleted one.
    """
    invalid = {"name": 5, "description": run.name("in-vain")}  # which shows whose it is if the service carries it out
    invitation = requests.invite_member({"email": 5, "role": 5})
    send_with(run, member, requests.create_engagement(invalid))
    send_with(run, member, requests.update_engagement(active, invalid))
    send_with(run, member, requests.update_engagement(deleted, {"description": "Edited after its deletion"}))
    run.send_permitted([replace(requests.delete_engagement(deleted), credential=member)])  # the id may be used again
    if run.mode is Mode.DISPOSABLE:
        send_with(run, member, invitation)
        run.send_all([*with_scoped_key(run, "organizations:write", invitation)])


def _remove_members(run: Run, members: Mapping[str, Member], roles: Mapping[str, str]) -> tuple[Exchange, ...]:
    """Remove the members that were created for the run at once, admins with a key of one permission.

    The lists afterwards show whether they are gone.

    Returns:
        A read with the key of a removed admin; empty if no admin with a key was removed.
    """
    keys = {"admin": scoped_key_or_none(run, "organizations:write")}
    batch = [
        replace(requests.remove_member(user_id), credential=keys.get(roles.get(user_id, ""))) for user_id in members
    ]
    sent = run.send_permitted(batch)  # an id may be another person's by now
    refused = [exchange.request for exchange in sent if exchange is not None and exchange.refused]
    sent += run.send_permitted([replace(asked, credential=None) for asked in refused if asked.credential is not None])
    gone = {exchange.request.identifier for exchange in sent if exchange is not None and exchange.accepted}
    admin = _key_of_admin({user_id: member for user_id, member in members.items() if user_id in gone}, roles)
    return () if admin is None else (run.send(requests.get_organization().with_key(admin)),)


def _members_left(run: Run) -> dict[str, Member]:
    """Return the members that were created for the run and that no later request needs, by id.

    The member whose key is still used is not among them, nor one whose refused invitation a check may repeat.
    """
    changed = run.scenarios.result_if_any(role_changes)
    kept = [run.scenarios.result_if_any(untouchable_member), None if changed is None else changed.bystander]
    gone = removed_members(run).union(member.user_id for member in kept if member is not None)
    return {
        user_id: member for user_id, member in run.fixtures.members.items() if member.is_new and user_id not in gone
    }


def _key_of_admin(members: Mapping[str, Member], roles: Mapping[str, str]) -> Credential | None:
    """Return the key of an admin among these members; None if there is none."""
    keys = (member.credential for user_id, member in members.items() if roles.get(user_id) == "admin")
    return next(filter(None, keys), None)


def _by_other_organization(run: Run) -> Counts | None:
    """Archive an engagement of the other organization, delete its others, and read a list with it.

    A service may list archived engagements only if there are active ones.

    Returns:
        The counts afterwards.
    """
    tried = run.scenarios.result_if_any(two_organizations)
    if tried is None:
        return None
    other = run.fixtures.other_organization()
    if tried.edited is not None:
        run.send(requests.archive_engagement(tried.edited).with_key(other))
    left = [identifier for identifier in histories(run, of_other=True) if identifier != tried.edited]
    run.send_permitted([requests.delete_engagement(identifier).with_key(other) for identifier in left])
    if tried.edited is not None:
        run.send(requests.list_engagements(status="archived", perPage=MAX_PER_PAGE).with_key(other))
    run.send_all([asked.with_key(other) for asked in (latest(run), requests.list_members(role="member"))])
    return counts_of(run, Reader(other, other))


def _by_removed(run: Run, reserved: ReservedEngagements) -> tuple[Removal | None, tuple[Exchange, ...]]:
    """Send again what the key of a removed member was allowed before the removal, about engagements in other states."""
    done = run.scenarios.result_if_any(removal)
    attempts = () if done is None else done.attempts
    choices = [_on_reserved(replace(attempt.after.request, repeatable=True), reserved) for attempt in attempts]
    if run.effort is Effort.QUICK:
        # No invitation: the check of e-mails would have to wait for its patience again.
        batch = [
            asked[place % len(asked)]
            for place, asked in enumerate(choices)
            if asked[0].operation.id != "inviteMember" and (place % 2 == 0 or asked[0].operation.id in _FILTERS)
        ]
    else:
        batch = [request for asked in choices for request in asked]
    sent = run.send_permitted(batch)
    tried = run.scenarios.result_if_any(untried_refusals) or ()
    by_leaver = run.scenarios.result_if_any(role_walk) or ()
    return done, (*tried, *by_leaver, *(exchange for exchange in sent if exchange is not None))


def _on_reserved(request: Request, reserved: ReservedEngagements) -> list[Request]:
    """Return a request about each reserved engagement that it is valid for, or a list with a filter that it lacks.

    For other operations, it is the request itself.
    """
    if request.operation.id in _FILTERS:
        return [replace(request, query=() if request.query else (_FILTERS[request.operation.id],))]
    if request.identifier is None or request.operation.family != "engagements":
        return [request]
    states = _ACTIVE_LAST if NEEDED_STATUS.get(request.operation.id) == "active" else _ARCHIVED_LAST
    ids = [reserved.ids[state] for state in states if state in reserved.ids]
    return [replace(request, identifier=identifier) for identifier in ids] or [request]


def _of_every_history(run: Run) -> list[str]:
    """Return the ids of engagements, one for each set of requests about it first, the most varied sets first.

    The order is the same in every run of a seed, despite parallel requests.
    """
    changes_of: dict[str, list[str]] = {}
    for exchange in sorted(run.wire.exchanges, key=lambda sent: sent.check):
        created = exchange.operation_id == "createEngagement" and exchange.by_main_key and exchange.accepted
        if created and (made := read.identifier_or_none(exchange)) is not None:
            changes_of[made] = []
    for exchange in run.wire.exchanges:
        if exchange.request.identifier in changes_of and exchange.request.method != "GET":
            changes_of[exchange.request.identifier].append(f"{exchange.operation_id} {exchange.accepted}")
    kinds: dict[tuple[str, ...], list[str]] = {}
    for identifier, changes in changes_of.items():
        kinds.setdefault(tuple(sorted(changes)), []).append(identifier)
    varied = sorted(kinds, key=lambda kind: (-len({*kind}), -len(kind), kind))
    first = [kinds[kind][0] for kind in varied]
    rest = [identifier for identifiers in kinds.values() for identifier in identifiers[1:]]
    return [*first, *rest][: _MOST[run.effort]]
