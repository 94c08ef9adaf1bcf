"""Faults of input that one operation alone stumbles over or lets pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made, stumbling
from conformance.reference.faults.sending import NOTHING, content, field
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

    Odd = Callable[[RequestContext], bool]
_BREAKS = "no-server-error"
_LONG = 200
_HUGE = 2**63
_REFUSES = {
    "updateEngagement": "update-engagement-refuses-invalid",
    "updateCurrentOrganization": "update-organization-refuses-invalid",
    "inviteMember": "invite-refuses-invalid",
    "updateMemberRole": "update-role-refuses-invalid",
    "createEngagement": "create-engagement-refuses-invalid",
    "listEngagements": "list-engagements-refuses-invalid",
    "listMembers": "list-members-refuses-invalid",
}


def _stumbling(operation: str, label: str, over: str, is_odd: Odd, *breaks: str) -> Fault:
    """An operation that ends in an unexpected error over some requests."""
    title = f"The operation {operation} stumbles over {over}."
    return stumbling(f"{operation}-stumbles-over-{label}".lower(), title, operation, is_odd, *breaks)


def _is_malformed(context: RequestContext) -> bool:
    return bool(context.content) and content(context) is NOTHING


def _is_empty(context: RequestContext) -> bool:
    return not context.content


def _is_null(context: RequestContext) -> bool:
    return content(context) is None


def _is_array(context: RequestContext) -> bool:
    return isinstance(content(context), list)


def _is_text(context: RequestContext) -> bool:
    return isinstance(content(context), str)


def _keys(context: RequestContext) -> set[str]:
    found = content(context)
    return set(found) if isinstance(found, dict) else set()


def _lacks(name: str) -> Odd:
    return lambda context: isinstance(content(context), dict) and field(context, name) is NOTHING


def _has(name: str, kind: type | tuple[type, ...]) -> Odd:
    return lambda context: isinstance(field(context, name), kind)


def _counts_for_nothing(name: str) -> Odd:
    """Values that some languages take for none, although they are there."""
    return lambda context: field(context, name) in (False, 0, [], {})


def _nulls(name: str) -> Odd:
    return lambda context: field(context, name) is None


def _says(*parts: bytes) -> Odd:
    return lambda context: any(part in context.content for part in parts)


def _asks(name: str, value: Callable[[str], bool]) -> Odd:
    return lambda context: name in context.request.query_params and value(context.request.query_params[name])


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() else 1


_CERTAIN: tuple[tuple[str, str, str, Odd], ...] = (
    ("updateEngagement", "malformed-json", "malformed JSON", _is_malformed),
    ("updateEngagement", "an-array", "an array as the body", _is_array),
    ("updateEngagement", "a-text", "a string as the body", _is_text),
    ("updateEngagement", "a-description-list", "a list as the description", _has("description", list)),
    ("updateEngagement", "a-description-number", "a number as the description", _has("description", int)),
    ("createEngagement", "null", "null as the body", _is_null),
    ("createEngagement", "a-null-name", "null as the name", _nulls("name")),
    ("createEngagement", "a-name-object", "an object as the name", _has("name", dict)),
    ("createEngagement", "a-description-object", "an object as the description", _has("description", dict)),
    ("createEngagement", "a-text", "a string as the body", _is_text),
    ("updateCurrentOrganization", "an-array", "an array as the body", _is_array),
    ("updateCurrentOrganization", "null", "null as the body", _is_null),
    ("updateCurrentOrganization", "a-name-number", "a number as the name", _has("name", int)),
    ("updateCurrentOrganization", "a-name-object", "an object as the name", _has("name", dict)),
    ("inviteMember", "malformed-json", "malformed JSON", _is_malformed),
    ("inviteMember", "an-array", "an array as the body", _is_array),
    ("inviteMember", "no-address", "a missing address", _lacks("email")),
    ("inviteMember", "no-role", "a missing role", _lacks("role")),
    ("inviteMember", "an-address-number", "a number as the address", _has("email", int)),
    ("inviteMember", "a-null-address", "null as the address", _nulls("email")),
    ("inviteMember", "a-null-role", "null as the role", _nulls("role")),
    ("inviteMember", "null", "null as the body", _is_null),
    ("updateMemberRole", "malformed-json", "malformed JSON", _is_malformed),
    ("updateMemberRole", "an-array", "an array as the body", _is_array),
    ("updateMemberRole", "no-role", "a missing role", _lacks("role")),
    ("updateMemberRole", "a-null-role", "null as the role", _nulls("role")),
    ("updateMemberRole", "a-role-object", "an object as the role", _has("role", dict)),
    ("updateMemberRole", "owner", "the role owner", lambda context: field(context, "role") == "owner"),
    ("listEngagements", "a-per-page-word", "a perPage that is no number", _asks("perPage", lambda text: "abc" in text)),
    ("listEngagements", "an-order-word", "an order that is none", _asks(
        "order", lambda text: text.lower() not in {"asc", "desc", ""})),
    ("listEngagements", "a-status-word", "a status that is none", _asks(
        "status", lambda text: text.lower() not in {"active", "archived", ""})),
    ("listMembers", "a-page-word", "a page that is no number", _asks("page", lambda text: "abc" in text)),
    ("listMembers", "a-role-word", "a role that is none", _asks(
        "role", lambda text: text.lower() not in {"owner", "admin", "member", ""})),
)  # fmt: skip

INVALID = tuple(_stumbling(*one, _REFUSES[one[0]]) for one in _CERTAIN)

ODD = (
    _stumbling("updateCurrentOrganization", "an-emoji", "an emoji", _says(b"\xf0\x9f", b"\\ud83")),
    _stumbling("updateCurrentOrganization", "a-quote", "a single quote",
               lambda context: "'" in str(field(context, "name"))),
    _stumbling("updateCurrentOrganization", "a-percent-sign", "a percent sign", _says(b"%")),
    _stumbling("updateCurrentOrganization", "no-name", "an object without fields", _lacks("name")),
    _stumbling("updateCurrentOrganization", "a-null-name", "null as the name", _nulls("name")),
    _stumbling("updateCurrentOrganization", "an-empty-name", "an empty name",
               lambda context: field(context, "name") == ""),
    _stumbling("updateCurrentOrganization", "a-long-name", "a name of more than 200 characters",
               lambda context: len(str(field(context, "name"))) > _LONG),
    _stumbling("updateCurrentOrganization", "an-unknown-field", "fields that cannot be changed",
               lambda context: field(context, "slug") is not NOTHING),
    _stumbling("updateMemberRole", "an-unknown-field", "a field beside the role",
               lambda context: _keys(context) > {"role"}),
    _stumbling("updateEngagement", "an-empty-body", "an empty body", lambda context: not context.content),
    _stumbling("updateEngagement", "an-emoji", "an emoji", _says(b"\xf0\x9f", b"\\ud83")),
    _stumbling("updateEngagement", "a-percent-sign", "a percent sign", _says(b"%")),
    _stumbling("updateEngagement", "a-quote", "a single quote",
               lambda context: "'" in f"{field(context, 'name')}{field(context, 'description')}"),
    _stumbling("updateEngagement", "a-long-description", "a description of more than 2,000 characters",
               lambda context: len(str(field(context, "description"))) > 10 * _LONG),
    _stumbling("updateEngagement", "an-empty-name", "an empty name", lambda context: field(context, "name") == ""),
    _stumbling("updateEngagement", "a-null-name", "null as the name", _nulls("name")),
    _stumbling("updateEngagement", "an-empty-description", "an empty description",
               lambda context: field(context, "description") == ""),
    _stumbling("updateEngagement", "a-status", "a status in the body",
               lambda context: field(context, "status") is not NOTHING),
    _stumbling("createEngagement", "an-empty-name", "an empty name", lambda context: field(context, "name") == ""),
    _stumbling("createEngagement", "an-empty-description", "an empty description",
               lambda context: field(context, "description") == ""),
    _stumbling("createEngagement", "a-null-description", "null as the description", _nulls("description")),
    _stumbling("createEngagement", "a-percent-sign", "a percent sign", _says(b"%")),
    _stumbling("createEngagement", "bytes-beyond-utf-8", "bytes that are no UTF-8",
               lambda context: b"\xff" in context.content),
    _stumbling("createEngagement", "nul", "the character U+0000", _says(b"\\u0000")),
    _stumbling("createEngagement", "lines", "a description of several lines",
               lambda context: "\n" in str(field(context, "description"))),
    _stumbling("createEngagement", "a-huge-number", "a huge number", _says(b"9" * 100)),
    _stumbling("createEngagement", "an-identifier", "an id in the body",
               lambda context: field(context, "id") is not NOTHING),
    _stumbling("createEngagement", "right-to-left", "Hebrew and Arabic", lambda context: any(
        "\u0590" <= sign <= "\u06ff" for sign in str(field(context, "name")))),
    _stumbling("listEngagements", "a-huge-page", "a page beyond 64 bits",
               _asks("page", lambda text: _number(text) >= _HUGE), "list-past-the-end"),
    _stumbling("listEngagements", "a-decimal-page", "a page with a decimal point", _asks("page", lambda t: "." in t)),
    _stumbling("listEngagements", "an-empty-page", "an empty page", _asks("page", lambda text: not text)),
    _stumbling("listEngagements", "an-empty-status", "an empty status", _asks("status", lambda text: not text)),
    _stumbling("listEngagements", "a-negative-per-page", "a negative perPage",
               _asks("perPage", lambda text: _number(text) < 0)),
    _stumbling("listEngagements", "per-page-101", "a perPage of more than 100",
               _asks("perPage", lambda text: _number(text) > 100)),  # noqa: PLR2004
    _stumbling("listEngagements", "capitals", "an order in capitals", _asks("order", str.isupper)),
    _stumbling("listMembers", "per-page-101", "a perPage of more than 100",
               _asks("perPage", lambda text: _number(text) > 100)),  # noqa: PLR2004
    _stumbling("listMembers", "a-page-past-the-end", "a page past the end",
               _asks("page", lambda text: _number(text) > _LONG), "list-past-the-end"),
    _stumbling("listMembers", "an-unknown-parameter", "a parameter that it does not know",
               lambda context: bool(set(context.request.query_params) - {"role", "page", "perPage"}),
               "list-paging-limits-truthful"),
    _stumbling("listMembers", "page-zero", "page 0", _asks("page", lambda text: _number(text) == 0)),
    _stumbling("listMembers", "per-page-zero", "a perPage of 0", _asks("perPage", lambda text: _number(text) == 0)),
    _stumbling("listMembers", "a-capital", "a role with a capital", _asks("role", lambda text: text != text.lower())),
    _stumbling("getEngagement", "a-quote", "a single quote in the identifier",
               lambda context: "'" in context.resource_id),
    _stumbling("getEngagement", "length", "an identifier of more than 200 characters",
               lambda context: len(context.resource_id) > _LONG),
    _stumbling("getEngagement", "letters", "an identifier that is not ASCII",
               lambda context: not context.resource_id.isascii()),
    _stumbling("deleteEngagement", "an-unknown-identifier", "an identifier that it does not find",
               lambda context: not context.resource_id.startswith("eng_"), "delete-unknown-engagement"),
    _stumbling("archiveEngagement", "an-unknown-identifier", "an identifier of another shape",
               lambda context: not context.resource_id.startswith("eng_"), "archive-unknown-engagement"),
)  # fmt: skip


# Invalid input that passes


def _passing(operation: str, label: str, what: str, is_passed: Odd, body: dict[str, Any]) -> Fault:
    """An operation that takes some input for a valid one."""

    async def receive(self: Service, context: RequestContext) -> bytes:
        content = await Service.receive(self, context)
        context.content = content
        if context.operation.id == operation and is_passed(context):
            return json.dumps(body).encode()
        return content

    return made(f"{operation}-passes-{label}".lower(), f"The operation {operation} lets {what} pass.",
                _REFUSES[operation], receive=receive)  # fmt: skip


_INVITED = {"email": "somebody@example.com", "role": "member"}

PASSED = (
    _passing("createEngagement", "an-empty-body", "an empty body", _is_empty, {"name": "Untitled"}),
    _passing("createEngagement", "null", "null as the body", _is_null, {"name": "Untitled"}),
    _passing("createEngagement", "a-description-list", "a list as the description", _has("description", list),
             {"name": "Untitled"}),
    _passing("createEngagement", "a-description-boolean", "a boolean as the description", _has("description", bool),
             {"name": "Untitled"}),
    _passing("createEngagement", "a-description-that-is-nothing", "false and 0 as the description",
             _counts_for_nothing("description"), {"name": "Untitled"}),
    _passing("updateEngagement", "a-description-that-is-nothing", "false and 0 as the description",
             _counts_for_nothing("description"), {}),
    _passing("updateEngagement", "a-name-that-is-nothing", "false and 0 as the name", _counts_for_nothing("name"), {}),
    _passing("updateCurrentOrganization", "a-name-that-is-nothing", "false and 0 as the name",
             _counts_for_nothing("name"), {}),
    _passing("updateEngagement", "null", "null as the body", _is_null, {}),
    _passing("updateEngagement", "a-text", "a string as the body", _is_text, {}),
    _passing("updateEngagement", "a-name-boolean", "a boolean as the name", _has("name", bool), {}),
    _passing("updateEngagement", "a-name-list", "a list as the name", _has("name", list), {}),
    _passing("updateEngagement", "a-description-number", "a number as the description", _has("description", int), {}),
    _passing("updateEngagement", "a-description-object", "an object as the description", _has("description", dict), {}),
    _passing("updateCurrentOrganization", "null", "null as the body", _is_null, {}),
    _passing("updateCurrentOrganization", "a-text", "a string as the body", _is_text, {}),
    _passing("updateCurrentOrganization", "a-name-boolean", "a boolean as the name", _has("name", bool), {}),
    _passing("inviteMember", "an-address-number", "a number as the address", _has("email", int), _INVITED),
    _passing("inviteMember", "an-address-list", "a list as the address", _has("email", list), _INVITED),
    _passing("inviteMember", "an-empty-body", "an empty body", _is_empty, _INVITED),
    _passing("inviteMember", "null", "null as the body", _is_null, _INVITED),
    _passing("inviteMember", "a-role-number", "a number as the role", _has("role", int), _INVITED),
    _passing("updateMemberRole", "a-role-number", "a number as the role", _has("role", int), {"role": "member"}),
    _passing("updateMemberRole", "a-role-list", "a list as the role", _has("role", list), {"role": "member"}),
    _passing("updateMemberRole", "a-role-boolean", "a boolean as the role", _has("role", bool), {"role": "member"}),
    _passing("updateMemberRole", "null", "null as the body", _is_null, {"role": "member"}),
)  # fmt: skip
