"""Deviations of the data in the reply to a request that succeeds."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.faults import operations as op
from conformance.reference.faults.operations import NAMES
from conformance.reference.faults.situations import engagements, members

from .circumstances import LISTS, organization_of
from .deviation import Case, Deviation, Requirements, broken_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.request_context import Reply

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
    op.READ: {"id": "get-engagement-is-the-one-asked-for", "createdAt": "created-at-never-changes",
              "updatedAt": "updated-at-never-goes-back",
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
    breaks = {operation: (f"{NAMES[operation]}-fields",) for operation, fields in _FIELDS.items() if name in fields}
    return Deviation("field-missing", f"is answered without {name}", breaks, lambda case: case.with_item(
        lambda shown: {key: value for key, value in shown.items() if key != name}), _shows(name))  # fmt: skip


def _wrong_field(name: str) -> Deviation:
    breaks = {operation: (fields[name],) for operation, fields in _VALUES.items() if name in fields}
    return Deviation("field-wrong", f"is answered with a wrong {name}", breaks, lambda case: case.with_item(
        lambda shown: {**shown, name: _wrong(name, shown[name])}), _shows(name))  # fmt: skip


def _known_older(case: Case) -> list[Any]:
    """Return the replies to the same URL, without times of members: the present one and the one before it changed."""
    at = case.at
    answers: list[Any] = at.remembered("answers", {}).setdefault((organization_of(at), str(at.context.request.url)), [])
    data = at.data if at.operation != op.LIST_MEMBERS else [{**member, "lastSeenAt": None} for member in at.data]
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
    return {operation: tuple(f"{NAMES[operation]}-{word}" for word in words.split()) for operation in LISTS}


_TOTALS: Final = {op.LIST: ("list-engagements-total", "engagement-count-agrees", "list-engagements-filter-counts"),
                  op.LIST_MEMBERS: ("list-members-total", "member-count-agrees")}  # fmt: skip
_READS: Final = {
    op.READ: ("update-engagement-takes-effect", "archive-sets-status"),
    op.LIST: (_AS_READ, "create-engagement-listed", "deleted-unlisted"),
    op.LIST_MEMBERS: ("role-changes-both-ways", "removed-member-unlisted"),
    op.GET_ORGANIZATION: ("update-organization-takes-effect", "engagement-count-agrees"),
}
_SORTED: Final = ("sort-by-created-at", "sort-by-updated-at", "sort-by-name", "sort-with-filter")

CONTENTS: Final[Mapping[str, Deviation]] = MappingProxyType({
    **{f"without-{name}": _lacks_field(name) for name in sorted(set().union(*_FIELDS.values()))},
    **{f"wrong-{name}": _wrong_field(name) for name in sorted(set().union(*_VALUES.values()))},
    "stale": Deviation("stale", "shows an earlier state", _READS, lambda case: _known_older(case)[0][1], _has_older),
    "item-missing": Deviation("items", "lacks an item", _per_list("page-length pages-partition"), _with_items(
        lambda case: [item for place, item in enumerate(case.at.data) if place != case.listed[-1]]),
        lambda case: bool(case.listed)),
    "item-twice": Deviation("items", "repeats an item", _per_list("pages-partition page-length"),
                            _with_items(_twice), lambda case: bool(case.listed)),
    "item-foreign": Deviation("items", "has an item of another organization", broken_by(
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
})  # fmt: skip
"""The deviations, by their names in ids."""
