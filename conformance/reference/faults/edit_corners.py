"""Faults of edits that show only for some fields, some values, or some histories of an engagement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import made, overwrite, storing
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

    Sent = dict[str, Any]

_EFFECT, _TEXT = "update-engagement-takes-effect", "update-engagement-keeps-text"
_KEEPS, _MOVES = "update-engagement-keeps-the-rest", "update-engagement-moves-updated-at"
_SPARES = "update-engagement-spares-others"
_HOUR = 3_600_000


def _without(sent: Sent, *fields: str) -> Sent:
    return {name: value for name, value in sent.items() if name not in fields}


SENT = (
    storing(
        "edit-same-name-ignored",
        "An edit that sends the name as it stands changes nothing at all.",
        lambda engagement, sent: {} if sent.get("name") == engagement.name else sent,
        _EFFECT,
    ),
    storing(
        "edit-empty-description-ignored",
        "An edit with an empty description keeps the one from before.",
        lambda _, sent: _without(sent, "description") if sent.get("description") == "" else sent,
        _EFFECT,
    ),
    storing(
        "edit-of-both-empties-no-description",
        "An edit of the name with an empty description keeps the description from before.",
        lambda _, sent: _without(sent, "description") if "name" in sent and sent.get("description") == "" else sent,
        _EFFECT,
    ),
    storing(
        "edit-with-null-description-keeps-name",
        "An edit of the name with null for the description is accepted and changes nothing.",
        lambda _, sent: {} if "name" in sent and sent.get("description", "") is None else sent,
        _EFFECT,
    ),
    storing(
        "edit-adds-no-description",
        "An edit cannot give a description to an engagement that has none.",
        lambda engagement, sent: sent if engagement.description else _without(sent, "description"),
        _EFFECT,
    ),
    storing(
        "edit-changes-no-description",
        "An edit cannot change a description that there is.",
        lambda engagement, sent: _without(sent, "description") if engagement.description else sent,
        _EFFECT,
        _TEXT,
    ),
    storing(
        "edit-both-takes-description-only",
        "An edit of name and description changes the description only.",
        lambda _, sent: _without(sent, "name") if "description" in sent else sent,
        _EFFECT,
        _TEXT,
    ),
    storing(
        "edit-swaps-both",
        "An edit of name and description takes one for the other.",
        lambda _, sent: (
            {"name": sent["description"], "description": sent["name"]}
            if sent.get("name") and sent.get("description")
            else sent
        ),
        _EFFECT,
        _TEXT,
    ),
    storing(
        "edit-name-becomes-description",
        "An edit of the name alone makes it the description, too.",
        lambda _, sent: {**sent, "description": sent["name"]} if set(sent) == {"name"} else sent,
        _KEEPS,
    ),
    storing(
        "edit-name-adds-description",
        "An edit of the name alone gives an engagement that has no description the old name for one.",
        lambda engagement, sent: (
            {**sent, "description": engagement.name} if set(sent) == {"name"} and not engagement.description else sent
        ),
        _KEEPS,
    ),
    storing(
        "edit-longer-description-cut",
        "An edit cuts a description to the length of the one before.",
        lambda engagement, sent: (
            {**sent, "description": sent["description"][: len(engagement.description)]}
            if sent.get("description") and engagement.description
            else sent
        ),
        _EFFECT,
        _TEXT,
    ),
    storing(
        "edit-keeps-prefix",
        "An edit that gives a name beginning with the old one keeps the old one.",
        lambda engagement, sent: _without(sent, "name") if str(sent.get("name")).startswith(engagement.name) else sent,
        _EFFECT,
    ),
)


def _check_edit(self: Service, context: RequestContext) -> Sent:
    body = self.parse(context.content)
    return {} if isinstance(body, dict) and body.get("name", "") is None else Service.check_edit(self, context)


NULL_NAME = made(
    "edit-with-null-name-keeps-description",
    "An edit of the description with null for the name is accepted and changes nothing.",
    _EFFECT,
    check_edit=_check_edit,
)


def _counted(identifier: str, title: str, changes: Callable[[int], bool], *breaks: str) -> Fault:
    """A service that ignores some of the edits of an engagement, by their number."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        edits: dict[str, int] = self.memory.get("edits", {})
        number = edits.get(context.engagement.id, 0) + 1
        self.memory["edits"] = {**edits, context.engagement.id: number}
        if not changes(number):
            self.check_editable(context.engagement)
            return self.resource(context, self.view_edited(context.engagement))
        return Service.update_engagement(self, context)

    return made(identifier, title, *breaks, update_engagement=update_engagement)


COUNTED = (
    _counted("edit-once", "Only the first edit of an engagement is carried out.", lambda number: number == 1, _EFFECT),
    _counted(
        "edit-two-at-most",
        "Only two edits of an engagement are carried out.",
        lambda number: number < 3,  # noqa: PLR2004
        _EFFECT,
    ),
    _counted(
        "edit-every-second", "Every second edit of an engagement is forgotten.", lambda number: number % 2 == 1, _EFFECT
    ),
)

# Times


def _timed(identifier: str, title: str, time: Callable[[Engagement, Sent, int], int], *breaks: str) -> Fault:
    """An edit with another time of change; ``time`` is given what was, what was sent, and now."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        reply = Service.update_engagement(self, context)
        overwrite(
            self, "engagements", context.engagement.id, updated_at=time(context.engagement, context.values, self.now())
        )
        return reply

    return made(identifier, title, *breaks, update_engagement=update_engagement)


TIMES = (
    _timed(
        "edit-name-keeps-updated-at",
        "An edit of the name alone does not move updatedAt.",
        lambda engagement, sent, now: engagement.updated_at if set(sent) == {"name"} else now,
        _MOVES,
    ),
    _timed(
        "edit-both-keeps-updated-at",
        "An edit of name and description does not move updatedAt.",
        lambda engagement, sent, now: engagement.updated_at if len(sent) > 1 else now,
        _MOVES,
    ),
    _timed(
        "edit-undescribed-keeps-updated-at",
        "An edit of an engagement without a description does not move updatedAt.",
        lambda engagement, _, now: now if engagement.description else engagement.updated_at,
        _MOVES,
    ),
    _timed(
        "edit-moves-updated-at-by-a-millisecond-back",
        "An edit moves updatedAt a millisecond back.",
        lambda engagement, _, __: engagement.updated_at - 1,
        "updated-at-never-goes-back",
        _MOVES,
    ),
    _timed(
        "edit-second-keeps-updated-at",
        "Only the first edit of an engagement moves updatedAt.",
        lambda engagement, _, now: now if engagement.updated_at == engagement.created_at else engagement.updated_at,
        _MOVES,
        "sort-by-updated-at",
    ),
)


@fault("edit-sets-updated-at-ahead", "updated-at-never-goes-back", "archive-refreshes-updated-at")
class EditSetsUpdatedAtAhead(Service):
    """An edit sets updatedAt an hour ahead, which archiving takes back."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Set it ahead."""
        reply = super().update_engagement(context)
        overwrite(self, "engagements", context.engagement.id, updated_at=self.now() + _HOUR)
        return reply

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Take the time as it is."""
        overwrite(self, "engagements", engagement.id, status=status, updated_at=self.now())


@fault("edit-description-moves-created-at", "created-at-never-changes", _KEEPS)
class EditDescriptionMovesCreatedAt(Service):
    """An edit of the description alone moves createdAt."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Move it."""
        reply = super().update_engagement(context)
        if set(context.values) == {"description"}:
            overwrite(self, "engagements", context.engagement.id, created_at=self.now())
        return reply


# Others


@fault("edit-changes-namesakes", _SPARES)
class EditChangesNamesakes(Service):
    """An edit changes every engagement of the same name."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Look for the name."""
        reply = super().update_engagement(context)
        for other in looking_up.engagements(self, context.organization_id):
            if other.name == context.engagement.name:
                self.store.edit_engagement(other.id, context.values, self.now())
        return reply


@fault("edit-touches-next", _SPARES)
class EditTouchesNext(Service):
    """An edit of the name moves the updatedAt of the engagement created next."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Touch it."""
        reply = super().update_engagement(context)
        everything = looking_up.engagements(self, context.organization_id)
        later = [one for one in everything if one.created_at > context.engagement.created_at]
        if later and "name" in context.values:
            self.store.edit_engagement(later[0].id, {}, self.now())
        return reply


@fault("edit-keeps-small-letters-behind-answer", "update-engagement-keeps-text")
class EditKeepsSmallLettersBehindResponse(Service):
    """The answer to an edit shows what was sent, and a description is kept in small letters."""

    def update_engagement(self, context: RequestContext) -> Reply:
        """Keep something else than what is answered."""
        reply = super().update_engagement(context)
        if context.values.get("description"):
            overwrite(
                self, "engagements", context.engagement.id, description=str(context.values["description"]).lower()
            )
        return reply

    def view_edited(self, engagement: Engagement) -> View:
        """Show the whole engagement."""
        return self.view_engagement(engagement)
