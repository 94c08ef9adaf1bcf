"""Faults of deletion: what stays of a deleted engagement, what else goes, and what becomes of its records."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.records import SUBORDINATE_KINDS

from .changes import edit, put
from .mutations import Method, after, before, fault, hide, instead, put_methods, refuse, refused_yet, view, wrap
from .operations import ARCHIVE, DELETE, EDIT, READ, UNARCHIVE
from .situations import Situation, archived, described, engagements, missing, note, noted

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service
    from conformance.reference.views import View

    from .mutations import Mutation

_UNREADABLE, _UNLISTED, _UNCOUNTED = "deleted-unreadable", "deleted-unlisted", "deleted-uncounted"
_UNDELETABLE, _UNEDITABLE, _UNARCHIVABLE = "deleted-undeletable", "deleted-uneditable", "deleted-unarchivable"
_SUCCEEDS, _AT_ONCE, _SPARES = "delete-engagement-succeeds", "delete-effective-at-once", "delete-spares-others"
_DELETED, _TRUE = (_UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE, _UNCOUNTED), "delete-engagement-answers-true"
_A_MOMENT = 0.005
_RECORDS = {"target": "targets", "wikiPage": "wiki-pages", "report": "reports", "threatModel": "threat-models",
            "apiRequest": "api-requests", "task": "tasks"}  # fmt: skip
_GO = tuple(f"subordinate-{words}-go" for words in (
    "targets", "tasks", "wiki-pages", "reports", "threat-models", "api-requests"))  # fmt: skip


def _find_deleted(operation: str, *, seconds: float = math.inf) -> Mutation:
    """Find deleted engagements in requests of an operation, for some time after their deletion."""

    def remember(at: Situation) -> None:
        at.remembered("deleted", {})[at.engagement.id] = (at.engagement, at.service.seconds())

    def find(service: Service, honest: Method, context: RequestContext) -> Engagement:
        deleted: dict[str, tuple[Engagement, float]] = service.memory.get("deleted", {})
        if context.operation.id == operation and context.resource_id in deleted:
            engagement, deleted_at = deleted[context.resource_id]
            if service.seconds() - deleted_at < seconds:
                return engagement
        found: Engagement = honest(context)
        return found

    return before(DELETE, remember) | wrap("find_engagement", find)


def _restore(operation: str) -> Mutation:
    """Store a deleted engagement again if an operation on it is refused."""

    def remember(at: Situation) -> None:
        at.remembered("deleted", {})[at.engagement.id] = at.engagement

    def restore(at: Situation) -> None:
        if engagement := at.remembered("deleted", {}).pop(at.context.resource_id, None):
            at.store.add_engagement(engagement)

    return before(DELETE, remember) | refused_yet(operation, restore)


def _delete_others(are_deleted: Callable[[Engagement, Engagement], bool]) -> Mutation:
    """Delete others with an engagement; ``are_deleted`` gets the one to delete and another one."""

    def delete(at: Situation) -> None:
        for other in at.other_engagements:
            if are_deleted(at.engagement, other):
                at.store.delete_engagement(other.id)

    return before(DELETE, delete)


def _delete_next(at: Situation) -> None:
    later = [other for other in at.engagements if other.created_at >= at.engagement.created_at]
    for other in later[:1]:
        at.store.delete_engagement(other.id)


def _only_archive(at: Situation) -> Reply:
    at.service.set_status(at.engagement, "archived")
    return at.replied("deleted")


def _delete_later(at: Situation) -> Reply:
    at.service.later(lambda: at.store.delete_engagement(at.engagement.id))
    return at.replied("deleted")


def _only_note_deletion(at: Situation) -> Reply:
    note("deleted")(at)
    at.service.delete_subordinates(at.engagement)
    return at.replied("deleted")


def _count_deleted(service: Service, honest: Method, organization: Organization) -> int:
    count: int = honest(organization) + len(service.memory.get("deleted", ()))
    return count


def _list_deleted(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    page: Page[Engagement] = honest(query)
    if query.status != "archived" or query.offset:
        return page
    deleted = service.memory.get("deleted", ())
    deleted = tuple(each for each in deleted if each.organization_id == query.organization_id)
    return replace(page, items=(*page.items, *deleted)[: query.limit], total=page.total + len(deleted))


def _leave(kind: str, *, delete_first: bool = False) -> Mutation:
    """Delete no records of a kind, or only the first one."""

    def delete_subordinates(service: Service, engagement: Engagement) -> None:
        for other in SUBORDINATE_KINDS:
            if other != kind:
                service.store.delete_subordinates(engagement.id, other)
        if delete_first:
            service.store.execute(
                "DELETE FROM subordinates WHERE rowid ="
                " (SELECT min(rowid) FROM subordinates WHERE engagement_id = ? AND kind = ?)",
                engagement.id,
                kind,
            )

    return put_methods(delete_subordinates=delete_subordinates)


def _spare_engagements(status: str) -> Mutation:
    """Keep the records of engagements that had a status."""
    return wrap("delete_subordinates", lambda _, honest, engagement:
                None if engagement.status == status else honest(engagement))  # fmt: skip


def _delete_everywhere(kind: str) -> Mutation:
    """Delete the records of a kind of other engagements, too."""

    def around(service: Service, honest: Method, engagement: Engagement) -> None:
        honest(engagement)
        service.store.execute("DELETE FROM subordinates WHERE kind = ?", kind)

    return wrap("delete_subordinates", around)


def _delete_all_reports(service: Service, honest: Method, engagement: Engagement) -> None:
    honest(engagement)
    for other in engagements(service, engagement.organization_id):
        service.store.delete_subordinates(other.id, "report")


def _deleted_if_described(_: Service, honest: Method, engagement: Engagement) -> View:
    return {**honest(engagement), "deleted": bool(engagement.description)}


FOUND = (
    fault("deleted-readable", "A deleted engagement can still be read.", _find_deleted(READ), _UNREADABLE, _AT_ONCE),
    fault("deleted-editable", "A deleted engagement can still be edited.", _find_deleted(EDIT), _UNEDITABLE),
    fault("deleted-deletable", "A deleted engagement can be deleted again.", _find_deleted(DELETE), _UNDELETABLE),
    fault("deleted-archivable", "A deleted engagement can be archived.",
          _find_deleted(ARCHIVE) | instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), missing),
          _UNARCHIVABLE),
    fault("deletion-late", "A deleted engagement can still be read within 5 ms after the answer.",
          _find_deleted(READ, seconds=_A_MOMENT), _AT_ONCE, _UNREADABLE),
    *(fault(f"deleted-{word}-{status}", f"A missing engagement gives {status} instead of 404 for {operation}.",
            refuse(operation, status, missing, step="find"), *breaks) for word, operation, status, *breaks in (
        ("read", READ, 410, _UNREADABLE, "get-unknown-engagement"),
        ("edit", EDIT, 409, _UNEDITABLE, "update-unknown-engagement"),
        ("delete", DELETE, 400, _UNDELETABLE),
        ("archive", ARCHIVE, 409, _UNARCHIVABLE, "archive-unknown-engagement"))),
    *(fault(f"deleted-{operation.lower()}-restores", f"{word} a deleted engagement is refused, and brings it back.",
            _restore(operation), *breaks, _UNLISTED, _UNREADABLE) for word, operation, *breaks in (
        ("Editing", EDIT, _UNDELETABLE), ("Archiving", ARCHIVE, _UNDELETABLE), ("Unarchiving", UNARCHIVE, _UNDELETABLE),
        ("Deleting", DELETE))),
    fault("deleted-still-listed", "A deleted engagement is not found any more, but still listed and counted.",
          instead(DELETE, _only_note_deletion) | hide(noted("deleted")), _UNLISTED, _UNCOUNTED),
    fault("deleted-counted", "The organization still counts deleted engagements.",
          before(DELETE, note("deleted")) | wrap("count_engagements", _count_deleted),
          _UNCOUNTED, "engagement-count-agrees"),
    fault("deleted-archived-still-listed",
          "An archived engagement that was deleted stays in the list of archived ones.",
          before(DELETE, lambda at: at.remembered("deleted", []).append(at.engagement), archived)
          | wrap("find_engagements", _list_deleted), _UNLISTED),
)  # fmt: skip

NOT_DONE = (
    fault("delete-does-nothing", "A deletion answers as if it had been done.",
          instead(DELETE, lambda at: at.replied("deleted")), _UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE),
    fault("delete-archives", "A deletion only archives.",
          instead(DELETE, _only_archive), _UNREADABLE, _UNLISTED, _UNDELETABLE, _UNEDITABLE),
    fault("delete-needs-archive", "An active engagement cannot be deleted.",
          refuse(DELETE, 409, lambda at: not archived(at)), _SUCCEEDS),
    fault("deletion-later", "A deletion is done a little after its answer.",
          instead(DELETE, _delete_later), _AT_ONCE, _UNREADABLE),
    *(fault(f"deletion-spares-{word}", f"The deletion of an {which} is answered as done, and not done.",
            instead(DELETE, lambda at: at.replied("deleted"), when), *_DELETED, *breaks)
      for word, which, when, *breaks in (
        ("archived", "archived engagement", archived, "archived-deletable"),
        ("described", "engagement with a description", described),
        ("edited", "engagement that was changed",
         lambda at: at.engagement.updated_at > at.engagement.created_at),
        ("untouched", "engagement that was never changed",
         lambda at: at.engagement.updated_at == at.engagement.created_at))),
)  # fmt: skip

OTHERS = (
    fault("delete-takes-neighbour", "A deletion takes the engagement created next with it.",
          after(DELETE, _delete_next), _SPARES),
    fault("delete-by-name", "A deletion takes every engagement of the same name.",
          _delete_others(lambda deleted, other: deleted.name == other.name),
          _SPARES, "create-engagement-duplicate-name"),
    fault("deletion-takes-archived", "The deletion of an archived engagement takes all archived ones.",
          _delete_others(lambda deleted, other: deleted.status == other.status == "archived"), _SPARES),
    fault("deletion-takes-older", "A deletion takes what was created within the second before.",
          _delete_others(lambda deleted, other: deleted.created_at - other.created_at in range(1000)), _SPARES),
    fault("deletion-takes-same-description", "A deletion takes every engagement of the same description.",
          _delete_others(lambda deleted, other: bool(deleted.description) and deleted.description == other.description),
          _SPARES),
)  # fmt: skip

SHOWN = (
    fault("delete-answers-false", "The answer to a deletion says that nothing was deleted.",
          view("deleted", put(deleted=False)), _TRUE),
    fault("delete-answers-other-id", "The answer to a deletion carries another identifier.",
          view("deleted", edit(id=lambda text: f"{text}0")), _TRUE),
    fault("deletion-says-yes", "The answer to a deletion has the number 1 for true.",
          view("deleted", put(deleted=1)), "delete-engagement-fields"),
    fault("undescribed-deleted-false",
          "The deletion of an engagement without a description says that it was not deleted.",
          wrap("view_deleted", _deleted_if_described), _TRUE),
)  # fmt: skip

RECORDS = (
    *(fault(f"cascade-leaves-{words}", f"A deleted engagement leaves its {words.replace('-', ' ')} behind.",
            _leave(kind), f"subordinate-{words}-go") for kind, words in _RECORDS.items()),
    fault("cascade-takes-neighbours", "A deletion takes the reports of all other engagements with it.",
          wrap("delete_subordinates", _delete_all_reports), "subordinates-of-others-stay"),
    fault("cascade-not-at-all", "A deleted engagement leaves all its records behind.",
          put_methods(delete_subordinates=lambda *_: None),
          *(f"subordinate-{words}-go" for words in _RECORDS.values())),
    *(fault(f"cascade-not-for-{status}", f"A deleted engagement that was {status} leaves its records behind.",
            _spare_engagements(status), *_GO) for status in ("archived", "active")),
    *(fault(f"cascade-takes-one-{kind}", f"A deleted engagement takes one {kind} with it, not all.",
            _leave(kind, delete_first=True), f"subordinate-{kind}s-go") for kind in ("task", "target")),
    *(fault(f"cascade-takes-every-{kind}".lower(), f"A deletion takes every {kind} of all engagements with it.",
            _delete_everywhere(kind), "subordinates-of-others-stay") for kind in ("target", "wikiPage", "apiRequest")),
)  # fmt: skip
