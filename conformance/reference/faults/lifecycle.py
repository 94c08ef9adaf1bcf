"""Faults of archiving and unarchiving, and of what an archived or unarchived engagement permits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .changes import edit, put
from .mutations import after, after_change, before, data, fault, instead, put_methods, refuse, refused_yet, view, wrap
from .operations import ARCHIVE, DELETE, EDIT, READ, UNARCHIVE
from .situations import Situation, archived, engagements, missing, note, noted, sends_only, take_for_active, undescribed

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service
    from conformance.reference.views import View

    from .mutations import Method, Mutation


_SUCCEEDS, _CONTENT, _SPARES = "archive-engagement-succeeds", "archive-keeps-content", "archive-spares-others"
_STATUS, _REFRESHES, _AT_ONCE = "archive-sets-status", "archive-refreshes-updated-at", "archive-effective-at-once"
_AGAIN, _REFUSED, _NOTHING = "archived-again-stays-archived", "archived-edit-refused", "archived-edit-changes-nothing"
_SERVED, _EDITABLE, _ARCHIVABLE = "unarchive-served", "unarchived-editable", "unarchived-archivable"
_A_MOMENT = 0.005


def _before_change(action: Callable[[Service, Engagement, str], object]) -> Mutation:
    """Do something before the status of an engagement changes."""

    def around(service: Service, honest: Method, engagement: Engagement, status: str) -> None:
        action(service, engagement, status)
        honest(engagement, status)

    return wrap("set_status", around)


def _archive_next(service: Service, engagement: Engagement, status: str) -> None:
    for other in engagements(service, engagement.organization_id):
        if other.created_at > engagement.created_at:
            service.store.edit_engagement(other.id, {"status": status}, service.now())
            return


def _touch_all(service: Service, engagement: Engagement, _: str) -> None:
    for other in engagements(service, engagement.organization_id):
        service.store.edit_engagement(other.id, {}, service.now())


def _forget_archived_description(service: Service, engagement: Engagement, status: str) -> None:
    if engagement.status == status == "archived":
        service.store.edit_engagement(engagement.id, {"description": None}, service.now())


def _toggle(at: Situation) -> Reply:
    at.service.set_status(at.engagement, "active" if archived(at) else "archived")
    return at.success(at.service.view_archived(at.service.find_engagement(at.context)))


def _raise_error(_: Service) -> bool:
    raise RuntimeError("there is no transition from archived to archived")


def _archive_later(at: Situation) -> Reply:
    at.service.later(lambda: at.service.set_status(at.engagement, "archived"))
    return at.replied("archived", status="archived", updatedAt=at.service.timestamp(at.now))


def _archived_before(at: Situation) -> bool:
    return not archived(at) and noted("archived")(at)


def _note_time(at: Situation) -> None:
    at.remembered("archived", {})[at.engagement.id] = at.service.seconds()


def _editable_for_a_moment(service: Service, honest: Method, engagement: Engagement) -> None:
    archived_at = service.memory.get("archived", {}).get(engagement.id, 0)
    if service.seconds() - archived_at > _A_MOMENT:
        honest(engagement)


def _edits_archived(at: Situation) -> bool:
    return bool(at.values) and at.stored is not None and at.stored.status == "archived"


def _note_unarchiving(at: Situation) -> None:
    at.remembered("unarchived", {})[at.engagement.id] = at.now


def _only_note_unarchiving(at: Situation) -> Reply:
    _note_unarchiving(at)
    return at.replied("unarchived")


def _unarchived_as_active(service: Service, honest: Method, engagement: Engagement) -> View:
    is_noted = engagement.id in service.memory.get("unarchived", {})
    return {**honest(engagement), **({"status": "active"} if is_noted else {})}


def _unarchiving_as_creation(service: Service, honest: Method, engagement: Engagement) -> View:
    at = service.memory.get("unarchived", {}).get(engagement.id)
    return {**honest(engagement), **({} if at is None else {"createdAt": service.timestamp(at)})}


def _once_archived_as_archived(service: Service, honest: Method, engagement: Engagement) -> View:
    is_noted = engagement.id in service.memory.get("archived", ())
    return {**honest(engagement), **({"status": "archived"} if is_noted else {})}


def _find_unless_unarchived(service: Service, honest: Method, context: RequestContext) -> None:
    if context.operation.id != UNARCHIVE or service.store.engagement(context.resource_id):
        honest(context)


ARCHIVING = (
    fault("archive-answers-active", "The answer to an archive still says active.",
          view("archived", put(status="active")), _STATUS),
    fault("archive-answers-other-id", "The answer to an archive carries another identifier.",
          view("archived", edit(id=lambda text: f"{text}0")), "archive-engagement-answers-id"),
    fault("archive-does-nothing", "Archiving answers as if it had been done.",
          put_methods(set_status=lambda *_: None)
          | wrap("view_archived", lambda service, honest, engagement:
                 honest(replace(engagement, status="archived", updated_at=service.now()))),
          _STATUS, _REFUSED, _REFRESHES),
    fault("archive-answers-old-time", "The answer to an archive carries the updatedAt from before.",
          data(ARCHIVE, lambda at, shown: {**shown, "updatedAt": at.service.timestamp(at.engagement.updated_at)}),
          "archive-engagement-answers-updated-at", _REFRESHES),
    fault("archive-marks-name", "Archiving adds a remark to the name.",
          _before_change(lambda service, engagement, _: service.store.edit_engagement(
              engagement.id, {"name": f"{engagement.name} (archived)"}, service.now())), _CONTENT),
    fault("archive-drops-description", "Archiving forgets the description.",
          _before_change(lambda service, engagement, _: service.store.edit_engagement(
              engagement.id, {"description": None}, service.now())), _CONTENT),
    fault("archive-takes-neighbour", "Archiving an engagement archives the next one in the order of creation, too.",
          after_change(_archive_next), _SPARES),
    fault("archive-touches-others", "Archiving an engagement moves the updatedAt of all of them.",
          after_change(_touch_all), _SPARES),
    fault("archive-needs-description", "An engagement without a description cannot be archived.",
          refuse(ARCHIVE, 409, undescribed), _SUCCEEDS),
    fault("archive-needs-body", "Archiving without a body is refused.",
          refuse(ARCHIVE, 400, lambda at: not at.context.request.headers.get("content-type")), _SUCCEEDS),
    fault("archive-not-found", "Archiving is not served.",
          refuse(ARCHIVE, 404, step="authorize"), _SUCCEEDS),
    fault("archive-again-unarchives", "Archiving what is archived makes it active again.",
          instead(ARCHIVE, _toggle), _AGAIN),
    fault("archived-archive-drops-description",
          "Archiving an archived engagement is accepted, and its description is gone.",
          put_methods(archives_again=lambda _: True) | after_change(_forget_archived_description), _CONTENT),
    fault("archived-archive-answers-active", "Archiving what is archived is answered as if it were active.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="active"), archived), _STATUS),
    fault("archive-again-breaks", "Archiving what is archived ends in an unexpected error.",
          put_methods(archives_again=_raise_error), "no-server-error", _AGAIN),
    fault("archive-late", "An edit still slips in within 5 ms after the answer to an archive.",
          before(ARCHIVE, _note_time) | wrap("check_editable", _editable_for_a_moment), _AT_ONCE),
    fault("archive-keeps-updated-at", "Archiving does not refresh updatedAt.",
          put_methods(set_status=lambda service, engagement, status: service.store.edit_engagement(
              engagement.id, {"status": status}, engagement.updated_at)), _REFRESHES),
    fault("archive-later", "Archiving is done a little after its answer, which says that it is done.",
          instead(ARCHIVE, _archive_later), _STATUS, _AT_ONCE, _REFUSED),
    fault("archive-again-deletes", "Archiving what is archived deletes it.",
          put_methods(archives_again=lambda _: True)
          | after(ARCHIVE, lambda at: at.store.delete_engagement(at.engagement.id), archived),
          "archived-readable", _AGAIN),
    fault("archived-again-refused-touches", "Archiving once more is refused and moves updatedAt.",
          refuse(ARCHIVE, 409, archived) | refused_yet(ARCHIVE, lambda at: at.edit(), statuses=(409,)), _AGAIN),
    fault("archive-once-only", "An engagement that was archived before cannot be archived again once it is active.",
          before(ARCHIVE, note("archived")) | refuse(ARCHIVE, 409, _archived_before), _ARCHIVABLE, _SUCCEEDS),
    fault("archive-answers-name-as-id", "The answer to an archive has the name for the id.",
          wrap("view_archived", lambda _, honest, engagement: {**honest(engagement), "id": engagement.name}),
          "archive-engagement-answers-id"),
    fault("archive-answers-later-time",
          "The answer to an archive carries an updatedAt that is a millisecond later than that of a read.",
          wrap("view_archived", lambda _, honest, engagement:
               honest(replace(engagement, updated_at=engagement.updated_at + 1))),
          "archive-engagement-answers-updated-at"),
)  # fmt: skip

ARCHIVED = (
    fault("archived-editable", "An archived engagement can still be edited.",
          put_methods(check_editable=lambda *_: None), _REFUSED, _NOTHING),
    fault("archived-description-editable", "The description of an archived engagement can be edited.",
          before(EDIT, take_for_active, sends_only("description")), _REFUSED, _NOTHING),
    fault("archived-name-editable", "The name of an archived engagement can be edited.",
          before(EDIT, take_for_active, sends_only("name")), _REFUSED, _NOTHING),
    fault("archived-edit-ignored", "An edit of an archived engagement is answered as done, and not done.",
          instead(EDIT, lambda at: at.replied("edited"), archived), _REFUSED),
    *(fault(f"archived-edit-{status}", f"An edit of an archived engagement is refused with {status}.",
            refuse(EDIT, status, archived), _REFUSED) for status in (404, 401)),
    fault("archived-edit-applied", "An edit of an archived engagement is refused and done.",
          refused_yet(EDIT, lambda at: at.edit(**at.values), _edits_archived), _NOTHING),
    fault("archived-edit-touches", "A refused edit of an archived engagement moves its updatedAt.",
          refused_yet(EDIT, lambda at: at.edit(), _edits_archived), _NOTHING),
    fault("archived-not-deletable", "An archived engagement cannot be deleted.",
          refuse(DELETE, 409, archived), "archived-deletable"),
    *(fault(f"archived-read-{status}", f"Reading an archived engagement gives {status}.",
            refuse(READ, status, archived), "archived-readable") for status in (404, 410)),
)  # fmt: skip

UNARCHIVING = (
    *(fault(f"unarchive-{status}", f"Unarchiving an existing engagement gives {status}, {words}.",
            refuse(UNARCHIVE, status), *breaks) for status, words, *breaks in (
        (404, "as if there were no such operation", _SERVED),
        (405, "as if the path were known for something else", _SERVED),
        (401, "as if the key were bad", _SERVED),
        (500, "which no request is promised", "no-server-error", _SERVED))),
    fault("unarchived-not-editable", "An unarchived engagement reads active, but edits of it are refused.",
          before(UNARCHIVE, note("unarchived")) | refuse(EDIT, 409, noted("unarchived")), _EDITABLE),
    fault("unarchived-not-archivable", "An unarchived engagement reads active, but cannot be archived again.",
          before(UNARCHIVE, note("unarchived")) | refuse(ARCHIVE, 409, noted("unarchived")), _ARCHIVABLE),
    fault("unarchive-only-looks-so", "An unarchived engagement reads active, but stays archived within.",
          instead(UNARCHIVE, _only_note_unarchiving) | wrap("view_engagement", _unarchived_as_active),
          _EDITABLE, _ARCHIVABLE),
    fault("unarchive-deleted-succeeds", "Unarchiving a deleted engagement gives a success.",
          wrap("find", _find_unless_unarchived) | instead(UNARCHIVE, lambda at: at.success(
              {"id": at.context.resource_id, "status": "active"}), missing), "deleted-not-unarchived"),
    fault("unarchive-deleted-conflict", "Unarchiving a deleted engagement gives 409.",
          refuse(UNARCHIVE, 409, missing, step="find"), "deleted-not-unarchived"),
    fault("unarchive-moves-created-at", "An unarchived engagement shows the time of its unarchiving as createdAt.",
          before(UNARCHIVE, _note_unarchiving) | wrap("view_engagement", _unarchiving_as_creation),
          "created-at-never-changes"),
    fault("unarchive-moves-updated-at-back", "Unarchiving sets updatedAt to createdAt.",
          after(UNARCHIVE, lambda at: at.overwrite(updated_at=at.engagement.created_at), archived),
          "updated-at-never-goes-back"),
    fault("unarchived-listed-archived", "An unarchived engagement is still shown as archived by the list.",
          before(ARCHIVE, note("archived")) | wrap("view_item", _once_archived_as_archived),
          "list-engagements-as-read", "list-engagements-status-filter"),
)  # fmt: skip
