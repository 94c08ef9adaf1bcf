"""Lists that may be inconsistent because of a write during their read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.confirm.torn_lists import others_moved, others_shifted, record_torn, written_meanwhile
from conformance.running.options import Effort, RunOptions
from conformance.selftest.subjects import latitudes
from conformance.selftest.trial import Task, attempt
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

LIST = make_exchange("listEngagements", body={"data": [], "meta": {}})


@pytest.mark.parametrize(
    ("operation", "status", "seconds", "expected"),
    [
        ("createEngagement", 201, -0.005, True),
        ("createEngagement", 201, 0.005, True),
        ("archiveEngagement", 409, 0.005, True),
        ("createEngagement", 201, -0.5, False),
        ("createEngagement", 201, 0.5, False),
        ("createEngagement", None, -0.5, True),
        ("createEngagement", None, 0.5, False),
        ("getEngagement", 200, 0.005, False),
        ("removeMember", 200, 0.005, False),
    ],
)
def test_a_list_may_be_torn_by_what_was_written_meanwhile(
    operation: str, status: int | None, seconds: float, *, expected: bool
) -> None:
    """A list may be torn by an overlapping write of the same kind, or one without a response."""
    write = make_exchange(operation, status, {}, number=2, at=seconds)

    assert written_meanwhile(FakeRun(exchanges=[LIST, write]), LIST) is expected


def test_a_request_with_a_wrong_key_writes_nothing() -> None:
    """A request with a wrong key writes nothing, so it tears no list."""
    unknown = Credential("unknown", "Bearer unknown", invalid=True)
    write = make_exchange("createEngagement", 401, {}, key=unknown)

    assert not written_meanwhile(FakeRun(exchanges=[write]), LIST)


def page(*items: tuple[str, str], total: int | None = None) -> Exchange:
    """Return a list of engagements with these ids and names, of which there may be more."""
    data = [{"id": identifier, "name": name} for identifier, name in items]
    meta = {"total": len(items) if total is None else total}
    return make_exchange("listEngagements", body={"data": data, "meta": meta})


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        (page(("a", "x")), page(("a", "x")), False),
        (page(("a", "x")), page(("a", "y")), True),
        (page(("a", "x")), page(("a", "x"), ("b", "x")), True),
        (page(("a", "x"), ("b", "x")), page(("a", "x")), True),
        (page(("a", "x"), total=50), page(("b", "x"), total=50), False),
        (page(("a", "x"), total=50), page(("a", "y"), total=50), True),
        (page(("a", "x")), page(("a", "x"), ("b", "cf-x")), False),
        (page(("a", "cf-x")), page(("a", "cf-y")), False),
    ],
)
def test_others_are_seen_by_what_they_change(first: Exchange, other: Exchange, *, expected: bool) -> None:
    """Changes by others count, unlike those by the run or shifts between pages."""
    assert others_moved(FakeRun(), first, other) is expected


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        (page(("a", "x"), total=50), page(("b", "x"), total=50), True),
        (page(("a", "x"), total=50), page(("a", "y"), total=50), False),
        (page(("a", "x"), ("b", "cf-x"), total=50), page(("a", "x"), ("c", "cf-y"), total=50), False),
    ],
)
def test_others_shift_a_page_by_what_they_add_and_remove(first: Exchange, other: Exchange, *, expected: bool) -> None:
    """Other users' items on a page show that its items may have moved to another page."""
    assert others_shifted(FakeRun(), first, other) is expected


def test_that_lists_may_tear_is_observed_once_it_was_seen() -> None:
    """A torn list is observed, with the list as evidence."""
    seen: list[tuple[object, ...]] = []
    observer = FakeRun(observe=lambda *words: seen.append(words))

    record_torn(observer)
    record_torn(observer, LIST)

    ((point, _, cited),) = seen
    assert (point, cited) == ("lists-under-writes", LIST)


@pytest.mark.parametrize(
    ("reading", "seed"),
    [("up-to-its-count", 1), ("up-to-its-count", 6), ("up-to-its-count", 9), ("after-its-count", 1)],
)
def test_a_service_that_counts_first_and_reads_then_is_certified(reading: str, seed: int) -> None:
    """A service that counts before it reads passes, with no requirement undecided."""
    (subject,) = latitudes(f"list_reading={reading}")

    trial = attempt(Task(subject, RunOptions(effort=Effort.QUICK, seed=seed), in_process=True))

    assert (trial.reported, trial.undecided, trial.errors, trial.left) == ({}, {}, (), ())
    assert trial.passed > 100
