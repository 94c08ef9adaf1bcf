"""Counts of the organization in all reads of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.oracle.outcomes import Inapplicable, NonConformity
from conformance.scenarios.organization.counts_of_run import counts_in_doubt, expect_right_counts
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange, page
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

SCOPED, MEMBER = Credential.bearer("organizations:read", "s"), Credential.bearer("member_1", "m")
GIVEN = "cf-organization"


class Service(FakeRun):
    """A run with a service of two engagements and two members, whose counts are wrong under a name or for a key."""

    def __init__(self, wrong_name: str | None = None, wrong_key: Credential | None = None) -> None:
        super().__init__(self._respond, pace=0.1)
        self.wrong_name, self.wrong_key = wrong_name, wrong_key
        self.named = "Acme"

    def _respond(self, asked: Request) -> Exchange:
        if asked.operation.id == "updateCurrentOrganization":
            self.named = str(make_exchange(asked).sent_object["name"])  # type: ignore[index]
        if asked.operation.id in {"listEngagements", "listMembers"}:
            if asked.credential is SCOPED and asked.operation.id == "listEngagements":
                return make_exchange(asked, 403, {"error": {}})
            return page(["a", "b"], operation=asked.operation.id, total=2)
        by_key = self.wrong_key is not None and asked.credential == self.wrong_key
        count = 3 if by_key or self.named == self.wrong_name else 2
        return make_exchange(asked, 200, {"data": {"name": self.named, "engagementCount": count, "memberCount": count}})

    def read(self, *keys: Credential | None) -> None:
        """Read the organization between two lists, under its own name and under one of the run."""
        for name in ("Acme", GIVEN, "Acme"):
            self.send(requests.update_organization({"name": name}))
            for request in (requests.list_engagements(), requests.list_members()):
                self.send_all([request.with_key(key) if key is not None else request for key in keys])
            asked = requests.get_organization()
            self.send_all([asked.with_key(key) if key is not None else asked for key in keys])


@pytest.mark.parametrize("name", ["engagementCount", "memberCount"])
def test_right_counts_pass(name: str) -> None:
    """Right counts pass for every key without another request."""
    service = Service()
    service.read(None, SCOPED, MEMBER)
    sent = len(service.sent)

    expect_right_counts(service, name)

    assert len(service.sent) == sent


@pytest.mark.parametrize("name", ["engagementCount", "memberCount"])
@pytest.mark.parametrize(("wrong_name", "wrong_key"), [(GIVEN, None), ("Acme", None), (None, SCOPED), (None, MEMBER)])
def test_wrong_counts_fail(name: str, wrong_name: str | None, wrong_key: Credential | None) -> None:
    """A count fails that is wrong with one key only, or under one name only; the name is restored."""
    service = Service(wrong_name, wrong_key)
    service.read(None, SCOPED, MEMBER)

    with pytest.raises(NonConformity, match=f"{name} is not the total of the list") as fault:
        expect_right_counts(service, name)

    assert (fault.value.actual, service.named) == ("3 then 3", "Acme")


def test_a_count_that_is_right_by_now_passes() -> None:
    """Other users may have been the cause of a wrong count."""
    service = Service("Acme")
    service.read(None)
    service.wrong_name = None

    expect_right_counts(service, "engagementCount")


def test_nothing_to_compare() -> None:
    """Without a list, no count can be judged."""
    service = Service()
    service.send(requests.get_organization())

    with pytest.raises(Inapplicable):
        expect_right_counts(service, "engagementCount")


def listed(number: int, total: int, at: float, **query: object) -> Exchange:
    """Return a list of engagements."""
    return make_exchange(
        requests.list_engagements(**query), 200, {"data": [], "meta": {"total": total}}, number=number, at=at
    )


def organization(number: int, count: int, at: float) -> Exchange:
    """Return a read of the organization."""
    return make_exchange(
        requests.get_organization(), 200, {"data": {"name": "Acme", "engagementCount": count}}, number=number, at=at
    )


CREATED, DELETED = ("createEngagement", 201), ("deleteEngagement", 200)


@pytest.mark.parametrize(
    ("exchanges", "right", "doubtful"),
    [
        ([listed(1, 2, 0), organization(2, 2, 1)], 1, 0),
        ([listed(1, 2, 0), organization(2, 3, 1)], 0, 1),
        ([listed(1, 2, 0), make_exchange(*CREATED, number=2, at=1), organization(3, 3, 2)], 1, 0),
        ([listed(1, 2, 0), make_exchange(*CREATED, number=2, at=1), organization(3, 2, 2)], 0, 1),
        ([organization(1, 2, 0), make_exchange(*DELETED, number=2, at=1), listed(3, 1, 2)], 1, 0),
        ([organization(1, 1, 0), make_exchange(*DELETED, number=2, at=1), listed(3, 1, 2)], 0, 1),
        ([listed(1, 2, 0), make_exchange(*CREATED, number=2, at=1, seconds=2), organization(3, 9, 2)], 0, 0),
        ([listed(1, 9, 0, status="active"), organization(2, 2, 1)], 0, 0),
        ([listed(1, 2, 0), organization(2, 3, 1), listed(3, 4, 2)], 1, 0),
        ([listed(1, 2, 0), organization(2, 5, 1), listed(3, 4, 2)], 0, 1),
    ],
    ids=[
        "equal", "other", "created", "creation-uncounted", "deleted", "deletion-too-early", "overlapping", "filtered",
        "others-create", "beyond-both",
    ],
)  # fmt: skip
def test_counts_lie_between_the_lists_around_them(exchanges: Sequence[Exchange], right: int, doubtful: int) -> None:
    """A count is compared with the lists around it, changed by what the run did; other users may act in between."""
    assert tuple(map(len, counts_in_doubt(FakeRun(exchanges=exchanges), "engagementCount"))) == (right, doubtful)
