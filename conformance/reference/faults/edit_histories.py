"""Faults of edits that depend on what was done to an engagement before: archiving, unarchiving."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

    Sent = dict[str, Any]

_KEEPS = "update-engagement-keeps-the-rest"
_UNARCHIVED = "unarchived-editable"


# What archiving and unarchiving leave behind


def _past(self: Service, context: RequestContext) -> set[str]:
    """Earlier changes of the engagement of a request."""
    history: dict[str, set[str]] = self.memory.get("history", {})
    return history.get(context.engagement.id, set())


def _historic(
    identifier: str, title: str, act: Callable[[Service, RequestContext, set[str]], Reply | None], *breaks: str
) -> Fault:
    """A service that treats edits by what happened to the engagement before; ``act`` may do something else."""

    def remember(self: Service, context: RequestContext, word: str) -> None:
        history: dict[str, set[str]] = self.memory.get("history", {})
        merged = {**history, context.engagement.id: {*_past(self, context), word}}
        self.memory["history"] = merged

    def archive_engagement(self: Service, context: RequestContext) -> Reply:
        remember(self, context, "rearchived" if "unarchived" in _past(self, context) else "archived")
        return Service.archive_engagement(self, context)

    def unarchive_engagement(self: Service, context: RequestContext) -> Reply:
        remember(self, context, "unarchived")
        return Service.unarchive_engagement(self, context)

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        return act(self, context, _past(self, context)) or Service.update_engagement(self, context)

    return made(
        identifier,
        title,
        *breaks,
        archive_engagement=archive_engagement,
        unarchive_engagement=unarchive_engagement,
        update_engagement=update_engagement,
    )


def _ignore_unarchived(service: Service, context: RequestContext, past: set[str]) -> Reply | None:
    if "unarchived" in past and context.engagement.status == "active":
        return service.resource(context, service.view_edited(context.engagement))
    return None


def _archive_unarchived(service: Service, context: RequestContext, past: set[str]) -> Reply | None:
    if "unarchived" in past and context.engagement.status == "active":
        service.store.edit_engagement(context.engagement.id, {"status": "archived"}, service.now())
    return None


def _miss_unarchived(service: Service, context: RequestContext, past: set[str]) -> Reply | None:
    if "unarchived" in past and context.engagement.status == "active":
        raise service.not_found("engagement")
    return None


def _permit_rearchived(_: Service, context: RequestContext, past: set[str]) -> Reply | None:
    if "rearchived" in past:
        context.engagement = replace(context.engagement, status="active")
    return None


HISTORIC = (
    _historic(
        "unarchived-edit-ignored",
        "An edit of an unarchived engagement is answered as done, and not done.",
        _ignore_unarchived,
        _UNARCHIVED,
    ),
    _historic(
        "unarchived-edit-archives", "An edit of an unarchived engagement archives it again.", _archive_unarchived,
        "unarchived-archivable", _UNARCHIVED, _KEEPS,
    ),
    _historic(
        "unarchived-edit-404", "An edit of an unarchived engagement finds nothing.", _miss_unarchived, _UNARCHIVED
    ),
    _historic(
        "rearchived-editable",
        "An engagement that was unarchived and archived again can be edited.",
        _permit_rearchived,
        "archived-edit-refused",
        "archived-edit-changes-nothing",
    ),
)  # fmt: skip


def _archived_edit(identifier: str, title: str, passes: Callable[[Sent], bool], *breaks: str) -> Fault:
    """A service that permits some edits of what is archived."""

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        if passes(context.values):
            context.engagement = replace(context.engagement, status="active")
        return Service.update_engagement(self, context)

    return made(identifier, title, *breaks, update_engagement=update_engagement)


@fault("archived-edit-500", "no-server-error", "archived-edit-refused")
class ArchivedEdit500(Service):
    """An edit of an archived engagement ends in an unexpected error."""

    def check_editable(self, engagement: Engagement) -> None:
        """Stumble."""
        if engagement.status == "archived":
            raise Refusal(500, "The engagement is locked.")


ARCHIVED = (
    _archived_edit(
        "archived-both-editable",
        "Name and description of an archived engagement can be edited together.",
        lambda sent: len(sent) > 1,
        "archived-edit-refused",
        "archived-edit-changes-nothing",
    ),
    _archived_edit(
        "archived-emptied",
        "The description of an archived engagement can be emptied.",
        lambda sent: set(sent) == {"description"} and not sent["description"],
        "archived-edit-refused",
    ),
)
