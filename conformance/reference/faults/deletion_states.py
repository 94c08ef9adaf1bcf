"""Faults of deleting engagements, of which parts remain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults.mutations import Situation, fault, instead, note, noted, put_methods, wrap
from conformance.reference.records import SUBORDINATE_KINDS

if TYPE_CHECKING:
    from conformance.reference.faults.mutations import Method
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

_note_deletion, _is_deleted = note("deleted"), noted("deleted")


def _only_note_deletion(at: Situation) -> Reply:
    _note_deletion(at)
    at.service.delete_subordinates(at.engagement)
    return at.replied("deleted")


def _find_unless_deleted(service: Service, honest: Method, context: RequestContext) -> Engagement:
    if _is_deleted(Situation(service, context)):
        raise service.not_found("engagement")
    found: Engagement = honest(context)
    return found


def _delete_all_but_tasks(service: Service, engagement: Engagement) -> None:
    for kind in SUBORDINATE_KINDS:
        if kind != "task":
            service.store.delete_subordinates(engagement.id, kind)


REMAINING = (
    fault("deleted-still-listed", "A deleted engagement is not found any more, but still listed and counted.",
          instead("deleteEngagement", _only_note_deletion) | wrap("find_engagement", _find_unless_deleted),
          "deleted-unlisted", "deleted-uncounted"),
    fault("cascade-leaves-tasks", "A deleted engagement leaves its tasks behind.",
          put_methods(delete_subordinates=_delete_all_but_tasks), "subordinate-tasks-go"),
)  # fmt: skip
