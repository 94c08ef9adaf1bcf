"""Faults of deletion: what stays of a deleted engagement, what else goes, and what becomes of its records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from conformance.operations import KINDS

from .changes import edit, put
from .conditions import archived, described, missing, noted, sends
from .mutations import Method, after, at_step, before, fault, hide, instead, override, refuse, refused_yet, wrap
from .operations import ARCHIVE, DELETE, EDIT, READ, UNARCHIVE
from .pages import list_deleted
from .replies import view
from .situations import Situation, engagements, note, recalled, remember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.reference.records import Engagement
    from conformance.reference.service import Service

    from .mutations import Mutation

_UNREADABLE, _UNLISTED, _UNCOUNTED = "deleted-unreadable", "deleted-unlisted", "deleted-uncounted"
_UNDELETABLE, _UNEDITABLE, _UNARCHIVABLE = "deleted-undeletable", "deleted-uneditable", "deleted-unarchivable"
_AT_ONCE, _SPARES = "delete-effective-at-once", "delete-spares-others"
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


def _cascade_by_name(service: Service, honest: Method, engagement: Engagement) -> None:
    honest(engagement)
    for other in engagements(service, engagement.organization_id):
        if other.name == engagement.name:
            honest(other)


FOUND = (
    fault("deleted-readable", "A deleted engagement can still be read.", _find_deleted(READ), _UNREADABLE, _AT_ONCE),
    fault("deleted-editable", "A deleted engagement can still be edited.", _find_deleted(EDIT), _UNEDITABLE),
    fault("deleted-deletable", "A deleted engagement can be deleted again.", _find_deleted(DELETE), _UNDELETABLE),
    fault("deleted-archivable", "A deleted engagement can be archived.",
          _find_deleted(ARCHIVE) | instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), missing),
          _UNARCHIVABLE),
    fault("deletion-late", "A deleted engagement can still be read for 5 ms after the response.",
          _find_deleted(READ, seconds=_A_MOMENT), _AT_ONCE, _UNREADABLE),
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
              lambda: at.store.delete_engagement(at.engagement.id))), _AT_ONCE, _UNREADABLE),
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
              other for other in at.engagements if other.created_at >= at.engagement.created_at][:1])), _SPARES),
    fault("delete-by-name", "A deletion also deletes every engagement of the same name.",
          _delete_others(lambda deleted, other: deleted.name == other.name),
          _SPARES, "create-engagement-duplicate-name"),
    fault("deletion-takes-archived", "The deletion of an archived engagement deletes all archived engagements.",
          _delete_others(lambda deleted, other: deleted.status == other.status == "archived"), _SPARES),
    fault("deletion-takes-older",
          "A deletion also deletes engagements created within the second before the engagement.",
          _delete_others(lambda deleted, other: deleted.created_at - other.created_at in range(1000)), _SPARES),
    fault("deletion-takes-same-description", "A deletion also deletes every engagement of the same description.",
          _delete_others(lambda deleted, other: bool(deleted.description) and deleted.description == other.description),
          _SPARES),
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
    fault("cascade-by-name", "A deletion also deletes the subordinate records of engagements of the same name.",
          wrap("delete_subordinates", _cascade_by_name), "subordinates-of-others-stay"),
    fault("cascade-not-at-all", "A deletion keeps all subordinate records of the engagement.",
          override(delete_subordinates=lambda *_: None),
          *(f"subordinate-{words}-go" for words in _RECORDS.values())),
    *(fault(f"cascade-not-for-{status}", f"The deletion of an {status} engagement keeps its subordinate records.",
            wrap("delete_subordinates", lambda _, honest, engagement, status=status:
                 None if engagement.status == status else honest(engagement)), *_GO)
      for status in ("archived", "active")),
    *(fault(f"cascade-not-if-{word}", f"The deletion of an engagement that was {word} keeps its subordinate records.",
            change | wrap("delete_subordinates", lambda service, honest, engagement:
                          None if engagement.id in service.memory.get("changed", ()) else honest(engagement)), *_GO)
      for word, change in (("renamed", after(EDIT, note("changed"), sends("name"))),
                           ("unarchived", after(UNARCHIVE, note("changed"))))),
    *(fault(f"cascade-takes-one-{kind}", f"A deletion deletes only one {kind} of the engagement.",
            _leave(kind, delete_first=True), f"subordinate-{kind}s-go") for kind in ("task", "target")),
    fault("cascade-takes-all-late", "Every deletion after the twenty-fifth deletes the tasks of all engagements.",
          after(DELETE, lambda at: at.service.memory.update(deletions=at.remembered("deletions", 0) + 1))
          | _delete_too("task", everywhere=True, from_deletion=25), "subordinates-of-others-stay"),
    *(fault(f"cascade-takes-every-{kind}".lower(), f"A deletion deletes every {kind} of all engagements.",
            _delete_too(kind, everywhere=True), "subordinates-of-others-stay")
      for kind in ("target", "wikiPage", "apiRequest")),
)  # fmt: skip
