"""Tests of the limits of time, requests and memory."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.json_text import Parsed, SharedValues
from conformance.wire import run_limits
from conformance.wire.exchange import Response
from conformance.wire.requests import Credential
from conformance.wire.run_limits import Limits, RunStopped, StopCause
from conformance.wire.settings import WireSettings
from tests.fakes.wires import WoundClock


def bounded(clock: WoundClock, **settings: Any) -> Limits:
    """Return limits of a run that begins now."""
    return Limits(WireSettings(base_url="http://x.test", credential=Credential("k", None), **settings), clock)


def test_a_run_without_limits_has_no_end(clock: WoundClock) -> None:
    """Without limits neither time nor requests run out."""
    free = bounded(clock)
    clock.sleep(1e6)

    free.admit(None)
    free.ensure_time(1e9, None)

    assert free.left(None) is None
    assert not free.is_over()
    assert free.sent == 1


def test_time_runs_out(clock: WoundClock) -> None:
    """At the last moment nothing is sent any more, and the run is over from then on."""
    run = bounded(clock, max_seconds=20)
    assert run.left(None) == 20
    clock.sleep(19)
    assert not run.is_over()
    run.admit(None)
    clock.sleep(1)
    assert (run.is_over(), run.stopped) == (True, None)

    with pytest.raises(RunStopped, match=r"^the time of 20 s for the run is used up$"):
        run.admit(None)
    assert run.stopped == "the time of 20 s for the run is used up"
    assert run.sent == 1


def test_requests_run_out(clock: WoundClock) -> None:
    """Exactly the budget is sent."""
    run = bounded(clock, max_requests=2)
    run.admit(None)
    assert not run.is_over()
    run.admit(None)

    with pytest.raises(RunStopped, match=r"^the budget of 2 requests is used up$"):
        run.admit(None)
    assert run.sent == 2
    assert run.is_over()


def test_the_first_reason_stays(clock: WoundClock) -> None:
    """The first reason of an end stays."""
    run = bounded(clock)

    assert str(run.end("first")) == "first"
    assert str(run.end("second")) == "first"
    run.hurry("third")
    assert run.stopped == "first"
    with pytest.raises(RunStopped, match=r"^first$"):
        run.admit(None)


def test_time_for_undoing_is_reserved(clock: WoundClock) -> None:
    """The reserved time depends on recent durations and the changes; without any, it is at most half of all."""
    run = bounded(clock, max_seconds=20, workers=8)
    run.to_undo = lambda: 15

    run.keep(None, 0.5)
    assert run.left(None) == pytest.approx(20 - (4 + 6) * 0.5)
    run.keep(None, 0.1)
    assert run.left(None) == pytest.approx(20 - (4 + 6) * 0.45)
    run.to_undo = lambda: 0
    assert run.left(None) == pytest.approx(20 - 6 * 0.45)
    run.keep(None, 9.0)
    assert run.left(None) == 10
    run.to_undo = lambda: 1
    with pytest.raises(RunStopped):
        run.admit(None)


def test_a_request_rate_prolongs_undoing(clock: WoundClock) -> None:
    """Two requests for each change and a few more are reserved, at the rate of the user."""
    run = bounded(clock, max_seconds=200, workers=8, rate=0.5)
    run.to_undo = lambda: 16

    assert run.left(None) == pytest.approx(200 - (32 + 6) / 0.5)
    unbounded = bounded(clock, rate=0.5)
    unbounded.to_undo = lambda: 16
    assert unbounded.left(unbounded.undoing()) == pytest.approx(60 + (32 + 6) / 0.5)


def test_a_wait_must_end_before_the_run_does(clock: WoundClock) -> None:
    """A pause that does not fit ends the run at once."""
    run = bounded(clock, max_seconds=20)
    run.ensure_time(19.9, None)

    with pytest.raises(RunStopped, match=r"^a wait of 20 s does not fit into the 20 s for the run$"):
        run.ensure_time(20, None)
    assert run.stopped is not None


@pytest.mark.parametrize(
    ("settings", "passed", "seconds"),
    [
        ({}, 0, 60),
        ({"undo_seconds": 7}, 0, 7),
        ({"undo_seconds": 100}, 0, 100),
        ({"max_seconds": 20}, 5, 18),
        ({"max_seconds": 20, "undo_seconds": 10}, 5, 10),
        ({"max_seconds": 20}, 50, 3),
        ({"max_seconds": 20, "undo_seconds": 2}, 50, 2),
    ],
)
def test_undoing_has_the_given_time(clock: WoundClock, settings: dict[str, Any], passed: float, seconds: float) -> None:
    """Undoing has the given time, and little more than the run's time."""
    run = bounded(clock, **settings)
    clock.sleep(passed)

    undoing = run.undoing()

    assert run.left(undoing) == pytest.approx(seconds)
    clock.sleep(seconds - 0.5)
    run.admit(undoing)
    with pytest.raises(RunStopped, match=r"^the time for undoing is used up$"):
        run.ensure_time(0.5, undoing)
    run.ensure_time(0.4, undoing)
    clock.sleep(0.5)
    with pytest.raises(RunStopped, match=r"^the time for undoing is used up$"):
        run.admit(undoing)
    assert (run.sent, run.stopped) == (1, None)


@pytest.mark.parametrize(
    ("hurried_before", "undo_seconds", "seconds"), [(0, 60, 8), (3, 60, 5), (5, 60, 4), (100, 60, 4), (0, 3, 3)]
)
def test_a_hurried_undoing_has_less_time(
    clock: WoundClock, hurried_before: float, undo_seconds: float, seconds: float
) -> None:
    """Eight seconds from the request to stop, half of that from the beginning of the undoing at least."""
    run = bounded(clock, undo_seconds=undo_seconds)
    run.hurry("interrupted")
    clock.sleep(hurried_before)

    assert run.left(run.undoing()) == pytest.approx(seconds)


def test_being_hurried_again_gives_no_more_time(clock: WoundClock) -> None:
    """The first call to stop counts."""
    run = bounded(clock)
    undoing = run.undoing()
    run.hurry("interrupted")
    clock.sleep(5)
    run.hurry("interrupted again")

    assert run.left(undoing) == pytest.approx(3)


def test_undoing_goes_on_after_the_run(clock: WoundClock) -> None:
    """Requests of undoing count towards the budget."""
    run = bounded(clock, max_requests=2)
    run.admit(None)
    run.end("it is over")

    run.admit(run.undoing())

    assert run.sent == 2
    with pytest.raises(RunStopped, match="all 2 requests of the run were sent"):
        run.admit(run.undoing())


def sized(body: bytes, headers: int = 0) -> Response:
    """Return a response with this body and so many headers."""
    return Response(200, (("X", "y"),) * headers, body)


LARGE = 2**20


@pytest.mark.parametrize(
    ("response", "room"),
    [
        (sized(b"x" * 500), 1000),
        (sized(b"x" * 500, headers=3), 1600),
        (sized(b"\xff" * 500), 1000),
        (sized(b"\xff" * LARGE), 2 * LARGE),
        (sized(b"\xff" * (LARGE + 1)), 6 * (LARGE + 1)),
        (sized(b"x" * (LARGE + 1)), 3 * (LARGE + 1)),
        (sized(b""), 0),
    ],
    ids=["text", "headers", "other signs", "not large yet", "large with other signs", "large", "nothing"],
)
def test_responses_are_recorded_while_there_is_memory(
    clock: WoundClock, monkeypatch: pytest.MonkeyPatch, response: Response, room: int
) -> None:
    """A response that does not fit ends the run, and smaller ones still fit."""
    monkeypatch.setattr(run_limits, "MAX_RESPONSE_BYTES", room)
    run = bounded(clock)
    assert run.keep(None, 0.0)
    assert (run.keep(response, 0.0), run.stopped) == (True, None)

    assert not run.keep(sized(b"x"), 0.0)
    assert run.stopped == f"the responses of the run take more than {room // 2**20} MiB together"
    assert run.keep(sized(b""), 0.0)


def test_recorded_responses_are_added_up(clock: WoundClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small responses use memory like a large one."""
    monkeypatch.setattr(run_limits, "MAX_RESPONSE_BYTES", 100)
    run = bounded(clock)

    assert [run.keep(sized(b"x" * 20), 0.0) for _ in range(4)] == [True, True, False, False]


def test_values_take_memory_once(clock: WoundClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parsed values of a body take memory beside it, unless an earlier body of the run has them."""
    body, shared = b'{"data": [%s]}' % b",".join(b'{"id": %d}' % number for number in range(100)), SharedValues()
    monkeypatch.setattr(run_limits, "MAX_RESPONSE_BYTES", room := 80_000)
    run = bounded(clock)

    first = Response(200, (), body, shared=shared)
    assert run.keep(first, 0.1)
    assert isinstance(first.reading, Parsed)
    assert room / 2 < first.reading.size < room
    assert run.keep(Response(200, (), body, shared=shared), 0.1)
    assert not run.keep(Response(200, (), body, shared=SharedValues()), 0.1)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("the target was lost after request 3 and did not come back", StopCause.TARGET_LOST),
        ("the main key was refused from request 2 on", StopCause.KEY_REFUSED),
        ("interrupted by SIGINT", StopCause.SIGNAL),
        ("--fail-fast, and version-prefix-served failed", StopCause.FAIL_FAST),
        ("the budget of 3 requests is used up", None),
        (None, None),
    ],
)
def test_a_recorded_reason_has_its_cause(reason: str | None, cause: StopCause | None) -> None:
    """A recording of an earlier release has the same reasons."""
    assert StopCause.of(reason) is cause
