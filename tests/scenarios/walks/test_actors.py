"""The keys that send the steps of walks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from conformance.oracle.permissions import KEYS, MATRIX, Rule
from conformance.scenarios.walks.actors import Actors
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

EDIT = requests.update_engagement("e_1", {"name": "cf-a"})
CREATION = requests.create_engagement({"name": "cf-a"})


def strict(request: Request) -> Exchange:
    """Respond to the main key and to keys with the listed permission only."""
    key = request.credential
    may = key is None or MATRIX[key.name, request.operation.id] is Rule.ALLOWED
    return make_exchange(request, 200 if may else 403, {})


def actors_of(run: FakeRun, *lacking: str) -> Actors:
    """Return the actors of a target that lacks some keys."""

    def key(name: str, *_: object) -> Credential:
        if name in lacking:
            raise MissingMeans("key:any", "There is none.")
        return Credential(name, "Bearer k")

    run.fixtures = SimpleNamespace(scoped_key=key, key_with=key)
    return Actors.of(run)


def senders(run: FakeRun, request: Request) -> list[str]:
    """Return who sent a request, over many turns."""
    actors = actors_of(run)
    for turn in range(200):
        actors.send(request, turn)
    return [sent.key_name for sent in run.sent]


def test_a_target_without_further_keys_gets_all_from_the_main_key() -> None:
    """No key is needed for a walk."""
    run = FakeRun(strict)
    actors_of(run, *KEYS).send(EDIT, 3)
    assert [sent.key_name for sent in run.sent] == ["api_key"]


def test_a_key_that_is_refused_what_is_open_gets_no_further_turn() -> None:
    """Its refused request goes out with the main key."""
    names = senders(run := FakeRun(strict), EDIT)

    assert names[names.index("engagements:delete") + 1] == "api_key"
    assert (names.count("engagements:delete"), len(run.sent)) == (1, 201)
    assert names.count("engagements:write") > 10


@pytest.mark.parametrize(("request_", "is_repeated"), [(EDIT, False), (CREATION, True)], ids=["edit", "creation"])
def test_a_refused_request_is_repeated_only_if_the_walk_needs_it(request_: Request, *, is_repeated: bool) -> None:
    """The main key's edit would hide what a refused edit has done; a walk needs the engagement of a creation."""
    names = senders(FakeRun(strict), request_)

    after = {names[place + 1] for place, name in enumerate(names[:-1]) if name == "organizations:read"}
    assert (after == {"api_key"}) is is_repeated
