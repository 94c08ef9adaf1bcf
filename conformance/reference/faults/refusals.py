"""Faults of refusing invalid input: with another status, or with an unexpected error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults.making import made, stumbling
from conformance.reference.faults.sending import NOTHING, content, field
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

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
