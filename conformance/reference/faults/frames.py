"""Faults of the frame of successes: their status, data, meta, and names that are spelt another way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response

from conformance.reference.faults import fault
from conformance.reference.faults.making import instead, made, renamed, replied, shown, without
from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Reply
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext
    from conformance.reference.routes import Operation
    from conformance.reference.views import View

_NO_CONTENT = 204
_SEE_OTHER = 303


def _wrong_status(identifier: str, operation: str, status: int, words: str, requirement: str) -> Fault:
    title = f"{words} gives {status} instead of 200."
    return replied(identifier, title, operation, lambda _, reply: replace(reply, status=status), requirement)


STATUSES = (
    _wrong_status(
        "get-organization-203", "getCurrentOrganization", 203, "Reading the organization", "get-organization-succeeds"
    ),
    _wrong_status(
        "update-organization-202", "updateCurrentOrganization", 202, "A renaming", "update-organization-succeeds"
    ),
    _wrong_status("list-members-206", "listMembers", 206, "Listing members", "list-members-succeeds"),
    _wrong_status("update-role-201", "updateMemberRole", 201, "A role change", "update-role-succeeds"),
    _wrong_status("remove-member-202", "removeMember", 202, "A removal", "remove-member-succeeds"),
    _wrong_status("list-engagements-206", "listEngagements", 206, "Listing engagements", "list-engagements-succeeds"),
    _wrong_status("get-engagement-201", "getEngagement", 201, "Reading an engagement", "get-engagement-succeeds"),
    _wrong_status("delete-engagement-202", "deleteEngagement", 202, "A deletion", "delete-engagement-succeeds"),
)


def _without_body(identifier: str, operation: str, words: str, *breaks: str) -> Fault:
    """An operation whose success is an empty 204."""

    def respond(self: Service, context: RequestContext, reply: Reply) -> Response:
        response = Service.respond(self, context, reply)
        if reply.is_error or context.operation.id != operation:
            return response
        kept = {name.decode(): value.decode() for name, value in response.raw_headers if name.startswith(b"X-")}
        return Response(status_code=_NO_CONTENT, headers=kept)

    return made(identifier, f"{words} gives 204 without a body.", *breaks, respond=respond)


EMPTY = (
    _without_body(
        "delete-engagement-204", "deleteEngagement", "A deletion", "delete-engagement-succeeds", "success-data-object"
    ),
    _without_body("remove-member-204", "removeMember", "A removal", "remove-member-succeeds", "success-data-object"),
    _without_body("update-engagement-204", "updateEngagement", "An edit", "success-data-object"),
    _without_body("archive-engagement-204", "archiveEngagement", "Archiving", "success-data-object"),
    _without_body("unarchive-engagement-204", "unarchiveEngagement", "Unarchiving", "success-data-object"),
)


def _content(
    identifier: str, title: str, operation: str, content: Callable[[dict[str, Any]], Any], *breaks: str
) -> Fault:
    """An operation whose success is put together another way; ``content`` makes it from the honest one."""
    return replied(identifier, title, operation, lambda _, reply: Reply(reply.status, content(reply.content)), *breaks)


CONTENTS = (
    _content(
        "create-bare",
        "A new engagement stands without a data around it.",
        "createEngagement",
        lambda body: body["data"],
        "success-data-object",
    ),
    _content(
        "get-engagement-in-array",
        "The data of a read engagement is an array of one.",
        "getEngagement",
        lambda body: {"data": [body["data"]]},
        "success-data-object",
    ),
    _content(
        "organization-as-result",
        "The organization stands in result instead of data.",
        "getCurrentOrganization",
        lambda body: {"result": body["data"]},
        "success-data-object",
    ),
    _content(
        "unarchive-data-null",
        "The data of an unarchiving is null.",
        "unarchiveEngagement",
        lambda _: {"data": None},
        "success-data-object",
    ),
    _content(
        "update-data-text",
        "The data of an edit is a word.",
        "updateEngagement",
        lambda _: {"data": "updated"},
        "success-data-object",
    ),
    _content(
        "invite-message-only",
        "An invitation is answered with a message instead of data.",
        "inviteMember",
        lambda _: {"message": "invited"},
        "success-data-object",
    ),
    _content(
        "list-engagements-data-object",
        "The data of the engagements is an object by id.",
        "listEngagements",
        lambda body: {**body, "data": {item["id"]: item for item in body["data"]}},
        "list-data-array",
    ),
    _content(
        "list-members-items",
        "The members stand in items instead of data.",
        "listMembers",
        lambda body: {"items": body["data"], "meta": body["meta"]},
        "list-data-array",
    ),
    _content(
        "list-engagements-bare-array",
        "The list of engagements is an array without data and meta.",
        "listEngagements",
        lambda body: body["data"],
        "list-data-array",
        "list-meta-object",
    ),
    _content(
        "list-engagements-without-meta",
        "The list of engagements has no meta.",
        "listEngagements",
        lambda body: {"data": body["data"]},
        "list-meta-object",
    ),
    _content(
        "list-members-meta-inside-data",
        "The meta of the members is an array.",
        "listMembers",
        lambda body: {**body, "meta": [body["meta"]]},
        "list-meta-object",
    ),
    _content(
        "list-engagements-ids-only",
        "The list of engagements holds identifiers instead of objects.",
        "listEngagements",
        lambda body: {**body, "data": [item["id"] for item in body["data"]]},
        "list-engagements-fields",
    ),
)


def _meta(identifier: str, title: str, change: Callable[[View], View]) -> Fault:
    """Lists whose meta has other members or types; ``change`` is given the honest meta."""

    def spoil(_: RequestContext, reply: Reply) -> Reply:
        content = reply.content
        return replace(reply, content={**content, "meta": change(content["meta"])}) if "meta" in content else reply

    return replied(identifier, title, "*", spoil, "list-meta-fields")


def _fraction(meta: View) -> View:
    return {**meta, "totalPages": meta["total"] // meta["perPage"] + 0.5}


META = (
    _meta("list-meta-without-total", "The meta of lists lacks total.", without(("total",))),
    _meta("list-meta-page-text", "The page in meta is a string.", instead(("page",), str)),
    _meta("list-meta-perpage-null", "The perPage in meta is null.", instead(("perPage",), lambda _: None)),
    _meta("list-meta-without-totalpages", "The meta of lists lacks totalPages.", without(("totalPages",))),
    _meta("list-meta-snake-case", "The meta of lists says per_page.", renamed("perPage", "per_page")),
    _meta("list-meta-fraction", "The totalPages in meta is a fraction.", _fraction),
)

SPELLINGS = (
    shown(
        "get-engagement-snake-case",
        "A read engagement says created_at.",
        "view_read",
        renamed("createdAt", "created_at"),
        "get-engagement-fields",
    ),
    shown(
        "list-engagements-title",
        "A listed engagement has a title instead of a name.",
        "view_item",
        renamed("name", "title"),
        "list-engagements-fields",
    ),
    shown(
        "organization-snake-case",
        "The organization says member_count.",
        "view_organization",
        renamed("memberCount", "member_count"),
        "get-organization-fields",
    ),
    shown(
        "member-user-id",
        "A listed member has userId instead of id.",
        "view_member",
        renamed("id", "userId"),
        "list-members-fields",
    ),
    shown(
        "removal-id",
        "A removal names the user by id instead of userId.",
        "view_removed",
        renamed("userId", "id"),
        "remove-member-fields",
    ),
    shown(
        "invitation-expires",
        "An invitation has expires instead of expiresAt.",
        "view_invitation",
        renamed("expiresAt", "expires"),
        "invite-fields",
    ),
    shown(
        "archive-state",
        "An archive tells the state instead of the status.",
        "view_archived",
        renamed("status", "state"),
        "archive-engagement-fields",
    ),
    shown(
        "deletion-success",
        "A deletion says success instead of deleted.",
        "view_deleted",
        renamed("deleted", "success"),
        "delete-engagement-fields",
    ),
)


@fault("create-redirects", "no-redirect", "create-engagement-succeeds")
class CreateRedirects(Service):
    """A creation redirects to the new engagement."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Send the client on."""
        reply = super().create_engagement(context)
        return replace(
            reply, status=_SEE_OTHER, headers={"Location": f"/api/v1/engagements/{reply.content['data']['id']}"}
        )


@fault("organization-moved", "no-redirect", "get-organization-succeeds", "version-prefix-served")
class OrganizationMoved(Service):
    """Reading the organization is redirected to another path."""

    def get_organization(self, context: RequestContext) -> Reply:
        """Send the client on."""
        reply = super().get_organization(context)
        return replace(reply, status=308, headers={"Location": "/api/v2/organizations/current"})


@fault("other-prefix", "version-prefix-served")
class OtherPrefix(Service):
    """Nothing is served under /api/v1/."""

    def find_operation(self, context: RequestContext) -> Operation:
        """Find nothing."""
        raise Refusal(404, f"There is nothing at {context.request.url.path}.")
