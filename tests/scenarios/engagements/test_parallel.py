"""Edits that are refused beside others, and sent again alone."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.checks.test_s4_parallel import test_parallel_updates_both_take_effect as judge
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.engagements.parallel import parallel_creation, parallel_edits
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun


class Run(FakeRun):
    """A run whose edits get given statuses in sequence; the last status repeats."""

    def __init__(self, *statuses: int) -> None:
        super().__init__(self._respond, scenarios=SimpleNamespace(result=self._made))
        self._statuses = list(statuses)
        self._shown = {"id": "eng_1", "name": "n", "description": "d"}
        self.edits = 0

    def _respond(self, request: Request) -> Exchange:
        if request.operation.id == "getEngagement":
            return make_exchange(request, body={"data": dict(self._shown)})
        self.edits += 1
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        if status == 200:
            self._shown |= json.loads(request.body or b"{}")
        return make_exchange(request, status, {"data": {}})

    def _made(self, scenario: object) -> Any:
        assert scenario is parallel_creation
        return SimpleNamespace(identifiers=["eng_1", "eng_2", "eng_3"])


def evidence(*statuses: int) -> Run:
    """Judge parallel edits that get these statuses, and the edits sent alone after them."""
    run = Run(*statuses)
    judge(parallel_edits(run))
    return run


def test_edits_that_succeed_are_not_tried_again() -> None:
    """Successful edits need no further request."""
    assert evidence(200).edits == 2


def test_an_edit_is_tried_by_itself_until_others_of_the_run_are_over() -> None:
    """A refused edit is repeated alone, since edits of other scenarios may be the reason."""
    with pytest.raises(NonConformity, match="the update of name is lost"):
        evidence(403, 200, 403, 403, 200)


def test_an_edit_that_never_succeeds_is_not_about_being_parallel() -> None:
    """An edit that always fails is undecided, since another requirement judges that."""
    with pytest.raises(CantTell, match="does not succeed alone either"):
        evidence(403, 200, 403)
