"""Faults of successes: statuses, envelopes, fields, values and JSON; and of reading engagements, existing or not."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Reply

from .changes import content, data, drop, edit, inside, put, rename, reply, send, status, view
from .conditions import all_of, always, archived, asks, has_one_permission, header_has, is_error, noted, succeeds
from .mutations import (
    Change,
    Method,
    Mutation,
    at_step,
    before,
    done_yet,
    fault,
    instead,
    override,
    refuse,
    result,
    wrap,
)
from .operations import ARCHIVE, DELETE, EDIT, LIST, READ, REMOVE, ROLE
from .situations import Situation, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.service import Service
    from conformance.reference.views import View

    from .situations import Situation


_OBJECT, _ARRAY, _META = "success-data-object", "list-data-array", "list-meta-object"
_LIST, _MEMBERS = "list-engagements-succeeds", "list-members-succeeds"
_INVITED, _REMOVED = "invite-answers-what-was-sent", "remove-member-answers-true"
_ROLE = "update-role-answers-what-was-sent"


def _is_list(at: Situation) -> bool:
    return at.operation in {"listEngagements", "listMembers"}


def _later_page(at: Situation) -> bool:
    return bool(at.values["page"] > 1)


def _no_content(operation: str) -> Mutation:
    """Reply with an empty 204 to an operation that was carried out."""

    def around(at: Situation, honest: Method) -> Response:
        response: Response = honest()
        kept = {name.decode(): value.decode() for name, value in response.raw_headers if name.startswith(b"X-")}
        return Response(status_code=204, headers=kept) if succeeds(operation)(at) else response

    return at_step("respond", around)


def _moved(method: str, code: int, location: Callable[[dict[str, Any]], str]) -> Mutation:
    """Redirect to another path after a method was carried out."""
    return result(method, lambda done: replace(done, status=code, headers={"Location": location(done.content["data"])}))


def _refuse_past_end(code: int) -> Mutation:
    def check(_: Service, meta: dict[str, Any]) -> None:
        if meta["page"] > max(meta["totalPages"], 1):
            raise Refusal(code, "There is no such page.")

    return override(check_page_exists=check)


def _nothing_found(_: Service, __: object) -> None:
    raise Refusal(404, "There is nothing here.")


def _as_before(operation: str, field: str) -> Mutation:
    """Show a field of the previous success of an operation, from the second success on."""

    def shown_before(at: Situation, shown: dict[str, Any]) -> dict[str, Any]:
        last = at.remembered(operation, shown)
        at.service.memory[operation] = shown
        return {**shown, field: last[field]}

    return data(operation, shown_before)


def _for_one_permission(operation: str, field: str, change: Change) -> Mutation:
    """Show another value of a field to keys that have a single permission."""
    return data(operation, lambda _, shown: inside(field, change)(shown), has_one_permission)


def _other_type(value: object) -> object:
    """Return a value in another JSON type."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return [value]
    return str(value) if isinstance(value, int) else 17


STATUSES = (
    *(fault(identifier, f"{words} gives {code} instead of 200.", status(operation, code, when), requirement)
      for identifier, words, operation, code, when, requirement in (
        ("get-organization-203", "Reading the organization",
         "getCurrentOrganization", 203, always, "get-organization-succeeds"),
        ("update-organization-202", "A renaming",
         "updateCurrentOrganization", 202, always, "update-organization-succeeds"),
        ("list-members-206", "A list of members", "listMembers", 206, always, _MEMBERS),
        ("members-second-page-206", "A list of members from page 2 on", "listMembers", 206, _later_page, _MEMBERS),
        ("update-role-201", "A role change", "updateMemberRole", 201, always, "update-role-succeeds"),
        ("remove-member-202", "A removal", "removeMember", 202, always, "remove-member-succeeds"),
        ("list-engagements-206", "A list of engagements", "listEngagements", 206, always, _LIST),
        ("engagements-second-page-206", "A list of engagements from page 2 on", "listEngagements", 206, _later_page,
         _LIST),
        ("filtered-engagements-203", "A list of archived engagements",
         "listEngagements", 203, asks(status="archived"), _LIST),
        ("get-engagement-201", "Reading an engagement", "getEngagement", 201, always, "get-engagement-succeeds"),
        ("read-archived-203", "Reading an archived engagement",
         "getEngagement", 203, archived, "get-engagement-succeeds"),
        ("delete-engagement-202", "A deletion", "deleteEngagement", 202, always, "delete-engagement-succeeds"),
        ("delete-archived-202", "Deleting an archived engagement",
         "deleteEngagement", 202, archived, "delete-engagement-succeeds"))),
    *(fault(identifier, f"{words} gives 204 without a body.", _no_content(operation), *breaks)
      for identifier, words, operation, *breaks in (
        ("delete-engagement-204", "A deletion", "deleteEngagement", "delete-engagement-succeeds", _OBJECT),
        ("remove-member-204", "A removal", "removeMember", "remove-member-succeeds", _OBJECT),
        ("update-engagement-204", "An edit", "updateEngagement", _OBJECT),
        ("archive-engagement-204", "Archiving", "archiveEngagement", _OBJECT),
        ("unarchive-engagement-204", "Unarchiving", "unarchiveEngagement", _OBJECT))),
    fault("create-redirects", "A creation redirects to the new engagement.",
          _moved("create_engagement", 303, lambda shown: f"/api/v1/engagements/{shown['id']}"),
          "no-redirect", "create-engagement-succeeds"),
    fault("organization-moved", "A read of the organization redirects to another path.",
          _moved("get_organization", 308, lambda _: "/api/v2/organizations/current"),
          "no-redirect", "get-organization-succeeds", "version-prefix-served"),
    fault("other-prefix", "Nothing is served under /api/v1/.",
          override(find_operation=_nothing_found), "version-prefix-served"),
)  # fmt: skip

ENVELOPES = (
    fault("create-bare", "The response to a creation has the engagement at the top level, without data around it.",
          content("createEngagement", lambda body: body["data"]), _OBJECT),
    fault("get-engagement-in-array", "The data of a read engagement is an array with one item.",
          content("getEngagement", edit(data=lambda shown: [shown])), _OBJECT),
    fault("organization-as-result", "The response to a read of the organization has result instead of data.",
          content("getCurrentOrganization", rename("data", "result")), _OBJECT),
    fault("unarchive-data-null", "The response to an unarchive has null as data.",
          content("unarchiveEngagement", put(data=None)), _OBJECT),
    fault("update-data-text", "The response to an edit has a string as data.",
          content("updateEngagement", put(data="updated")), _OBJECT),
    fault("invite-message-only", "The response to an invitation has message instead of data.",
          content("inviteMember", lambda _: {"message": "invited"}), _OBJECT),
    *(fault(f"success-as-error-{operation}".lower(), f"A successful response of {operation} has the body of an error.",
            reply(operation, lambda at: Reply(
                at.status, {"error": {"code": "OK", "message": "done", "statusCode": at.status}})), _OBJECT)
      for operation in ("updateEngagement", "archiveEngagement")),
)  # fmt: skip

LISTS = (
    fault("list-engagements-data-object", "The list of engagements has an object by id as data.",
          content("listEngagements", edit(data=lambda items: {item["id"]: item for item in items})), _ARRAY),
    fault("list-members-items", "The list of members has items instead of data.",
          content("listMembers", rename("data", "items")), _ARRAY),
    fault("list-engagements-bare-array", "The list of engagements is a bare array, without data and meta.",
          content("listEngagements", lambda body: body["data"]), _ARRAY, _META),
    fault("list-engagements-without-meta", "The list of engagements has no meta.",
          content("listEngagements", drop("meta")), _META),
    fault("list-members-meta-inside-data", "The list of members has an array as meta.",
          content("listMembers", edit(meta=lambda meta: [meta])), _META),
    fault("list-engagements-ids-only", "The list of engagements has ids instead of objects.",
          content("listEngagements", edit(data=lambda items: [item["id"] for item in items])),
          "list-engagements-fields"),
    fault("list-page-of-strings", "The data of a list with one item is the item itself.",
          content("listEngagements", edit(data=lambda items: items[0] if len(items) == 1 else items)), _ARRAY),
    fault("list-data-null-when-empty", "An empty list of engagements has null as data.",
          content("listEngagements", edit(data=lambda items: items or None)), _ARRAY),
    fault("members-data-null-when-empty", "An empty list of members has null as data.",
          content("listMembers", edit(data=lambda items: items or None)), _ARRAY),
    fault("list-meta-lost-when-empty", "An empty list of engagements has no meta.",
          content("listEngagements", lambda body: body if body["data"] else {"data": []}), _META),
    fault("list-csv-if-accepted", "The list of engagements is CSV for a request that accepts CSV.",
          send(lambda _: b"id,name,status\n", all_of(succeeds(LIST), header_has("accept", "text/csv")),
               media_type="text/csv"), "json-media-type", "json-well-formed"),
    fault("list-total-zero-when-empty", "A page past the end has 0 as total.",
          content("listEngagements", lambda body: body if body["data"] else inside(
              "meta", put(total=0, totalPages=0))(body)), "list-engagements-total", "list-past-the-end"),
    *(fault(f"past-end-{code}", f"A page past the end is refused with {code}.",
            _refuse_past_end(code), "list-past-the-end") for code in (403, 401)),
    fault("empty-engagements-404", "A list of engagements without a match gives 404.",
          done_yet("listEngagements", 404, lambda at: at.reply_so_far.content["meta"]["total"] == 0), _LIST),
    *(fault(f"list-meta-{identifier}", title, content("*", inside("meta", change), _is_list), "list-meta-fields")
      for identifier, title, change in (
        ("without-total", "The meta of lists lacks total.", drop("total")),
        ("page-text", "The page in meta is a string.", edit(page=str)),
        ("perpage-null", "The perPage in meta is null.", put(perPage=None)),
        ("without-totalpages", "The meta of lists lacks totalPages.", drop("totalPages")),
        ("snake-case", "The meta of lists has per_page instead of perPage.", rename("perPage", "per_page")),
        ("fraction", "The totalPages in meta has decimals.",
         lambda meta: {**meta, "totalPages": meta["total"] // meta["perPage"] + 0.5}))),
)  # fmt: skip

_DAMAGES: tuple[tuple[str, str, Callable[[str], Change]], ...] = (
    ("without", "is missing", drop),
    ("null", "is null", lambda field: edit(**{field: lambda _: None})),
    ("mistyped", "has the wrong type", lambda field: edit(**{field: _other_type})),
)

FIELDS = (
    *(fault(f"{operation}-{damage}-{field.lower()}", f"The field {field} of {words} {verb}.",
            view(shown, change(field)), f"{operation}-fields")
      # the fields of each operation that are missing, that are null, and that are of another type
      for operation, shown, words, *damaged in (
        ("get-organization", "organization", "the organization",
         "id plan createdAt", "name memberCount settings", "slug engagementCount"),
        ("update-organization", "renamed", "the renamed organization", "name", "slug", "id updatedAt"),
        ("list-members", "member", "a listed member", "id role lastSeenAt", "name joinedAt", "email"),
        ("invite", "invitation", "an invitation", "email expiresAt", "role createdAt", "id status"),
        ("update-role", "role", "the response to a role change", "role", "updatedAt", "id"),
        ("remove-member", "removed", "the response to a removal", "userId", "", "removed"),
        ("list-engagements", "item", "a listed engagement", "status", "id createdAt", "name updatedAt"),
        ("create-engagement", "created", "a new engagement", "id createdAt", "name updatedAt", "status"),
        ("get-engagement", "read", "a read engagement", "name updatedAt", "status", "id createdAt"),
        ("archive-engagement", "archived", "an archived engagement", "updatedAt", "id", "status"),
        ("delete-engagement", "deleted", "the response to a deletion", "", "deleted", "id"))
      for (damage, verb, change), fields in zip(_DAMAGES, damaged, strict=True)
      for field in fields.split()),
    *(fault(f"get-organization-{damage}-{field.lower()}", f"The field {field} of the settings {verb}.",
            view("organization", inside("settings", change(field))), "get-organization-fields")
      for (damage, verb, change), field in zip(
        _DAMAGES, ("requireTwoFactor", "domainAutoJoin", "ssoEnabled"), strict=True)),
    *(fault(f"{operation}-mistyped-description", f"The description of {words} is a list.",
            view(shown, edit(description=lambda text: [text])), f"{operation}-fields")
      for operation, shown, words in (
        ("list-engagements", "item", "a listed engagement"),
        ("create-engagement", "created", "a new engagement"),
        ("get-engagement", "read", "a read engagement"))),
    *(fault(identifier, title, view(shown, rename(field, other)), requirement)
      for identifier, title, shown, field, other, requirement in (
        ("get-engagement-snake-case", "A read engagement has created_at instead of createdAt.",
         "read", "createdAt", "created_at", "get-engagement-fields"),
        ("list-engagements-title", "A listed engagement has title instead of name.",
         "item", "name", "title", "list-engagements-fields"),
        ("organization-snake-case", "The organization has member_count instead of memberCount.",
         "organization", "memberCount", "member_count", "get-organization-fields"),
        ("member-user-id", "A listed member has userId instead of id.",
         "member", "id", "userId", "list-members-fields"),
        ("removal-id", "The response to a removal has id instead of userId.",
         "removed", "userId", "id", "remove-member-fields"),
        ("invitation-expires", "An invitation has expires instead of expiresAt.",
         "invitation", "expiresAt", "expires", "invite-fields"),
        ("archive-state", "The response to an archive has state instead of status.",
         "archived", "status", "state", "archive-engagement-fields"),
        ("deletion-success", "The response to a deletion has success instead of deleted.",
         "deleted", "deleted", "success", "delete-engagement-fields"))),
)  # fmt: skip

VALUES = (
    *(fault(f"{identifier}-before", title, _as_before(operation, field), requirement)
      for identifier, title, operation, field, requirement in (
        ("renaming-answers-name", "The response to a renaming has the name of the previous renaming.",
         "updateCurrentOrganization", "name", "update-organization-answers-new-name"),
        ("role-change-answers-role", "The response to a role change has the role of the previous role change.",
         "updateMemberRole", "role", _ROLE),
        ("role-change-answers-member", "The response to a role change has the id of the previous role change.",
         "updateMemberRole", "id", _ROLE),
        ("invitation-answers-address", "The response to an invitation has the address of the previous invitation.",
         "inviteMember", "email", _INVITED),
        ("removal-answers-member", "The response to a removal has the userId of the previous removal.",
         "removeMember", "userId", _REMOVED),
        ("creation-answers-name", "The response to a creation has the name of the previous creation.",
         "createEngagement", "name", "create-engagement-answers-what-was-sent"),
        ("archive-answers-id", "The response to an archive has the id of the previous archive.",
         "archiveEngagement", "id", "archive-engagement-answers-id"))),
    *(fault(f"one-permission-{identifier}", f"For a key with one permission, {words}.",
            _for_one_permission(operation, field, change), requirement)
      for identifier, words, operation, field, change, requirement in (
        ("invitation-other-role", "the response to an invitation has another role", "inviteMember", "role",
         lambda role: "admin" if role == "member" else "member", _INVITED),
        ("invitation-accepted", "a new invitation has the status accepted", "inviteMember", "status",
         lambda _: "accepted", "invitation-begins-pending"),
        ("removal-denied", "the response to a removal has false for removed", "removeMember", "removed",
         lambda _: False, _REMOVED),
        ("archive-active", "the response to an archive has the status active", "archiveEngagement", "status",
         lambda _: "active", "archive-sets-status"),
        ("creation-archived", "a new engagement has the status archived", "createEngagement", "status",
         lambda _: "archived", "new-engagement-active"))),
)  # fmt: skip

JSON_TEXT = tuple(
    fault(f"json-{identifier}", title, send(write, when), "json-well-formed")
    for identifier, title, when, write in (
        ("byte-order-mark", "A read engagement begins with a byte order mark.",
         succeeds("getEngagement"), lambda body: codecs.BOM_UTF8 + body),
        ("single-quotes", "The response to a deletion has single quotes instead of double quotes.",
         succeeds("deleteEngagement"), lambda body: body.replace(b'"', b"'")),
        ("trailing-comma", "A list of engagements ends with a trailing comma.",
         succeeds("listEngagements"), lambda body: body[:-1] + b",}"),
        ("nan", "A read of the organization has NaN as a value.",
         succeeds("getCurrentOrganization"), lambda body: body[:-1] + b',"score":NaN}'),
        ("infinity", "The list of members has Infinity as a value.",
         succeeds("listMembers"), lambda body: body[:-1] + b',"score":Infinity}'),
        ("twice", "The body of an error appears twice.", is_error, lambda body: body + body),
        ("cut", "The response to an archive is cut short.", succeeds("archiveEngagement"), lambda body: body[:-1]),
        ("python", "The response to an edit is in Python's notation instead of JSON.",
         succeeds("updateEngagement"), lambda body: body.replace(b'"', b"'").replace(b"null", b"None")),
        ("prefix", "The list of members begins with a prefix against script inclusion.",
         succeeds("listMembers"), lambda body: b")]}',\n" + body),
        ("latin-1", "A read engagement is encoded in Latin-1.",
         succeeds("getEngagement"), lambda body: body.decode().encode("latin-1", "replace")),
        ("utf-16", "The response to a creation is encoded in UTF-16.",
         succeeds("createEngagement"), lambda body: body.decode().encode("utf-16")),
        ("comment", "The response to an invitation begins with a comment.",
         succeeds("inviteMember"), lambda body: b"/* invitation */" + body))
)  # fmt: skip


_UNKNOWN, _UNREADABLE, _LASTS = "get-unknown-engagement", "deleted-unreadable", "create-engagement-lasts"
_ASKED_FOR, _AS_READ = "get-engagement-is-the-one-asked-for", "list-engagements-as-read"
_KNOWN = "engagement-status-known"
_NO_TEXTS: tuple[object, ...] = (False, {}, [])


def _cut_identifier(at: Situation, honest: Method) -> object:
    for end in range(1, 5):
        if at.store.engagement(at.context.resource_id[:-end]) is not None:
            at.context.resource_id = at.context.resource_id[:-end]
    return honest()


def _succeed_if_missing(operation: str, view_of: Callable[[Situation], Any]) -> Mutation:
    """Succeed with an operation if its resource exists in no organization."""

    def around(at: Situation, honest: Method) -> object:
        if at.operation != operation or not _exists_nowhere(at):
            return honest()
        at.service.authorize(at.context)
        return at.success(view_of(at))

    return at_step("act", around)


def _exists_nowhere(at: Situation) -> bool:
    if at.context.operation.finds == "engagement":
        return at.stored is None
    store, ids = at.store, (at.context.organization_id, at.context.resource_id)
    return not store.is_member_elsewhere(*ids) and store.member(*ids) is None


def _newest(at: Situation) -> View:
    return at.service.view_read(at.engagements[-1]) if at.engagements else {}


def _now(at: Situation) -> str:
    return at.service.timestamp(at.now)


def _made_up(at: Situation) -> View:
    times = dict.fromkeys(("createdAt", "updatedAt"), _now(at))
    return {"id": at.context.resource_id, "name": "", "description": "", "status": "active", **times}


def _described_as(value: object) -> Mutation:
    """List engagements without a description with some value for it."""
    return wrap("view_item", lambda _, honest, engagement: honest(engagement) if engagement.description
                else {**honest(engagement), "description": value})  # fmt: skip


UNKNOWN = (
    fault("unknown-read-null", "Reading an engagement that does not exist gives 200 with null.",
          _succeed_if_missing(READ, lambda _: None), _UNKNOWN, _UNREADABLE, "success-data-object"),
    fault("unknown-read-another", "Reading an engagement that does not exist gives the newest engagement.",
          _succeed_if_missing(READ, _newest), _UNKNOWN, _UNREADABLE, _ASKED_FOR),
    fault("unknown-read-made-up", "Reading an engagement that does not exist gives an invented engagement.",
          _succeed_if_missing(READ, _made_up), _UNKNOWN, _UNREADABLE),
    fault("unknown-edit-succeeds", "Editing an engagement that does not exist reports success.",
          _succeed_if_missing(EDIT, _made_up), "update-unknown-engagement", "deleted-uneditable"),
    fault("unknown-deletion-succeeds", "Deleting an engagement that does not exist reports success.",
          _succeed_if_missing(DELETE, lambda at: {"deleted": True, "id": at.context.resource_id}),
          "delete-unknown-engagement", "deleted-undeletable"),
    fault("unknown-archive-succeeds", "Archiving an engagement that does not exist reports success.",
          _succeed_if_missing(ARCHIVE, lambda at: {
              "id": at.context.resource_id, "status": "archived", "updatedAt": _now(at)}),
          "archive-unknown-engagement", "deleted-unarchivable"),
    fault("unknown-role-change-succeeds", "Changing the role of an unknown user reports success.",
          _succeed_if_missing(ROLE, lambda at: {"id": at.context.resource_id, "role": "member", "updatedAt": _now(at)}),
          "update-role-unknown-member", "removed-member-role-unchangeable"),
    fault("unknown-removal-succeeds", "Removing an unknown user reports success.",
          _succeed_if_missing(REMOVE, lambda at: {"removed": True, "userId": at.context.resource_id}),
          "remove-unknown-member", "removed-member-not-removable"),
    fault("identifier-with-more-found", "An engagement is found by its id with more text after it.",
          at_step("find_engagement", _cut_identifier), _UNKNOWN),
)  # fmt: skip

READS = (
    fault("read-as-page-for-browsers", "A read of an engagement is an HTML page for a request that accepts HTML.",
          send(lambda content: b"<!DOCTYPE html><title>Engagement</title><pre>" + content + b"</pre>",
               all_of(succeeds(READ), header_has("accept", "text/html")), media_type="text/html"),
          "json-media-type", "json-well-formed"),
    fault("read-gives-neighbour", "A read gives the engagement created last, whatever the id.",
          instead(READ, lambda at: at.success(_newest(at))), _ASKED_FOR),
    fault("read-moves-updated-at", "A read moves updatedAt.",
          before(READ, lambda at: at.edit()), "reading-changes-nothing", _LASTS),
    fault("read-once", "An active engagement can be read only once; later reads give 404.",
          before(READ, note("read")) | refuse(READ, 404, lambda at: noted("read")(at) and not archived(at)),
          "get-engagement-succeeds", _LASTS),
    fault("read-without-description", "A read of an engagement lacks the description.",
          view("read", drop("description")), _LASTS, "create-engagement-keeps-text", _AS_READ,
          "update-engagement-takes-effect", "get-engagement-fields"),
    fault("read-status-open", "A read of an active engagement has the status open.",
          view("read", edit(status=lambda status: "open" if status == "active" else status)), _KNOWN),
)  # fmt: skip

ITEMS = (
    fault("item-without-description", "A listed engagement lacks the description.",
          view("item", drop("description")), _AS_READ, "list-engagements-fields"),
    *(fault(f"listed-undescribed-{type(value).__name__}",
            f"A listed engagement without a description has {json.dumps(value)} as the description.",
            _described_as(value), "list-engagements-fields") for value in _NO_TEXTS),
    fault("item-shortened", "A listed engagement has only the first 20 characters of its description.",
          view("item", lambda shown: {
              **shown, "description": shown.get("description") and shown["description"][:20]}), _AS_READ),
    fault("item-name-in-capitals", "A listed engagement has its name in capitals.",
          view("item", edit(name=str.upper)), _AS_READ),
    fault("item-merges-blanks", "A listed engagement has repeated blanks of its name as one.",
          view("item", edit(name=lambda text: re.sub(" +", " ", text))), _AS_READ),
    fault("item-always-active", "A listed engagement is always shown as active.",
          view("item", put(status="active")), _AS_READ, "list-engagements-status-filter"),
    fault("item-updated-at-created", "A listed engagement shows createdAt as updatedAt.",
          view("item", lambda shown: {**shown, "updatedAt": shown["createdAt"]}), _AS_READ, "sort-by-updated-at"),
    fault("item-status-capitalized", "A listed engagement has its status capitalized.",
          view("item", edit(status=str.capitalize)), _KNOWN),
    fault("list-repeats-identifier", "All engagements on a page have the id of the first.",
          data(LIST, lambda _, items: [{**item, "id": items[0]["id"]} for item in items]),
          "engagement-ids-distinct", _AS_READ, "list-engagements-pages-partition"),
)  # fmt: skip
