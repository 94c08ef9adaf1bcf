"""Faults of creating, archiving, unarchiving and deleting that show only for some engagements."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from conformance.reference.faults import fault, looking_up
from conformance.reference.faults.making import made, overwrite
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

_DUPLICATE = "create-engagement-duplicate-name"
_LASTS = "create-engagement-lasts"


# Names that are in use


def _in_use(
    identifier: str, title: str, act: Callable[[Service, Engagement, RequestContext], None], *breaks: str
) -> Fault:
    """A service that does something where a new engagement has a name in use."""

    def create_engagement(self: Service, context: RequestContext) -> Reply:
        alike = [
            one for one in looking_up.engagements(self, context.organization_id) if one.name == context.values["name"]
        ]
        if alike:
            act(self, alike[0], context)
        return Service.create_engagement(self, context)

    return made(identifier, title, *breaks, create_engagement=create_engagement)


def _refuse(status: int) -> Callable[[Service, Engagement, RequestContext], None]:
    def act(_: Service, __: Engagement, ___: RequestContext) -> None:
        raise Refusal(status, "The name is in use.")

    return act


def _overwrite_first(service: Service, first: Engagement, context: RequestContext) -> None:
    service.store.edit_engagement(first.id, {"description": context.values["description"]}, service.now())


IN_USE = (
    _in_use("duplicate-name-create-404", "A name in use is refused with 404 on create.", _refuse(404), _DUPLICATE),
    _in_use("duplicate-name-create-403", "A name in use is refused with 403 on create.", _refuse(403), _DUPLICATE),
    _in_use(
        "duplicate-name-create-500",
        "A name in use ends in an unexpected error on create.",
        _refuse(500),
        "no-server-error",
        _DUPLICATE,
    ),
    _in_use(
        "duplicate-name-overwrites",
        "A creation with a name in use gives its description to the engagement that has the name, too.",
        _overwrite_first,
        _LASTS,
        _DUPLICATE,
    ),
)


@fault("duplicate-name-refused-and-created", _DUPLICATE)
class DuplicateNameRefusedAndCreated(Service):
    """A name in use is refused with 409 on create, and the engagement is there."""

    async def perform(self, context: RequestContext) -> Reply:
        """Create it, then object."""
        name = context.operation.id == "createEngagement" and {
            one.name for one in looking_up.engagements(self, context.organization_id)
        }
        reply = await super().perform(context)
        if name and reply.content["data"]["name"] in name:
            raise Refusal(409, "The name is in use.")
        return reply


def _refusing_too_late(identifier: str, kept: str, *, renames: bool) -> Fault:
    """A service that looks whether a name is in use when an edit is done, and takes back the name at most."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        before = self.store.engagement(context.resource_id) if context.operation.id == "updateEngagement" else None
        reply = await Service.perform(self, context)
        if before is not None and "name" in context.values:
            others = [one for one in looking_up.engagements(self, context.organization_id) if one.id != before.id]
            if context.values["name"] in {one.name for one in others}:
                if not renames:
                    self.store.edit_engagement(before.id, {"name": before.name}, self.now())
                raise Refusal(409, "The name is in use.")
        return reply

    title = f"A name in use is refused with 409 on update, and {kept}."
    return made(identifier, title, "update-engagement-refused-changes-nothing", perform=perform)


REFUSED_TOO_LATE = (
    _refusing_too_late("duplicate-name-refused-and-renamed", "the engagement has it", renames=True),
    _refusing_too_late("duplicate-name-refused-and-described", "the description beside it is kept", renames=False),
)


# Creation


@fault("created-description-apart", "created-updated-at-equals-created-at")
class CreatedDescriptionApart(Service):
    """A new engagement with a description is updated a millisecond after its creation, as in a second step."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Count the second step."""
        engagement = super().new_engagement(context)
        return replace(engagement, updated_at=engagement.created_at + 1) if engagement.description else engagement


@fault("created-undescribed-apart", "created-updated-at-equals-created-at")
class CreatedUndescribedApart(Service):
    """A new engagement without a description is updated a second before its creation."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Set it back."""
        engagement = super().new_engagement(context)
        return engagement if engagement.description else replace(engagement, updated_at=engagement.created_at - 1000)


@fault("created-undescribed-named", "create-engagement-lasts")
class CreatedUndescribedNamed(Service):
    """A new engagement without a description gets its name for one."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Describe it."""
        engagement = super().new_engagement(context)
        return replace(engagement, description=engagement.description or engagement.name)


@fault("created-undescribed-archived", "new-engagement-active")
class CreatedUndescribedArchived(Service):
    """A new engagement without a description is archived."""

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Archive it."""
        engagement = super().new_engagement(context)
        return engagement if engagement.description else replace(engagement, status="archived")


@fault("created-read-a-moment-later", _LASTS, "create-engagement-listed")
class CreatedReadAMomentLater(Service):
    """The times of a new engagement are those of the next millisecond once it is read."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Write them again."""
        reply = super().create_engagement(context)
        made_at = self.now() + 1
        overwrite(self, "engagements", reply.content["data"]["id"], created_at=made_at, updated_at=made_at)
        return reply


# Archive and unarchive


@fault("archive-later", "archive-sets-status", "archive-effective-at-once", "archived-edit-refused")
class ArchiveLater(Service):
    """Archiving is done a little after its answer, which says that it is done."""

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Put it off."""
        engagement = replace(context.engagement, status="archived", updated_at=self.now())
        self.later(lambda: self.set_status(context.engagement, "archived"))
        return self.resource(context, self.view_archived(engagement))


@fault("archive-again-deletes", "archived-readable", "archived-again-stays-archived")
class ArchiveAgainDeletes(Service):
    """Archiving what is archived deletes it."""

    def archives_again(self) -> bool:
        """Refresh it."""
        return True

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Delete it after its answer was made."""
        reply = super().archive_engagement(context)
        if context.engagement.status == "archived":
            self.store.delete_engagement(context.engagement.id)
        return reply


@fault("archive-once-only", "unarchived-archivable", "archive-engagement-succeeds")
class ArchiveOnceOnly(Service):
    """An engagement that was archived before cannot be archived again once it is active."""

    _before: frozenset[str] = frozenset()

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Object to the second time."""
        if context.engagement.status == "active" and context.engagement.id in self._before:
            raise Refusal(409, "It was archived before.")
        self._before |= {context.engagement.id}
        return super().archive_engagement(context)


@fault("archive-answers-name-as-id", "archive-engagement-answers-id")
class ArchiveSaysNameAsId(Service):
    """The answer to an archive has the name for the id."""

    def view_archived(self, engagement: Engagement) -> View:
        """Take the wrong column."""
        return {**super().view_archived(engagement), "id": engagement.name}


@fault("archive-answers-later-time", "archive-engagement-answers-updated-at")
class ArchiveSaysLaterTime(Service):
    """The answer to an archive carries an updatedAt that is a millisecond later than that of a read."""

    def view_archived(self, engagement: Engagement) -> View:
        """Take the time of the answer."""
        return super().view_archived(replace(engagement, updated_at=engagement.updated_at + 1))


def _unarchiving(identifier: str, title: str, act: Callable[[Service, Engagement], None], *breaks: str) -> Fault:
    """An unarchiving that does something else as well."""

    def unarchive_engagement(self: Service, context: RequestContext) -> Reply:
        was = context.engagement
        reply = Service.unarchive_engagement(self, context)
        if was.status == "archived":
            act(self, was)
        return reply

    return made(identifier, title, *breaks, unarchive_engagement=unarchive_engagement)


UNARCHIVING = (
    _unarchiving(
        "unarchive-moves-updated-at-back",
        "Unarchiving sets updatedAt to createdAt.",
        lambda self, was: overwrite(self, "engagements", was.id, updated_at=was.created_at),
        "updated-at-never-goes-back",
    ),
)


@fault("unarchived-listed-archived", "list-engagements-as-read", "list-engagements-status-filter")
class UnarchivedListedArchived(Service):
    """An unarchived engagement is still shown as archived by the list."""

    _once: frozenset[str] = frozenset()

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Note it."""
        self._once |= {context.engagement.id}
        return super().archive_engagement(context)

    def view_item(self, engagement: Engagement) -> View:
        """Show what it was."""
        status = "archived" if engagement.id in self._once else engagement.status
        return super().view_item(replace(engagement, status=status))


# What is saved once more


def _escaping(identifier: str, title: str, operation: str, *breaks: str) -> Fault:
    """An operation that leaves the description alone, and escapes it all the same when it saves the engagement."""

    def act(self: Service, context: RequestContext) -> Reply:
        reply = Service.act(self, context)
        if context.operation.id == operation and "description" not in context.values and context.engagement.description:
            overwrite(self, "engagements", context.engagement.id, description=escape(context.engagement.description))
        return reply

    return made(identifier, title, *breaks, act=act)


ESCAPING = (
    _escaping("edit-escapes-standing-description", "An edit of the name escapes the description for HTML.",
              "updateEngagement", "update-engagement-keeps-the-rest"),
    _escaping("archive-escapes-description", "Archiving escapes the description for HTML.", "archiveEngagement",
              "archive-keeps-content"),
)  # fmt: skip
