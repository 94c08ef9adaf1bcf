"""Determinism: the same requests for the same seed, the same outcomes for any number of workers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES
from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import latitudes
from conformance.verdicts import conclude
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks
from conformance.wire.exchange import OWNERSHIP, Exchange

Streams = dict[str, list[tuple[str, ...]]]

GIVEN = re.compile(r"\b(?:eng|usr|org|inv)_[\w-]{22}|\b[Mm]ember-[0-9a-f]{12}(?=@)|\bProvisioned [0-9a-f]{6}\b")
"""Identifiers, members' addresses and organizations' names of the reference service, also in derived values."""

PLACES = re.compile(r"(?:[?&](?:page|perPage)=\d+)+")

WITH_A_KEY = frozenset({"X-Api-Key", "X-Api-Token", "X-Auth-Token", "X-Access-Token", "Api-Key", "Cookie"})

BY_PLACE = frozenset({"by_name", "combined_lists"})
"""Scenarios that request pages divided between engagements of equal times, with varying page sizes."""

REREADING = frozenset({"test_s8_paging_limits::test_total_past_the_end[page-past-the-end]"})
"""Checks that send requests only if other scenarios have changed a list meanwhile."""


ONE_SECOND_TICK = 0.002
"""Seconds that every response takes, longer than the resolution of the service's clock."""


@dataclass(frozen=True)
class Made:
    """The requests and outcomes of a run."""

    streams: Streams
    verdicts: dict[str, str]
    exchanges: int


def run_once(seed: int, workers: int, *only: str) -> Made:
    """Run once against a new reference service whose clock ticks between any two responses.

    Otherwise checks would re-read an engagement that is archived in the millisecond of its creation.
    """
    options = RunOptions(effort=Effort.QUICK, seed=seed, workers=workers, only=only)
    with HostedSession(latitudes("default")[0], options) as session:
        session._service.app.service.latency = ONE_SECOND_TICK
        judge = Judge(session.run)
        assert session.reach() is None
        run_checks(judge)
        session.undo()
        assert judge.errors == []
        sent = session.run.wire.exchanges
        streams = streams_of(sent, session.run.names.prefix)
        concluded = conclude.requirements(judge.results, "It was left out.")
        return Made(streams, {entry["id"]: entry["outcome"] for entry in concluded}, len(sent))


def streams_of(exchanges: Sequence[Exchange], prefix: str) -> Streams:
    """Return the requests of each check in order, with the service's identifiers numbered by first use."""
    streams: Streams = defaultdict(list)
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for exchange in exchanges:
        if exchange.check in REREADING:
            continue
        met = numbers[exchange.check]

        def mapped(text: str, met: dict[str, int] = met) -> str:
            text = GIVEN.sub(lambda found: f"<{met.setdefault(found[0], len(met) + 1)}>", text)
            return text.replace(prefix, "<run>-")

        sent = exchange.request
        path = PLACES.sub("<place>", sent.path) if exchange.check in BY_PLACE else sent.path
        key = "" if sent.credential is None else sent.credential.name
        body = exchange.sent_request.body.decode("utf-8", "backslashreplace")
        headers = [(name, "<key>" if name in WITH_A_KEY else value) for name, value in sent.headers]
        streams[exchange.check].append((sent.method, mapped(path), mapped(body), key, repr(headers)))
    return streams


@pytest.fixture(scope="module")
def wide() -> Made:
    """Run seed 7 with the default number of workers."""
    return run_once(7, 8)


@pytest.fixture(scope="module")
def narrow() -> Made:
    """Run the same seed with two workers."""
    return run_once(7, 2)


def test_same_seed_sends_the_same_requests(wide: Made, narrow: Made) -> None:
    """Each check and scenario sends the same requests in the same order with any number of workers.

    The reads of guards are left out, as they depend on which check comes first.
    """
    assert wide.exchanges > 400
    assert wide.streams.keys() == narrow.streams.keys()
    for check in wide.streams.keys() - {OWNERSHIP}:
        assert narrow.streams[check] == wide.streams[check], check


def test_workers_do_not_change_verdicts(wide: Made, narrow: Made) -> None:
    """Every requirement has the same outcome with 8 workers and with 2.

    Single checks may differ, as they depend on whether two requests really overlapped.
    """
    assert list(wide.verdicts.values()).count("passed") > 200
    assert wide.verdicts == narrow.verdicts


def test_another_seed_sends_other_requests(wide: Made) -> None:
    """Another seed sends other requests, so the comparison is not trivial."""
    assert run_once(8, 8, ENGAGEMENT_RULES[0]).streams["random_walks"] != wide.streams["random_walks"] != []
