"""Robustness: randomly changed responses raise nothing but outcomes."""

from __future__ import annotations

import contextlib
import inspect
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.oracle import observe
from conformance.oracle.laws import registry
from conformance.oracle.laws.rate_limit_course import expect_falling
from conformance.oracle.laws.survey import survey
from conformance.oracle.ledger import lists as ledger_lists
from conformance.oracle.ledger.ledger import Ledger
from conformance.oracle.outcomes import CheckOutcome
from conformance.reports.har import har_bytes
from conformance.targets.census import organization_census, take_census
from conformance.targets.journal import Journal
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.targets.undo import undo
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NoResponse, NotSent, Response
from conformance.wire.rate_limit_headers import ServiceClock, quota, retry_after
from conformance.wire.requests import Request
from tests.fakes.target import Reply
from tests.hostile.random_changes import changed

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))
"""The number of recordings tried; sixty thousand take about ten minutes."""


def _public(module: ModuleType) -> Iterator[Callable[[Exchange], Any]]:
    """Return the public functions of a module that take only an exchange."""
    for name, found in vars(module).items():
        own = inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
        if own and [given.annotation for given in inspect.signature(found).parameters.values()] == ["Exchange"]:
            yield found


LAWS = [law.judge for law in registry.LAWS.values()]
WORDS = list(_public(observe))


def _course(make_client: Any, chance: random.Random) -> list[Exchange]:
    """Return exchanges with a correct service, some of whose responses are changed at random."""
    client = make_client()
    ids = [client.created(f"cf-abcdefg2-{number}") for number in range(3)]
    for _ in range(12):
        identifier = chance.choice(ids)
        client.send(
            chance.choice(
                (
                    requests.get_engagement(identifier),
                    requests.update_engagement(identifier, {"name": f"cf-abcdefg2-{chance.random()}"}),
                    requests.update_engagement(identifier, {"description": None}),
                    requests.archive_engagement(identifier),
                    requests.delete_engagement(identifier),
                    requests.list_engagements(sort="createdAt", order="asc", page=1, perPage=2),
                    requests.list_engagements(status="archived"),
                    requests.create_engagement({"name": "cf-abcdefg2-4"}),
                )
            )
        )
    return [_changed(exchange, chance) if chance.random() < 0.5 else exchange for exchange in client.exchanges]


def _changed(exchange: Exchange, chance: random.Random) -> Exchange:
    assert exchange.received is not None
    response = exchange.received
    limits = (("X-RateLimit-Limit", "9"), ("X-RateLimit-Remaining", "8"), ("X-RateLimit-Reset", "1767323100"))
    reply = changed(Reply(response.status, (*response.headers, *limits), response.body), chance)
    return replace(exchange, received=Response(reply.status, reply.headers, reply.body))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_responses_raise_only_outcomes(
    seed: int, make_client: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Laws, surveys, the ledger, the journal, the census and the outputs accept any response."""
    assert len(LAWS) > 30
    exchanges = _course(make_client, random.Random(seed))

    for exchange in exchanges:
        for function in (*LAWS, *WORDS, lambda made: Ledger().take(made), _as_the_census_does, _as_the_wire_does):
            _apply(function, exchange)
    for law in LAWS:
        survey(law, exchanges)
    _apply(expect_falling, exchanges)
    Ledger.over(exchanges)
    with pytest.MonkeyPatch.context() as patch:  # all names are compared then
        patch.setattr(ledger_lists, "name_key", lambda name: name)
        Ledger.over(exchanges[1:])
    har_bytes(exchanges)
    _as_the_journal_does(exchanges, tmp_path_factory.mktemp("journal"))


def _apply(function: Callable[[Any], object], what: object) -> None:
    with contextlib.suppress(CheckOutcome, NoResponse):
        function(what)


def _as_the_census_does(exchange: Exchange) -> None:
    organization_census(exchange.received)


def _as_the_wire_does(exchange: Exchange) -> None:
    assert exchange.received is not None
    quota(exchange.received)
    clock = ServiceClock()
    clock.learn(exchange.received, exchange.started_at)
    retry_after(exchange.received, clock.time(exchange.started_at))


def _as_the_journal_does(exchanges: list[Exchange], folder: Path) -> None:
    journal = Journal.open(folder, RunNames("cf-abcdefg2-"), "http://service", "main-key-0001")
    responses = iter(exchanges * 500)

    def send_all(asked: Sequence[Request]) -> list[Exchange]:
        return [next(responses) for _ in asked]

    recorder, ownership = JournalRecorder(journal), Ownership(journal.names, send_all)
    membership = Membership(send_all)
    for exchange in exchanges:
        with contextlib.suppress(NotSent):  # the wire does not send withheld requests
            for guard in (recorder.ensure_harmless, ownership.ensure, membership.ensure):
                guard([exchange.request])
            recorder.before(exchange.request)
            for observer in (recorder, ownership, membership):
                observer.after(exchange)
    queries = QueryClient(lambda _: next(responses))
    take_census(queries, journal.names)
    undo(journal, ownership, membership, queries)
    journal.close()
