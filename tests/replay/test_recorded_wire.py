"""Recording wire: it records the inputs that exchanges do not contain."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from conformance.wire import requests
from conformance.wire.exchange import NotSent
from conformance.wire.recorded_inputs import InputPlayer, InputRecorder
from conformance.wire.recording_wire import RecordingWire
from conformance.wire.redaction import Redactor
from conformance.wire.replay_wire import ReplayWire
from conformance.wire.requests import Credential, Request
from conformance.wire.run_limits import RunStopped
from conformance.wire.settings import WireSettings
from tests.fakes.wires import Behaviour, RawServer, Scripted, Turn, raw_response

DATED = f"Date: {format_datetime(datetime.now(UTC), usegmt=True)}"


async def fine(turn: Turn) -> None:
    """Respond with an empty object."""
    await turn.say(raw_response(200, b"{}", DATED))


def settings(server: RawServer) -> WireSettings:
    """Return the settings for a server."""
    return WireSettings(base_url=server.url, credential=Credential.bearer("api_key", "the-key-of-a-run"))


@contextmanager
def recorded(behaviour: Behaviour = fine) -> Iterator[tuple[RecordingWire, InputRecorder, RawServer]]:
    """Open a wire to a server, with its recorder."""
    inputs, server = InputRecorder(), RawServer(behaviour)
    wire = RecordingWire(settings(server), Redactor(), inputs)
    try:
        yield wire, inputs, server
    finally:
        wire.close()
        server.close()


def test_responses_to_equal_requests_are_recorded_by_request() -> None:
    """The first of two equal requests is retried after the second; a replay assigns the responses alike."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(503 if turn.number == 1 else 200, b"%d" % turn.number))

    reads = [requests.get_organization()] * 2
    with recorded(behave) as (wire, inputs, server):
        with wire.checking("walk"):
            sent = wire.send_all(reads)

        read = InputPlayer(inputs.lines)
        replay = ReplayWire(
            settings(server), Redactor(), wire.exchanges, under=read.under, current=lambda: read.current,
            order=lambda: read.record_if_any("order", tuple[int]) or (),
        )  # fmt: skip
    with replay.checking("walk"):
        assert [exchange.response.body for exchange in replay.send_all(reads)] == [
            exchange.response.body for exchange in sent
        ]
    assert sorted(exchange.number for exchange in sent) in ([1, 3], [2, 3])
    assert list(inputs.lines) == [
        {"check": "walk", "asked": "order", "time": 1, "told": [exchange.number for exchange in sent]}
    ]


def test_requests_that_their_records_tell_apart_need_no_note() -> None:
    """Different requests need no record of their order."""
    with recorded() as (wire, inputs, _), wire.checking("walk"):
        wire.send_all([requests.get_organization(), requests.list_members()])

        assert inputs.lines == ()


def test_requests_go_over_the_transport_that_is_given() -> None:
    """A given transport carries the requests, as for a service in this process."""
    transport = Scripted(lambda _: (200, {}))
    target = WireSettings(base_url="http://service.test", credential=Credential.bearer("api_key", "the-key-of-a-run"))
    wire = RecordingWire(target, Redactor(), InputRecorder(), transport=transport)
    try:
        assert wire.send(requests.get_organization()).status == 200
    finally:
        wire.close()
    assert len(transport.requests) == 1


def test_the_services_clock_is_recorded() -> None:
    """The clock that checks use is recorded."""
    with recorded() as (wire, inputs, _), wire.checking("walk"):
        before = wire.service_clock
        wire.send(requests.get_organization())
        after = wire.service_clock

    assert before is None
    assert after is not None
    assert inputs.lines == ({"check": "walk", "asked": "service clock", "time": 2, "told": after},)


def test_requests_of_a_fixture_are_recorded_with_its_value() -> None:
    """A replay does not send the requests of a fixture, so their exchanges are recorded with the value."""
    with recorded() as (wire, inputs, _), wire.checking("walk"):
        inputs.record("a member", lambda: wire.send(requests.list_members()).number, int, int)

    assert inputs.lines == ({"check": "walk", "asked": "a member", "told": 1, "exchanges": [1]},)


def test_a_thread_of_a_check_sends_under_another_name() -> None:
    """A thread of a check has a name of its own; afterwards both names are restored."""
    with recorded() as (wire, inputs, _):
        with wire.checking("walk"):
            context = copy_context()
            meanwhile = threading.Thread(target=lambda: context.run(wire.send, requests.get_organization()))
            meanwhile.start()
            meanwhile.join()
            wire.send(requests.get_organization())
        wire.send(requests.get_organization())

        assert [exchange.check for exchange in wire.exchanges] == ["walk, meanwhile", "walk", "run"]
        assert inputs.current == "run"


def test_unsent_requests_leave_no_note() -> None:
    """Unsent requests are counted, so that later records keep their number."""
    with recorded() as (wire, inputs, _), wire.checking("walk"):
        wire.send_all([requests.get_organization()] * 2)
        wire.stop("it was enough")
        with pytest.raises(RunStopped):
            wire.send_all([requests.get_organization()] * 2)
        with wire.undoing():
            wire.send_all([requests.get_organization()] * 2)

    counts = []
    for line in inputs.lines:
        assert isinstance(line["told"], Iterable)
        counts.append((line["time"], len(list(line["told"]))))
    assert counts == [(1, 2), (3, 2)]


def test_withheld_requests_are_recorded() -> None:
    """The reason is recorded for the replay; sent requests need no record."""
    forbidden = requests.delete_engagement("theirs")

    def guard(batch: Sequence[Request]) -> None:
        if forbidden in batch:
            raise NotSent("it is another user's")

    with recorded() as (wire, inputs, _):
        wire.guard(guard)
        with wire.checking("walk"):
            wire.send(requests.get_organization())
            with pytest.raises(NotSent):
                wire.send_all([requests.get_organization(), forbidden])

    assert [line for line in inputs.lines if line["asked"] == "withheld"] == [
        {"check": "walk", "asked": "withheld", "time": 2, "told": "it is another user's"}
    ]
