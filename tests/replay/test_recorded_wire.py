"""The wire of a run that can be judged again notes what its exchanges do not tell."""

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
from conformance.wire.recording_wire import RecordedWire
from conformance.wire.redaction import Redactor
from conformance.wire.replay_wire import ReplayWire
from conformance.wire.requests import Credential, Request
from conformance.wire.run_limits import RunStopped
from conformance.wire.settings import WireSettings
from tests.wire.conftest import Behaviour, RawServer, Scripted, Turn, raw_response

DATED = f"Date: {format_datetime(datetime.now(UTC), usegmt=True)}"


async def fine(turn: Turn) -> None:
    """Answer properly."""
    await turn.say(raw_response(200, b"{}", DATED))


def settings(server: RawServer) -> WireSettings:
    """The settings for a server."""
    return WireSettings(base_url=server.url, credential=Credential.bearer("api_key", "the-key-of-a-run"))


@contextmanager
def recorded(behaviour: Behaviour = fine) -> Iterator[tuple[RecordedWire, InputRecorder, RawServer]]:
    """A wire to a server, and its notes."""
    notes, server = InputRecorder(), RawServer(behaviour)
    wire = RecordedWire(settings(server), Redactor(), notes)
    try:
        yield wire, notes, server
    finally:
        wire.close()
        server.close()


def test_who_got_which_response_is_noted_where_requests_look_alike() -> None:
    """The first of two was asked again, after the second; in a replay each gets its own once more."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(503 if turn.number == 1 else 200, b"%d" % turn.number))

    reads = [requests.get_organization()] * 2
    with recorded(behave) as (wire, notes, server):
        with wire.checking("walk"):
            got = wire.send_all(reads)

        read = InputPlayer(notes.lines)
        replay = ReplayWire(
            settings(server), Redactor(), wire.exchanges, under=read.under, current=lambda: read.current,
            order=lambda: read.record_if_any("order", tuple[int]) or (),
        )  # fmt: skip
    with replay.checking("walk"):
        assert [one.response.body for one in replay.send_all(reads)] == [one.response.body for one in got]
    assert sorted(one.number for one in got) in ([1, 3], [2, 3])
    assert list(notes.lines) == [{"check": "walk", "asked": "order", "time": 1, "told": [one.number for one in got]}]


def test_requests_that_their_records_tell_apart_need_no_note() -> None:
    """So the notes of a run stay short."""
    with recorded() as (wire, notes, _), wire.checking("walk"):
        wire.send_all([requests.get_organization(), requests.list_members()])

        assert notes.lines == ()


def test_requests_go_over_the_transport_that_is_given() -> None:
    """Such as that of a service in this process."""
    transport = Scripted(lambda _: (200, {}))
    target = WireSettings(base_url="http://service.test", credential=Credential.bearer("api_key", "the-key-of-a-run"))
    wire = RecordedWire(target, Redactor(), InputRecorder(), transport=transport)
    try:
        assert wire.send(requests.get_organization()).status == 200
    finally:
        wire.close()
    assert len(transport.requests) == 1


def test_the_services_clock_is_noted_as_it_was_told() -> None:
    """Checks reckon with it."""
    with recorded() as (wire, notes, _), wire.checking("walk"):
        before = wire.service_clock
        wire.send(requests.get_organization())
        told = wire.service_clock

    assert before is None
    assert told is not None
    assert notes.lines == ({"check": "walk", "asked": "service clock", "time": 2, "told": told},)


def test_what_is_sent_to_find_a_response_is_noted_with_it() -> None:
    """Nobody sends it when the run is judged again."""
    with recorded() as (wire, notes, _), wire.checking("walk"):
        notes.record("a member", lambda: wire.send(requests.list_members()).number, int, int)

    assert notes.lines == ({"check": "walk", "asked": "a member", "told": 1, "exchanges": [1]},)


def test_what_a_check_sends_meanwhile_goes_by_another_name() -> None:
    """Which of the two comes first is no matter of the seed; both names are right again afterwards."""
    with recorded() as (wire, notes, _):
        with wire.checking("walk"):
            context = copy_context()
            meanwhile = threading.Thread(target=lambda: context.run(wire.send, requests.get_organization()))
            meanwhile.start()
            meanwhile.join()
            wire.send(requests.get_organization())
        wire.send(requests.get_organization())

        assert [one.check for one in wire.exchanges] == ["walk, meanwhile", "walk", "run"]
        assert notes.current == "run"


def test_what_a_stopped_run_did_not_send_leaves_no_note() -> None:
    """But it has asked, so that later notes keep their turn."""
    with recorded() as (wire, notes, _), wire.checking("walk"):
        wire.send_all([requests.get_organization()] * 2)
        wire.stop("it was enough")
        with pytest.raises(RunStopped):
            wire.send_all([requests.get_organization()] * 2)
        with wire.undoing():
            wire.send_all([requests.get_organization()] * 2)

    told = []
    for line in notes.lines:
        assert isinstance(line["told"], Iterable)
        told.append((line["time"], len(list(line["told"]))))
    assert told == [(1, 2), (3, 2)]


def test_what_was_withheld_is_noted() -> None:
    """With its reason, so that a replay withholds it too; what was sent needs no note."""
    forbidden = requests.delete_engagement("theirs")

    def guard(batch: Sequence[Request]) -> None:
        if forbidden in batch:
            raise NotSent("it is another user's")

    with recorded() as (wire, notes, _):
        wire.guard(guard)
        with wire.checking("walk"):
            wire.send(requests.get_organization())
            with pytest.raises(NotSent):
                wire.send_all([requests.get_organization(), forbidden])

    assert [line for line in notes.lines if line["asked"] == "withheld"] == [
        {"check": "walk", "asked": "withheld", "time": 2, "told": "it is another user's"}
    ]
