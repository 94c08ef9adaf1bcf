"""Scenario of lists of engagements with filter, sort, order, page size and page in combination."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.confirm.pages import total_of
from conformance.interface.list_parameters import DEFAULT_PER_PAGE, MAX_PER_PAGE, STATUSES, page_count
from conformance.oracle import read
from conformance.oracle.lists.listing import neighbours
from conformance.oracle.lists.slices import Aspect, Deviation, Known, expect_slice
from conformance.oracle.outcomes import CantTell, Evidence
from conformance.running.scenarios import scenario
from conformance.scenarios.keys_in_turn import scoped_key_or_none, send_by_turns
from conformance.scenarios.lists.bounded_finding import find_seeded
from conformance.scenarios.lists.combinations import combinations_for
from conformance.scenarios.lists.filtered import engagements_by_status, listing_with_status, readable, until_seen
from conformance.scenarios.lists.sorted import by_name
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_MOST_DOUBTS: Final = 3
"""Undecided lists after which no further one is confirmed."""
_MOST_PAGES: Final = 4
"""Pages of the longest list that is read as a whole."""
_PLACED: Final = frozenset({Aspect.ORDER, Aspect.CONTENTS})
"""Properties that depend on the order."""


@dataclass(frozen=True, slots=True)
class CombinedLists:
    """Neighbouring pages of a list, with the list that they are parts of.

    Attributes:
        snapshot: Responses with the list, then the pages.
        known: What the responses show.
        ordered: Whether the pages show an order.
        outcome: The confirmed deviation of the pages, or why they are undecided; None if they are right.
    """

    snapshot: Snapshot
    known: Known
    ordered: bool = False
    outcome: Deviation | CantTell | None = None

    @property
    def pages(self) -> Snapshot:
        """The pages."""
        return self.snapshot[self.known.responses :]

    @property
    def sort(self) -> str | None:
        """The field that they were sorted by."""
        return dict(self.pages[0].request.query).get("sort")

    @property
    def is_filtered(self) -> bool:
        """Whether they were requested with a status."""
        return "status" in dict(self.pages[0].request.query)

    @property
    def broken(self) -> object:
        """The kind of requirement that the deviation breaks; None if there is none."""
        if not isinstance(self.outcome, Deviation):
            return None
        aspect = self.outcome.aspect
        return aspect, self.is_filtered, self.sort if aspect is Aspect.ORDER else None


@scenario(alone=True)
def combined_lists(run: Run) -> tuple[CombinedLists, ...]:
    """List engagements with parameters in combination; of a long list the pages with seeded engagements only."""
    total = total_of(run.scenarios.result(by_name).pages[0])
    whole = _whole(run, total)  # anew, as other scenarios may have changed engagements since
    return _confirmed(run, _combinations(run, whole) if whole else _around_seeded(run))


def _combinations(run: Run, whole: Snapshot) -> list[CombinedLists]:
    """Request the combinations with every key in turn."""
    known = Known(len(whole), True, run.scenarios.result(by_name).seeded.names, run.names.owns)
    batches = combinations_for(run, whole)
    reader = scoped_key_or_none(run, "engagements:read")
    responses = iter(send_by_turns(run, [request for batch in batches for request in batch], [reader]))
    return [CombinedLists((*whole, *(next(responses) for _ in batch)), known) for batch in batches]


def _whole(run: Run, total: int, most: int = _MOST_PAGES) -> Snapshot:
    """Read the whole list by name; nothing if it has more than ``most`` pages."""
    whole: list[Exchange] = []
    while len(whole) < (last := page_count(max((total, *map(total_of, whole))), MAX_PER_PAGE)) <= most:
        pages = range(len(whole) + 1, last + 1)
        whole += run.send_all(
            [requests.list_engagements(sort="name", order="desc", perPage=MAX_PER_PAGE, page=page) for page in pages]
        )
    return tuple(whole) if last <= most else ()


# --- long lists


def _around_seeded(run: Run) -> list[CombinedLists]:
    """Request neighbouring pages with seeded engagements in the middle, in both directions."""
    lists, named = run.scenarios.result(engagements_by_status), run.scenarios.result(by_name)
    owned = frozenset((*named.seeded.active, *named.seeded.archived))
    total = total_of(listing_with_status(lists.snapshot, "active").responses[0])
    active = find_seeded(run, named.seeded.engagements, total, status="active")
    heads: list[tuple[Snapshot, int]] = [
        *((listing_with_status(lists.snapshot, status).responses, 0) for status in (None, *STATUSES)),
        (until_seen(run, owned, sort="updatedAt", order="desc"), 0),
        (named.pages, named.skipped),
        (active.snapshot, active.skipped),
    ]
    return [
        CombinedLists((*head, *pages), Known(len(head), False, named.seeded.names, run.names.owns, skipped))
        for head, skipped in heads
        if head
        for pages in _in_both_directions(run, head, skipped, owned)
    ]


def _in_both_directions(run: Run, head: Snapshot, skipped: int, owned: Collection[str]) -> Iterator[Snapshot]:
    places = [place for place, item in enumerate(readable(head), skipped) if read.id_of(item) in owned]
    asked = {name: value for name, value in head[0].request.query if name in {"status", "sort"}}
    total = total_of(head[0])
    if places and total > places[-1]:
        count = places[-1] - places[0] + 1
        for order, before in (("asc", total - places[-1] - 1), ("desc", places[0])):
            page, size = neighbours(before, count, total)
            numbers = [number for number in (page, page + 1) if (number - 1) * size < total]
            batch = [requests.list_engagements(**asked, order=order, page=number, perPage=size) for number in numbers]
            yield tuple(run.send_all(batch))


# --- confirmation


def _confirmed(run: Run, lists: Sequence[CombinedLists]) -> tuple[CombinedLists, ...]:
    """Confirm deviations, which other users may have caused; one of each kind that is confirmed proves the others."""
    found: list[CombinedLists] = []
    for judged in map(_judged, lists):
        is_proved = judged.broken is not None and judged.broken in {other.broken for other in found}
        if judged.outcome is None or is_proved:
            found.append(judged)
        elif sum(isinstance(other.outcome, CantTell) for other in found) < _MOST_DOUBTS:
            found.append(_confirm(run, judged))
        else:
            found.append(replace(judged, outcome=CantTell("other lists could not be confirmed", *judged.pages)))
    return tuple(_attributed(found))


def _attributed(found: Sequence[CombinedLists]) -> Iterator[CombinedLists]:
    """Yield the lists, with the order as the aspect of deviations that the order explains.

    It explains pages that are all right in one other order, and filtered pages that are wrong in one order alone.
    Filtered pages are undecided if the same order, or pages in any order, are wrong without a filter, too.
    """
    wrong = {place: lists.outcome for place, lists in enumerate(found) if isinstance(lists.outcome, Deviation)}
    disordered: set[int] = set()
    for filtered in (False, True):
        placed = {
            place: fault
            for place, fault in wrong.items()
            if found[place].is_filtered is filtered and found[place].sort and fault.aspect in _PLACED
        }
        if placed and frozenset.intersection(*(fault.orders for fault in placed.values())):
            disordered |= placed.keys()
    sorts = {found[place].sort for place in wrong if found[place].is_filtered}
    if len(sorts) == 1 and None not in sorts and {lists.sort for lists in found if lists.is_filtered} - sorts:
        disordered |= {place for place in wrong if found[place].is_filtered}
    plain = {found[place].sort for place in wrong if not found[place].is_filtered}
    misplaced = any(not found[place].is_filtered and wrong[place].aspect is not Aspect.ORDER for place in wrong)
    for place, lists in enumerate(found):
        if place not in wrong:
            yield lists
        elif lists.is_filtered and (lists.sort in plain or misplaced):
            yield replace(lists, outcome=CantTell("lists in this order are wrong without a filter, too", *lists.pages))
        else:
            aspect = Aspect.ORDER if place in disordered else wrong[place].aspect
            yield replace(lists, outcome=Deviation(aspect, wrong[place]))


def _judged(lists: CombinedLists) -> CombinedLists:
    with Evidence():
        try:
            return replace(lists, ordered=expect_slice(lists.snapshot, lists.known))
        except (Deviation, CantTell) as outcome:
            return replace(lists, outcome=outcome)


def _is_shorter(lists: CombinedLists) -> bool:
    """Whether a page was refused that the list, which other users have shortened, does not have any more."""
    shown = lists.snapshot[: lists.known.responses]
    items = readable(shown)
    for page in lists.pages:
        asked = dict(page.request.query)
        matching = total_of(shown[0])
        if lists.known.is_whole:
            matching = sum(asked.get("status") in {None, item.get("status")} for item in items)
        before = (int(asked.get("page", 1)) - 1) * int(asked.get("perPage", DEFAULT_PER_PAGE))
        if page.refused and before and matching <= before:
            return True
    return False


def _head_again(run: Run, lists: CombinedLists) -> tuple[Snapshot, Known]:
    """Read the list that pages are parts of once more; it may have another number of pages by now."""
    head = lists.snapshot[: lists.known.responses]
    if not lists.known.is_whole:
        return tuple(run.send_all([response.request for response in head])), lists.known
    whole = _whole(run, total_of(head[0]), 2 * _MOST_PAGES)
    return whole, replace(lists.known, responses=len(whole))


def _confirm(run: Run, lists: CombinedLists) -> CombinedLists:
    with run.wire.undisturbed():
        head, known = _head_again(run, lists)
        pages = tuple(run.send_all([response.request for response in lists.pages]))
        later, of_later = _head_again(run, lists) if any(page.refused for page in pages) else (head, known)
    if not head or not later:
        return replace(lists, outcome=CantTell("the whole list cannot be read any more", *lists.pages))
    anew = (*head, *pages)
    again = _judged(replace(lists, known=known, snapshot=anew, outcome=None))
    if again.outcome is None or _is_shorter(replace(again, known=of_later, snapshot=(*later, *pages))):
        return replace(again, outcome=None)
    with Evidence():
        try:
            confirm.stable_list(run, anew, partial(expect_slice, known=known))
        except (Deviation, CantTell) as outcome:
            return replace(again, outcome=outcome)
    return replace(again, outcome=None)
