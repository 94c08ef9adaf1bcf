"""Requests that are sent with all keys in turn that have carried out their operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenarios.keys_in_turn import RetryNewKeys, send_by_turns, send_with
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    import pytest

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

DELETING = Credential.bearer("engagements:delete", "key-that-deletes")
MEMBER = Credential.bearer("member_1", "key-of-a-member")
REMOVED = Credential.bearer("member_2", "key-of-a-removed-member")
OTHER = Credential.bearer("other_organization", "key-of-another")
USED = [
    make_exchange("deleteEngagement", 200, {}, key=DELETING), make_exchange("deleteEngagement", 200, {}, key=REMOVED),
    make_exchange("deleteEngagement", 200, {}, key=OTHER), make_exchange("getEngagement", 200, {}, key=MEMBER),
    make_exchange("deleteEngagement", 200, {}), make_exchange("getEngagement", 401, {}, key=REMOVED),
]  # fmt: skip
BATCH = [requests.delete_engagement(f"e{number}") for number in range(4)]


def names(run: FakeRun) -> list[str | None]:
    """Return the names of the keys of what was sent."""
    return [None if sent.credential is None else sent.credential.name for sent in run.sent]


def test_keys_take_turns() -> None:
    """The main key and each key that has deleted before are used in turn; others, and lost ones, are not."""
    run = FakeRun(lambda _: make_exchange("deleteEngagement", 200, {}), USED)
    assert len(send_by_turns(run, BATCH, [None])) == len(BATCH)
    assert names(run) == [None, "engagements:delete", None, "engagements:delete"]


def test_a_refused_key_gives_way_to_the_main_key() -> None:
    """A request whose key is refused now is sent again with the main key; one without a response is not."""

    def respond(sent: Request) -> Exchange:
        if sent.credential is None:
            return make_exchange("deleteEngagement", 200, {})
        return make_exchange("deleteEngagement", 403 if sent.identifier == "e1" else None, {})

    run = FakeRun(respond, USED)
    exchanges = send_by_turns(run, BATCH)
    assert names(run) == [None, "engagements:delete", None, "engagements:delete", None]
    assert [exchange.received is not None for exchange in exchanges] == [True, True, True, False]
    assert exchanges[1].request == BATCH[1]


def test_a_single_request_with_a_key() -> None:
    """If its key is refused it is sent again, after a 401 with the same key first, and then with the main key."""

    def respond(sent: Request) -> Exchange:
        return make_exchange(sent, 204 if sent.credential is None else 200 if sent.credential == MEMBER else 401, {})

    run = FakeRun(respond)
    assert [send_with(run, key, BATCH[0]).status for key in (MEMBER, REMOVED, None)] == [200, 204, 204]
    assert names(run) == ["member_1", *["member_2"] * 4, None, None]


def test_a_withheld_request_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that a guard withholds have no exchange; a new key's first 401 is still sent again."""
    statuses = iter((401, 401, 200, 200))
    run = FakeRun(lambda sent: make_exchange(sent, next(statuses), {}))
    monkeypatch.setattr(
        run, "send_permitted", lambda batch: [run.send(batch[0]), None, run.send(batch[2])], raising=False
    )

    sent = RetryNewKeys(run).send_permitted([request.with_key(MEMBER) for request in BATCH[:3]])

    assert [None if exchange is None else exchange.status for exchange in sent] == [200, None, 200]
    assert [request.identifier for request in run.sent] == ["e0", "e2", "e0", "e2"]
