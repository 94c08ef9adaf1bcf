"""Engagements of the run in every state, reserved for requests that must be refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import QUOTED, field_or_none
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def _edit(identifier: str) -> Request:
    return requests.update_engagement(identifier, {"description": f"Edited. {QUOTED}"})


class LastChange(StrEnum):
    """Last changes of an engagement, named as in the coverage of a run."""

    NEW = "new"
    ARCHIVED = "archived"
    EDITED = "edited"
    ARCHIVED_AGAIN = "archived again"
    EDIT_REFUSED = "edit refused"
    UNARCHIVED = "unarchived"
    DELETED = "deleted"


_PATHS: Final[Mapping[LastChange, tuple[Callable[[str], Request] | None, ...]]] = MappingProxyType(
    {
        LastChange.NEW: (),
        LastChange.ARCHIVED: (requests.archive_engagement,),
        LastChange.EDITED: (None, _edit),  # between an archive and an unarchiving, for lists by updatedAt
        LastChange.ARCHIVED_AGAIN: (
            requests.archive_engagement,
            requests.unarchive_engagement,
            requests.get_engagement,  # if it is active now, it must not become active by itself later
            requests.archive_engagement,
        ),
        LastChange.EDIT_REFUSED: (requests.archive_engagement, _edit),
        LastChange.UNARCHIVED: (requests.archive_engagement, None, requests.unarchive_engagement),
        LastChange.DELETED: (requests.delete_engagement,),
    }
)
"""The requests that lead a new engagement to each state, step by step; None is a step without a request."""
NEEDED_STATUS: Final = {"updateEngagement": "active", "archiveEngagement": "active", "unarchiveEngagement": "archived"}
"""The status without which a service may refuse an operation for the state of the engagement."""


@dataclass(frozen=True, slots=True)
class ReservedEngagements:
    """Engagements by their state; until the last look, they get only requests that must be refused.

    Attributes:
        ids: The ids; states that the service did not lead to are missing.
        reads: A read of each, after the last change.
        freed: The name that the deleted one had.
        name: The name that the first one has.
    """

    ids: Mapping[LastChange, str]
    reads: Mapping[str, Exchange]
    freed: str = ""
    name: str = ""

    @property
    def active(self) -> str | None:
        """The id of an engagement that is active for certain."""
        return self.ids.get(LastChange.NEW)

    @property
    def archived(self) -> str | None:
        """The id of an archived engagement; None if its read does not show it as archived."""
        identifier = self.ids.get(LastChange.ARCHIVED)
        return identifier if identifier is not None and self.status(identifier) == "archived" else None

    def status(self, identifier: str) -> object:
        """Return the status of an engagement; None if its read shows none."""
        found = self.reads.get(identifier)
        return field_or_none(found, "status") if found is not None and found.accepted else None

    def permits(self, operation: str, identifier: str | None) -> bool:
        """Whether no state is a reason to refuse an operation; the engagement must be one of these."""
        status = self.status(identifier or "")
        return status is not None and NEEDED_STATUS.get(operation, status) == status

    def turn(self, number: int, status: str | None = None) -> str | None:
        """Return the id of the state with a number, in turn; None if there are no engagements.

        Args:
            number: The number, from 0.
            status: The status that the engagement must have; by default any, or none if it is deleted.
        """
        ids = [identifier for identifier in self.ids.values() if status in {None, self.status(identifier)}]
        return ids[number % len(ids)] if ids else None


@scenario
def engagements_in_every_state(run: Run) -> ReservedEngagements:
    """Create an engagement for each state and lead it there; return none if the run may not write.

    All but the deleted one have the same name, unless the service refuses that, so that a change by name shows. It has
    the word "active", which a filter by status must not search for.
    """
    if run.mode is Mode.READ_ONLY:
        return ReservedEngagements({}, {})
    body = {"name": run.name("active"), "description": QUOTED}
    created = [run.send(requests.create_engagement(body))]
    if not created[0].accepted:  # a description may be refused
        created = [run.send(requests.create_engagement(body := {"name": body["name"]}))]
    freed = run.name("deleted")
    bodies = [body] * (len(LastChange) - 2) + [
        body | {"name": freed} | ({"description": "true"} if "description" in body else {})
    ]
    again = run.send_all([requests.create_engagement(other) for other in bodies])
    if not all(creation.accepted for creation in again[:-1]):
        bodies = [body | {"name": run.name("active")} for _ in again[:-1]]
        again[:-1] = run.send_all([requests.create_engagement(other) for other in bodies])
    created += again
    ids = {
        state: made
        for state, creation in zip(LastChange, created, strict=True)
        if (made := read.identifier_or_none(creation)) is not None
    }
    if len(set(ids.values())) < len(ids):  # another check reports identifiers that are given twice
        return ReservedEngagements({}, {})
    paths = [[step and step(made) for step in _PATHS[state]] for state, made in ids.items()]
    for step in zip_longest(*paths):
        run.send_all([request for request in step if request is not None])
    reads = run.send_all([requests.get_engagement(identifier) for identifier in ids.values()])
    return ReservedEngagements(ids, dict(zip(ids.values(), reads, strict=True)), freed, body["name"])
