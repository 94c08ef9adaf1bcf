"""Random walks: planned from a seed, judged as they go, and shrunk to what matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.checks import random_walks as walks
from conformance.checks.random_walks import random_walks
from conformance.oracle.collation import SYLLABLES, name_key, syllables
from conformance.oracle.shrinking import shrink
from conformance.oracle.walk_plan import WRITES, Kind, plan
from conformance.running.options import Effort, RunOptions
from conformance.targets.names import RunNames
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request

MakeClient = Callable[..., Any]


def chosen(seed: int | str) -> Random:
    """Choices of a seed."""
    return Random(seed)


@dataclass
class FakeRun:
    """As much of a run as a walk needs."""

    client: Any
    options: RunOptions
    seed: int = 1
    names: RunNames = RunNames("cf-aaaaaaaa-")  # noqa: RUF009 - it is frozen

    @property
    def effort(self) -> Effort:
        """How long the walks are."""
        return self.options.effort

    def send(self, sent: Request) -> Exchange:
        """Send one call."""
        exchange: Exchange = self.client.send(sent)
        return exchange

    def send_all(self, sent: list[Request]) -> list[Exchange]:
        """Send calls one after the other."""
        return [self.send(request) for request in sent]

    def sleep(self, seconds: float) -> None:
        """Let the service's time pass."""
        self.client.now += seconds

    def random(self, purpose: str) -> Random:
        """Choices of the seed."""
        return chosen(f"{self.seed} {purpose}")


@pytest.mark.parametrize("seed", range(5))
def test_plan_comes_from_the_seed(seed: int) -> None:
    """The same seed gives the same steps, as many as were asked for."""
    steps = plan(chosen(seed), 200, 5)

    assert len(steps) == 200
    assert steps == plan(chosen(seed), 200, 5)
    assert steps != plan(chosen(seed + 1), 200, 5)
    assert {step.kind for step in steps} == set(Kind)


def test_plan_reaches_rare_states() -> None:
    """An engagement is edited after it was archived, unarchived and archived again; filter, order and pages meet."""
    steps = plan(chosen(1), 200, 5)
    lives = {slot: " ".join(step.kind for step in steps if step.slot == slot) for slot in range(5)}
    lists = [dict(step.query) | {"page": step.page} for step in steps if step.kind is Kind.LIST]

    assert any("archive unarchive get archive rename" in life for life in lives.values())
    assert any({"status", "sort", "order", "perPage"} <= step.keys() and int(step["page"]) > 1 for step in lists)
    assert any(step.kind is Kind.RENAME_ALIKE for step in steps)


@pytest.mark.parametrize("slots", [2, 3, 4, 7])
@pytest.mark.parametrize("size", [1, 3, 4, 5, 40, 200])
def test_plan_is_about_its_engagements(size: int, slots: int) -> None:
    """It begins with some, names no other place than those in play, and never one and the same twice in a step."""
    for seed in range(4):
        steps = plan(chosen(seed), size, slots)

        assert len(steps) == size
        first = [(step.kind, step.slot) for step in steps[: min(slots, 3)]]
        assert first == [(Kind.CREATE, slot) for slot in range(min(slots, 3, size))]
        assert {step.slot for step in steps} | {step.other for step in steps} <= set(range(slots))
        assert all(step.slot != step.other for step in steps if step.kind is Kind.RENAME_ALIKE)
        assert all(bool(step.word) == (step.kind is not Kind.LIST) or step.kind is Kind.GET for step in steps)
        assert all(step.query == () and step.page == 1 for step in steps if step.kind is not Kind.LIST)


def test_plan_brings_every_episode_before_one_comes_again() -> None:
    """What single steps seldom reach comes in each walk that is long enough, whatever its seed."""
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


def test_pages_that_are_turned_are_small_and_in_order() -> None:
    """Three pages of one list, with a filter, an order, and so few items that there are several."""
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


def test_later_pages_are_asked_for_by_themselves() -> None:
    """Also of lists that the whole of stands on one page, or that are asked for without a size."""
    steps = [step for seed in range(12) for step in plan(chosen(seed), 200, 5)]
    whole = [step for step in steps if step.kind is Kind.LIST and "perPage" not in dict(step.query)]

    assert {step.page for step in whole} == {1, 2, 3}


def test_a_walk_too_short_for_chance_has_an_episode() -> None:
    """The first thing after the creations is one."""
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


def test_plan_asks_for_lists_in_every_way() -> None:
    """Each parameter with each of its values and without it, several pages, and only what the interface knows."""
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
    """A fault shows in the next read; one that only shows after two writes needs those that are not read."""
    follows = [
        (second.kind, second.slot == first.slot)
        for seed in range(12)
        for first, second in pairwise(plan(chosen(seed), 200, 5))
        if first.kind in WRITES
    ]
    read = sum(1 for found in follows if found == (Kind.GET, True))

    assert len(follows) / 3 < read < len(follows) * 2 / 3


def test_walks_do_many_things_and_delete_few() -> None:
    """Every kind of step is taken, and engagements live long enough for something to go wrong."""
    kinds = Counter(step.kind for seed in range(12) for step in plan(chosen(seed), 200, 5))

    assert set(kinds) == set(Kind)
    assert all(
        kinds[Kind.DELETE] < kinds[kind] for kind in (Kind.RENAME, Kind.ARCHIVE, Kind.GET, Kind.LIST, Kind.CREATE)
    )
    assert all(count > sum(kinds.values()) / 50 for count in kinds.values())


def test_new_words_are_never_repeated() -> None:
    """What a walk writes is told apart by its words."""
    words = [step.word for step in plan(chosen(3), 500, 6) if step.word]

    assert len(set(words)) == len(words)


@given(st.lists(st.integers(0, 34), min_size=1, max_size=6), st.lists(st.integers(0, 34), min_size=1, max_size=6))
def test_names_of_walks_can_be_compared(first_numbers: list[int], other: list[int]) -> None:
    """Names are compared by their syllables; a name that another begins with comes first."""
    shorter, longer = (
        "".join(SYLLABLES[number] for number in numbers) for numbers in (first_numbers, first_numbers + other)
    )
    first, second = name_key(f"cf-aaaaaaaa-walk-{shorter}"), name_key(f"cf-aaaaaaaa-walk-{longer}")

    assert first is not None
    assert second is not None
    assert first < second
    assert name_key(f"cf-aaaaaaaa-list-{shorter}") is None


def test_numbers_have_syllables_of_their_own() -> None:
    """Walks are told apart by two syllables."""
    assert len({syllables(number) for number in range(35 * 35)}) == 35 * 35


@settings(max_examples=200)
@given(st.integers(1, 40), st.sets(st.integers(0, 39), min_size=1, max_size=4))
def test_shrinking_finds_what_is_needed(length: int, needed: set[int]) -> None:
    """What fails by some steps alone is shrunk to just those, if it may cost enough."""
    steps = list(range(max(length, max(needed) + 1)))

    def attempt(shorter: Any) -> str | None:
        return "failed" if needed <= set(shorter) else None

    best, found = shrink(steps, "failed at first", [], attempt, 100_000)

    assert set(best) == needed or (len(steps) == 1 and best == steps)
    assert found in {"failed", "failed at first"}


def test_shrinking_keeps_to_its_budget_and_takes_guesses() -> None:
    """No more is spent than was given; a guess that fails saves the search."""
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
    """No walk finds anything about an honest service, and every kind of rule was put to the test."""
    run = FakeRun(make_client(unarchive=unarchive, clock="seconds"), RunOptions(effort=effort))

    came = random_walks(run)  # type: ignore[arg-type]

    assert came.stories == {}
    assert came.kept("update-engagement-takes-effect")
    if effort is not Effort.QUICK:
        assert came.kept("archived-edit-refused")
        assert came.kept("deleted-unreadable")
        assert came.kept("sort-with-filter")


def resetting(honest: type[Any]) -> type[Any]:
    """A service that forgets a new name when the engagement is unarchived."""

    class Resetting(honest):  # type: ignore[misc]
        """Unarchiving resets the name."""

        def create(self, body: dict[str, Any]) -> Any:
            made = super().create(body)
            self.choices[made[1]["id"]] = body["name"]
            return made

        def unarchive(self, record: Any) -> None:
            super().unarchive(record)
            record.name = self.choices[record.id]

    return Resetting


def test_failure_is_shrunk_and_told(make_client: MakeClient, honest: type[Any]) -> None:
    """What remains of a walk is the few steps that it takes, as a numbered story that cites all of them."""
    run = FakeRun(make_client(resetting(honest)), RunOptions(effort=Effort.STANDARD))

    stories = random_walks(run).stories  # type: ignore[arg-type]

    assert list(stories) == ["update-engagement-takes-effect"]
    (story,) = stories.values()
    kinds = [exchange.request.operation.id for exchange in story.exchanges]
    assert kinds == [
        "createEngagement", "updateEngagement", "archiveEngagement", "unarchiveEngagement", "getEngagement",
    ]  # fmt: skip
    fault = story.as_fault()
    assert "1. engagement A is created with the name" in fault.message
    assert "5. A is read and is active, named" in fault.message
    assert fault.exchanges == story.exchanges


def test_shrinking_costs_no_more_than_it_may(make_client: MakeClient, honest: type[Any]) -> None:
    """Requests beyond the walks are few, also where a fault shows only now and then."""

    class Whimsical(resetting(honest)):  # type: ignore[misc]
        """Every fifth read shows an old name."""

        def getEngagement(self, record: Any, body: Any) -> Any:  # noqa: N802
            self.records.setdefault("", record)
            del self.records[""]
            self.choices["reads"] = str(int(self.choices.get("reads", "0")) + 1)
            status, data = super().getEngagement(record, body)
            stale = int(self.choices["reads"]) % 5 == 0
            return status, data | ({"name": self.choices[record.id]} if stale else {})

    client = make_client(Whimsical)
    run = FakeRun(client, RunOptions(effort=Effort.STANDARD))
    size = walks.SIZES[Effort.STANDARD]

    assert random_walks(run).stories  # type: ignore[arg-type]
    assert len(client.exchanges) <= size.crowd + size.walks * (size.steps + size.shrinking + 20)
