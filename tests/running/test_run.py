"""Run: the requests that its mode permits, and waiting."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.running.run import Run
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.exchange import NotSent
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import PROFILE, FakeRun, real_run

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

MAIN_KEY = None
SCOPED = Credential.bearer("engagements:write", "key-of-somebody")
UNKNOWN = Credential("unknown_key", "Bearer nobody", invalid=True)


def run_in(mode: Mode) -> tuple[Run, FakeRun]:
    """Return a run of a mode and its wire."""
    wire = FakeRun(make_exchange)
    return real_run(profile=replace(PROFILE, mode=mode), wire=wire), wire


@pytest.mark.parametrize("key", [MAIN_KEY, SCOPED])
def test_a_read_only_run_refuses_to_write(key: Credential | None) -> None:
    """A batch that contains a write with a valid key is not sent at all."""
    run, wire = run_in(Mode.READ_ONLY)
    batch = [requests.get_organization(), requests.archive_engagement("eng_1")]

    with pytest.raises(MissingMeans, match="--read-only") as refused:
        run.send_all([request if key is None else request.with_key(key) for request in batch])

    assert refused.value.need == "writes"
    assert wire.sent == []


def test_a_read_only_run_reads_and_knocks_without_a_key() -> None:
    """GET requests are sent with any key, and any request with an invalid key."""
    run, wire = run_in(Mode.READ_ONLY)
    batch = [
        requests.get_organization(),
        requests.list_members().with_key(SCOPED),
        requests.remove_member("u").with_key(UNKNOWN),
    ]

    run.send_all(batch)

    assert wire.sent == batch


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.DISPOSABLE])
def test_other_runs_write(mode: Mode) -> None:
    """Other modes send writes."""
    run, wire = run_in(mode)

    run.send(requests.create_engagement({"name": "new"}))

    assert [request.operation.id for request in wire.sent] == ["createEngagement"]


def test_a_round_that_was_sent_is_not_sent_again() -> None:
    """If a guard refuses a deletion, the other writes to the engagement, which went before it, are not repeated."""

    def guard(request: Request) -> Exchange:
        if request.method == "DELETE":
            raise NotSent("It is another user's.")
        return make_exchange(request)

    wire = FakeRun(guard)
    run = real_run(profile=PROFILE, wire=wire)
    archive, deletion = requests.archive_engagement("1"), requests.delete_engagement("1")

    exchanges = run.send_permitted([deletion, archive])

    assert [exchange and exchange.request for exchange in exchanges] == [None, archive]
    assert [request for request in wire.sent if request.method != "DELETE"] == [archive]


@pytest.mark.parametrize(("gone_after", "held"), [(2.0, True), (9.5, True), (99.0, False)])
def test_a_change_within_the_patience_is_seen_by_a_slow_read(gone_after: float, *, held: bool) -> None:
    """If a read takes longer than the patience, another read begins after the patience."""
    seconds, reads = [0.0], 0

    def sleep(pause: float) -> None:
        seconds[0] += pause

    clock = SimpleNamespace(monotonic=lambda: seconds[0], sleep=sleep)
    run = real_run(profile=replace(PROFILE, patience=10.0), wire=FakeRun(), clock=clock)

    def is_gone() -> bool:
        nonlocal reads
        reads += 1
        began = seconds[0]
        seconds[0] += 12.0
        return began >= gone_after

    assert run.wait_until(is_gone) is held
    assert reads == 2
