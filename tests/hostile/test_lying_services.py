"""Lying services: a run writes only to its own data.

``--sample`` tries the services that the commit draws; a node id tries a single service.
"""

from __future__ import annotations

import pytest

from conformance.running.run import Run
from tests.hostile.lies import lie


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the waits of runs, since verdicts do not matter here."""
    monkeypatch.setattr(Run, "sleep", lambda *_: None)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("number", range(1000))
def test_no_lie_of_a_service_makes_a_run_write_to_others(number: int) -> None:
    """A run against a service that lies writes only to engagements that reads by id show as the run's."""
    liar, errors = lie(number)

    assert (liar.crimes, errors) == ([], []), f"told {liar.rates}"


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("number", [5, 6, 9])
def test_the_lies_would_do_harm(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the guards, a run against the same service writes to other users' engagements or members."""
    monkeypatch.setattr("conformance.targets.ownership.Ownership.ensure", lambda *_: None)
    monkeypatch.setattr("conformance.targets.membership.Membership.ensure", lambda *_: None)
    monkeypatch.setattr("conformance.targets.membership.Membership.admit_made", lambda *_: None)

    assert lie(number, until_crime=True)[0].crimes
