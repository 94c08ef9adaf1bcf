"""Outcomes for records of deleted engagements, and of engagements whose deletion failed."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.checks.test_s2_cascade import test_records_go as records_gone
from conformance.checks.test_s2_cascade import test_records_of_neighbour_stay as neighbour
from conformance.checks.test_s2_cascade import test_records_of_the_last_engagement_go as last_records_gone
from conformance.checks.test_s2_cascade import test_records_of_the_last_engagement_stay as last_engagement
from conformance.interface.operations import KINDS
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.engagements.cascade import Cascade, Record, archive_neighbour, cascade
from conformance.scenarios.engagements.final_deletion import FinalDeletion
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

SUCCESSES = {
    "createEngagement": 201,
    "updateEngagement": 200,
    "archiveEngagement": 200,
    "unarchiveEngagement": 200,
    "deleteEngagement": 200,
    "getEngagement": 404,
}
"""Responses of a correct service; reads are sent only after the deletions."""


class Service(FakeRun):
    """A run with a service of engagements whose records are deleted with them.

    Args:
        responses: Statuses that differ from a correct service's, by operation or by operation and engagement number.
        stays: Whether records survive the deletion of their engagement.

    Attributes:
        hidden: The kinds of records that an archived engagement does not show.
        archived: The engagements that were archived.
    """

    def __init__(self, responses: dict[object, int], *, stays: bool = False) -> None:
        super().__init__(self._respond, fixtures=self)
        self.responses, self.stays = responses, stays
        self.hidden: tuple[str, ...] = ()
        self.archived: set[str] = set()
        self.records: dict[str, str] = {}
        self.numbers: Iterator[int] = count(1)

    def _respond(self, sent: Request) -> Exchange:
        if sent.credential is not None and sent.credential.invalid:
            return make_exchange(sent, 401, {"error": {}})
        operation = sent.operation.id
        if operation == "listEngagements":
            return make_exchange(sent, 200, {"data": [], "meta": {}})
        identifier = sent.identifier or f"e{next(self.numbers)}"
        status = self.responses.get((operation, identifier), self.responses.get(operation, SUCCESSES[operation]))
        if operation == "archiveEngagement":
            self.archived.add(identifier)
        if operation == "deleteEngagement" and status == 200 and not self.stays:
            self.records = {record: owner for record, owner in self.records.items() if owner != identifier}
        data = {"data": {"id": identifier, "name": "The neighbour"}}
        return make_exchange(operation, status, data if status < 300 else {"error": {}})

    def scoped_key(self, scope: str) -> Credential:
        """Refuse: there is only the main key."""
        raise MissingMeans(f"key:{scope}", "There is no such key.")

    def make_subordinate(self, engagement: str, kind: str) -> str:
        """Make a record."""
        record = f"{kind} {next(self.numbers)}"
        self.records[record] = engagement
        return record

    def subordinate_exists(self, engagement: str, kind: str, record: str) -> bool:
        """Whether a record exists."""
        if engagement in self.archived and kind in self.hidden:
            return False
        return self.records.get(record) == engagement and record.startswith(kind)


def seen(responses: dict[object, int] | None = None, *, stays: bool = False) -> tuple[Service, Cascade]:
    """Return a fake service and the result of the scenario."""
    service = Service(responses or {}, stays=stays)
    return service, cascade(service)


def test_records_that_go() -> None:
    """Deleted records raise nothing, and no deleted engagement is read."""
    service, found = seen()

    records_gone(found, "task")
    read = {request.identifier for request in service.sent if request.operation.id == "getEngagement"}
    assert read <= {found.neighbour}


def test_the_first_engagement_has_many_records_of_one_kind() -> None:
    """Four of one kind, two of each other, so that a deletion that forgets the later ones shows."""
    _, found = seen()

    numbers = Counter(record.kind for record in found.deleted_records[0])
    assert sorted(numbers.values()) == [2] * (len(KINDS) - 1) + [4]


@pytest.mark.parametrize(("renaming", "updates"), [(200, 2), (409, 3)])
def test_a_deleted_engagement_has_the_name_of_its_neighbour(renaming: int, updates: int) -> None:
    """If the service refuses a duplicate, the engagement gets another name."""
    statuses = iter([renaming, 200, 200])
    service = Service({"getEngagement": 200})
    honest = service.respond

    def respond(sent: Request) -> Exchange:
        if sent.operation.id == "updateEngagement":
            service.responses["updateEngagement"] = next(statuses)
        return honest(sent)

    service.respond = respond
    cascade(service)
    sent = [request.body for request in service.sent if request.operation.id == "updateEngagement"]
    assert sent[:2] == [requests.encode({"name": name}) for name in ("The neighbour", "The neighbou")]
    assert len(sent) == updates


def test_records_that_stay() -> None:
    """Surviving records are a failure if the engagement itself is gone."""
    _, found = seen(stays=True)

    with pytest.raises(NonConformity, match="the task of a deleted engagement still exists"):
        records_gone(found, "task")


def test_records_of_an_engagement_that_stays() -> None:
    """Surviving records are undecided if the engagement survives, since another requirement judges that."""
    _, found = seen({"getEngagement": 200}, stays=True)

    with pytest.raises(CantTell, match="the engagement itself still exists"):
        records_gone(found, "task")


def test_records_where_another_deletion_fails() -> None:
    """Records of the deleted engagement are read, and gone, although another deletion failed."""
    _, found = seen({("deleteEngagement", "e2"): 409})

    with pytest.raises(CantTell, match="deleteEngagement returned 409"):
        records_gone(found, "task")


def at_the_end(hidden: Iterable[str], *, lost: bool = False) -> tuple[Cascade, FinalDeletion]:
    """Return the records of an engagement that hides some kinds when it is archived, after another was deleted.

    Args:
        hidden: The kinds.
        lost: Whether its first record had gone with the other engagements before.
    """
    service, found = seen()
    service.hidden = tuple(hidden)
    if lost:
        service.records.pop(found.kept[0].id or "")
        found.kept[0].is_there = False
    kept = tuple(archive_neighbour(service, found))
    gone = make_exchange(requests.delete_engagement("e99"), 200, {"data": {}})
    return found, FinalDeletion({"e99": gone}, frozenset(), (), gone, gone, kept)


def test_records_that_an_archive_hides_are_not_judged() -> None:
    """The other records are judged, and the hidden ones stay as they were before."""
    found, final = at_the_end(["task", "report"])

    last_engagement(found, final)
    assert {record.kind for record in final.kept} == set(KINDS) - {"task", "report"}
    neighbour(found)


def test_a_record_that_was_gone_before_the_archive_is_judged() -> None:
    """The archive does not hide it."""
    found, final = at_the_end(KINDS, lost=True)

    with pytest.raises(NonConformity, match=f"the {found.kept[0].kind} of another engagement is gone"):
        last_engagement(found, final)


def test_an_archive_that_hides_every_record() -> None:
    """Without a record that can be read, nothing is judged."""
    with pytest.raises(MissingMeans, match="cannot be read in an archive"):
        last_engagement(*at_the_end(KINDS))


@pytest.mark.parametrize("numbers", [[9, 1, 2, 3, 1, 4, 5], [1, 1, 2, 3, 4, 5]], ids=["new", "known"])
def test_no_engagement_is_deleted_twice(numbers: list[int]) -> None:
    """A service that gives the same id again could have given it to another user's engagement between two deletions."""
    service = Service({})
    service.numbers = iter(numbers)
    service.send(requests.create_engagement({"name": "Created by another scenario"}))

    with pytest.raises(CantTell, match="several creations got the same id"):
        cascade(service)
    assert not any(request.operation.id == "deleteEngagement" for request in service.sent)


def test_records_of_the_engagement_deleted_last() -> None:
    """The engagement was refused to some keys before; its records go with it."""
    record = Record("task", "e1", "r1", was_there=True)
    deletion = make_exchange(requests.delete_engagement("e1"), 200, {"data": {}})
    final = FinalDeletion({"e1": deletion}, frozenset(), (), deletion, deletion, (record,), (record,))

    last_records_gone(final, "task")
    with pytest.raises(Inapplicable):
        last_records_gone(final, "report")
    record.is_there = True
    with pytest.raises(NonConformity, match="the task of a deleted engagement still exists"):
        last_records_gone(final, "task")
