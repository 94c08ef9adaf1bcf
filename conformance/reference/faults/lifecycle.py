"""Faults of archiving, unarchiving and deletion: what they permit, leave and take with them, once or later."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.interface.operations import KINDS

from .changes import data, edit, list_deleted, put, view
from .conditions import (
    all_of,
    archived,
    counted,
    described,
    has_one_permission,
    missing,
    name_of_archived,
    noted,
    sends,
    sends_only,
    stored_archived,
    undescribed,
)
from .mutations import (
    Method,
    after,
    after_change,
    at_step,
    before,
    fault,
    hide,
    instead,
    override,
    refuse,
    refused_yet,
    wrap,
)
from .operations import ARCHIVE, CREATE, DELETE, EDIT, GET_ORGANIZATION, READ, UNARCHIVE
from .situations import Situation, edit_all, engagements, note, overwrite, recalled, remember, take_for_active

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service

    from .mutations import Mutation


_SUCCEEDS, _CONTENT, _SPARES = "archive-engagement-succeeds", "archive-keeps-content", "archive-spares-others"
_STATUS, _REFRESHES, _AT_ONCE = "archive-sets-status", "archive-refreshes-updated-at", "archive-effective-at-once"
_AGAIN, _REFUSED, _NOTHING = "archived-again-stays-archived", "archived-edit-refused", "archived-edit-changes-nothing"
_SERVED, _EDITABLE, _ARCHIVABLE = "unarchive-served", "unarchived-editable", "unarchived-archivable"
_DUPLICATE = "create-engagement-duplicate-name"
_A_MOMENT, _FORTY = 0.005, 40

_was_unarchived = noted("unarchived")
_note_before, _note_after = before(UNARCHIVE, note("unarchived")), after(UNARCHIVE, note("unarchived"))


def _archive_next(service: Service, engagement: Engagement, status: str) -> None:
    for other in engagements(service, engagement.organization_id):
        if other.created_at > engagement.created_at:
            service.store.edit_engagement(other.id, {"status": status}, service.now())
            return


def _sends_what_stands(at: Situation) -> bool:
    return bool(at.values) and all(getattr(at.engagement, name) == value for name, value in at.values.items())


def _is_admin(at: Situation) -> bool:
    user_id = at.context.key.user_id
    member = None if user_id is None else at.store.member(at.context.organization_id, user_id)
    return member is not None and member.role == "admin"


def _edits_archived(at: Situation) -> bool:
    return bool(at.values) and stored_archived(at)


def _restore_first_archive(at: Situation) -> None:
    first = at.remembered("archives", {}).setdefault(at.engagement.id, at.engagement)
    at.overwrite(name=first.name, description=first.description)


def _view_noted(view: str, name: str, **members: str) -> Mutation:
    """Show other members of engagements that were noted under a name."""
    return wrap(f"view_{view}", lambda service, honest, engagement: {
        **honest(engagement), **(members if engagement.id in service.memory.get(name, ()) else {})})  # fmt: skip


ARCHIVING = (
    fault("archive-answers-active", "The response to an archive has the status active.",
          view("archived", put(status="active")), _STATUS),
    fault("archive-answers-other-id", "The response to an archive has another id.",
          view("archived", edit(id=lambda text: f"{text}0")), "archive-engagement-answers-id"),
    fault("archive-does-nothing", "Archiving reports success but does nothing.", override(set_status=lambda *_: None)
          | wrap("view_archived", lambda service, honest, engagement:
                 honest(replace(engagement, status="archived", updated_at=service.now()))),
          _STATUS, _REFUSED, _REFRESHES),
    fault("archive-answers-old-time", "The response to an archive has the old updatedAt.",
          data(ARCHIVE, lambda at, shown: {**shown, "updatedAt": at.service.timestamp(at.engagement.updated_at)}),
          "archive-engagement-answers-updated-at", _REFRESHES),
    fault("archive-marks-name", "Archiving adds a remark to the name.",
          after_change(lambda service, engagement, _: service.store.edit_engagement(
              engagement.id, {"name": f"{engagement.name} (archived)"}, service.now())), _CONTENT),
    fault("archive-drops-description", "Archiving deletes the description.",
          after_change(lambda service, engagement, _: service.store.edit_engagement(
              engagement.id, {"description": None}, service.now())), _CONTENT),
    fault("archive-cuts-description", "Archiving keeps only the first line of the description.",
          after(ARCHIVE, lambda at: at.overwrite(description=(at.engagement.description or "").partition("\n")[0])),
          _CONTENT),
    fault("archive-takes-neighbour", "Archiving an engagement also archives the one created next.",
          after_change(_archive_next), _SPARES),
    fault("archive-touches-others", "Archiving an engagement moves the updatedAt of all engagements.",
          after_change(lambda service, engagement, _: edit_all(
              service, engagements(service, engagement.organization_id))), _SPARES),
    fault("archive-needs-description", "An engagement without a description cannot be archived.",
          refuse(ARCHIVE, 409, undescribed), _SUCCEEDS),
    fault("archive-needs-body", "Archiving without a body is refused.",
          refuse(ARCHIVE, 400, lambda at: not at.context.request.headers.get("content-type")), _SUCCEEDS,
          "scope-allows-archive-engagement"),
    fault("archive-not-found", "Archiving gives 404, as if the operation did not exist.",
          refuse(ARCHIVE, 404, step="authorize"), _SUCCEEDS, "scope-allows-archive-engagement"),
    fault("archive-again-unarchives", "Archiving an archived engagement makes it active again.",
          instead(ARCHIVE, lambda at: at.shown("archived")) | before(ARCHIVE, lambda at: at.service.set_status(
              at.engagement, "active" if archived(at) else "archived")), _AGAIN),
    fault("archived-archive-drops-description",
          "Archiving an archived engagement is accepted but deletes its description.",
          override(archives_again=lambda _: True)
          | after(ARCHIVE, lambda at: at.overwrite(description=None), archived), _CONTENT),
    fault("archived-archive-answers-active", "The response to archiving an archived engagement has the status active.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="active"), archived), _STATUS),
    fault("archive-again-breaks", "Archiving an archived engagement causes a 500.",
          refuse(ARCHIVE, 500, archived), "no-server-error", _AGAIN),
    fault("archive-late", "An edit is still carried out within 5 ms after the response to an archive.",
          before(ARCHIVE, remember("archived", lambda at: at.service.seconds()))
          | wrap("check_editable", lambda service, honest, engagement: honest(engagement) if service.seconds()
                 - recalled(service, "archived", engagement.id, 0) > _A_MOMENT else None), _AT_ONCE),
    fault("archive-keeps-updated-at", "Archiving does not refresh updatedAt.",
          override(set_status=lambda service, engagement, status: service.store.edit_engagement(
              engagement.id, {"status": status}, engagement.updated_at)), _REFRESHES),
    fault("archive-later", "Archiving reports success but takes effect some time later.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="archived", updatedAt=at.service.timestamp(at.now)))
          | before(ARCHIVE, lambda at: at.service.later(lambda: at.service.set_status(at.engagement, "archived"))),
          _STATUS, _AT_ONCE, _REFUSED),
    fault("archive-again-deletes", "Archiving an archived engagement deletes it.",
          override(archives_again=lambda _: True)
          | after(ARCHIVE, lambda at: at.store.delete_engagement(at.engagement.id), archived),
          "archived-readable", _AGAIN),
    fault("archived-again-refused-touches", "Archiving an archived engagement is refused but moves updatedAt.",
          refuse(ARCHIVE, 409, archived) | refused_yet(ARCHIVE, lambda at: at.edit(), statuses=(409,)), _AGAIN),
    fault("archive-once-only", "An unarchived engagement cannot be archived again.",
          before(ARCHIVE, note("archived")) | refuse(
              ARCHIVE, 409, lambda at: not archived(at) and noted("archived")(at)), _ARCHIVABLE, _SUCCEEDS),
    fault("archive-again-answers-first-time",
          "The response to a later archive of an engagement has the updatedAt of its first archive.",
          data(ARCHIVE, lambda at, shown: {**shown, "updatedAt": at.remembered("first times", {}).setdefault(
              at.engagement.id, shown["updatedAt"])}, lambda at: "updatedAt" in at.data),
          "archive-engagement-answers-updated-at", _REFRESHES),
    fault("archive-again-restores-content",
          "A later archive of an engagement restores the name and description of its first archive.",
          after(ARCHIVE, _restore_first_archive, lambda at: not archived(at)), _CONTENT),
    fault("archive-answers-name-as-id", "The response to an archive has the name as the id.",
          wrap("view_archived", lambda _, honest, engagement: {**honest(engagement), "id": engagement.name}),
          "archive-engagement-answers-id"),
    fault("archive-answers-later-time",
          "The response to an archive has an updatedAt one millisecond later than a read shows.",
          wrap("view_archived", lambda _, honest, engagement:
               honest(replace(engagement, updated_at=engagement.updated_at + 1))),
          "archive-engagement-answers-updated-at"),
)  # fmt: skip

ARCHIVED = (
    fault("archived-editable", "An archived engagement can still be edited.",
          override(check_editable=lambda *_: None), _REFUSED, _NOTHING),
    fault("archived-description-editable", "The description of an archived engagement can be edited.",
          before(EDIT, take_for_active, sends_only("description")), _REFUSED, _NOTHING),
    fault("archived-name-editable", "The name of an archived engagement can be edited.",
          before(EDIT, take_for_active, sends_only("name")), _REFUSED, _NOTHING),
    fault("archived-edit-ignored", "An edit of an archived engagement reports success but does nothing.",
          instead(EDIT, lambda at: at.replied("edited"), archived), _REFUSED),
    *(fault(f"archived-edit-{status}", f"An edit of an archived engagement is refused with {status}.",
            refuse(EDIT, status, archived), _REFUSED) for status in (404, 401)),
    fault("archived-accepts-what-stands",
          "An edit of an archived engagement reports success if it sends the values that it has already.",
          instead(EDIT, lambda at: at.replied("edited"), all_of(archived, _sends_what_stands)), _REFUSED),
    fault("archived-edit-by-admin", "The key of a member with the role admin can edit archived engagements.",
          before(EDIT, take_for_active, all_of(archived, _is_admin)), _REFUSED),
    fault("archived-edit-applied", "An edit of an archived engagement is refused but carried out.",
          refused_yet(EDIT, lambda at: at.edit(**at.values), _edits_archived), _NOTHING),
    fault("archived-edit-touches", "An edit of an archived engagement is refused but moves its updatedAt.",
          refused_yet(EDIT, lambda at: at.edit(), _edits_archived), _NOTHING),
    fault("archived-not-deletable", "An archived engagement cannot be deleted.",
          refuse(DELETE, 409, archived), "archived-deletable"),
    *(fault(f"archived-read-{status}", f"Reading an archived engagement gives {status}.",
            refuse(READ, status, archived), "archived-readable") for status in (404, 410)),
)  # fmt: skip

UNARCHIVING = (
    *(fault(f"unarchive-{status}", f"Unarchiving an existing engagement gives {status}, {words}.",
            refuse(UNARCHIVE, status), *breaks) for status, words, *breaks in (
        (404, "as if the operation did not exist", _SERVED),
        (405, "as if the path had other methods", _SERVED),
        (401, "as if the key were invalid", _SERVED),
        (500, "an internal error", "no-server-error", _SERVED))),
    fault("unarchived-not-editable", "An unarchived engagement has the status active but cannot be edited.",
          _note_before | refuse(EDIT, 409, _was_unarchived), _EDITABLE),
    fault("unarchived-not-archivable", "An unarchived engagement has the status active but cannot be archived again.",
          _note_before | refuse(ARCHIVE, 409, _was_unarchived), _ARCHIVABLE),
    fault("unarchive-only-looks-so", "An unarchived engagement has the status active in reads but stays archived.",
          instead(UNARCHIVE, lambda at: at.replied("unarchived")) | _note_before
          | _view_noted("engagement", "unarchived", status="active"), _EDITABLE, _ARCHIVABLE),
    fault("unarchive-deleted-succeeds", "Unarchiving a deleted engagement reports success.",
          at_step("find", lambda at, honest: honest() if at.operation != UNARCHIVE or at.stored else None)
          | instead(UNARCHIVE, lambda at: at.success(
              {"id": at.context.resource_id, "status": "active"}), missing), "deleted-not-unarchived"),
    fault("unarchive-deleted-conflict", "Unarchiving a deleted engagement gives 409.",
          refuse(UNARCHIVE, 409, missing, step="find"), "deleted-not-unarchived"),
    fault("unarchive-takes-namesakes", "Unarchiving an engagement also unarchives all others of the same name.",
          after(UNARCHIVE, lambda at: edit_all(at.service, [
              other for other in at.other_engagements
              if other.name == at.engagement.name and other.status == "archived"], status="active")),
          "archive-sets-status"),
    fault("unarchive-moves-created-at", "Unarchiving sets createdAt to the current time.",
          before(UNARCHIVE, remember("unarchived", lambda at: at.service.timestamp(at.now)))
          | wrap("view_engagement", lambda service, honest, engagement: put(createdAt=recalled(
              service, "unarchived", engagement.id, service.timestamp(engagement.created_at)))(honest(engagement))),
          "created-at-never-changes"),
    fault("unarchive-moves-updated-at-back", "Unarchiving sets updatedAt to createdAt.",
          after(UNARCHIVE, lambda at: at.overwrite(updated_at=at.engagement.created_at), archived),
          "updated-at-never-goes-back"),
    fault("unarchived-listed-archived", "The list still shows an unarchived engagement as archived.",
          before(ARCHIVE, note("archived")) | _view_noted("item", "archived", status="archived"),
          "list-engagements-as-read", "list-engagements-status-filter"),
)  # fmt: skip


def _active_again(at: Situation) -> bool:
    return _was_unarchived(at) and not archived(at)


def _unarchive_namesake(at: Situation) -> Reply:
    namesake = next(namesake for namesake in reversed(at.namesakes) if namesake.status == "archived")
    at.service.set_status(namesake, "active")
    return at.success(at.service.view_created(replace(namesake, status="active")))


UNARCHIVED = (
    fault("unarchived-edit-ignored", "An edit of an unarchived engagement reports success but does nothing.",
          _note_before | instead(EDIT, lambda at: at.replied("edited"), _active_again), _EDITABLE),
    fault("unarchived-edit-archives", "An edit of an unarchived engagement archives it again.",
          _note_before | before(EDIT, lambda at: at.edit(status="archived"), _active_again),
          _ARCHIVABLE, _EDITABLE, "update-engagement-keeps-the-rest"),
    fault("unarchived-edit-404", "An edit of an unarchived engagement gives 404.",
          _note_before | refuse(EDIT, 404, _active_again), _EDITABLE),
    fault("unarchived-edit-once", "An unarchived engagement can be edited only once.",
          _note_after | after(UNARCHIVE, lambda at: at.remembered("edited", set()).discard(at.engagement.id))
          | after(EDIT, note("edited"), _active_again) | refuse(EDIT, 409, all_of(_active_again, noted("edited"))),
          _EDITABLE),
    fault("archive-again-answers-active", "The response to archiving an unarchived engagement has the status active.",
          _note_after | data(ARCHIVE, lambda _, shown: {**shown, "status": "active"}, _was_unarchived), _ARCHIVABLE),
    fault("unarchived-delete-spares", "The deletion of an unarchived engagement reports success but does nothing.",
          _note_after | instead(DELETE, lambda at: at.replied("deleted"), _was_unarchived),
          "deleted-unreadable", "deleted-unlisted", "deleted-uncounted"),
    fault("unarchived-delete-refused", "An unarchived engagement cannot be deleted.",
          _note_after | refuse(DELETE, 409, _was_unarchived), "delete-engagement-succeeds"),
    fault("unarchived-delete-counted",
          "engagementCount still includes an unarchived engagement after its deletion.",
          _note_after | before(DELETE, note("deleted"), _was_unarchived) | data(GET_ORGANIZATION, lambda at, shown: {
              **shown, "engagementCount": shown["engagementCount"] + len(at.remembered("deleted", set()))}),
          "engagement-count-agrees", "deleted-uncounted"),
    fault("unarchived-listed-when-deleted",
          "An unarchived engagement stays in the list after its deletion.",
          _note_after | list_deleted(lambda query, deleted: query.status in {None, deleted.status})
          | before(DELETE, lambda at: at.remembered("deleted", []).append(at.engagement), _was_unarchived),
          "deleted-unlisted"),
)  # fmt: skip

REARCHIVED = (
    fault("rearchived-editable", "An unarchived engagement that is archived again can be edited.",
          _note_before | before(ARCHIVE, note("rearchived"), _was_unarchived)
          | before(EDIT, take_for_active, noted("rearchived")), _REFUSED, _NOTHING),
    fault("archived-twice-editable", "An archived engagement that is archived a second time can be edited.",
          before(ARCHIVE, note("twice"), archived) | before(EDIT, take_for_active, noted("twice")), _REFUSED),
    fault("archived-both-editable", "Name and description of an archived engagement can be edited together.",
          before(EDIT, take_for_active, sends_only("name", "description")), _REFUSED, _NOTHING),
    fault("archived-emptied", "The description of an archived engagement can be emptied.",
          before(EDIT, take_for_active, lambda at: sends_only("description")(at) and not at.values["description"]),
          _REFUSED),
    fault("archived-description-nulled", "A null description empties the description of an archived engagement.",
          before(EDIT, take_for_active, lambda at: at.values == {"description": None}), _NOTHING),
    fault("archived-edit-500", "An edit of an archived engagement causes a 500.",
          refuse(EDIT, 500, archived), "no-server-error", _REFUSED),
    fault("edited-archived-delete-refused", "An archived engagement that was edited before cannot be deleted.",
          after(EDIT, note("edited")) | refuse(DELETE, 409, all_of(archived, noted("edited"))),
          "archived-deletable"),
    fault("archived-read-409", "An archived engagement whose edit was refused cannot be read: 409.",
          refused_yet(EDIT, note("refused"), stored_archived)
          | refuse(READ, 409, all_of(archived, noted("refused"))), "archived-readable"),
    fault("unarchived-read-401", "An unarchived engagement cannot be read: 401.",
          _note_after | refuse(READ, 401, noted("unarchived")), "get-engagement-succeeds"),
    fault("archived-name-422", "A creation with the name of an archived engagement is refused with 422.",
          refuse(CREATE, 422, name_of_archived)
          | refuse(EDIT, 422, lambda at: not archived(at) and name_of_archived(at)), _DUPLICATE),
    fault("archived-name-revives",
          "A creation with the name of an archived engagement unarchives that engagement instead.",
          instead(CREATE, _unarchive_namesake, name_of_archived), _DUPLICATE),
)  # fmt: skip


_UNREADABLE, _UNLISTED, _UNCOUNTED = "deleted-unreadable", "deleted-unlisted", "deleted-uncounted"
_UNDELETABLE, _UNEDITABLE, _UNARCHIVABLE = "deleted-undeletable", "deleted-uneditable", "deleted-unarchivable"
_GONE_AT_ONCE, _DELETE_SPARES = "delete-effective-at-once", "delete-spares-others"
_DELETED, _TRUE = (_UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE, _UNCOUNTED), "delete-engagement-answers-true"
_A_MOMENT = 0.005
_DELETE_FIRST = ("DELETE FROM subordinates WHERE rowid ="
                 " (SELECT min(rowid) FROM subordinates WHERE engagement_id = ? AND kind = ?)")  # fmt: skip
_RECORDS = {"target": "targets", "wikiPage": "wiki-pages", "report": "reports", "threatModel": "threat-models",
            "apiRequest": "api-requests", "task": "tasks"}  # fmt: skip
_GO = tuple(f"subordinate-{words}-go" for words in (
    "targets", "tasks", "wiki-pages", "reports", "threat-models", "api-requests"))  # fmt: skip


def _find_deleted(operation: str, *, seconds: float = math.inf) -> Mutation:
    """Find deleted engagements in requests of an operation, for some time after their deletion."""

    def find(at: Situation, honest: Method) -> object:
        engagement, deleted_at = recalled(at.service, "deleted", at.context.resource_id, (None, 0))
        is_found = engagement and at.operation == operation and at.service.seconds() - deleted_at < seconds
        return engagement if is_found else honest()

    return before(DELETE, remember("deleted", lambda at: (at.engagement, at.service.seconds()))) | at_step(
        "find_engagement", find)  # fmt: skip


def _restore_if_refused(operation: str) -> Mutation:
    """Store a deleted engagement again if an operation on it is refused."""

    def restore(at: Situation) -> None:
        if engagement := at.remembered("deleted", {}).pop(at.context.resource_id, None):
            at.store.add_engagement(engagement)

    return before(DELETE, remember("deleted", lambda at: at.engagement)) | refused_yet(operation, restore)


def _delete_all(service: Service, deleted: Iterable[Engagement]) -> None:
    """Delete engagements without their records."""
    for engagement in deleted:
        service.store.delete_engagement(engagement.id)


def _delete_others(are_deleted: Callable[[Engagement, Engagement], bool]) -> Mutation:
    """Delete others with an engagement; ``are_deleted`` gets the one to delete and another one."""
    return before(DELETE, lambda at: _delete_all(
        at.service, [other for other in at.other_engagements if are_deleted(at.engagement, other)]))  # fmt: skip


def _touch_newest(at: Situation) -> None:
    newest = next((other for other in reversed(at.other_engagements) if other.status == "active"), None)
    if newest is not None:
        overwrite(at.service, "engagements", newest.id, updated_at=at.now)


_SPARED = instead(DELETE, lambda at: at.replied("deleted"))


def _was_changed(at: Situation) -> bool:
    return at.engagement.updated_at > at.engagement.created_at


def _leave(kind: str, *, delete_first: bool = False) -> Mutation:
    """Delete no records of a kind, or only the first one."""

    def delete_subordinates(service: Service, engagement: Engagement) -> None:
        for other in set(KINDS) - {kind}:
            service.store.delete_subordinates(engagement.id, other)
        if delete_first:
            service.store.execute(_DELETE_FIRST, engagement.id, kind)

    return override(delete_subordinates=delete_subordinates)


def _delete_at_most(service: Service, engagement: Engagement) -> None:
    """Delete three records of each kind."""
    for kind in KINDS:
        for _ in range(3):
            service.store.execute(_DELETE_FIRST, engagement.id, kind)


def _delete_too(kind: str, *, everywhere: bool, from_deletion: int = 0) -> Mutation:
    """Delete records of all other engagements, too: of the organization's or of those of every organization.

    Args:
        kind: The kind of the records.
        everywhere: Whether the records of every organization are deleted.
        from_deletion: The number of deletions before the first that does so, if they are counted.
    """

    def around(service: Service, honest: Method, engagement: Engagement) -> None:
        honest(engagement)
        if service.memory.get("deletions", 0) < from_deletion:
            return
        for organization in service.store.organization_ids() if everywhere else [engagement.organization_id]:
            for other in engagements(service, organization):
                service.store.delete_subordinates(other.id, kind)

    return wrap("delete_subordinates", around)


def _cascade_to(are_emptied: Callable[[Engagement, Engagement], bool]) -> Mutation:
    """Delete all records of others with an engagement; ``are_emptied`` gets the one to delete and another one."""

    def around(service: Service, honest: Method, engagement: Engagement) -> None:
        honest(engagement)
        for other in engagements(service, engagement.organization_id):
            if are_emptied(engagement, other):
                honest(other)

    return wrap("delete_subordinates", around)


FOUND = (
    fault("deleted-readable", "A deleted engagement can still be read.", _find_deleted(READ), _UNREADABLE,
          _GONE_AT_ONCE),
    fault("deleted-editable", "A deleted engagement can still be edited.", _find_deleted(EDIT), _UNEDITABLE),
    fault("deleted-deletable", "A deleted engagement can be deleted again.", _find_deleted(DELETE), _UNDELETABLE),
    fault("deleted-archivable", "A deleted engagement can be archived.",
          _find_deleted(ARCHIVE) | instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), missing),
          _UNARCHIVABLE),
    fault("deletion-late", "A deleted engagement can still be read for 5 ms after the response.",
          _find_deleted(READ, seconds=_A_MOMENT), _GONE_AT_ONCE, _UNREADABLE),
    *(fault(f"deleted-{word}-{status}", f"{operation} gives {status} instead of 404 for a missing engagement.",
            refuse(operation, status, missing, step="find"), *breaks) for word, operation, status, *breaks in (
        ("read", READ, 410, _UNREADABLE, "get-unknown-engagement"),
        ("edit", EDIT, 409, _UNEDITABLE, "update-unknown-engagement"),
        ("delete", DELETE, 400, _UNDELETABLE),
        ("archive", ARCHIVE, 409, _UNARCHIVABLE, "archive-unknown-engagement"))),
    *(fault(f"deleted-{operation.lower()}-restores", f"{word} a deleted engagement is refused but restores it.",
            _restore_if_refused(operation), *breaks, _UNREADABLE, _UNLISTED) for word, operation, *breaks in (
        ("Editing", EDIT, _UNDELETABLE), ("Archiving", ARCHIVE, _UNDELETABLE), ("Unarchiving", UNARCHIVE, _UNDELETABLE),
        ("Deleting", DELETE))),
    fault("deleted-still-listed", "A deleted engagement cannot be read but is still listed and counted.",
          _SPARED | before(DELETE, lambda at: at.service.delete_subordinates(at.engagement))
          | before(DELETE, note("deleted")) | hide(noted("deleted")), _UNLISTED, _UNCOUNTED),
    fault("deleted-counted", "engagementCount includes deleted engagements.",
          before(DELETE, note("deleted")) | wrap("count_engagements", lambda service, honest, organization:
                                                 honest(organization) + len(service.memory.get("deleted", ()))),
          _UNCOUNTED, "engagement-count-agrees"),
    fault("deleted-archived-still-listed",
          "A deleted archived engagement stays in the list of archived engagements.",
          before(DELETE, lambda at: at.remembered("deleted", []).append(at.engagement), archived)
          | list_deleted(lambda query, deleted: query.status == "archived" and not query.offset
                         and query.organization_id == deleted.organization_id), _UNLISTED),
)  # fmt: skip

NOT_DONE = (
    fault("delete-does-nothing", "A deletion reports success but does nothing.",
          _SPARED, _UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE),
    fault("delete-archives", "A deletion archives the engagement instead of deleting it.",
          _SPARED | before(DELETE, lambda at: at.service.set_status(at.engagement, "archived")),
          _UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE),
    fault("delete-needs-archive", "An active engagement cannot be deleted.",
          refuse(DELETE, 409, lambda at: not archived(at)), "delete-engagement-succeeds",
          "scope-allows-delete-engagement"),
    fault("deletion-later", "A deletion takes effect some time after its response.",
          _SPARED | before(DELETE, lambda at: at.service.later(
              lambda: at.store.delete_engagement(at.engagement.id))), _GONE_AT_ONCE, _UNREADABLE),
    *(fault(f"deletion-spares-{word}", f"The deletion of an {which} reports success but does nothing.",
            instead(DELETE, lambda at: at.replied("deleted"), when), *_DELETED, *breaks)
      for word, which, when, *breaks in (
        ("archived", "archived engagement", archived, "archived-deletable"),
        ("described", "engagement with a description", described),
        ("edited", "engagement that was changed", _was_changed),
        ("untouched", "engagement that was never changed", lambda at: not _was_changed(at)))),
)  # fmt: skip

OTHERS = (
    fault("delete-takes-neighbour", "A deletion also deletes the engagement created next.",
          after(DELETE, lambda at: _delete_all(at.service, [
              other for other in at.engagements if other.created_at >= at.engagement.created_at][:1])), _DELETE_SPARES),
    fault("delete-by-name", "A deletion also deletes every engagement of the same name.",
          _delete_others(lambda deleted, other: deleted.name == other.name),
          _DELETE_SPARES, "create-engagement-duplicate-name"),
    fault("deletion-takes-archived", "The deletion of an archived engagement deletes all archived engagements.",
          _delete_others(lambda deleted, other: deleted.status == other.status == "archived"), _DELETE_SPARES),
    fault("deletion-takes-older",
          "A deletion also deletes engagements created within the second before the engagement.",
          _delete_others(lambda deleted, other: deleted.created_at - other.created_at in range(1000)), _DELETE_SPARES),
    fault("deletion-takes-same-description", "A deletion also deletes every engagement of the same description.",
          _delete_others(lambda deleted, other: bool(deleted.description) and deleted.description == other.description),
          _DELETE_SPARES),
    fault("deletion-fortieth-touches-newest",
          "Every fortieth deletion moves the updatedAt of the newest other engagement that is active.",
          before(DELETE, _touch_newest, counted("deletions", lambda number: number % _FORTY == 0, lambda _: "")),
          _DELETE_SPARES),
)  # fmt: skip

SHOWN = (
    fault("delete-answers-false", "The response to a deletion has false for deleted.",
          view("deleted", put(deleted=False)), _TRUE),
    fault("delete-answers-other-id", "The response to a deletion has another id.",
          view("deleted", edit(id=lambda text: f"{text}0")), _TRUE),
    fault("deletion-says-yes", "The response to a deletion has 1 instead of true for deleted.",
          view("deleted", put(deleted=1)), "delete-engagement-fields"),
    fault("undescribed-deleted-false",
          "The response to the deletion of an engagement without a description has false for deleted.",
          wrap("view_deleted", lambda _, honest, engagement: {
              **honest(engagement), "deleted": bool(engagement.description)}), _TRUE),
)  # fmt: skip

RECORDS = (
    *(fault(f"cascade-leaves-{words}", f"A deletion keeps the engagement's {words.replace('-', ' ')}.",
            _leave(kind), f"subordinate-{words}-go") for kind, words in _RECORDS.items()),
    fault("cascade-takes-neighbours", "A deletion also deletes the reports of all other engagements.",
          _delete_too("report", everywhere=False), "subordinates-of-others-stay"),
    fault("cascade-takes-archived", "A deletion also deletes the subordinate records of all archived engagements.",
          _cascade_to(lambda _, other: other.status == "archived"), "subordinates-of-others-stay"),
    fault("cascade-by-name", "A deletion also deletes the subordinate records of engagements of the same name.",
          _cascade_to(lambda deleted, other: other.name == deleted.name), "subordinates-of-others-stay"),
    fault("cascade-by-beginning-of-name",
          "A deletion also deletes the subordinate records of engagements with longer names that begin with its name.",
          _cascade_to(lambda deleted, other: other.name != deleted.name and other.name.startswith(deleted.name)),
          "subordinates-of-others-stay"),
    fault("cascade-not-at-all", "A deletion keeps all subordinate records of the engagement.",
          override(delete_subordinates=lambda *_: None),
          *(f"subordinate-{words}-go" for words in _RECORDS.values())),
    fault("records-kept-after-refused-deletion",
          "A deletion keeps the subordinate records if one was refused before for its key.",
          refused_yet(DELETE, note("tried"), lambda at: at.stored is not None, statuses=(403, 404))
          | wrap("delete_subordinates", lambda service, honest, engagement:
                 None if engagement.id in service.memory.get("tried", ()) else honest(engagement)), *_GO),
    *(fault(f"cascade-not-for-{status}", f"The deletion of an {status} engagement keeps its subordinate records.",
            wrap("delete_subordinates", lambda _, honest, engagement, status=status:
                 None if engagement.status == status else honest(engagement)), *_GO)
      for status in ("archived", "active")),
    *(fault(f"cascade-not-{label}", f"The deletion {words} keeps its subordinate records.",
            noting | wrap("delete_subordinates", lambda service, honest, engagement:
                          None if engagement.id in service.memory.get("spared", ()) else honest(engagement)), *_GO)
      for label, words, noting in (
        ("if-renamed", "of an engagement that was renamed", after(EDIT, note("spared"), sends("name"))),
        ("if-unarchived", "of an engagement that was unarchived", after(UNARCHIVE, note("spared"))),
        ("with-one-permission", "of an engagement with a key of one permission",
         before(DELETE, note("spared"), has_one_permission)))),
    *(fault(f"cascade-takes-one-{kind}", f"A deletion deletes only one {kind} of the engagement.",
            _leave(kind, delete_first=True), f"subordinate-{kind}s-go") for kind in ("task", "target")),
    fault("cascade-takes-three-of-a-kind", "A deletion deletes at most three subordinate records of a kind.",
          override(delete_subordinates=_delete_at_most), *_GO),
    fault("cascade-takes-all-late", "Every deletion after the twenty-fifth deletes the tasks of all engagements.",
          after(DELETE, lambda at: at.service.memory.update(deletions=at.remembered("deletions", 0) + 1))
          | _delete_too("task", everywhere=True, from_deletion=25), "subordinates-of-others-stay"),
    *(fault(f"cascade-takes-every-{kind}".lower(), f"A deletion deletes every {kind} of all engagements.",
            _delete_too(kind, everywhere=True), "subordinates-of-others-stay")
      for kind in ("target", "wikiPage", "apiRequest")),
)  # fmt: skip
