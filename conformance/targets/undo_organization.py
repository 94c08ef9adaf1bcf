"""Undoing of the changes of a run to organizations: new members, roles and names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.interface.fields import SETTINGS
from conformance.interface.list_parameters import ASSIGNABLE_ROLES
from conformance.json_text import text_or_none
from conformance.targets.journal_entries import Action, ChangeState, Entry
from conformance.targets.ownership import RunTime
from conformance.targets.queries import QueryClient, all_members
from conformance.targets.recorder import owner, shortened
from conformance.targets.responses import (
    data_of,
    describe_result,
    fixed_fields,
    is_another,
    is_done,
    object_in,
    person_in,
    roles_of,
)
from conformance.wire import requests
from conformance.wire.exchange import SUCCESSES, NoResponse
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.targets.membership import Membership
    from conformance.targets.pending import Pending
    from conformance.wire.exchange import Response


def restore_members(pending: Pending, membership: Membership, queries: QueryClient) -> None:
    """Remove the members that were created for the run, and restore the roles of others that it changed."""
    created, changed = pending.of(Action.MAKE_MEMBER), pending.of(Action.CHANGE_ROLE)
    members = all_members(queries) if changed or created else None
    _remove_members(pending, membership, queries, members or {})
    _restore_roles(pending, queries, members)


def _remove_members(
    pending: Pending, membership: Membership, queries: QueryClient, members: Mapping[str, Mapping[str, Any]]
) -> None:
    """Remove the members that were created for the run, unless another person has the id by now."""
    during_run = RunTime(pending.journal.period)
    for entry in pending.of(Action.MAKE_MEMBER):
        user_id = entry.subject or ""
        member = members.get(user_id, {})
        is_known = entry.person is not None and (
            entry.person.joined_at or entry.person.email == person_in(member).email
        )
        if is_another(member, entry.person) or not (is_known or during_run.covers(member.get("joinedAt"))):
            pending.leave(f"The member {user_id} was left alone: the id is another person's by now.")
            continue
        removal = requests.remove_member(user_id)
        try:
            membership.ensure([removal])
        except NoResponse as withheld:
            pending.leave(f"The member {user_id} was not removed: {withheld}.")
            continue
        response = queries.send(removal)
        if not is_done(response):
            pending.leave(f"The member {user_id} could not be removed: {describe_result(response)}.")
            continue
        pending.result.writes.append(f"the member {user_id} was removed")
        changes = [other for other in pending.of(Action.CHANGE_ROLE) if other.subject == entry.subject]
        pending.settle(entry, *changes)


def _restore_roles(pending: Pending, queries: QueryClient, members: Mapping[str, Mapping[str, Any]] | None) -> None:
    """Restore the roles of members that have a role that the run requested."""
    entries = pending.of(Action.CHANGE_ROLE)
    roles = None if members is None else roles_of(_without_others(pending, members))
    for user_id in dict.fromkeys(entry.subject or "" for entry in entries):
        changes = [entry for entry in entries if (entry.subject or "") == user_id]
        error = _restore_role(pending, queries, changes, roles)
        if error is None and any(map(pending.is_outstanding, changes)):
            error = f"The role of {user_id} may still be changed: a request got no response."
        if error is not None:
            pending.leave(error)
            continue
        pending.settle(*changes)


def _without_others(pending: Pending, members: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the members without persons who by now have the id of a member that was created for the run."""
    made = {entry.subject: entry.person for entry in pending.journal.entries() if entry.action is Action.MAKE_MEMBER}
    return {user_id: member for user_id, member in members.items() if not is_another(member, made.get(user_id))}


def _restore_role(
    pending: Pending, queries: QueryClient, changes: Sequence[Entry], roles: Mapping[str, str] | None
) -> str | None:
    """Restore a member's role; return why that failed, as a sentence, or None."""
    user_id, before = changes[-1].subject or "", changes[-1].before
    if roles is None:
        return f"The role of {user_id} may have been changed: the members could not be listed."
    now = roles.get(user_id)
    if now in {None, before}:
        return None
    if before not in ASSIGNABLE_ROLES:
        return f"The role of {user_id} may have been changed, and the interface cannot make it {before} again."
    if now not in {entry.wanted for entry in changes}:
        return f"The role of {user_id} is {now}, which the run did not request; it was left unchanged."
    response = queries.send(requests.update_member_role(user_id, {"role": before}))
    pending.result.writes.append(f"the role of {user_id} was made {before} again")
    return (
        None
        if is_done(response)
        else f"The role of {user_id} could not be made {before} again: {describe_result(response)}."
    )


def restore_names(pending: Pending, queries: QueryClient) -> None:
    """Restore the names of organizations that have a name of the run."""
    entries = pending.of(Action.RENAME_ORGANIZATION, Action.UPDATE_WITHOUT_FIELDS)
    for key in dict.fromkeys(owner(entry.key) for entry in entries):
        renamings = [entry for entry in entries if owner(entry.key) == key]
        may_differ = any(entry.state is not ChangeState.REFUSED for entry in renamings)
        error = _restore_name(pending, queries, key, renamings)
        if error is None and any(map(pending.is_outstanding, renamings)):
            error = "The organization may still be renamed: a request got no response."
        if error is not None and may_differ:
            pending.leave(error)
        if error is None or not may_differ:
            pending.settle(*renamings)


def _restore_name(pending: Pending, queries: QueryClient, key: str, renamings: Sequence[Entry]) -> str | None:
    """Restore an organization's name; return why that failed, as a sentence, or None."""
    before = renamings[-1].before
    if before is None:
        return "The organization may have been renamed, and its name before is not known."
    found = queries.send(requests.get_organization(), key)
    is_other, now = key == MAIN_KEY and pending.journal.place.is_other_than(data_of(found)), _name_in(found)
    if is_other or now is None:
        reason = "the key shows another one" if is_other else f"its name could not be read ({describe_result(found)})"
        return f'The organization could not be named "{before}" again: {reason}.'
    if now == before:
        return None
    if not is_given(renamings, now):
        return f'The organization is named "{now}", but not by the run; its name before was "{before}".'
    response = queries.send(requests.update_organization({"name": before}), key)
    if isinstance(response, str) or response.status not in SUCCESSES:
        return f'The organization could not be named "{before}" again: {describe_result(response)}.'
    now = _name_in(response)
    pending.result.writes.append(f'the organization was named "{before}" again')
    return None if now in {before, None} else f'The organization was to become "{before}", but became "{now}".'


def is_given(renamings: Iterable[Entry], name: str) -> bool:
    """Whether a name of an organization is the run's, by its renamings."""
    return any(name == entry.became or shortened(name) == entry.subject for entry in renamings)


def restore_fields(pending: Pending, queries: QueryClient) -> None:
    """Restore fields of the organization that have values of the run, which a faulty service has stored."""
    entries = pending.of(Action.CHANGE_FIELDS)
    if not entries:
        return
    texts = (entries[-1].before, *(entry.wanted for entry in entries))
    before, *sent = (object_in((text or "").encode("utf-8", "replace")) for text in texts)
    found = queries.send(requests.get_organization())
    now = data_of(found)
    if (is_other := pending.journal.place.is_other_than(now)) or not now:
        reason = "the key shows another one" if is_other else f"it could not be read ({describe_result(found)})"
        pending.leave(f"Fields of the organization may have been changed: {reason}.")
        return
    if changed := _changed(now, before, sent):
        back = {name: before[name] for name in changed}
        settings = {name: value for name, value in (fixed_fields(now) | back).items() if name in SETTINGS}
        queries.send(requests.update_organization({"name": now.get("name"), **back, "settings": settings}))
        now = data_of(queries.send(requests.get_organization()))
        if left := _changed(now, before, sent) if now else changed:
            was = ", ".join(f"{name} {json.dumps(before[name])}" for name in left)
            pending.leave(f"Fields of the organization could not be restored; before the run they were: {was}.")
            return
        pending.result.writes.append(f"fields of the organization were restored: {', '.join(changed)}")
    pending.settle(*entries)


def _changed(
    organization: Mapping[str, Any], before: Mapping[str, Any], sent: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the fields that have a value which the run sent, and had another one before."""
    return [
        name
        for name, value in fixed_fields(organization).items()
        if value != before.get(name, value) and value in [body.get(name) for body in sent]
    ]


def _name_in(response: Response | str) -> str | None:
    return text_or_none(data_of(response).get("name"))
