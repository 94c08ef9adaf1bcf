"""Faults of the subordinate records of a deleted engagement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults.mutations import fault, flat, put_methods, wrap
from conformance.reference.records import SUBORDINATE_KINDS

if TYPE_CHECKING:
    from conformance.reference.faults.mutations import Method, Mutation
    from conformance.reference.records import Engagement
    from conformance.reference.service import Service

_GO = ("targets", "tasks", "wiki-pages", "reports", "threat-models", "api-requests")


def _spare_engagements(status: str) -> Mutation:
    """Keep the records of engagements that had a status."""

    def around(_: Service, honest: Method, engagement: Engagement) -> None:
        if engagement.status != status:
            honest(engagement)

    return wrap("delete_subordinates", around)


def _delete_one(kind: str) -> Mutation:
    """Delete only the first record of a kind."""

    def delete_subordinates(service: Service, engagement: Engagement) -> None:
        for other in SUBORDINATE_KINDS:
            if other != kind:
                service.store.delete_subordinates(engagement.id, other)
        service.store.execute(
            "DELETE FROM subordinates WHERE rowid ="
            " (SELECT min(rowid) FROM subordinates WHERE engagement_id = ? AND kind = ?)",
            engagement.id,
            kind,
        )

    return put_methods(delete_subordinates=delete_subordinates)


def _delete_everywhere(kind: str) -> Mutation:
    """Delete the records of a kind of other engagements, too."""

    def around(service: Service, honest: Method, engagement: Engagement) -> None:
        honest(engagement)
        service.store.execute("DELETE FROM subordinates WHERE kind = ?", kind)

    return wrap("delete_subordinates", around)


CASCADES = flat(
    (fault(f"cascade-not-for-{status}", f"A deleted engagement that was {status} leaves its records behind.",
           _spare_engagements(status), *(f"subordinate-{kind}-go" for kind in _GO))
     for status in ("archived", "active")),
    (fault(f"cascade-takes-one-{kind}", f"A deleted engagement takes one {kind} with it, not all.",
           _delete_one(kind), f"subordinate-{kind}s-go") for kind in ("task", "target")),
    (fault(f"cascade-takes-every-{kind}".lower(), f"A deletion takes every {kind} of all engagements with it.",
           _delete_everywhere(kind), "subordinates-of-others-stay") for kind in ("target", "wikiPage", "apiRequest")),
)  # fmt: skip
