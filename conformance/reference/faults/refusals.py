"""Faults of refusing invalid input: with another status, or although it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made, stumbling
from conformance.reference.faults.sending import NOTHING, content, field
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext

_INVALID = frozenset({400, 422})


def _refused_with(operation: str, name: str, status: int, *more: str) -> Fault:
    """An operation that refuses what is invalid with another status."""

    def check(self: Service, context: RequestContext) -> None:
        try:
            Service.check(self, context)
        except Refusal as refusal:
            if context.operation.id == operation and refusal.status in _INVALID:
                raise Refusal(status, refusal.message) from None
            raise

    title = f"What is invalid is refused by {operation} with {status}."
    return made(f"{name}-refuses-with-{status}", title, f"{name}-refuses-invalid", *more, check=check)


STATUSES = (
    _refused_with("createEngagement", "create-engagement", 409),
    _refused_with("createEngagement", "create-engagement", 415),
    _refused_with("updateEngagement", "update-engagement", 404),
    _refused_with("updateCurrentOrganization", "update-organization", 403),
    _refused_with("inviteMember", "invite", 409),
    _refused_with("updateMemberRole", "update-role", 403),
    _refused_with("listEngagements", "list-engagements", 404),
    _refused_with("listMembers", "list-members", 404),
)


def _broken(operation: str, name: str, label: str, title: str, is_odd: Callable[[RequestContext], bool]) -> Fault:
    """An operation that stumbles over what is invalid."""
    return stumbling(f"{name}-breaks-on-{label}", title, operation, is_odd, f"{name}-refuses-invalid")


def _is_array(context: RequestContext) -> bool:
    return isinstance(content(context), list)


def _has_mistyped(name: str) -> Callable[[RequestContext], bool]:
    return lambda context: not (field(context, name) is NOTHING or isinstance(field(context, name), str))


def _asks(name: str, value: str) -> Callable[[RequestContext], bool]:
    return lambda context: value in context.request.query_params.get(name, "")


BROKEN = (
    _broken(
        "createEngagement",
        "create-engagement",
        "malformed",
        "A creation breaks on malformed JSON.",
        lambda context: bool(context.content) and content(context) is NOTHING,
    ),
    _broken(
        "createEngagement",
        "create-engagement",
        "empty",
        "A creation breaks on an empty body.",
        lambda context: not context.content,
    ),
    _broken("createEngagement", "create-engagement", "array", "A creation breaks on an array.", _is_array),
    _broken(
        "createEngagement",
        "create-engagement",
        "no-name",
        "A creation breaks where the name is missing.",
        lambda context: field(context, "name") is NOTHING and isinstance(content(context), dict),
    ),
    _broken(
        "updateEngagement",
        "update-engagement",
        "name-type",
        "An edit breaks on a name that is no text.",
        _has_mistyped("name"),
    ),
    _broken(
        "updateEngagement",
        "update-engagement",
        "null-body",
        "An edit breaks on null.",
        lambda context: content(context) is None,
    ),
    _broken(
        "updateCurrentOrganization",
        "update-organization",
        "malformed",
        "A renaming breaks on malformed JSON.",
        lambda context: content(context) is NOTHING,
    ),
    _broken(
        "inviteMember",
        "invite",
        "no-at",
        "An invitation breaks on an address without @.",
        lambda context: isinstance(field(context, "email"), str) and "@" not in str(field(context, "email")),
    ),
    _broken(
        "inviteMember", "invite", "role-type", "An invitation breaks on a role that is no text.", _has_mistyped("role")
    ),
    _broken(
        "updateMemberRole",
        "update-role",
        "role-type",
        "A change of role breaks on a role that is no text.",
        _has_mistyped("role"),
    ),
    _broken(
        "listEngagements",
        "list-engagements",
        "page-abc",
        "The list of engagements breaks on a page that is no number.",
        _asks("page", "abc"),
    ),
    _broken(
        "listEngagements",
        "list-engagements",
        "sort-nonsense",
        "The list of engagements breaks on a sort that is none.",
        _asks("sort", "no"),
    ),
    _broken(
        "listMembers",
        "list-members",
        "perpage-abc",
        "The list of members breaks on a perPage that is no number.",
        _asks("perPage", "abc"),
    ),
)


def _kept(
    operation: str, name: str, what: str, keep: Callable[[Service, RequestContext, dict[str, Any]], None], *breaks: str
) -> Fault:
    """An operation that keeps a part of what it refuses; ``keep`` is given the object that was sent."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal as refusal:
            sent = content(context)
            if context.operation.id == operation and refusal.status in _INVALID and isinstance(sent, dict):
                keep(self, context, sent)
            raise

    title = f"Of what {operation} refuses as invalid, {what} kept."
    return made(f"{name}-keeps-refused", title, *breaks, perform=perform)


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    return value.encode(errors="replace").decode() if isinstance(value, str) else "Untitled"


def _keep_new(service: Service, context: RequestContext, content: dict[str, Any]) -> None:
    context.values = {"name": _text(content, "name"), "description": _text(content, "description")}
    service.store.add_engagement(service.new_engagement(context))


def _keep_edit(service: Service, context: RequestContext, content: dict[str, Any]) -> None:
    changes = {name: _text(content, name) for name, value in content.items() if isinstance(value, str)}
    service.store.edit_engagement(context.resource_id, changes, service.now())


def _touch(service: Service, context: RequestContext, _: dict[str, Any]) -> None:
    service.store.edit_engagement(context.resource_id, {}, service.now())


def _keep_name(service: Service, context: RequestContext, content: dict[str, Any]) -> None:
    if "name" in content:
        service.store.rename_organization(context.organization_id, str(content["name"]), service.now())


def _keep_empty_name(service: Service, context: RequestContext, content: dict[str, Any]) -> None:
    if content.get("name") == "":
        _keep_name(service, context, content)


def _keep_role(service: Service, context: RequestContext, content: dict[str, Any]) -> None:
    service.store.change_role(context.organization_id, context.resource_id, str(content.get("role")), service.now())


KEPT = (
    _kept("createEngagement", "create-engagement", "text is", _keep_new, "create-engagement-refused-creates-nothing"),
    _kept("updateEngagement", "update-engagement", "text is", _keep_edit, "update-engagement-refused-changes-nothing"),
    _kept(
        "updateEngagement", "update-engagement-time", "the time is", _touch, "update-engagement-refused-changes-nothing"
    ),
    _kept(
        "updateCurrentOrganization",
        "update-organization",
        "the name is",
        _keep_name,
        "update-organization-refused-changes-nothing",
    ),
    _kept(
        "updateCurrentOrganization",
        "update-organization-empty-name",
        "an empty name is",
        _keep_empty_name,
        "update-organization-refused-changes-nothing",
    ),
    _kept(
        "updateMemberRole",
        "update-role",
        "the role is",
        _keep_role,
        "update-role-refused-changes-nothing",
        "member-roles-known",
    ),
)
