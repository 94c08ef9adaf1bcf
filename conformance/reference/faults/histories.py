"""Faults that show only on engagements that were archived, unarchived, or both before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.records import Page
from conformance.reference.refusal import Refusal

from .mutations import Method, after, before, data, fault, instead, refuse, wrap
from .operations import ARCHIVE, CREATE, DELETE, EDIT, GET_ORGANIZATION, UNARCHIVE
from .situations import Situation, archived, note, noted, sends_only, take_for_active

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service

_REFUSED, _NOTHING, _DUPLICATE = (
    "archived-edit-refused", "archived-edit-changes-nothing", "create-engagement-duplicate-name"
)  # fmt: skip
_EDITABLE, _ARCHIVABLE = "unarchived-editable", "unarchived-archivable"

_was_unarchived = noted("unarchived")
_note_before, _note_after = before(UNARCHIVE, note("unarchived")), after(UNARCHIVE, note("unarchived"))


def _active_again(at: Situation) -> bool:
    return _was_unarchived(at) and not archived(at)


def _count_no_edits(at: Situation) -> None:
    at.remembered("edits since unarchiving", {})[at.engagement.id] = 0


def _edit_once(service: Service, honest: Method, engagement: Engagement) -> None:
    honest(engagement)
    edits = service.memory.get("edits since unarchiving", {})
    if edits.get(engagement.id):
        raise Refusal(409, "It was unarchived and edited.")
    if engagement.id in edits:
        edits[engagement.id] += 1


def _refuse_archived_name(
    service: Service, honest: Method, organization_id: str, name: str, besides: str | None = None
) -> None:
    if name in service.store.engagement_names(organization_id, besides=besides, status="archived"):
        raise Refusal(422, "An archived engagement has this name.")
    honest(organization_id, name, besides)


def _archived_namesakes(at: Situation) -> list[Engagement]:
    archived_ones = (other for other in reversed(at.engagements) if other.status == "archived")
    return [other for other in archived_ones if other.name == at.values["name"]]


def _unarchive_namesake(at: Situation) -> Reply:
    namesake = _archived_namesakes(at)[0]
    at.service.set_status(namesake, "active")
    return at.success(at.service.view_created(replace(namesake, status="active")))


def _list_deleted(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    found: Page[Engagement] = honest(query)
    deleted = tuple(each for each in service.memory.get("deleted", ()) if query.status in {None, each.status})
    return Page((*found.items, *deleted)[: query.limit], found.total + len(deleted))


UNARCHIVED = (
    fault("unarchived-edit-ignored", "An edit of an unarchived engagement is answered as done, and not done.",
          _note_before | instead(EDIT, lambda at: at.replied("edited"), _active_again), _EDITABLE),
    fault("unarchived-edit-archives", "An edit of an unarchived engagement archives it again.",
          _note_before | before(EDIT, lambda at: at.edit(status="archived"), _active_again),
          _ARCHIVABLE, _EDITABLE, "update-engagement-keeps-the-rest"),
    fault("unarchived-edit-404", "An edit of an unarchived engagement finds nothing.",
          _note_before | refuse(EDIT, 404, _active_again), _EDITABLE),
    fault("unarchived-edit-once", "An engagement that was unarchived can be edited once, and not again.",
          after(UNARCHIVE, _count_no_edits) | wrap("check_editable", _edit_once), _EDITABLE),
    fault("archive-again-answers-active", "Archiving what was unarchived once answers that it is active.",
          _note_after | data(ARCHIVE, lambda _, shown: {**shown, "status": "active"}, _was_unarchived), _ARCHIVABLE),
    fault("unarchived-delete-spares", "An engagement that was unarchived once is still there after it was deleted.",
          _note_after | instead(DELETE, lambda at: at.replied("deleted"), _was_unarchived),
          "deleted-unreadable", "deleted-unlisted", "deleted-uncounted"),
    fault("unarchived-delete-refused", "An engagement that was unarchived once cannot be deleted.",
          _note_after | refuse(DELETE, 409, _was_unarchived), "delete-engagement-succeeds"),
    fault("unarchived-delete-counted",
          "An engagement that was unarchived once is still counted by the organization after it was deleted.",
          _note_after | before(DELETE, note("deleted"), _was_unarchived)
          | data(GET_ORGANIZATION, lambda at, shown: {
              **shown, "engagementCount": shown["engagementCount"] + len(at.remembered("deleted", set()))}),
          "deleted-uncounted", "engagement-count-agrees"),
    fault("unarchived-listed-when-deleted",
          "An engagement that was unarchived once stays in the list after it was deleted.",
          _note_after | wrap("find_engagements", _list_deleted)
          | before(DELETE, lambda at: at.remembered("deleted", []).append(at.engagement), _was_unarchived),
          "deleted-unlisted"),
)  # fmt: skip

ARCHIVED = (
    fault("rearchived-editable", "An engagement that was unarchived and archived again can be edited.",
          _note_before | before(ARCHIVE, note("rearchived"), _was_unarchived)
          | before(EDIT, take_for_active, noted("rearchived")), _REFUSED, _NOTHING),
    fault("archived-twice-editable", "An archived engagement that is archived once more can be edited.",
          before(ARCHIVE, note("twice"), archived) | before(EDIT, take_for_active, noted("twice")), _REFUSED),
    fault("archived-both-editable", "Name and description of an archived engagement can be edited together.",
          before(EDIT, take_for_active, sends_only("name", "description")), _REFUSED, _NOTHING),
    fault("archived-emptied", "The description of an archived engagement can be emptied.",
          before(EDIT, take_for_active, lambda at: sends_only("description")(at) and not at.values["description"]),
          _REFUSED),
    fault("archived-edit-500", "An edit of an archived engagement ends in an unexpected error.",
          refuse(EDIT, 500, archived), "no-server-error", _REFUSED),
    fault("edited-archived-delete-refused", "An archived engagement that was edited before cannot be deleted.",
          refuse(DELETE, 409, lambda at: archived(at) and "archived" in (at.engagement.description or "")),
          "archived-deletable"),
    fault("archived-name-422", "A new engagement of the name of an archived one is refused with 422.",
          wrap("check_name_free", _refuse_archived_name), _DUPLICATE),
    fault("archived-name-revives", "A new engagement of the name of an archived one is that one, made active.",
          instead(CREATE, _unarchive_namesake, lambda at: bool(_archived_namesakes(at))), _DUPLICATE),
)  # fmt: skip
