"""Deviations of drawn faults: how a service violates the interface, for any sender and at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.operations import OPERATIONS, SCOPES
from conformance.reference.records import SUBORDINATE_KINDS, Engagement, Key, Member, Organization
from conformance.reference.refusal import Refusal

from . import operations as op
from .circumstances import (
    LISTS,
    OF_ENGAGEMENT,
    OF_MEMBER,
    Target,
    is_in,
    last_known,
    main_organization,
    organization_of,
    state_of,
    values_sent,
)
from .operations import ACTIONS, NAMES
from .situations import Situation, engagements, members, overwrite

if TYPE_CHECKING:
    from conformance.reference.request_context import Reply

_SECOND, _REQUESTS = 1_000, 6
Requirements = Mapping[str, tuple[str, ...]]
"""The broken requirements by operation, first the one that a deviation is about."""


class NotDoneError(Exception):
    """The effect of a request is rolled back although its reply reports success.

    Args:
        reply: The reply.
    """

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Case:
    """A request that a deviation may affect.

    Args:
        at: The request, with its reply if it succeeded.
        before: The target of the request, as it was stored before.
        state: The state of the fault, which listed items must have.
        refusal: The refusal; None if the request succeeded.
    """

    at: Situation
    before: Target | None
    state: str
    refusal: Refusal | None = None

    @property
    def engagement(self) -> Engagement:
        """The engagement as it was stored before.

        Raises:
            TypeError: The request is about something else.
        """
        if not isinstance(self.before, Engagement):
            raise TypeError("the request is not about an engagement")
        return self.before

    @property
    def honest(self) -> Reply:
        """The reply of the honest service."""
        return self.at.service.error(self.refusal) if self.refusal else self.at.reply_so_far

    @property
    def identifier(self) -> str:
        """The id of the engagement or member, also of a new one."""
        return str(self.at.context.resource_id or self.at.data["id"])

    @property
    def another(self) -> Engagement | Member | None:
        """The newest other engagement or member that the same request would change."""
        at = self.at
        if at.operation in OF_MEMBER:
            return next((other for other in reversed(at.others) if other.role != at.values.get("role")), None)
        status = "archived" if at.operation == op.UNARCHIVE else "active"
        return next((other for other in reversed(at.other_engagements) if other.status == status), None)

    @property
    def listed(self) -> list[int]:
        """The places of the listed items that are in the state."""
        at, found = self.at, []
        for place, item in enumerate(at.data):
            stored: Target | None = at.store.engagement(item["id"])
            if at.operation == op.LIST_MEMBERS:
                stored = at.store.member(at.context.organization_id, item["id"])
            if is_in(self.state, state_of(at, stored)):
                found.append(place)
        return found

    def with_item(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Reply:
        """Return the reply with another object: the last item in the state, or the resource."""
        if self.at.operation not in LISTS:
            return self.at.with_data(change(self.at.data))
        items, place = list(self.at.data), self.listed[-1]
        items[place] = change(items[place])
        return self.at.with_data(items)

    def with_meta(self, **changes: int) -> Reply:
        """Return a list with other members of its meta."""
        content = self.at.reply_so_far.content
        return replace(self.at.reply_so_far, content={**content, "meta": {**content["meta"], **changes}})

    def repeated(self, **values: Any) -> Reply:  # noqa: ANN401 - of any type
        """Return the reply to the same list request with other parameters, and the meta of this one."""
        context = copy(self.at.context)
        context.values = {**self.at.values, **values}
        other: Reply = getattr(self.at.service, ACTIONS[self.at.operation])(context)
        return other


def _always(_: Case) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Deviation:
    """A kind of wrong.

    Args:
        family: The kinds that a draw takes as one.
        words: What the service does, a clause that ends the title.
        breaks: The requirements; empty for an operation if they depend on the rule that forbids the response.
        act: Returns the wrong reply, or raises the wrong refusal.
        can: Whether a request can be affected; asked of every request of the operation.
    """

    family: str
    words: str
    breaks: Requirements
    act: Callable[[Case], Reply]
    can: Callable[[Case], bool] = _always


def _ruled(*operations: str) -> Requirements:
    return dict.fromkeys(operations or tuple(ACTIONS), ())


def _all(*requirements: str, operations: tuple[str, ...] = tuple(ACTIONS)) -> Requirements:
    return dict.fromkeys(operations, requirements)


# --- a request succeeds, and what it does is not right


def _do(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something else besides, and reply as the honest service."""

    def act(case: Case) -> Reply:
        action(case)
        return case.honest

    return act


def _after_requests(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something before a later request, some requests after this one."""

    def act(case: Case) -> Reply:
        until = case.at.service.memory["requests"] + _REQUESTS
        case.at.remembered("due", []).append(
            (lambda: case.at.service.memory["requests"] > until, lambda: action(case)))  # fmt: skip
        return case.honest

    return act


def _after_a_second(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something before the first request that comes a second later."""

    def act(case: Case) -> Reply:
        until = case.at.now + _SECOND
        case.at.remembered("due", []).append((lambda: case.at.now > until, lambda: action(case)))
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
            _rejoin(at, before)
        case op.RENAME, Organization():
            store.rename_organization(before.id, before.name, at.now)


def _rejoin(at: Situation, member: Member) -> None:
    at.store.add_member(member.organization_id, member.user_id, member.role, member.joined_at, member.last_seen_at)


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
        for kind in SUBORDINATE_KINDS:
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


# --- a reply is not right


_SHOWN: Final = ("id", "name", "description", "status", "createdAt", "updatedAt")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    op.GET_ORGANIZATION: ("id", "name", "slug", "plan", "memberCount", "engagementCount", "createdAt", "settings"),
    op.RENAME: ("id", "name", "slug", "updatedAt"),
    op.LIST_MEMBERS: ("id", "name", "email", "role", "joinedAt", "lastSeenAt"),
    op.INVITE: ("id", "email", "role", "status", "expiresAt", "createdAt"),
    op.ROLE: ("id", "role", "updatedAt"), op.REMOVE: ("removed", "userId"),
    op.LIST: _SHOWN, op.CREATE: _SHOWN, op.READ: _SHOWN,
    op.ARCHIVE: ("id", "status", "updatedAt"), op.DELETE: ("deleted", "id"),
})  # fmt: skip
"""The fields of each operation's reply."""

_NEVER_BACK, _CREATED_AT = "updated-at-never-goes-back", "created-at-never-changes"
_SENT, _AS_READ = "create-engagement-answers-what-was-sent", "list-engagements-as-read"
_VALUES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    op.GET_ORGANIZATION: {"id": "key-stays-with-organization", "name": "update-organization-takes-effect",
                          "memberCount": "member-count-agrees", "engagementCount": "engagement-count-agrees"},
    op.RENAME: dict.fromkeys(("id", "name", "slug"), "update-organization-answers-new-name"),
    op.LIST_MEMBERS: {"role": "role-changes-both-ways"},
    op.INVITE: {"email": "invite-answers-what-was-sent", "role": "invite-answers-what-was-sent",
                "status": "invitation-begins-pending", "expiresAt": "invitation-expires-in-seven-days",
                "createdAt": "invitation-expires-in-seven-days"},
    op.ROLE: dict.fromkeys(("id", "role"), "update-role-answers-what-was-sent"),
    op.REMOVE: dict.fromkeys(("removed", "userId"), "remove-member-answers-true"),
    op.LIST: dict.fromkeys(_SHOWN, _AS_READ),
    op.CREATE: {"id": "create-engagement-lasts", "name": _SENT, "description": _SENT, "status": "new-engagement-active",
                **dict.fromkeys(("createdAt", "updatedAt"), "created-updated-at-equals-created-at")},
    op.READ: {"id": "get-engagement-is-the-one-asked-for", "createdAt": _CREATED_AT, "updatedAt": _NEVER_BACK,
              **dict.fromkeys(("name", "description"), "create-engagement-lasts"), "status": "archive-sets-status"},
    op.ARCHIVE: {"id": "archive-engagement-answers-id", "status": "archive-sets-status",
                 "updatedAt": "archive-engagement-answers-updated-at"},
    op.DELETE: dict.fromkeys(("deleted", "id"), "delete-engagement-answers-true"),
})  # fmt: skip
"""The requirement that the value of a field is about, by operation."""

_INSTEAD: Final = MappingProxyType({
    "active": "archived", "archived": "active", "pending": "accepted",
    "owner": "admin", "admin": "member", "member": "admin",
})  # fmt: skip


def _wrong(name: str, value: object) -> object:
    """Return another value of a field."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if name in {"status", "role"}:
        return _INSTEAD.get(str(value), "active")
    return f"2000{str(value)[4:]}" if name.endswith("At") else f"x{value or ''}"


def _shows(name: str) -> Callable[[Case], bool]:
    """Whether the reply, or a listed item in the state, has a value in a field."""

    def can(case: Case) -> bool:
        at = case.at
        shown = [at.data[place] for place in case.listed[-1:]] if at.operation in LISTS else [at.data]
        return any(item.get(name) not in (None, "") for item in shown)

    return can


def _lacks_field(name: str) -> Deviation:
    breaks = {each: (f"{NAMES[each]}-fields",) for each, fields in _FIELDS.items() if name in fields}
    return Deviation("field-missing", f"is answered without {name}", breaks, lambda case: case.with_item(
        lambda shown: {key: value for key, value in shown.items() if key != name}), _shows(name))  # fmt: skip


def _wrong_field(name: str) -> Deviation:
    breaks = {each: (fields[name],) for each, fields in _VALUES.items() if name in fields}
    return Deviation("field-wrong", f"is answered with a wrong {name}", breaks, lambda case: case.with_item(
        lambda shown: {**shown, name: _wrong(name, shown[name])}), _shows(name))  # fmt: skip


def _known_older(case: Case) -> list[Any]:
    """Return the replies to the same URL, without times of members: the present one and the one before it changed."""
    at = case.at
    answers: list[Any] = at.remembered("answers", {}).setdefault((organization_of(at), str(at.context.request.url)), [])
    data = at.data if at.operation != op.LIST_MEMBERS else [{**each, "lastSeenAt": None} for each in at.data]
    if not answers or answers[-1][0] != data:
        answers.append((data, at.reply_so_far))
    return answers[-2:]


def _has_older(case: Case) -> bool:
    return len(_known_older(case)) > 1


def _is_filtered(case: Case) -> bool:
    is_asked = any(case.at.values.get(name) for name in ("status", "role"))
    return is_asked and case.repeated(status=None, role=None).content["data"] != case.at.data


def _is_sorted(case: Case) -> bool:
    name = case.at.values.get("sort")
    return bool(name and case.at.data) and case.at.data[0][name] != case.at.data[-1][name]


def _is_later_page(case: Case) -> bool:
    return bool(case.at.values["page"] > 1 and case.at.data)


def _is_cut(case: Case) -> bool:
    meta = case.at.reply_so_far.content["meta"]
    return bool(meta["perPage"] < min(meta["total"], 20) and meta["page"] == 1)


def _foreign_items(case: Case) -> list[Any]:
    """Return the views of an item of another organization."""
    at = case.at
    for organization in at.store.organization_ids():
        if organization != at.context.organization_id and at.operation == op.LIST_MEMBERS:
            return [at.service.view_member(members(at.service, organization)[0])]
        if organization != at.context.organization_id and (found := engagements(at.service, organization)):
            return [at.service.view_item(found[-1])]
    return []


def _with_items(items: Callable[[Case], list[Any]]) -> Callable[[Case], Reply]:
    return lambda case: case.at.with_data(items(case))


def _twice(case: Case) -> list[Any]:
    place, items = case.listed[-1], list(case.at.data)
    return [*items[: place + 1], *items[place:]]


def _per_list(words: str) -> Requirements:
    """Return the requirements of both lists, whose ids begin with their names."""
    return {each: tuple(f"{NAMES[each]}-{word}" for word in words.split()) for each in LISTS}


# --- a request gets another status, or is carried out although it is refused


def _refuse(status: int, _: Case) -> Reply:
    raise Refusal(status, "Refused.")


def _has_fresh_name(case: Case) -> bool:
    """Whether no other engagement has the name that was sent, in any organization."""
    at = case.at
    if at.operation not in {op.CREATE, op.EDIT}:
        return True
    stored = (each for organization in at.store.organization_ids() for each in engagements(at.service, organization))
    is_new = at.operation == op.CREATE and at.reply is not None
    named = [each for each in stored if each.name == at.field("name") and each.id != at.context.resource_id]
    return len(named) == int(is_new)


def _carry_out(case: Case) -> Reply:
    """Carry out a request that must be refused, whatever forbids it, and return its reply."""
    at, context = case.at, case.at.context
    if not hasattr(context, "key"):
        known = at.service.find_key(at.service.bearer_token(context))
        context.key = known or Key("", main_organization(at), None, frozenset(SCOPES))
    context.values = values_sent(at)
    target = case.before or last_known(at)
    if isinstance(target, Engagement | Member):
        context.key = replace(context.key, organization_id=target.organization_id)
    if isinstance(target, Engagement):
        if case.before is None:
            at.store.add_engagement(target)
        status = {op.READ: target.status, op.UNARCHIVE: "archived"}.get(at.operation, "active")
        context.engagement = replace(target, status=status)
    if isinstance(target, Member):
        if case.before is None:
            _rejoin(at, target)
        context.member = replace(target, role="none")
    reply: Reply = getattr(at.service, ACTIONS[at.operation])(context)
    return reply


def _accept(case: Case) -> Reply:
    with case.at.store.transaction():
        reply = _carry_out(case)
    for action in case.at.context.afterwards:
        action()
    return reply


def _accept_idly(case: Case) -> Reply:
    with case.at.store.transaction():
        raise NotDoneError(_carry_out(case))


def _do_refused(case: Case) -> Reply:
    _accept(case)
    return case.honest


def _exists(case: Case) -> bool:
    """Whether a refused request is about something that exists, or existed."""
    return case.at.operation not in {*OF_ENGAGEMENT, *OF_MEMBER} or bool(case.before or last_known(case.at))


def _mark(name: str, value: str | None) -> Callable[[Case], Reply]:
    """Send another value of a header, or none, with the reply to this request."""
    return _do(lambda case: case.at.service.memory.update(marked=(case.at.context, name, value)))


def _envelope(**changes: object) -> Callable[[Case], Reply]:
    return lambda case: replace(
        case.honest, content={"error": {**case.honest.content["error"], **changes}})  # fmt: skip


_EFFECTS: Final = MappingProxyType({
    op.CREATE: "create-engagement-lasts", op.EDIT: "update-engagement-takes-effect", op.ARCHIVE: "archive-sets-status",
    op.DELETE: "deleted-unreadable", op.ROLE: "role-changes-both-ways", op.REMOVE: "removed-member-unlisted",
    op.RENAME: "update-organization-takes-effect",
})  # fmt: skip
_EFFECT: Final = MappingProxyType({operation: (requirement,) for operation, requirement in _EFFECTS.items()})
_SPARED: Final[Requirements] = MappingProxyType({
    op.EDIT: ("update-engagement-spares-others",), op.ARCHIVE: ("archive-spares-others",),
    op.DELETE: ("delete-spares-others",), op.ROLE: ("update-role-keeps-the-rest",),
    op.REMOVE: ("removal-spares-other-members",), op.UNARCHIVE: ("archive-sets-status",),
})  # fmt: skip
_OF_OTHERS: Final = {operation: _SPARED[operation] for operation in (op.EDIT, op.ARCHIVE, op.DELETE)}
_MOVED: Final = {op.EDIT: ("update-engagement-moves-updated-at",), op.ARCHIVE: ("archive-refreshes-updated-at",)}
_WRITTEN: Final = (op.EDIT, op.ARCHIVE, op.UNARCHIVE)
_TOTALS: Final = {op.LIST: ("list-engagements-total", "engagement-count-agrees", "list-engagements-filter-counts"),
                  op.LIST_MEMBERS: ("list-members-total", "member-count-agrees")}  # fmt: skip
_COUNTED: Final = {op.CREATE: ("create-engagement-counted", "engagement-count-agrees"),
                   op.DELETE: ("deleted-uncounted", "engagement-count-agrees"),
                   op.REMOVE: ("removed-member-uncounted", "member-count-agrees")}  # fmt: skip
_READS: Final = {
    op.READ: ("update-engagement-takes-effect", "archive-sets-status"),
    op.LIST: (_AS_READ, "create-engagement-listed", "deleted-unlisted"),
    op.LIST_MEMBERS: ("role-changes-both-ways", "removed-member-unlisted"),
    op.GET_ORGANIZATION: ("update-organization-takes-effect", "engagement-count-agrees"),
}
_GO: Final = tuple(f"subordinate-{words}-go" for words in (
    "targets", "tasks", "wiki-pages", "reports", "threat-models", "api-requests"))  # fmt: skip
_SORTED: Final = ("sort-by-created-at", "sort-by-updated-at", "sort-by-name", "sort-with-filter")

DEVIATIONS: Final[Mapping[str, Deviation]] = MappingProxyType({
    **{f"refused-{status}": Deviation("refused", f"is refused with {status}", _ruled(), partial(_refuse, status), can)
       for status, can in ((401, _always), (403, _always), (404, _always), (409, _has_fresh_name), (500, _always))},
    "status-201": Deviation("status", "is answered with 201", _ruled(
        *(each.id for each in OPERATIONS.values() if each.status)), lambda case: replace(case.honest, status=201)),
    "accepted-done": Deviation("accepted", "is accepted and carried out", _ruled(), _accept, _exists),
    "accepted-idle": Deviation("accepted", "reports success but does nothing", _ruled(),
                               _accept_idly, _exists),
    "refused-done": Deviation("refused-done", "is refused but carried out", _ruled(), _do_refused, _exists),
    "refused-time": Deviation("refused-time", "is refused but moves updatedAt", _ruled(*OF_ENGAGEMENT[1:]),
                              _do(lambda case: case.at.edit())),
    "not-done": Deviation("not-done", "reports success but does nothing", _EFFECT, _roll_back, _changes),
    "half-done": Deviation("half-done", "ignores the description", {
        op.CREATE: ("create-engagement-lasts",), op.EDIT: _EFFECT[op.EDIT]}, _do(_halve), _changes_both),
    "undone-six-requests-later": Deviation("undone", "is undone six requests later", _EFFECT,
                                           _after_requests(_undo), _changes),
    "undone-a-second-later": Deviation("undone", "is undone a second later", _EFFECT,
                                       _after_a_second(_undo), _changes),
    "done-to-another": Deviation("another", "also affects another resource", _SPARED, _do(_do_to_another),
    _has_another),
    "touches-another": Deviation("another", "moves the updatedAt of another engagement", _OF_OTHERS,
                                 _do(_touch_another), _has_another),
    "archives-another": Deviation("another", "archives another engagement", {
        each: _SPARED[each] for each in (op.EDIT, op.DELETE)},
        _do(lambda case: _touch_another(case, status="archived")), _has_another),
    "updated-at-stays": Deviation("time", "does not move updatedAt", _MOVED,
                                  _do(lambda case: case.at.overwrite(updated_at=case.engagement.updated_at)), _changes),
    "updated-at-back": Deviation("time", "sets updatedAt to one second before createdAt", _all(
        _NEVER_BACK, operations=_WRITTEN),
        _do(lambda case: case.at.overwrite(updated_at=case.engagement.created_at - _SECOND))),
    "created-at-moves": Deviation("time", "moves createdAt by one second", _all(_CREATED_AT, operations=_WRITTEN),
                                  _do(lambda case: case.at.overwrite(created_at=case.engagement.created_at + _SECOND))),
    "records-survive": Deviation("records", "keeps the subordinate records", {op.DELETE: _GO}, _do(_keep_records),
                                 lambda case: case.identifier in case.at.remembered("records", {})),
    "records-of-others-go": Deviation(
        "records", "also deletes the subordinate records of other engagements",
        {op.DELETE: ("subordinates-of-others-stay",)},
        _do(_delete_records_of_others),
        lambda case: any(other.id in case.at.remembered("records", {}) for other in case.at.other_engagements)),
    "miscounted": Deviation("counts", "is not reflected in the organization's counts", _COUNTED, _do(_miscount)),
    "unlisted": Deviation("listing", "removes the engagement from the lists", {
        op.CREATE: ("create-engagement-listed",), op.ARCHIVE: ("archived-listed",)},
        _do(lambda case: case.at.remembered("hidden", set()).add(case.identifier))),
    "still-listed": Deviation("listing", "leaves the engagement in the lists", {op.DELETE: ("deleted-unlisted",)},
                              _do(lambda case: case.at.remembered("deleted", []).append(case.engagement))),
    "joins": Deviation("mail", "makes the invited user a member", _all(
        "invite-adds-no-member", operations=(op.INVITE,)), _do(_join)),
    "joins-a-second-later": Deviation("mail", "makes the invited user a member a second later", _all(
        "invite-adds-no-member", operations=(op.INVITE,)), _after_a_second(_join)),
    "mail-not-sent": Deviation("mail", "sends no mail", _all("invite-sends-mail", operations=(op.INVITE,)),
                               _do(lambda case: case.at.context.afterwards.clear())),
    **{f"without-{name}": _lacks_field(name) for name in sorted(set().union(*_FIELDS.values()))},
    **{f"wrong-{name}": _wrong_field(name) for name in sorted(set().union(*_VALUES.values()))},
    "stale": Deviation("stale", "shows an earlier state", _READS, lambda case: _known_older(case)[0][1], _has_older),
    "item-missing": Deviation("items", "lacks an item", _per_list("page-length pages-partition"), _with_items(
        lambda case: [item for place, item in enumerate(case.at.data) if place != case.listed[-1]]),
        lambda case: bool(case.listed)),
    "item-twice": Deviation("items", "repeats an item", _per_list("pages-partition page-length"),
                            _with_items(_twice), lambda case: bool(case.listed)),
    "item-foreign": Deviation("items", "has an item of another organization", _all(
        "isolation-lists", operations=LISTS), _with_items(lambda case: [*case.at.data, *_foreign_items(case)]),
        lambda case: bool(_foreign_items(case))),
    "total-off": Deviation("totals", "has a total one too high", _TOTALS, lambda case: case.with_meta(
        total=case.at.reply_so_far.content["meta"]["total"] + 1)),
    "page-empty": Deviation("pages", "is empty", _per_list("page-length pages-partition"), _with_items(lambda _: []),
                            lambda case: bool(case.at.data)),
    "page-repeats": Deviation("pages", "repeats the first page", _per_list("pages-partition"), lambda case:
                              case.at.with_data(case.repeated(page=1).content["data"]), _is_later_page),
    "page-size-ignored": Deviation("pages", "shows more items than perPage", _per_list("page-length paging-honoured"),
                                   lambda case: case.at.with_data(case.repeated(perPage=20).content["data"]), _is_cut),
    "filter-dropped": Deviation("filter", "ignores its filter", {
        op.LIST: ("list-engagements-status-filter",), op.LIST_MEMBERS: ("list-members-role-filter",)},
        lambda case: case.repeated(status=None, role=None), _is_filtered),
    "order-reversed": Deviation("order", "is in reverse order", {op.LIST: _SORTED},
                                _with_items(lambda case: case.at.data[::-1]), _is_sorted),
    "limit-header-missing": Deviation("headers", "is answered without X-RateLimit-Remaining", _all(
        "rate-limit-headers-present"), _mark("X-RateLimit-Remaining", None)),
    "limit-header-negative": Deviation("headers", "is answered with a negative X-RateLimit-Remaining", _all(
        "rate-limit-remaining-in-range"), _mark("X-RateLimit-Remaining", "-1")),
    "reset-is-a-delay": Deviation("headers", "is answered with a delay instead of a time in X-RateLimit-Reset", _all(
        "rate-limit-reset-is-time"), _mark("X-RateLimit-Reset", "60")),
    "media-type-html": Deviation("headers", "is answered with the media type text/html", _all("json-media-type"),
                                 _mark("Content-Type", "text/html")),
    "envelope-status-off": Deviation("envelope", "is refused with a statusCode that differs from the status", _all(
        "error-status-code-agrees"), _envelope(statusCode=418)),
    "envelope-code-missing": Deviation("envelope", "is refused without error.code", _all("error-envelope"),
                                       _envelope(code=None)),
})  # fmt: skip
"""The deviations, by their names in ids."""
