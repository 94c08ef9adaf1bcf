"""The wire of a replay gives each call the exchange that was recorded for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from conformance.replay.notes import ReadNotes
from conformance.wire import call
from conformance.wire.call import Call, Credential
from conformance.wire.exchange import Answer, Exchange
from conformance.wire.limits import RunStopped
from conformance.wire.preparing import Preparer
from conformance.wire.redaction import Redactor
from conformance.wire.replay import NotRecorded, ReplayWire
from conformance.wire.settings import WireSettings

RECORDED = WireSettings(
    base_url="http://service.test", credential=Credential.bearer("api_key", "the-real-key-of-the-run")
)
REPLAYED = WireSettings(
    base_url="http://service.test", credential=Credential.bearer("api_key", "another-key-for-replay")
)


def _exchange(number: int, asked: Call, check: str = "walk", *, attempt: int = 1, status: int | None = 200) -> Exchange:
    redactor = Redactor()
    redactor.add("api_key", "the-real-key-of-the-run")
    preparer = Preparer(RECORDED, redactor)
    return Exchange(
        number=number,
        check=check,
        call=asked,
        request=preparer.record(asked, preparer.request(asked)),
        received=None if status is None else Answer(status, (), str(number).encode()),
        trouble="the connection broke" if status is None else None,
        started_at=datetime.fromtimestamp(0, UTC),
        seconds=0.1,
        attempt=attempt,
    )


def _wire(
    exchanges: Sequence[Exchange], order: Sequence[int] = (), stopped: str | None = None
) -> tuple[ReplayWire, ReadNotes]:
    notes = ReadNotes([])
    wire = ReplayWire(
        REPLAYED,
        Redactor(),
        exchanges,
        under=notes.under,
        current=lambda: notes.current,
        order=lambda: order,
        stopped=stopped,
    )
    return wire, notes


def test_equal_calls_are_given_in_their_order_and_to_their_check() -> None:
    """The same read before and after is not mixed up, nor with that of another journey."""
    read = call.get_engagement("e1")
    wire, _ = _wire([_exchange(1, read, "a"), _exchange(2, read, "b"), _exchange(3, read, "a")])

    with wire.checking("b"):
        assert wire.send(read).number == 2
    with wire.checking("a"):
        assert [wire.send(read).number for _ in range(2)] == [1, 3]
    assert wire.unasked == []


def test_repetitions_belong_to_their_call() -> None:
    """All attempts are given, the last one is the answer."""
    read, other = call.get_engagement("e1"), call.get_organization()
    wire, _ = _wire(
        [
            _exchange(1, read, status=None),
            _exchange(2, other),
            _exchange(3, read, attempt=2, status=503),
            _exchange(4, read, attempt=3),
        ]
    )
    seen: list[int] = []

    class Watching:
        def before(self, call: Call) -> None:
            """Nothing is looked at before."""

        def after(self, exchange: Exchange) -> None:
            seen.append(exchange.number)

    wire.observe(Watching())
    with wire.checking("walk"):
        assert wire.send(read).number == 4
    assert seen == [1, 3, 4]
    assert [exchange.number for exchange in wire.exchanges] == [1, 3, 4]
    assert [exchange.number for exchange in wire.unasked] == [2]


def test_calls_that_look_alike_are_given_as_they_were_noted() -> None:
    """Where records do not tell who got which answer, the notes do."""
    read = call.get_organization()
    wire, _ = _wire([_exchange(number, read) for number in (1, 2, 3)], order=(2, 3, 1))

    with wire.checking("walk"):
        assert [exchange.number for exchange in wire.send_all([read] * 3)] == [2, 3, 1]


@pytest.mark.parametrize(
    "asked",
    [
        call.get_engagement("e2"),
        call.get_engagement("e1").with_key(Credential("none", None)),
        call.list_engagements(page=2),
        call.create_engagement({"name": "b"}),
        call.archive_engagement("e1"),
        replace(call.create_engagement({"name": "a"}), headers=(("Content-Type", "text/plain"),)),
    ],
)
def test_every_part_of_a_call_counts(asked: Call) -> None:
    """Another path, key, query, body, method or header is another call."""
    recorded = [call.get_engagement("e1"), call.list_engagements(page=1), call.create_engagement({"name": "a"})]
    wire, _ = _wire([_exchange(number, one) for number, one in enumerate(recorded, start=1)])

    with wire.checking("walk"), pytest.raises(NotRecorded, match=f"walk asks for {asked.method}"):
        wire.send(asked)
    assert wire.missed


def test_key_itself_need_not_be_known() -> None:
    """The record shows names of keys, also under other schemes; a replay has other keys of those names."""
    asked = call.get_organization().with_key(Credential("api_key", "Token the-real-key-of-the-run"))
    again = call.get_organization().with_key(Credential("api_key", "Token another-key-for-replay"))
    wire, _ = _wire([_exchange(1, asked)])

    with wire.checking("walk"):
        assert wire.send(again).number == 1


def test_check_gets_its_own_call_back() -> None:
    """Judgements look at what was asked, not at what a record tells of it."""
    asked = replace(call.get_engagement("e/1?"), repeatable=True)
    wire, _ = _wire([_exchange(1, asked)])

    with wire.checking("walk"):
        assert wire.send(asked).call is asked


def test_run_that_stopped_stops_again() -> None:
    """What was never sent raises what it raised then."""
    wire, _ = _wire([], stopped="the budget of 3 requests is used up")

    with wire.checking("walk"), pytest.raises(RunStopped, match="budget of 3"):
        wire.send(call.get_organization())


def test_undoing_and_the_search_for_a_lost_target_are_nobodys() -> None:
    """They are no checks', so nobody has to ask for them."""
    read = call.get_organization()
    wire, _ = _wire([_exchange(1, read, "connection"), _exchange(2, read, "undoing")])

    assert wire.unasked == []
    assert [exchange.number for exchange in wire.exchanges] == [1]


def test_claimed_exchanges_are_given_with_their_repetitions() -> None:
    """What a fixture sent is there although nobody sends it again."""
    read = call.get_organization()
    wire, _ = _wire([_exchange(1, read, status=None), _exchange(2, read, attempt=2), _exchange(3, read)])
    wire.claim([2])

    assert [exchange.number for exchange in wire.exchanges] == [1, 2]
    assert [exchange.number for exchange in wire.unasked] == [3]
