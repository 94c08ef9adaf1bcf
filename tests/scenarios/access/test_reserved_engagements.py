"""Engagements in every state, for requests that must be refused."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.scenarios.access.reserved_engagements import (
    LastChange,
    ReservedEngagements,
    engagements_in_every_state,
)
from conformance.targets.profile import Mode
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


class Service(FakeRun):
    """A run with a service of engagements.

    Args:
        unique: Whether a name may be used once only.
        described: Whether descriptions are accepted.
    """

    mode = Mode.DEFAULT

    def __init__(self, *, unique: bool = False, described: bool = True) -> None:
        super().__init__(self._respond)
        self.unique, self.described = unique, described
        self.statuses: dict[str, str] = {}
        self.used: list[object] = []
        self.numbers = count(1)

    def name(self, label: str) -> str:
        """Return a new name."""
        return f"{label} {next(self.numbers)}"

    def _respond(self, sent: Request) -> Exchange:
        match sent.operation.id:
            case "createEngagement":
                return self._create(make_exchange(sent))
            case "archiveEngagement":
                self.statuses[sent.identifier or ""] = "archived"
            case "unarchiveEngagement":
                self.statuses[sent.identifier or ""] = "active"
            case "deleteEngagement":
                del self.statuses[sent.identifier or ""]
        status = self.statuses.get(sent.identifier or "")
        found = {"data": {"id": sent.identifier, "status": status}}
        return make_exchange(sent, 200 if status else 404, found if status else {"error": {}})

    def _create(self, exchange: Exchange) -> Exchange:
        body = exchange.sent_fields
        if "description" in body and not self.described:
            return make_exchange(exchange.request, 422, {"error": {}})
        if self.unique and body["name"] in self.used:
            return make_exchange(exchange.request, 409, {"error": {}})
        self.used.append(body["name"])
        made = f"e{next(self.numbers)}"
        self.statuses[made] = "active"
        return make_exchange(exchange.request, 201, {"data": {"id": made}})


@pytest.mark.parametrize(("unique", "described"), [(False, True), (True, True), (False, False), (True, False)])
def test_there_is_an_engagement_in_every_state(*, unique: bool, described: bool) -> None:
    """A service may refuse a used name, and a description."""
    service = Service(unique=unique, described=described)

    found = engagements_in_every_state(service)

    assert list(found.ids) == list(LastChange)
    assert {state: found.status(identifier) for state, identifier in found.ids.items()} == {
        LastChange.NEW: "active",
        LastChange.ARCHIVED: "archived",
        LastChange.EDITED: "active",
        LastChange.ARCHIVED_AGAIN: "archived",
        LastChange.EDIT_REFUSED: "archived",
        LastChange.UNARCHIVED: "active",
        LastChange.DELETED: None,
    }
    assert len(set(service.used)) == (7 if unique else 2)
    assert (found.active, found.archived) == (found.ids[LastChange.NEW], found.ids[LastChange.ARCHIVED])


def test_a_read_only_run_has_no_targets() -> None:
    """It creates nothing."""
    service = Service()
    service.mode = Mode.READ_ONLY

    found = engagements_in_every_state(service)
    assert (found.ids, found.turn(3), found.active, found.archived, service.sent) == ({}, None, None, None, [])


def test_targets_come_in_turn() -> None:
    """Only those of a status, if it matters."""
    reads = {
        name: make_exchange("getEngagement", body={"data": {"status": status}})
        for name, status in (("a", "active"), ("b", "archived"), ("c", "active"))
    }
    found = ReservedEngagements({LastChange.NEW: "a", LastChange.ARCHIVED: "b", LastChange.EDITED: "c"}, reads)

    assert [found.turn(number) for number in range(4)] == ["a", "b", "c", "a"]
    assert [found.turn(number, "active") for number in range(3)] == ["a", "c", "a"]
