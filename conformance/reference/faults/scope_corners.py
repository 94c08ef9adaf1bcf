"""Faults of permissions that show only for some keys, or for some requests."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.faults.making import made, replied
from conformance.reference.faults.sending import content
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply, RequestContext


@fault("scope-once-only", "scope-refuses-archive-engagement", "scope-refuses-create-engagement",
       "scope-refuses-get-organization", "scope-refuses-delete-engagement", "scope-refuses-update-organization",
       "scope-refuses-invite", "scope-refuses-update-role", "scope-refuses-remove-member", "scope-refuses-list-members",
       "scope-refuses-get-engagement", "scope-refuses-update-engagement")  # fmt: skip
class ScopeOnceOnly(Service):
    """The permissions of a key are looked at for its first request only."""

    _tried: frozenset[str] = frozenset()

    def authorize(self, context: RequestContext) -> None:
        """Let later ones pass."""
        if context.key.digest in self._tried:
            return
        self._tried |= {context.key.digest}
        super().authorize(context)


@fault("scope-touches-refused", "scope-refused-changes-nothing")
class ScopeTouchesRefused(Service):
    """An edit that is refused for want of permission moves updatedAt."""

    def authorize(self, context: RequestContext) -> None:
        """Touch it."""
        try:
            super().authorize(context)
        except Refusal:
            if context.operation.id == "updateEngagement":
                self.store.edit_engagement(context.resource_id, {}, self.now())
            raise

    async def perform(self, context: RequestContext) -> Reply:
        """Keep what a refusal would undo."""
        self.authorize(context)
        return await super().perform(context)


def _scope_applied(operation: str, words: str) -> Fault:
    """An operation on members that is refused for want of permission, and done."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal as refusal:
            if context.operation.id == operation and refusal.status == 403:  # noqa: PLR2004
                with suppress(Refusal):
                    self.check(context)
                    self.find(context)
                    self._actions[operation](context)
            raise

    return made(f"scope-applied-{words}", f"The operation {operation} is refused for want of permission, and done.",
                "scope-refused-changes-nothing", perform=perform)  # fmt: skip


SCOPES_APPLIED = (
    _scope_applied("updateMemberRole", "update-role"),
    _scope_applied("removeMember", "remove-member"),
    _scope_applied("unarchiveEngagement", "unarchive"),
)


@fault("scope-reads-own-only", "scope-allows-get-engagement")
class ScopeReadsOwnOnly(Service):
    """A key with engagements:read alone finds no engagement, since another key has created it."""

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Look at the key."""
        if context.key.scopes == {"engagements:read"}:
            raise self.not_found("engagement")
        return super().find_engagement(context)


# Permissions that are not looked at for some requests


def _open(identifier: str, title: str, passes: Callable[[Service, RequestContext], bool], *breaks: str) -> Fault:
    """A service that looks at no permission for some requests."""

    def authorize(self: Service, context: RequestContext) -> None:
        if not passes(self, context):
            Service.authorize(self, context)

    return made(identifier, title, *breaks, authorize=authorize)


def _asks(operation: str, **fields: object) -> Callable[[Service, RequestContext], bool]:
    """Whether a call of an operation sends these fields and no others; an ellipsis stands for any value."""

    def passes(_: Service, context: RequestContext) -> bool:
        sent = content(context)
        return (
            context.operation.id == operation
            and isinstance(sent, dict)
            and {*sent} == {*fields}
            and all(value in (..., sent[name]) for name, value in fields.items())
        )

    return passes


def _is_archived(operation: str) -> Callable[[Service, RequestContext], bool]:
    def passes(service: Service, context: RequestContext) -> bool:
        found = service.store.engagement(context.resource_id) if context.operation.id == operation else None
        return found is not None and found.status == "archived"

    return passes


def _is_filtered(_: Service, context: RequestContext) -> bool:
    return context.operation.id == "listMembers" and "role" in context.request.query_params


OPEN = (
    _open("scope-open-renaming", "An edit of the name alone needs no permission.",
          _asks("updateEngagement", name=...), "scope-refuses-update-engagement"),
    _open("scope-open-full-edit", "An edit of name and description needs no permission.",
          _asks("updateEngagement", name=..., description=...), "scope-refuses-update-engagement"),
    _open("scope-open-described-creation", "A creation with a description needs no permission.",
          _asks("createEngagement", name=..., description=...), "scope-refuses-create-engagement"),
    _open("scope-open-admin-invitation", "The invitation of an admin needs no permission.",
          _asks("inviteMember", email=..., role="admin"), "scope-refuses-invite"),
    _open("scope-open-member-role", "Making somebody a member again needs no permission.",
          _asks("updateMemberRole", role="member"), "scope-refuses-update-role"),
    _open("scope-open-members-by-role", "The list of members by role needs no permission.",
          _is_filtered, "scope-refuses-list-members"),
    _open("scope-open-archived-read", "Reading an archived engagement needs no permission.",
          _is_archived("getEngagement"), "scope-refuses-get-engagement"),
    _open("scope-open-archived-deletion", "Deleting an archived engagement needs no permission.",
          _is_archived("deleteEngagement"), "scope-refuses-delete-engagement"),
)  # fmt: skip


# Keys with one permission that see something else


def _less(identifier: str, title: str, operation: str, scope: str, field: str, value: object, *breaks: str) -> Fault:
    """A key with one permission alone sees something else in a field."""

    def change(context: RequestContext, reply: Reply) -> Reply:
        if context.key.scopes != {scope}:
            return reply
        return replace(reply, content={**reply.content, "data": {**reply.content["data"], field: value}})

    return replied(identifier, title, operation, change, *breaks)


def _no_members(context: RequestContext, reply: Reply) -> Reply:
    return replace(reply, content={**reply.content, "data": []}) if len(context.key.scopes) == 1 else reply


LESS = (
    _less("scope-counts-nothing", "A key with organizations:read alone is told that there are no engagements.",
          "getCurrentOrganization", "organizations:read", "engagementCount", 0, "scope-allows-get-organization"),
    _less("scope-hides-description", "A key with engagements:read alone sees no descriptions.",
          "getEngagement", "engagements:read", "description", None, "scope-allows-get-engagement"),
    replied("scope-hides-members", "A key with one permission alone sees no members.", "listMembers", _no_members,
            "scope-allows-list-members", "list-members-total"),
)  # fmt: skip


@fault("scope-creates-for-itself", "scope-allows-create-engagement")
class ScopeCreatesForItself(Service):
    """An engagement created by a key with engagements:write alone exists only for keys like it."""

    _own: frozenset[str] = frozenset()

    def create_engagement(self, context: RequestContext) -> Reply:
        """Remember it."""
        reply = super().create_engagement(context)
        if context.key.scopes == {"engagements:write"}:
            self._own |= {reply.content["data"]["id"]}
        return reply

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Hide it from others."""
        if context.resource_id in self._own and len(context.key.scopes) > 1:
            raise self.not_found("engagement")
        return super().find_engagement(context)

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Leave it out."""
        page = super().find_engagements(query)
        return replace(page, items=tuple(item for item in page.items if item.id not in self._own))
