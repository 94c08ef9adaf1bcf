"""Faults of reading one engagement, and of operations on an engagement or a member that does not exist."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import instead, made, replied, shown, without
from conformance.reference.queries import EngagementQuery
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View


def _succeeding(
    identifier: str, title: str, operation: str, content: Callable[[Service, RequestContext], Any], *breaks: str
) -> Fault:
    """An operation that succeeds on what does not exist."""

    def act(self: Service, context: RequestContext) -> Reply:
        if context.operation.id == operation and _is_missing(self, context):
            self.authorize(context)
            reply = self.resource(context, {})
            return replace(reply, content={"data": content(self, context)})
        return Service.act(self, context)

    return made(identifier, title, *breaks, act=act)


def _is_missing(service: Service, context: RequestContext) -> bool:
    """Tell whether what the path names exists nowhere."""
    if context.operation.finds == "engagement":
        return service.store.engagement(context.resource_id) is None
    elsewhere = service.store.is_member_elsewhere(context.organization_id, context.resource_id)
    return not elsewhere and service.store.member(context.organization_id, context.resource_id) is None


def _newest(service: Service, context: RequestContext) -> View:
    """Show the engagement that was created last."""
    found = service.store.engagements(EngagementQuery(context.organization_id, 0, 1)).items
    return service.view_read(found[0]) if found else {}


def _made_up(service: Service, context: RequestContext) -> View:
    """Show an engagement without any content."""
    at = service.timestamp(service.now())
    view = {"id": context.resource_id, "name": "", "description": "", "status": "active"}
    return {**view, "createdAt": at, "updatedAt": at}


def _archived(service: Service, context: RequestContext) -> View:
    return {"id": context.resource_id, "status": "archived", "updatedAt": service.timestamp(service.now())}


def _changed(service: Service, context: RequestContext) -> View:
    return {"id": context.resource_id, "role": "member", "updatedAt": service.timestamp(service.now())}


UNKNOWN = (
    _succeeding(
        "unknown-read-null",
        "Reading an engagement that does not exist gives 200 with null.",
        "getEngagement",
        lambda _, __: None,
        "get-unknown-engagement",
        "deleted-unreadable",
        "success-data-object",
    ),
    _succeeding(
        "unknown-read-another",
        "Reading an engagement that does not exist gives the newest one.",
        "getEngagement",
        _newest,
        "get-unknown-engagement",
        "deleted-unreadable",
        "get-engagement-is-the-one-asked-for",
    ),
    _succeeding(
        "unknown-read-made-up",
        "Reading an engagement that does not exist gives an empty one.",
        "getEngagement",
        _made_up,
        "get-unknown-engagement",
        "deleted-unreadable",
    ),
    _succeeding(
        "unknown-edit-succeeds",
        "Editing an engagement that does not exist gives a success.",
        "updateEngagement",
        _made_up,
        "update-unknown-engagement",
        "deleted-uneditable",
    ),
    _succeeding(
        "unknown-deletion-succeeds",
        "Deleting an engagement that does not exist gives a success.",
        "deleteEngagement",
        lambda _, context: {"deleted": True, "id": context.resource_id},
        "delete-unknown-engagement",
        "deleted-undeletable",
    ),
    _succeeding(
        "unknown-archive-succeeds",
        "Archiving an engagement that does not exist gives a success.",
        "archiveEngagement",
        _archived,
        "archive-unknown-engagement",
        "deleted-unarchivable",
    ),
    _succeeding(
        "unknown-role-change-succeeds",
        "Changing the role of an unknown user gives a success.",
        "updateMemberRole",
        _changed,
        "update-role-unknown-member",
        "removed-member-role-unchangeable",
    ),
    _succeeding(
        "unknown-removal-succeeds",
        "Removing an unknown user gives a success.",
        "removeMember",
        lambda _, context: {"removed": True, "userId": context.resource_id},
        "remove-unknown-member",
        "removed-member-not-removable",
    ),
)


@fault("read-gives-neighbour", "get-engagement-is-the-one-asked-for")
class ReadGivesNeighbour(Service):
    """A read gives the engagement that was created last."""

    def get_engagement(self, context: RequestContext) -> Reply:
        """Look for another one."""
        return self.resource(context, _newest(self, context))


@fault("read-moves-updated-at", "reading-changes-nothing", "create-engagement-lasts")
class ReadMovesUpdatedAt(Service):
    """A read moves updatedAt."""

    def get_engagement(self, context: RequestContext) -> Reply:
        """Touch it."""
        self.store.edit_engagement(context.engagement.id, {}, self.now())
        return super().get_engagement(context)


@fault("read-once", "get-engagement-succeeds", "create-engagement-lasts")
class ReadOnce(Service):
    """An active engagement can be read once; later it is not found."""

    _read: frozenset[str] = frozenset()

    def get_engagement(self, context: RequestContext) -> Reply:
        """Forget it after the first look."""
        if context.resource_id in self._read and context.engagement.status == "active":
            raise self.not_found("engagement")
        self._read |= {context.resource_id}
        return super().get_engagement(context)


def _shortened(view: View) -> View:
    return {**view, "description": view["description"][:20] if view.get("description") else view.get("description")}


SHOWN = (
    shown(
        "read-without-description",
        "A read engagement lacks the description.",
        "view_read",
        without(("description",)),
        "create-engagement-lasts",
        "create-engagement-keeps-text",
        "list-engagements-as-read",
        "update-engagement-takes-effect",
        "get-engagement-fields",
    ),
    shown(
        "item-without-description",
        "A listed engagement lacks the description.",
        "view_item",
        without(("description",)),
        "list-engagements-as-read",
        "list-engagements-fields",
    ),
    shown(
        "item-shortened",
        "A listed engagement has the first 20 characters of its description.",
        "view_item",
        _shortened,
        "list-engagements-as-read",
    ),
    shown(
        "item-name-in-capitals",
        "A listed engagement has its name in capitals.",
        "view_item",
        instead(("name",), str.upper),
        "list-engagements-as-read",
    ),
    shown(
        "item-always-active",
        "A listed engagement is always shown as active.",
        "view_item",
        instead(("status",), lambda _: "active"),
        "list-engagements-as-read",
        "list-engagements-status-filter",
    ),
    shown(
        "item-updated-at-created",
        "A listed engagement shows createdAt as updatedAt.",
        "view_item",
        lambda view: {**view, "updatedAt": view["createdAt"]},
        "list-engagements-as-read",
        "sort-by-updated-at",
    ),
    shown(
        "item-status-capitalized",
        "A listed engagement has its status capitalized.",
        "view_item",
        instead(("status",), str.capitalize),
        "engagement-status-known",
    ),
    shown(
        "read-status-open",
        "A read engagement that is active has the status open.",
        "view_read",
        instead(("status",), lambda status: "open" if status == "active" else status),
        "engagement-status-known",
    ),
)

IDENTIFIERS = (
    replied(
        "list-repeats-identifier",
        "All engagements of a page carry the identifier of the first.",
        "listEngagements",
        lambda _, reply: replace(reply, content={**reply.content, "data": _all_alike(reply.content["data"])}),
        "engagement-ids-distinct",
        "list-engagements-as-read",
        "list-engagements-pages-partition",
    ),
)


def _all_alike(items: list[View]) -> list[View]:
    """Give all items the identifier of the first."""
    return [{**item, "id": items[0]["id"]} for item in items]
