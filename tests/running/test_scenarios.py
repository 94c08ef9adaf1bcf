"""Journeys are walked once, several at a time, and anew where a connection broke."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from conformance.oracle.outcomes import CantTell
from conformance.running.run import Run
from conformance.running.scenarios import Scenarios
from conformance.wire.client import RunStopped
from conformance.wire.exchange import NoResponse


class NoWire:
    """The part of a wire that journeys use: names of who sends."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Note the name."""
        self.names.append(name)
        yield


class NoRun:
    """The part of a run that journeys use."""

    def __init__(self) -> None:
        self.wire = NoWire()
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Note the pause."""
        self.slept.append(seconds)


@pytest.fixture
def run() -> NoRun:
    """A run that sends nothing."""
    return NoRun()


@pytest.fixture
def scenarios(run: NoRun) -> Iterator[Scenarios]:
    """Journeys, two at a time."""
    made = Scenarios(cast("Run", run), together=2)
    yield made
    made.close()


class Walk:
    """A journey that ends as told, one way a time."""

    __name__ = "walk"

    def __init__(self, *ends: object) -> None:
        self.ends = list(ends)
        self.times = 0

    def __call__(self, _run: Run) -> Any:
        """End the next way."""
        self.times += 1
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


def test_a_scenario_is_walked_once(scenarios: Scenarios, run: NoRun) -> None:
    """Whoever asks gets the same result, and the exchanges carry the journey's name."""
    walk = Walk("there")

    assert [scenarios.result(walk), scenarios.result(walk)] == ["there", "there"]
    assert walk.times == 1
    assert run.wire.names == ["walk"]


def test_prepared_scenarios_are_under_way_together(scenarios: Scenarios) -> None:
    """Two journeys that wait for each other both arrive."""
    meeting = threading.Barrier(2)

    def one(_run: Run) -> str:
        meeting.wait(10)
        return "one"

    def other(_run: Run) -> str:
        meeting.wait(10)
        return "other"

    scenarios.prepare([one, other])

    assert (scenarios.result(one), scenarios.result(other)) == ("one", "other")


def test_a_scenario_may_ask_for_another(scenarios: Scenarios) -> None:
    """The other one is walked if nobody has begun it, however few may be under way."""
    inner = Walk("inner")

    def outer(_run: Run) -> str:
        return f"outer of {scenarios.result(inner)}"

    scenarios.prepare([outer, outer])

    assert scenarios.result(outer) == "outer of inner"


def test_a_broken_connection_begins_the_scenario_anew(run: NoRun, scenarios: Scenarios) -> None:
    """Two troubles are lived through, with a longer pause after the second."""
    walk = Walk(NoResponse("broken"), NoResponse("broken"), "there")

    assert scenarios.result(walk) == "there"
    assert walk.times == 3
    assert 0 < run.slept[0] < run.slept[1]


@pytest.mark.parametrize(
    ("ends", "kind", "times"),
    [
        ([NoResponse("a"), NoResponse("b"), NoResponse("c"), "never"], NoResponse, 3),
        ([RunStopped("budget"), "never"], RunStopped, 1),
        ([CantTell("no data"), "never"], CantTell, 1),
        ([KeyError("id"), "never"], KeyError, 1),
    ],
)
def test_what_ends_a_scenario_is_told_to_everybody(
    scenarios: Scenarios, ends: list[object], kind: type, times: int
) -> None:
    """Only troubles of the connection are tried again, and not for ever."""
    walk = Walk(*ends)

    for _ in range(2):
        with pytest.raises(kind):
            scenarios.result(walk)
    assert walk.times == times


def test_settling_waits_for_what_is_under_way(scenarios: Scenarios) -> None:
    """Afterwards nothing of the background is sent any more, and journeys can still be walked."""
    finished: list[str] = []
    begun = threading.Event()

    def slow(_run: Run) -> None:
        begun.set()
        threading.Event().wait(0.05)
        finished.append("slow")

    scenarios.prepare([slow])
    begun.wait(10)
    scenarios.narrow()

    assert finished == ["slow"]
    assert scenarios.result(Walk("late")) == "late"
