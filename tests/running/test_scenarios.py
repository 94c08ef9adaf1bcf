"""Scenarios: run once, concurrently, and retried after a broken connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.oracle.outcomes import CantTell
from conformance.running.scenarios import Scenarios
from conformance.wire.exchange import NoResponse
from conformance.wire.run_limits import RunStopped
from tests.fakes.runs import FakeRun


@pytest.fixture
def run() -> FakeRun:
    """Return a run that sends nothing."""
    return FakeRun()


@pytest.fixture
def scenarios(run: FakeRun) -> Iterator[Scenarios[FakeRun]]:
    """Return a runner of scenarios, two at a time."""
    made = Scenarios(run, together=2)
    yield made
    made.close()


class FakeScenario:
    """A scenario that returns or raises the next of its ends at each run."""

    __name__ = "fake"

    def __init__(self, *ends: object) -> None:
        self.ends = list(ends)
        self.times = 0

    def __call__(self, _run: FakeRun) -> Any:
        """Return or raise the next end."""
        self.times += 1
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


def test_a_scenario_is_walked_once(scenarios: Scenarios[FakeRun], run: FakeRun) -> None:
    """Every caller gets the same result, and the exchanges carry the scenario's name."""
    scenario = FakeScenario("there")

    assert [scenarios.result(scenario), scenarios.result(scenario)] == ["there", "there"]
    assert scenario.times == 1
    assert run.checks == ["fake"]


def test_prepared_scenarios_are_under_way_together(scenarios: Scenarios[FakeRun]) -> None:
    """Two scenarios that wait for each other both end."""
    meeting = threading.Barrier(2)

    def first(_run: FakeRun) -> str:
        meeting.wait(10)
        return "first"

    def second(_run: FakeRun) -> str:
        meeting.wait(10)
        return "second"

    scenarios.prepare([first, second])

    assert (scenarios.result(first), scenarios.result(second)) == ("first", "second")


def test_a_scenario_may_ask_for_another(scenarios: Scenarios[FakeRun]) -> None:
    """A scenario that another one needs runs at once, even if the pool is full."""
    inner = FakeScenario("inner")

    def outer(_run: FakeRun) -> str:
        return f"outer of {scenarios.result(inner)}"

    scenarios.prepare([outer, outer])

    assert scenarios.result(outer) == "outer of inner"


def test_a_broken_connection_begins_the_scenario_anew(run: FakeRun, scenarios: Scenarios[FakeRun]) -> None:
    """Two errors are retried, with a longer pause before the second retry."""
    scenario = FakeScenario(NoResponse("broken"), NoResponse("broken"), "there")

    assert scenarios.result(scenario) == "there"
    assert scenario.times == 3
    assert 0 < run.pauses[0] < run.pauses[1]


@pytest.mark.parametrize(
    ("ends", "kind", "times"),
    [
        ([NoResponse("a"), NoResponse("b"), NoResponse("c"), "never"], NoResponse, 3),
        ([RunStopped("budget"), "never"], RunStopped, 1),
        ([CantTell("no data"), "never"], CantTell, 1),
        ([KeyError("id"), "never"], KeyError, 1),
    ],
)
def test_every_caller_gets_the_error_of_a_scenario(
    scenarios: Scenarios[FakeRun], ends: list[object], kind: type, times: int
) -> None:
    """Only connection errors are retried, at most twice; every caller gets the last error."""
    scenario = FakeScenario(*ends)

    for _ in range(2):
        with pytest.raises(kind):
            scenarios.result(scenario)
    assert scenario.times == times


def test_settling_waits_for_what_is_under_way(scenarios: Scenarios[FakeRun]) -> None:
    """After ``finish_background`` nothing runs in the background, and scenarios can still run."""
    finished: list[str] = []
    begun = threading.Event()

    def slow(_run: FakeRun) -> None:
        begun.set()
        threading.Event().wait(0.05)
        finished.append("slow")

    scenarios.prepare([slow])
    begun.wait(10)
    scenarios.finish_background()

    assert finished == ["slow"]
    assert scenarios.result(FakeScenario("late")) == "late"
