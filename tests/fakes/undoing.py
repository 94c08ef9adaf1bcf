"""Engagements of a run and of other users, and undoing at the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.targets.membership import Membership
from conformance.targets.ownership import Ownership
from conformance.targets.queries import QueryClient
from conformance.targets.undo import undo
from conformance.wire import requests
from tests.fakes.service import PREFIX

if TYPE_CHECKING:
    from conformance.targets.journal import Journal
    from conformance.targets.pending import UndoResult

FOREIGN = {"f_1": "Quarterly audit", "f_2": "cf-zzzzzz22-other run", "f_3": ""}


def undone(service: Any, journal: Journal, lateness: float = 0.0) -> UndoResult:
    """Undo at the end of the run itself."""
    ownership = Ownership(journal.names, service.send_all)
    membership = Membership(service.send_all)
    service.observers += [ownership, membership]
    queries = QueryClient(service.send, service.send_all)
    return undo(journal, ownership, membership, queries, lateness=lateness)


def make(service: Any, *labels: str) -> None:
    """Create engagements of the run."""
    for label in labels:
        service.send(requests.create_engagement({"name": f"{PREFIX}{label}"}))
