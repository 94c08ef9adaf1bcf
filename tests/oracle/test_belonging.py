"""Whether lists hold what another organization's key has made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.oracle.belonging import expect_apart
from conformance.oracle.judgement import Evidence, Inapplicable, NonConformity
from conformance.wire.call import Credential
from conformance.wire.exchange import Exchange
from tests.conftest import make_exchange

KEYS = ("api_key", "other_organization")
SOMEBODY = Credential.bearer("throttled", "k3")


def engagement(identifier: str, second: int = 1) -> dict[str, str]:
    """One that was made in a second."""
    return {"id": identifier, "createdAt": f"2026-03-01T12:00:{second:02}.000Z"}


def by(exchange: Exchange, key: Credential | None) -> Exchange:
    """The exchange, sent with a key; None for the main one."""
    return replace(exchange, call=replace(exchange.call, credential=key))


def made(identifier: str, key: Credential | None = None, second: int = 1) -> Exchange:
    """A creation."""
    return by(make_exchange("createEngagement", 201, {"data": engagement(identifier, second)}), key)


def listed(*identifiers: str, key: Credential | None = None, status: int = 200, second: int = 1) -> Exchange:
    """A list."""
    items = [{}, *(engagement(one, second) for one in identifiers)]
    return by(make_exchange("listEngagements", status, {"data": items, "meta": {}}), key)


def test_each_list_holds_its_own(another_key: Credential) -> None:
    """What nobody of the run has made may stand in any list."""
    clean = [listed("a", "x"), listed("b", "x", key=another_key)]

    with Evidence() as evidence:
        expect_apart([made("a"), made("b", another_key), *clean], KEYS)
    assert evidence.exchanges == clean


@pytest.mark.parametrize("turned", [False, True])
def test_a_list_holds_what_another_key_has_made(another_key: Credential, *, turned: bool) -> None:
    """The creation and the list are cited, and all such lists counted."""
    maker, reader = (None, another_key) if turned else (another_key, None)
    creation, leak = made("b", maker), listed("a", "b", key=reader)

    with pytest.raises(NonConformity, match=r"has made \(2 times in this run\)") as raised:
        expect_apart([creation, made("a", reader), leak, listed("a", key=reader), listed("b", key=reader)], KEYS)
    assert raised.value.exchanges == (creation, leak)
    assert raised.value.pointer == "/data/2"
    assert raised.value.actual == f"one that {'api_key' if turned else 'other_organization'} has made"


def test_ids_of_each_organization(another_key: Credential) -> None:
    """Where both count from 1 on, the same id is not the same engagement; nor is one that both have made."""
    exchanges = [made("1", another_key, second=1), listed("1", second=2), listed("1", second=1)]

    expect_apart([made("1", second=1), made("2", another_key), *exchanges], KEYS)


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        [listed("a")],
        [made("a"), listed("a")],
        [made("a"), listed("a", key=SOMEBODY), made("b", SOMEBODY), listed("b")],
        [made("a"), listed("a", key=Credential.bearer("other_organization", "k2"), status=403)],
    ],
)
def test_nothing_to_tell(nothing: list[Exchange]) -> None:
    """Without a list that another key's engagement could stand in, nothing is said."""
    with pytest.raises(Inapplicable):
        expect_apart(nothing, KEYS)
