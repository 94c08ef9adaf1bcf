"""Random walks: planned from a seed, judged step by step, and shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle.lists.collation import SYLLABLES, name_key, syllables
from conformance.running.options import Effort
from conformance.scenarios.walks import runner as walks
from conformance.scenarios.walks.plan import WRITES, Kind, plan
from conformance.scenarios.walks.runner import random_walks
from conformance.scenarios.walks.shrinking import shrink
from conformance.targets.capabilities import MissingMeans
from conformance.targets.names import RunNames
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential, Request
from tests.fakes.runs import FakeRun

MakeClient = Callable[..., Any]


def chosen(seed: int | str) -> Random:
    """Return the choices of a seed."""
    return Random(seed)


def no_key(*_: object) -> Credential:
    """Raise, as for a target without further keys."""
    raise MissingMeans("key:any", "There is none.")


class Walking(FakeRun):
    """A run with a client and its service."""

    fixtures = SimpleNamespace(scoped_key=no_key, key_with=no_key)

    def __init__(self, client: Any, effort: Effort) -> None:
        super().__init__(effort=effort, names=RunNames("cf-aaaaaaaa-"))
        self.client = client

    def send(self, request: Request) -> Exchange:
        """Send one request."""
        exchange: Exchange = self.client.send(request)
        return exchange

    def sleep(self, seconds: float) -> None:
        """Move the service's clock."""
        self.client.now += seconds

    def random(self, purpose: str) -> Random:
        """Return the choices of the seed 1."""
        return chosen(f"1 {purpose}")


@pytest.mark.parametrize("seed", range(5))
def test_plan_comes_from_the_seed(seed: int) -> None:
    """The same seed gives the same steps, as many as requested."""
    steps = plan(chosen(seed), 200, 5)

    assert len(steps) == 200
    assert steps == plan(chosen(seed), 200, 5)
    assert steps != plan(chosen(seed + 1), 200, 5)
    assert {step.kind for step in steps} == set(Kind)


def test_plan_reaches_rare_states() -> None:
    """An engagement is edited after two archives and an unarchive; filter, order and pages are combined."""
    steps = plan(chosen(1), 200, 5)
    lives = {slot: " ".join(step.kind for step in steps if step.slot == slot) for slot in range(5)}
    lists = [dict(step.query) | {"page": step.page} for step in steps if step.kind is Kind.LIST]

    assert any("archive unarchive get archive rename" in life for life in lives.values())
    assert any({"status", "sort", "order", "perPage"} <= step.keys() and int(step["page"]) > 1 for step in lists)
    assert any(step.kind is Kind.RENAME_ALIKE for step in steps)


@pytest.mark.parametrize("slots", [2, 3, 4, 7])
@pytest.mark.parametrize("size", [1, 3, 4, 5, 40, 200])
def test_plan_is_about_its_engagements(size: int, slots: int) -> None:
    """It begins with creations, uses only its slots, and never the same slot twice in a step."""
    for seed in range(4):
        steps = plan(chosen(seed), size, slots)

        assert len(steps) == size
        first = [(step.kind, step.slot) for step in steps[: min(slots, 3)]]
        assert first == [(Kind.CREATE, slot) for slot in range(min(slots, 3, size))]
        assert {step.slot for step in steps} | {step.other for step in steps} <= set(range(slots))
        assert all(step.slot != step.other for step in steps if step.kind is Kind.RENAME_ALIKE)
        assert all(bool(step.word) == (step.kind is not Kind.LIST) or step.kind is Kind.GET for step in steps)
        assert all(step.query == () and step.page == 1 for step in steps if step.kind is not Kind.LIST)


def test_plan_has_every_episode_before_repeating_one() -> None:
    """Every long walk has each episode, whatever its seed."""
    for seed in range(15):
        steps = plan(chosen(seed), 240, 5)
        lives = [" ".join(step.kind for step in steps if step.slot == slot) for slot in range(5)]
        pages = [step.page for step in steps if step.kind is Kind.LIST and len(step.query) == 4]

        for episode in (
            "rename archive unarchive get archive rename get",
            "archive edit get unarchive get rename get",
            "rename describe archive get archive get",
            "delete get list rename get create",
            "archive delete list get create",
            "rename alike list",
        ):
            assert any(episode in life for life in lives), (seed, episode)
        assert any(pages[place : place + 3] == [1, 2, 3] for place in range(len(pages))), seed
        assert any(step.query == (("sort", "name"), ("perPage", "100")) for step in steps), seed


def test_successive_pages_are_small_and_sorted() -> None:
    """Three pages of one list have a filter, an order and a small size."""
    turned = []
    for seed in range(12):
        lists = plan(chosen(seed), 200, 5)
        for first, second, third in zip(lists, lists[1:], lists[2:], strict=False):
            same = first.query == second.query == third.query and first.slot == second.slot == third.slot
            if same and [first.page, second.page, third.page] == [1, 2, 3] and first.kind is Kind.LIST:
                turned.append(dict(first.query))

    assert len(turned) >= 12
    assert all(query.keys() == {"status", "sort", "order", "perPage"} for query in turned)
    assert {query["perPage"] for query in turned} <= {"1", "2", "3", "5"}


def test_later_pages_are_requested_alone() -> None:
    """This includes lists that fit one page or have no size."""
    steps = [step for seed in range(12) for step in plan(chosen(seed), 200, 5)]
    whole = [step for step in steps if step.kind is Kind.LIST and "perPage" not in dict(step.query)]

    assert {step.page for step in whole} == {1, 2, 3}


def test_a_walk_too_short_for_chance_has_an_episode() -> None:
    """It follows the creations."""
    begun = (
        "rename archive",
        "archive edit",
        "rename describe",
        "delete get",
        "archive delete",
        "rename alike",
        "list list",
    )
    for seed in range(40):
        for slots in (3, 5):
            steps = plan(chosen(seed), 9, slots)
            assert " ".join(step.kind for step in steps[3:]).startswith(begun)


def test_plan_requests_lists_in_every_way() -> None:
    """Each parameter occurs with each value and without it, on several pages, and no unknown one occurs."""
    lists = [step for seed in range(20) for step in plan(chosen(seed), 200, 5) if step.kind is Kind.LIST]
    asked = [dict(step.query) for step in lists]

    assert {query.get("status") for query in asked} == {None, "active", "archived"}
    assert {query.get("sort") for query in asked} == {None, "createdAt", "updatedAt", "name"}
    assert {query.get("order") for query in asked} == {None, "asc", "desc"}
    assert {query.get("perPage") for query in asked} == {None, "1", "2", "3", "5", "20", "50", "100"}
    assert {step.page for step in lists} == {1, 2, 3}
    beside = [query for query in asked if query.get("perPage") == "100" and query != {"sort": "name", "perPage": "100"}]
    assert {query.get("status") for query in beside} == {None, "active", "archived"}
    assert {query.get("order") for query in beside} == {None, "asc", "desc"}
    assert {name for query in asked for name in query} == {"status", "sort", "order", "perPage"}


def test_most_writes_are_read_and_some_are_not() -> None:
    """A failure shows in the next read; some only show after two writes without a read."""
    follows = [
        (second.kind, second.slot == first.slot)
        for seed in range(12)
        for first, second in pairwise(plan(chosen(seed), 200, 5))
        if first.kind in WRITES
    ]
    read = sum(1 for found in follows if found == (Kind.GET, True))

    assert len(follows) / 3 < read < len(follows) * 2 / 3


def test_walks_have_every_kind_and_few_deletions() -> None:
    """Engagements live long enough for a failure to show."""
    kinds = Counter(step.kind for seed in range(12) for step in plan(chosen(seed), 200, 5))

    assert set(kinds) == set(Kind)
    assert all(
        kinds[Kind.DELETE] < kinds[kind] for kind in (Kind.RENAME, Kind.ARCHIVE, Kind.GET, Kind.LIST, Kind.CREATE)
    )
    assert all(count > sum(kinds.values()) / 50 for count in kinds.values())


def test_new_words_are_never_repeated() -> None:
    """The words distinguish the writes of a walk."""
    words = [step.word for step in plan(chosen(3), 500, 6) if step.word]

    assert len(set(words)) == len(words)


@given(st.lists(st.integers(0, 34), min_size=1, max_size=6), st.lists(st.integers(0, 34), min_size=1, max_size=6))
def test_names_of_walks_can_be_compared(first_numbers: list[int], other: list[int]) -> None:
    """Names compare by their syllables; a prefix of a name sorts first."""
    shorter, longer = (
        "".join(SYLLABLES[number] for number in numbers) for numbers in (first_numbers, first_numbers + other)
    )
    first, second = name_key(f"cf-aaaaaaaa-walk-{shorter}"), name_key(f"cf-aaaaaaaa-walk-{longer}")

    assert first is not None
    assert second is not None
    assert first < second
    assert name_key(f"cf-aaaaaaaa-list-{shorter}") is None


def test_numbers_have_syllables_of_their_own() -> None:
    """Two syllables distinguish walks."""
    assert len({syllables(number) for number in range(35 * 35)}) == 35 * 35


@settings(max_examples=200)
@given(st.integers(1, 40), st.sets(st.integers(0, 39), min_size=1, max_size=4))
def test_shrinking_finds_the_needed_steps(length: int, needed: set[int]) -> None:
    """With enough budget, exactly the needed steps remain."""
    steps = list(range(max(length, max(needed) + 1)))

    def attempt(shorter: Any) -> str | None:
        return "failed" if needed <= set(shorter) else None

    best, found = shrink(steps, "failed at first", [], attempt, 100_000)

    assert set(best) == needed or (len(steps) == 1 and best == steps)
    assert found in {"failed", "failed at first"}


def test_shrinking_stays_within_its_budget_and_takes_guesses() -> None:
    """A guess that fails saves the search."""
    spent = 0

    def attempt(shorter: Any) -> str | None:
        nonlocal spent
        spent += len(shorter)
        return "failed" if 7 in shorter else None

    best, _ = shrink(range(100), "failed", [[3], [7, 8]], attempt, 150)

    assert best == [7]
    assert spent <= 150
    assert shrink(range(100), "failed", [], attempt, 0)[0] == list(range(100))


@pytest.mark.parametrize("effort", list(Effort))
@pytest.mark.parametrize("unarchive", ["activates", "nothing", "refused"])
def test_honest_service_passes(make_client: MakeClient, effort: Effort, unarchive: str) -> None:
    """No walk has a finding about a correct service, and every kind of rule has evidence."""
    run = Walking(make_client(unarchive=unarchive, clock="seconds"), effort)

    came = random_walks(run)

    assert came.failed == {}
    assert came.kept("update-engagement-takes-effect")
    if effort is not Effort.QUICK:
        assert came.kept("archived-edit-refused")
        assert came.kept("deleted-unreadable")
        assert came.kept("sort-with-filter")


def resetting(honest: type[Any]) -> type[Any]:
    """Return a service that resets a new name when the engagement is unarchived."""

    class Resetting(honest):  # type: ignore[misc]
        """Service whose unarchiving resets the name."""

        def create(self, body: dict[str, Any]) -> Any:
            made = super().create(body)
            self.choices[made[1]["id"]] = body["name"]
            return made

        def unarchive(self, record: Any) -> None:
            super().unarchive(record)
            record.name = self.choices[record.id]

    return Resetting


def test_failure_is_shrunk_and_described(make_client: MakeClient, honest: type[Any]) -> None:
    """The message is a numbered list of the few needed steps, and cites all of them."""
    run = Walking(make_client(resetting(honest)), Effort.STANDARD)

    failed = random_walks(run).failed

    assert list(failed) == ["update-engagement-takes-effect"]
    (walk,) = failed.values()
    kinds = [exchange.request.operation.id for exchange in walk.exchanges]
    assert kinds == [
        "createEngagement", "updateEngagement", "archiveEngagement", "unarchiveEngagement", "getEngagement",
    ]  # fmt: skip
    fault = walk.as_fault()
    assert "1. engagement A is created with the name" in fault.message
    assert "5. A is read and is active, named" in fault.message
    assert fault.exchanges == walk.exchanges


def test_shrinking_costs_no_more_than_it_may(make_client: MakeClient, honest: type[Any]) -> None:
    """It sends few requests, even if a failure is intermittent."""

    class Whimsical(resetting(honest)):  # type: ignore[misc]
        """Service whose every fifth read shows an old name."""

        def getEngagement(self, record: Any, body: Any) -> Any:  # noqa: N802
            self.records.setdefault("", record)
            del self.records[""]
            self.choices["reads"] = str(int(self.choices.get("reads", "0")) + 1)
            status, data = super().getEngagement(record, body)
            stale = int(self.choices["reads"]) % 5 == 0
            return status, data | ({"name": self.choices[record.id]} if stale else {})

    client = make_client(Whimsical)
    run = Walking(client, Effort.STANDARD)
    size = walks.SIZES[Effort.STANDARD]

    assert random_walks(run).failed
    assert len(client.exchanges) <= size.further + size.walks * (size.steps + size.shrinking + 20)
