"""Replay wire: each request gets its recorded exchange."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from conformance.wire import requests
from conformance.wire.exchange import OWNERSHIP, Exchange, NotSent, Response
from conformance.wire.recorded_inputs import InputPlayer
from conformance.wire.redaction import Redactor
from conformance.wire.replay_wire import NotRecorded, ReplayWire, are_alike
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.requests import Credential, Request
from conformance.wire.run_limits import RunStopped
from conformance.wire.settings import WireSettings

RECORDED = WireSettings(
    base_url="http://service.test", credential=Credential.bearer("api_key", "the-real-key-of-the-run")
)
REPLAYED = WireSettings(
    base_url="http://service.test", credential=Credential.bearer("api_key", "another-key-for-replay")
)


def _exchange(
    number: int, request: Request, check: str = "walk", *, attempt: int = 1, status: int | None = 200
) -> Exchange:
    redactor = Redactor()
    redactor.add("api_key", "the-real-key-of-the-run")
    request_builder = RequestBuilder(RECORDED, redactor)
    return Exchange(
        number=number,
        check=check,
        request=request,
        sent_request=request_builder.record(request, request_builder.build(request)),
        received=None if status is None else Response(status, (), str(number).encode()),
        error="the connection broke" if status is None else None,
        started_at=datetime.fromtimestamp(0, UTC),
        seconds=0.1,
        attempt=attempt,
    )


def _wire(
    exchanges: Sequence[Exchange],
    order: Sequence[int] = (),
    stopped: str | None = None,
    settings: WireSettings = REPLAYED,
    withheld: Callable[[], str | None] = lambda: None,
) -> tuple[ReplayWire, InputPlayer]:
    inputs = InputPlayer([])
    wire = ReplayWire(
        settings,
        Redactor(),
        exchanges,
        under=inputs.under,
        current=lambda: inputs.current,
        order=lambda: order,
        service_clock=lambda: 12.5,
        withheld=withheld,
        stopped=stopped,
    )
    return wire, inputs


def test_equal_requests_are_given_in_their_order_and_to_their_check() -> None:
    """Equal requests get their exchanges in order, separately for each check."""
    read = requests.get_engagement("e1")
    wire, _ = _wire([_exchange(1, read, "a"), _exchange(2, read, "b"), _exchange(3, read, "a")])

    with wire.checking("b"):
        assert wire.send(read).number == 2
    with wire.checking("a"):
        assert [wire.send(read).number for _ in range(2)] == [1, 3]
    assert wire.unused == []


def test_repetitions_belong_to_their_request() -> None:
    """All attempts are replayed; the last one is the result."""
    read, other = requests.get_engagement("e1"), requests.get_organization()
    wire, _ = _wire(
        [
            _exchange(1, read, status=None),
            _exchange(2, other),
            _exchange(3, read, attempt=2, status=503),
            _exchange(4, read, attempt=3),
        ]
    )
    seen: list[object] = []

    class Watching:
        def before(self, requests: Request) -> None:
            seen.append(requests)

        def after(self, exchange: Exchange) -> None:
            seen.append(exchange.number)

    wire.observe(Watching())
    with wire.checking("walk"):
        assert wire.send(read).number == 4
    assert seen == [read, 1, 3, 4]
    assert [exchange.number for exchange in wire.exchanges] == [1, 3, 4]
    assert [exchange.number for exchange in wire.unused] == [2]


def test_requests_that_look_alike_are_given_as_they_were_noted() -> None:
    """The recorded order assigns the exchanges of equal requests."""
    read = requests.get_organization()
    wire, _ = _wire([_exchange(number, read) for number in (1, 2, 3)], order=(2, 3, 1))

    with wire.checking("walk"):
        assert [exchange.number for exchange in wire.send_all([read] * 3)] == [2, 3, 1]


def test_the_order_is_only_asked_for_where_it_was_noted() -> None:
    """The order is only requested for equal requests, as it was recorded only for them."""
    batch = [requests.get_organization(), requests.list_members()]
    wire, _ = _wire([_exchange(number, request) for number, request in enumerate(batch, 1)], order=(2, 1))

    with wire.checking("walk"):
        assert [exchange.number for exchange in wire.send_all(batch)] == [1, 2]


def test_a_key_that_was_asked_for_by_its_name_is_not_the_one_by_default() -> None:
    """A key that was named differs from the same key by default."""
    read = requests.get_organization()
    wire, _ = _wire([_exchange(1, read)])

    with wire.checking("walk"), pytest.raises(NotRecorded):
        wire.send(read.with_key(REPLAYED.credential))


@pytest.mark.parametrize(
    "asked",
    [
        requests.get_engagement("e2"),
        requests.get_engagement("e1").with_key(Credential("none", None)),
        requests.list_engagements(page=2),
        requests.create_engagement({"name": "b"}),
        requests.archive_engagement("e1"),
        replace(requests.create_engagement({"name": "a"}), headers=(("Content-Type", "text/plain"),)),
    ],
)
def test_every_part_of_a_request_counts(asked: Request) -> None:
    """Another path, key, query, body, method or header makes another request."""
    recorded = [
        requests.get_engagement("e1"),
        requests.list_engagements(page=1),
        requests.create_engagement({"name": "a"}),
    ]
    wire, _ = _wire([_exchange(number, request) for number, request in enumerate(recorded, start=1)])

    with wire.checking("walk"), pytest.raises(NotRecorded, match=f"walk asks for {asked.method}"):
        wire.send(asked)
    (missed,) = wire.unrecorded
    assert missed.startswith(f"walk asks for {asked.method} http://service.test/")
    assert missed.endswith(", which the recording does not contain")


def test_key_itself_need_not_be_known() -> None:
    """Keys are compared by name, also with other authorization schemes."""
    asked = requests.get_organization().with_key(Credential("api_key", "Token the-real-key-of-the-run"))
    again = requests.get_organization().with_key(Credential("api_key", "Token another-key-for-replay"))
    wire, _ = _wire([_exchange(1, asked)])

    with wire.checking("walk"):
        with pytest.raises(NotRecorded):
            wire.send(requests.get_organization().with_key(REPLAYED.credential))
        assert wire.send(again).number == 1


def test_a_replay_ignores_headers_of_every_request() -> None:
    """A replay ignores the headers of the target file."""
    asked = requests.get_engagement("e1")
    wire, _ = _wire([_exchange(1, asked)], settings=replace(REPLAYED, headers=(("X-Gateway", "staging"),)))

    with wire.checking("walk"):
        assert wire.send(asked).number == 1


def test_a_key_in_a_body_is_known_by_its_name_too() -> None:
    """Keys in bodies are compared by name, too."""
    wire, _ = _wire([_exchange(1, requests.create_engagement({"name": "the-real-key-of-the-run"}))])

    with wire.checking("walk"):
        assert wire.send(requests.create_engagement({"name": "another-key-for-replay"})).number == 1


def test_a_path_is_compared_as_it_went_over_the_wire() -> None:
    """Paths are compared in their percent-encoded form."""
    meant = requests.get_engagement("e1").as_probe("GET", "/api/v1/é")
    written = requests.get_engagement("e1").as_probe("GET", "/api/v1/%C3%A9")
    wire, _ = _wire([_exchange(1, written)])

    with wire.checking("walk"):
        assert wire.send(meant).number == 1


def test_check_gets_its_own_request_back() -> None:
    """The exchange contains the request object of the check, not the recorded one."""
    asked = replace(requests.get_engagement("e/1?"), repeatable=True)
    wire, _ = _wire([_exchange(1, replace(asked))])

    with wire.checking("walk"):
        assert wire.send(asked).request is asked


def test_run_that_stopped_stops_again() -> None:
    """An unsent request raises the reason of the stop."""
    wire, _ = _wire([], stopped="the budget of 3 requests is used up")

    with wire.checking("walk"), pytest.raises(RunStopped, match="budget of 3"):
        wire.send(requests.get_organization())


def test_an_abandoned_request_stops_the_replay() -> None:
    """An abandoned request stops the replay with its exchange; other errors do not."""
    read = requests.get_organization()
    given_up = _exchange(3, read, status=None, attempt=3)
    given_up = replace(given_up, error="it was given up because the run was stopped")
    lost = [_exchange(number, read, status=None, attempt=attempt) for number, attempt in ((1, 1), (2, 2), (4, 1))]
    wire, _ = _wire([*lost, given_up], stopped="it was interrupted")

    with wire.checking("walk"):
        with pytest.raises(RunStopped, match="it was interrupted") as raised:
            wire.send(read)
        assert wire.send(read).error == "the connection broke"
    assert [exchange.number for exchange in raised.value.exchanges] == [3]


def test_requests_amid_which_the_run_stopped_are_all_asked_for() -> None:
    """Exchanges of a batch that the stop cut off count as requested."""
    batch = [requests.get_engagement(name) for name in ("first", "second", "third")]
    wire, _ = _wire([_exchange(1, batch[0]), _exchange(2, batch[2])], stopped="the budget of 2 requests is used up")

    with wire.checking("walk"), pytest.raises(RunStopped, match="budget of 2"):
        wire.send_all(batch)
    assert wire.unused == []


def test_run_that_did_not_stop_gives_whatever_it_holds() -> None:
    """Without a recorded stop every exchange is replayed."""
    given_up = replace(_exchange(1, requests.get_organization(), status=None), error="the run was stopped")
    wire, _ = _wire([given_up])

    with wire.checking("walk"):
        assert wire.send(requests.get_organization()).number == 1


def test_first_reason_to_stop_stays() -> None:
    """After a stop, recorded exchanges are still replayed."""
    wire, _ = _wire([_exchange(1, requests.get_organization())])
    wire.stop("enough")
    wire.stop("more than enough")

    with wire.checking("walk"):
        assert wire.send(requests.get_organization()).number == 1
        with pytest.raises(RunStopped, match=r"^enough$"):
            wire.send(requests.get_organization())


def test_retries_of_concurrent_requests_are_distinguished() -> None:
    """A second attempt belongs to a first attempt that has no second one yet."""
    read = requests.get_organization()
    attempts = ((1, 429), (1, 503), (2, 200), (2, 200))
    recorded = [
        _exchange(number, read, attempt=attempt, status=status) for number, (attempt, status) in enumerate(attempts, 1)
    ]
    wire, _ = _wire(recorded, order=(4, 3))

    with wire.checking("walk"):
        assert [exchange.number for exchange in wire.send_all([read] * 2)] == [4, 3]
    assert wire.unused == []


def test_repetition_belongs_to_the_request_that_had_no_response() -> None:
    """A retry belongs to the equal request without a final response."""
    read = requests.get_organization()
    wire, _ = _wire([_exchange(1, read), _exchange(2, read, status=429), _exchange(3, read, attempt=2)])

    with wire.checking("walk"):
        assert [wire.send(read).number for _ in range(2)] == [1, 3]
    assert [exchange.number for exchange in wire.exchanges] == [1, 2, 3]


def test_nothing_is_given_that_was_withheld() -> None:
    """A replay withholds the same requests with the recorded reason."""
    batch = [requests.get_engagement(name) for name in ("first", "second")]
    reasons = iter(["not that", None])
    wire, _ = _wire([_exchange(1, batch[0])], withheld=lambda: next(reasons))

    with wire.checking("walk"):
        with pytest.raises(NotSent, match="not that"):
            wire.send_all(batch)
        assert wire.send(batch[0]).number == 1
    assert wire.unrecorded == []


def test_reads_of_guards_appear_with_a_later_exchange() -> None:
    """Reads of guards appear among the exchanges once a later exchange is replayed."""
    read = requests.get_engagement("e")
    wire, _ = _wire([_exchange(1, read), _exchange(2, read, OWNERSHIP), _exchange(3, read)])

    seen = []
    with wire.checking("walk"):
        for _ in range(2):
            wire.send(read)
            seen.append([exchange.number for exchange in wire.exchanges])
    assert seen == [[1], [1, 2, 3]]
    assert wire.unused == []


def test_a_retry_without_a_first_attempt_is_unrequested() -> None:
    """A retry without a first attempt, in a changed recording, counts as unrequested."""
    wire, _ = _wire([_exchange(1, requests.get_organization(), attempt=2)])

    assert [exchange.number for exchange in wire.unused] == [1]


def test_a_replay_has_the_runs_requests_and_clock() -> None:
    """The replay reports the run's number of requests and the recorded clock of the service."""
    read = requests.get_organization()
    wire, _ = _wire([_exchange(2, read), _exchange(5, read), _exchange(7, read, "other")])
    before = wire.sent

    with wire.checking("walk"):
        wire.send_all([read])
        wire.send_all([read])

    assert (before, wire.sent) == (0, 5)
    assert (wire.is_over, wire.service_clock) == (False, 12.5)


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (requests.get_organization(), True),
        (replace(requests.get_organization(), repeatable=True), True),
        (requests.get_organization().with_key(Credential("none", None)), False),
        (requests.update_organization({}), False),
        (requests.list_members(), False),
    ],
)
def test_requests_are_alike_where_their_records_are(other: Request, *, alike: bool) -> None:
    """Requests with another method, path, body or key are not alike."""
    assert are_alike([requests.get_organization(), other]) is alike


def test_undoing_and_the_search_for_a_lost_target_belong_to_no_check() -> None:
    """Their exchanges belong to no check, so they need not be requested."""
    read = requests.get_organization()
    wire, _ = _wire([_exchange(1, read, "connection"), _exchange(2, read, "undoing")])

    assert wire.unused == []
    assert [exchange.number for exchange in wire.exchanges] == [1]


def test_claimed_exchanges_are_given_with_their_repetitions() -> None:
    """The exchanges of a fixture are present without being sent again."""
    read = requests.get_organization()
    repeated = [_exchange(1, read, status=None), _exchange(2, read, attempt=2)]
    wire, _ = _wire([*repeated, _exchange(3, read), _exchange(4, requests.list_members())])
    with wire.checking("walk"):
        wire.send(requests.list_members())
    wire.claim([2])

    assert [exchange.number for exchange in wire.exchanges] == [1, 2, 4]
    assert [exchange.number for exchange in wire.unused] == [3]


def _steps(pairs: int) -> int:
    """Return the number of function calls for replaying equal requests, half of them retried."""
    asked = requests.list_engagements(page=1)
    first = [_exchange(number, asked, status=None) for number in range(1, pairs + 1)]
    again = [_exchange(pairs + number, asked, attempt=2) for number in range(1, pairs + 1)]
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        wire, inputs = _wire([*first, *again])
        with inputs.under("walk"):
            wire.claim(range(pairs + 1, pairs + pairs // 2))
            for _ in range(pairs // 2):
                wire.send(asked)
    finally:
        sys.setprofile(None)
    return steps


def test_equal_exchanges_take_no_search() -> None:
    """The replay of equal requests takes linear time."""
    assert _steps(1000) < 13 * _steps(100)
