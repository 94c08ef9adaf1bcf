"""Courses of simultaneous changes, and their judgement."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import pytest

from conformance.oracle.ledger.attribution import IN_PARALLEL
from conformance.oracle.linearizability import EngagementState
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.running.options import Effort
from conformance.scenarios.engagements.together import ARCHIVED, DELETED, SEQUENCES, Pair, Race, expect_explained
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

START = EngagementState("one", "as it was")
KINDS = ("archive", "both", "delete", "unarchive")
SENT = {pair.steps for sequence in SEQUENCES[Effort.DEEP] for pair in sequence}


@pytest.mark.parametrize("pair", [*combinations_with_replacement(KINDS, 2)])
def test_every_pair_of_changes_is_sent(pair: tuple[str, str]) -> None:
    """Each pair is sent about one engagement or about two."""
    assert any(sorted(step.kind for step in steps) == sorted(pair) for steps in SENT)


def test_a_standard_run_sends_every_pair() -> None:
    """A deep run repeats them, and a quick run sends some."""
    standard = {pair.steps for sequence in SEQUENCES[Effort.STANDARD] for pair in sequence}

    assert standard == SENT
    assert {pair.steps for sequence in SEQUENCES[Effort.QUICK] for pair in sequence} < SENT


def edited(name: str, status: int = 200, *, at: float = 0.0) -> Exchange:
    """Return an edit of the name."""
    return make_exchange(requests.update_engagement("e", {"name": name}), status, {"data": {}}, at=at)


def shown(name: str, status: str = "active") -> Exchange:
    """Return a read after the changes."""
    data = {"id": "e", "name": name, "description": "as it was", "status": status}
    return make_exchange(requests.get_engagement("e"), 200, {"data": data}, at=9.0)


def race(*changes: Exchange, later: Exchange, alone: Race | None = None, steps: str = "name name") -> Race:
    """Return a race that begins with one state."""
    return Race(Pair.parse(steps), START, changes, (later,), alone)


FIRST, SECOND = edited("edited by one"), edited("edited by two")
ARCHIVED_YET = make_exchange(requests.archive_engagement("e"), 200, {"data": {}})
RIGHT = race(FIRST, SECOND, later=shown("edited by one"))
LOST = race(FIRST, SECOND, later=shown("one"))


@pytest.mark.parametrize("refusal", [404, 409])
def test_a_change_may_be_refused_beside_another(refusal: int) -> None:
    """The other one has its effect, and the engagement is as that leaves it."""
    found = race(FIRST, edited("edited by two", refusal), later=shown("edited by one"))

    expect_explained([RIGHT, found], IN_PARALLEL)
    assert found.left == EngagementState("edited by one", "as it was")


@pytest.mark.parametrize(
    "wrong", [LOST, race(FIRST, edited("edited by two", 403), later=shown("edited by one"))], ids=["lost", "forbidden"]
)
def test_only_faults_of_concurrent_requests_are_failures(wrong: Race) -> None:
    """The same changes in turn show whether the service is right otherwise."""
    with pytest.raises(
        NonConformity, match="no order explains the responses to these requests: edit of the name, edit of the name"
    ):
        expect_explained([replace(wrong, alone=RIGHT)], IN_PARALLEL)
    with pytest.raises(CantTell, match="sent one after the other, they fail, too"):
        expect_explained([replace(wrong, alone=LOST)], IN_PARALLEL)
    expect_explained([wrong], DELETED)  # which judges other races


def test_an_edit_after_the_response_to_an_archive_is_not_at_once_with_it() -> None:
    """Both were sent at once, but the service began the second one later."""
    late = edited("edited late", at=1.0)
    beside = race(ARCHIVED_YET, FIRST, later=shown("edited by one", "archived"), steps="archive name")
    after = race(ARCHIVED_YET, late, later=shown("edited late", "archived"), steps="archive name", alone=beside)

    assert (beside.requirement, beside.explained) == (IN_PARALLEL, True)
    assert (after.requirement, after.explained) == (ARCHIVED, False)


def test_nothing_is_judged_after_unarchiving() -> None:
    """Its effect is open, and may be delayed."""
    assert replace(LOST, initial=None).explained
