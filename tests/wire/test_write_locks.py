"""Tests of the locks for writes and exclusive scenarios."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from conformance.wire import requests
from conformance.wire.requests import Request
from conformance.wire.write_locks import WriteLocks
from tests.fakes.wires import Fixtures, Scripted

EDIT = requests.update_engagement("e1", {"name": "other"})
DELETION = requests.delete_engagement("e1")


def waits(locks: WriteLocks, scenario: str, *batch: Request) -> bool:
    """Whether requests of a scenario have to wait for those in flight."""
    entered = threading.Event()

    def enter() -> None:
        with locks.of(scenario, batch):
            entered.set()

    threading.Thread(target=enter, daemon=True).start()
    return not entered.wait(0.2)


@pytest.mark.parametrize(
    ("scenario", "sent", "expected"),
    [
        pytest.param("editing", DELETION, True, id="another-scenario"),
        pytest.param("deleting", EDIT, False, id="the-same-scenario"),
        pytest.param("editing", requests.get_engagement("e1"), False, id="a-read"),
        pytest.param("editing", requests.delete_engagement("e2"), False, id="another-resource"),
        pytest.param("editing", requests.remove_member("e1"), False, id="another-kind-of-resource"),
        pytest.param("editing", requests.create_engagement({"name": "new"}), False, id="a-creation"),
    ],
)
def test_a_write_waits_for_other_scenarios(scenario: str, sent: Request, *, expected: bool) -> None:
    """Only a write to a resource that another scenario writes to waits."""
    locks = WriteLocks()

    with locks.of("deleting", [DELETION]):
        assert waits(locks, scenario, sent) is expected


def test_a_lock_ends_with_the_last_write_of_its_scenario() -> None:
    """A scenario with concurrent writes holds the resource until all are complete."""
    locks = WriteLocks()

    with ExitStack() as first:
        first.enter_context(locks.of("deleting", [DELETION]))
        with locks.of("deleting", [EDIT]):
            first.close()
            assert waits(locks, "editing", EDIT)
    assert not waits(locks, "editing", EDIT)


def test_scenarios_that_need_each_others_resources_do_not_block() -> None:
    """A batch locks all its resources at once."""
    locks, ended = WriteLocks(), threading.Barrier(3, timeout=10)
    other = requests.update_engagement("e2", {"name": "other"})

    def alternate(scenario: str, batch: list[Request]) -> None:
        for _ in range(200):
            with locks.of(scenario, batch):
                pass
        ended.wait()

    for scenario, batch in (("one", [EDIT, other]), ("two", [other, EDIT])):
        threading.Thread(target=alternate, args=(scenario, batch), daemon=True).start()
    ended.wait()


@pytest.mark.parametrize(
    ("scenario", "sent", "expected"),
    [
        pytest.param("editing", EDIT, True, id="another-scenario"),
        pytest.param("creating", requests.create_engagement({"name": "new"}), True, id="a-creation"),
        pytest.param("editing", requests.get_engagement("e1"), False, id="a-read"),
        pytest.param("looking", EDIT, False, id="its-own"),
    ],
)
def test_an_exclusive_block_is_undisturbed(scenario: str, sent: Request, *, expected: bool) -> None:
    """All writes of other scenarios wait for the end of the outer exclusive block."""
    locks = WriteLocks()

    with locks.undisturbed("looking"):
        with locks.undisturbed("looking"):
            pass
        assert waits(locks, scenario, sent) is expected
    assert not waits(locks, scenario, sent)


@pytest.mark.parametrize(
    ("scenario", "sent", "expected"),
    [
        pytest.param("editing", EDIT, True, id="another-scenario"),
        pytest.param("editing", requests.get_engagement("e1"), False, id="a-read"),
        pytest.param("looking", EDIT, False, id="its-own"),
    ],
)
def test_an_exclusive_block_waits_for_writes_in_flight(scenario: str, sent: Request, *, expected: bool) -> None:
    """The block begins when the last write of another scenario is complete."""
    locks, looks = WriteLocks(), threading.Event()

    def look() -> None:
        with locks.undisturbed("looking"):
            looks.set()

    with locks.of(scenario, [sent]):
        threading.Thread(target=look, daemon=True).start()
        assert looks.wait(0.2) is not expected
        assert waits(locks, "creating", requests.create_engagement({"name": "new"})) is expected
    assert looks.wait(10)


def test_exclusive_blocks_of_two_scenarios_are_sequential() -> None:
    """Two exclusive blocks of different scenarios do not overlap."""
    locks, ended = WriteLocks(), threading.Barrier(3, timeout=10)

    def look(scenario: str) -> None:
        for _ in range(200):
            with locks.undisturbed(scenario), locks.of(scenario, [EDIT]):
                pass
        ended.wait()

    for scenario in ("one", "two"):
        threading.Thread(target=look, args=(scenario,), daemon=True).start()
    ended.wait()


def test_the_wire_has_exclusive_blocks(make: Fixtures) -> None:
    """A write of another thread waits for the end of the block; reads do not."""
    came: list[str] = []

    def response(requests: httpx.Request) -> Any:
        came.append(requests.method)
        return 200, {}

    wire, sent = make.wire(transport=Scripted(response)), threading.Event()

    def write() -> None:
        with wire.checking("writing"):
            wire.send(requests.create_engagement({"name": "new"}))
        sent.set()

    with wire.checking("looking"), wire.undisturbed():
        threading.Thread(target=write, daemon=True).start()
        assert not sent.wait(0.2)
        wire.send(requests.list_engagements())
        assert came == ["GET"]
    assert sent.wait(10)
    assert came == ["GET", "POST"]
