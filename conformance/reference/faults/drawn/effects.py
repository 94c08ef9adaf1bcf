"""Deviations of the effect of a request that succeeds."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import KINDS
from conformance.reference.faults import operations as op
from conformance.reference.faults.situations import overwrite
from conformance.reference.records import Engagement, Member, Organization

from .circumstances import organization_of
from .deviation import Case, Deviation, NotDoneError, Requirements, broken_by, do

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.request_context import Reply

_SECOND, _REQUESTS = 1_000, 6


def _after_requests(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something before a later request, some requests after this one."""

    def act(case: Case) -> Reply:
        until = case.at.service.memory["requests"] + _REQUESTS
        case.at.defer(lambda: case.at.service.memory["requests"] > until, lambda: action(case))
        return case.honest

    return act


def _after_a_second(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something before the first request that comes a second later."""

    def act(case: Case) -> Reply:
        until = case.at.now + _SECOND
        case.at.defer(lambda: case.at.now > until, lambda: action(case))
        return case.honest

    return act


def _roll_back(case: Case) -> Reply:
    case.at.context.afterwards.clear()
    raise NotDoneError(case.honest)


def _undo(case: Case) -> None:
    """Undo what a request did, unless a later request made that impossible."""
    at, before, store = case.at, case.before, case.at.store
    match at.operation, before:
        case op.CREATE, _:
            store.delete_engagement(case.identifier)
        case op.EDIT, Engagement():
            at.overwrite(name=before.name, description=before.description)
        case op.ARCHIVE, Engagement():
            at.overwrite(status=before.status)
        case op.DELETE, Engagement() if store.engagement(before.id) is None:
            store.add_engagement(before)
        case op.ROLE, Member():
            store.change_role(before.organization_id, before.user_id, before.role, at.now)
        case op.REMOVE, Member() if store.member(before.organization_id, before.user_id) is None:
            case.rejoin(before)
        case op.RENAME, Organization():
            store.rename_organization(before.id, before.name, at.now)


def _changes(case: Case) -> bool:
    """Whether a request changes values that a read shows."""
    match case.before:
        case Engagement() as before if case.at.operation == op.EDIT:
            return any(getattr(before, name) != value for name, value in case.at.values.items())
        case Member(role=role) if case.at.operation == op.ROLE:
            return bool(role != case.at.values["role"])
        case Organization(name=name) if case.at.operation == op.RENAME:
            return bool(name != case.at.values.get("name"))
    return True


def _changes_both(case: Case) -> bool:
    old = case.before.description if isinstance(case.before, Engagement) else None
    return bool(case.at.values.get("name")) and case.at.values.get("description") not in {None, "", old}


def _halve(case: Case) -> None:
    description = case.before.description if isinstance(case.before, Engagement) else None
    overwrite(case.at.service, "engagements", case.identifier, description=description)


def _do_to_another(case: Case) -> None:
    at = case.at
    match case.another:
        case Member() as other if at.operation == op.ROLE:
            at.store.change_role(other.organization_id, other.user_id, at.values["role"], at.now)
        case Member() as other:
            at.store.remove_member(other.organization_id, other.user_id)
        case Engagement() as other if at.operation == op.EDIT:
            at.store.edit_engagement(other.id, at.values, at.now)
        case Engagement() as other if at.operation == op.DELETE:
            at.store.delete_engagement(other.id)
        case Engagement() as other:
            at.service.set_status(other, "archived" if at.operation == op.ARCHIVE else "active")


def _touch_another(case: Case, **columns: object) -> None:
    if isinstance(other := case.another, Engagement):
        overwrite(case.at.service, "engagements", other.id, updated_at=case.at.now, **columns)


def _has_another(case: Case) -> bool:
    return case.another is not None


def _keep_records(case: Case) -> None:
    for subordinate in case.at.remembered("records", {}).get(case.identifier, ()):
        case.at.store.add_subordinate(subordinate)


def _delete_records_of_others(case: Case) -> None:
    for other in case.at.other_engagements:
        for kind in KINDS:
            case.at.store.delete_subordinates(other.id, kind)


def _miscount(case: Case) -> None:
    """Count as before from now on."""
    counts = case.at.remembered("miscounted", {})
    asked = organization_of(case.at), case.at.operation == op.REMOVE
    counts[asked] = counts.get(asked, 0) + (-1 if case.at.operation == op.CREATE else 1)


def _join(case: Case) -> None:
    at, email = case.at, case.at.values["email"]
    if at.store.member_by_email(at.context.organization_id, email) is None:
        at.service.add_member(at.context.organization_id, email.partition("@")[0], email, at.values["role"])


_EFFECT: Final[Requirements] = MappingProxyType({
    op.CREATE: ("create-engagement-lasts",), op.EDIT: ("update-engagement-takes-effect",),
    op.ARCHIVE: ("archive-sets-status",), op.DELETE: ("deleted-unreadable",), op.ROLE: ("role-changes-both-ways",),
    op.REMOVE: ("removed-member-unlisted",), op.RENAME: ("update-organization-takes-effect",),
})  # fmt: skip
_SPARED: Final[Requirements] = MappingProxyType({
    op.EDIT: ("update-engagement-spares-others",), op.ARCHIVE: ("archive-spares-others",),
    op.DELETE: ("delete-spares-others",), op.ROLE: ("update-role-keeps-the-rest",),
    op.REMOVE: ("removal-spares-other-members",), op.UNARCHIVE: ("archive-sets-status",),
})  # fmt: skip
_OF_OTHERS: Final = {operation: _SPARED[operation] for operation in (op.EDIT, op.ARCHIVE, op.DELETE)}
_MOVED: Final = {op.EDIT: ("update-engagement-moves-updated-at",), op.ARCHIVE: ("archive-refreshes-updated-at",)}
_WRITTEN: Final = (op.EDIT, op.ARCHIVE, op.UNARCHIVE)
_COUNTED: Final = {op.CREATE: ("create-engagement-counted", "engagement-count-agrees"),
                   op.DELETE: ("deleted-uncounted", "engagement-count-agrees"),
                   op.REMOVE: ("removed-member-uncounted", "member-count-agrees")}  # fmt: skip
_GO: Final = tuple(f"subordinate-{words}-go" for words in (
    "targets", "tasks", "wiki-pages", "reports", "threat-models", "api-requests"))  # fmt: skip

EFFECTS: Final[Mapping[str, Deviation]] = MappingProxyType({
    "not-done": Deviation("not-done", "reports success but does nothing", _EFFECT, _roll_back, _changes),
    "half-done": Deviation("half-done", "ignores the description", {
        op.CREATE: ("create-engagement-lasts",), op.EDIT: _EFFECT[op.EDIT]}, do(_halve), _changes_both),
    "undone-six-requests-later": Deviation("undone", "is undone six requests later", _EFFECT,
                                           _after_requests(_undo), _changes),
    "undone-a-second-later": Deviation("undone", "is undone a second later", _EFFECT,
                                       _after_a_second(_undo), _changes),
    "done-to-another": Deviation("another", "also affects another resource", _SPARED, do(_do_to_another),
    _has_another),
    "touches-another": Deviation("another", "moves the updatedAt of another engagement", _OF_OTHERS,
                                 do(_touch_another), _has_another),
    "archives-another": Deviation("another", "archives another engagement", {
        operation: _SPARED[operation] for operation in (op.EDIT, op.DELETE)},
        do(lambda case: _touch_another(case, status="archived")), _has_another),
    "updated-at-stays": Deviation("time", "does not move updatedAt", _MOVED,
                                  do(lambda case: case.at.overwrite(updated_at=case.engagement.updated_at)), _changes),
    "updated-at-back": Deviation("time", "sets updatedAt to one second before createdAt", broken_by(
        "updated-at-never-goes-back", operations=_WRITTEN),
        do(lambda case: case.at.overwrite(updated_at=case.engagement.created_at - _SECOND))),
    "created-at-moves": Deviation("time", "moves createdAt by one second", broken_by(
        "created-at-never-changes", operations=_WRITTEN),
        do(lambda case: case.at.overwrite(created_at=case.engagement.created_at + _SECOND))),
    "records-survive": Deviation("records", "keeps the subordinate records", {op.DELETE: _GO}, do(_keep_records),
                                 lambda case: case.identifier in case.at.remembered("records", {})),
    "records-of-others-go": Deviation(
        "records", "also deletes the subordinate records of other engagements",
        {op.DELETE: ("subordinates-of-others-stay",)},
        do(_delete_records_of_others),
        lambda case: any(other.id in case.at.remembered("records", {}) for other in case.at.other_engagements)),
    "miscounted": Deviation("counts", "is not reflected in the organization's counts", _COUNTED, do(_miscount)),
    "unlisted": Deviation("listing", "removes the engagement from the lists", {
        op.CREATE: ("create-engagement-listed",), op.ARCHIVE: ("archived-listed",)},
        do(lambda case: case.at.remembered("hidden", set()).add(case.identifier))),
    "still-listed": Deviation("listing", "leaves the engagement in the lists", {op.DELETE: ("deleted-unlisted",)},
                              do(lambda case: case.at.remembered("deleted", []).append(case.engagement))),
    "joins": Deviation("mail", "makes the invited user a member", broken_by(
        "invite-adds-no-member", operations=(op.INVITE,)), do(_join)),
    "joins-a-second-later": Deviation("mail", "makes the invited user a member a second later", broken_by(
        "invite-adds-no-member", operations=(op.INVITE,)), _after_a_second(_join)),
    "mail-not-sent": Deviation("mail", "sends no mail", broken_by("invite-sends-mail", operations=(op.INVITE,)),
                               do(lambda case: case.at.context.afterwards.clear())),
})  # fmt: skip
"""The deviations, by their names in ids."""
