"""A run sends what its mode permits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.running.options import Effort, RunOptions
from conformance.running.run import Run
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.requests import Credential, Request

MAIN_KEY = None
SOMEBODYS = Credential.bearer("engagements:write", "key-of-somebody")
NOBODYS = Credential("unknown_key", "Bearer nobody", invalid=True)


class Sent:
    """The part of a wire that takes what is sent."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def send_all(self, batch: list[Request]) -> list[Request]:
        """Note the calls."""
        self.requests += batch
        return batch


def run_in(mode: Mode) -> tuple[Run, Sent]:
    """A run of a mode, and what it sends."""
    wire = Sent()
    options = RunOptions(effort=Effort.QUICK, seed=1, workers=1, report=Path("unused"))
    parts: dict[str, Any] = {"profile": SimpleNamespace(mode=mode), "options": options, "wire": wire}
    return Run(**parts, fixtures=cast("Any", None), journal=cast("Any", None), names=cast("Any", None)), wire


@pytest.mark.parametrize("key", [MAIN_KEY, SOMEBODYS])
def test_a_read_only_run_refuses_to_write(key: Credential | None) -> None:
    """Nothing of a batch is sent that holds a write with somebody's key, whoever asks for it."""
    run, wire = run_in(Mode.READ_ONLY)
    batch = [requests.get_organization(), requests.archive_engagement("eng_1")]

    with pytest.raises(MissingMeans, match="--read-only") as refused:
        run.send_all([one if key is None else one.with_key(key) for one in batch])

    assert refused.value.need == "writes"
    assert wire.requests == []


def test_a_read_only_run_reads_and_knocks_without_a_key() -> None:
    """GETs go out with any key, and everything does that must be refused for its key."""
    run, wire = run_in(Mode.READ_ONLY)
    batch = [
        requests.get_organization(),
        requests.list_members().with_key(SOMEBODYS),
        requests.remove_member("u").with_key(NOBODYS),
    ]

    run.send_all(batch)

    assert wire.requests == batch


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.DISPOSABLE])
def test_other_runs_write(mode: Mode) -> None:
    """They send what is asked for."""
    run, wire = run_in(mode)

    run.send(requests.create_engagement({"name": "new"}))

    assert [one.operation.id for one in wire.requests] == ["createEngagement"]


@pytest.mark.parametrize(("gone_after", "held"), [(2.0, True), (9.5, True), (99.0, False)])
def test_what_takes_effect_in_time_is_seen_by_a_slow_look(gone_after: float, *, held: bool) -> None:
    """A look that took longer than the patience began too early to tell; the last one begins when that is over."""
    seconds, looks = [0.0], 0

    def sleep(pause: float) -> None:
        seconds[0] += pause

    clock = SimpleNamespace(monotonic=lambda: seconds[0], sleep=sleep)
    wire = SimpleNamespace(is_over=False)
    options = RunOptions(effort=Effort.QUICK, seed=1, workers=1, report=Path("unused"))
    parts: dict[str, Any] = {"profile": SimpleNamespace(patience=10.0), "options": options, "wire": wire}
    parts |= dict.fromkeys(("fixtures", "journal", "names")) | {"clock": clock}
    run = Run(**parts)

    def is_gone() -> bool:
        nonlocal looks
        looks += 1
        began = seconds[0]
        seconds[0] += 12.0
        return began >= gone_after

    assert run.wait_until(is_gone) is held
    assert looks == 2
