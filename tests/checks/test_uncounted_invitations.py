"""The growth of memberCount with invitations, while members and engagements of others come and go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from conformance import confirm
from conformance.checks.test_s4_invitations import _counted, _expect_no_growth, _is_at_rest
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

Look = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""The members and engagements before an invitation, after it, and later."""


@pytest.mark.parametrize(
    ("looks", "outcome"),
    [
        ([((7, 6), (8, 6), (8, 6)), ((8, 6), (9, 6), (9, 6)), ((9, 6), (10, 6), (10, 6))], NonConformity),
        ([((7, 6), (8, 6), (8, 6)), ((7, 4), (8, 6), (8, 6)), ((8, 4), (9, 5), (9, 5))], CantTell),
        ([((7, 6), (8, 6), (9, 6)), ((9, 6), (10, 6), (11, 6)), ((11, 6), (12, 6), (13, 6))], CantTell),
        ([((7, 6), (6, 6), (6, 6)), ((6, 6), (7, 6), (7, 6)), ((6, 6), (7, 6), (7, 6))], CantTell),
        ([((7, 6), (8, 6), (8, 6)), ((8, 6), (8, 6), (8, 6))], None),
    ],
    ids=["counted", "engagements of others", "joining steadily", "leaving and joining", "once"],
)
def test_members_of_others_are_no_invited_ones(looks: Sequence[Look], outcome: type[Exception] | None) -> None:
    """A growth counts only if nothing else moved, and not as long a time after the invitation either."""
    counts = chain.from_iterable(looks)

    def respond(sent: Request) -> Exchange:
        if sent.operation.id == "inviteMember":
            return make_exchange(sent, 201, {"data": {}})
        members, engagements = next(counts)
        return make_exchange(sent, 200, {"data": {"memberCount": members, "engagementCount": engagements}})

    run = FakeRun(respond, address=lambda word: f"{word}@example.com")
    found: type[Exception] | None = None
    try:
        confirm.stable_between(run, _counted(run), _expect_no_growth, lambda: _counted(run), still=_is_at_rest)
    except (NonConformity, CantTell) as raised:
        found = NonConformity if isinstance(raised, NonConformity) else CantTell
    assert found is outcome
