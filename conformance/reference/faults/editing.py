"""Faults of editing engagements."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import made, moment, overwrite, storing
from conformance.reference.queries import EngagementQuery
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import Reply, RequestContext

_A_MOMENT = 0.004

Sent = dict[str, Any]


EDITS = (
    storing(
        "edit-name-drops-description",
        "An edit of the name forgets the description.",
        lambda _, sent: {"description": None, **sent},
        "update-engagement-keeps-the-rest",
    ),
    storing(
        "edit-description-resets-name",
        "An edit of the description makes the name Untitled.",
        lambda _, sent: {"name": "Untitled", **sent},
        "update-engagement-keeps-the-rest",
    ),
    storing(
        "edit-ignores-description",
        "An edit ignores the description.",
        lambda _, sent: {key: value for key, value in sent.items() if key != "description"},
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
    ),
    storing(
        "edit-ignores-name",
        "An edit ignores the name.",
        lambda _, sent: {key: value for key, value in sent.items() if key != "name"},
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
    ),
    storing(
        "edit-both-takes-name-only",
        "An edit of name and description changes the name only.",
        lambda _, sent: {"name": sent["name"]} if len(sent) > 1 else sent,
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
    ),
    storing(
        "edit-appends-description",
        "An edit adds to the description instead of replacing it.",
        lambda before, sent: {
            **sent,
            **({"description": f"{before.description or ''}{sent['description']}"} if sent.get("description") else {}),
        },
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
    ),
    storing(
        "edit-keeps-long-name",
        "An edit does not take a name that is shorter than the one before.",
        lambda before, sent: {
            key: value for key, value in sent.items() if key != "name" or len(value) >= len(before.name)
        },
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
    ),
)


@fault("edit-not-kept", "update-engagement-takes-effect", "update-engagement-moves-updated-at")
class EditNotKept(Service):
    """An edit answers as if it had been done."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Show it and forget it."""
        self.check_editable(context.engagement)
        return self.resource(
            context, self.view_edited(replace(context.engagement, **context.values, updated_at=self.now()))
        )


@fault("edit-makes-another", "update-engagement-takes-effect", "update-engagement-moves-updated-at")
class EditMakesAnother(Service):
    """An edit makes a new engagement and leaves the old one."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Keep a copy."""
        self.check_editable(context.engagement)
        at = self.now()
        edited = replace(context.engagement, **context.values, id=self.new_id("engagement"), updated_at=at)
        self.store.add_engagement(edited)
        return self.resource(context, self.view_edited(edited))


@fault("edit-changes-neighbour", "update-engagement-spares-others")
class EditChangesNeighbour(Service):
    """An edit of the description changes that of every engagement of the organization."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Forget to say which."""
        reply = super().update_engagement(context)
        if "description" in context.values:
            changes = {"description": context.values["description"]}
            for other in self.store.engagements(EngagementQuery(context.organization_id, 0, 10_000)).items:
                if other.status == "active":
                    self.store.edit_engagement(other.id, changes, other.updated_at)
        return reply


@fault("edit-touches-others", "update-engagement-spares-others")
class EditTouchesOthers(Service):
    """An edit moves the updatedAt of every engagement of the organization."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Touch every one."""
        reply = super().update_engagement(context)
        for other in self.store.engagements(EngagementQuery(context.organization_id, 0, 10_000)).items:
            self.store.edit_engagement(other.id, {}, self.now())
        return reply


@fault("edit-archives", "update-engagement-keeps-the-rest")
class EditArchives(Service):
    """An edit of the description archives the engagement."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Archive it, too."""
        reply = super().update_engagement(context)
        if "description" in context.values:
            self.store.edit_engagement(context.engagement.id, {"status": "archived"}, 0)
        return reply


# What clients cannot set


def _honouring(field: str, column: str, value: Callable[[Any], Any]) -> Fault:
    """An edit that lets the client set what is the service's."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        reply = Service.update_engagement(self, context)
        sent = self.parse(context.content)
        if isinstance(sent, dict) and isinstance(sent.get(field), str):
            overwrite(self, "engagements", context.engagement.id, **{column: value(sent[field])})
        return reply

    return made(
        f"edit-honours-{field.lower()}",
        f"An edit takes {field} from the client.",
        "update-engagement-own-values",
        update_engagement=update_engagement,
    )


HONOURED = (
    _honouring("status", "status", lambda sent: sent),
    _honouring("createdAt", "created_at", moment),
    _honouring("updatedAt", "updated_at", moment),
    _honouring("id", "id", lambda sent: sent),
)

# What is refused


def _refusing(identifier: str, title: str, objects: Callable[[Sent], bool], *breaks: str) -> Fault:
    def check_edit(self: Service, context: RequestContext) -> Sent:
        sent = Service.check_edit(self, context)
        if objects(sent):
            raise Refusal(422, "This edit is not known.")
        return sent

    return made(identifier, title, *breaks, check_edit=check_edit)


REFUSED = (
    _refusing(
        "edit-needs-name",
        "An edit without the name is refused.",
        lambda sent: "name" not in sent,
        "update-engagement-succeeds",
    ),
    _refusing(
        "edit-takes-one-field",
        "An edit of both fields is refused.",
        lambda sent: len(sent) > 1,
        "update-engagement-succeeds",
    ),
)


@fault("edit-unknown-creates", "update-unknown-engagement", "deleted-uneditable")
class EditUnknownCreates(Service):
    """An edit of an engagement that does not exist creates it."""

    def act(self, context: RequestContext) -> Reply:
        """Put it there first."""
        missing = context.operation.id == "updateEngagement" and self.store.engagement(context.resource_id) is None
        if missing and (sent := self.check_edit(context)):
            context.values = {"name": "Untitled", "description": None, **sent}
            self.store.add_engagement(replace(self.new_engagement(context), id=context.resource_id))
        return super().act(context)


# Several at once


@fault("parallel-edits-lose-one", "update-engagement-in-parallel")
class ParallelEditsLoseOne(Service):
    """Of two edits at the same time, the second writes back what the first has changed."""

    async def perform(self, context: RequestContext) -> Reply:
        """Read, wait, and write everything."""
        if context.operation.id != "updateEngagement":
            return await super().perform(context)
        self.try_out(context)
        before = context.engagement
        await asyncio.sleep(_A_MOMENT)
        self.check_editable(self.find_engagement(context))
        whole = {"name": before.name, "description": before.description, **context.values}
        self.store.edit_engagement(before.id, whole, self.now())
        return self.resource(context, self.view_edited(self.find_engagement(context)))
