"""Section 4: lists of engagements with filter, sort, order, page size and page in combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.lists.slices import Aspect, Deviation
from conformance.oracle.outcomes import CantTell, Inapplicable, evidence

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.scenarios.lists.combined import CombinedLists

pytestmark = pytest.mark.usefixtures("new_engagements")

_PLACES: Final = (Aspect.LENGTH, Aspect.CONTENTS)


@pytest.mark.parametrize(
    ("aspects", "filtered"),
    [
        pytest.param([Aspect.TOTAL], False, marks=requirement("list-engagements-total"), id="total"),
        pytest.param([Aspect.LENGTH], False, marks=requirement("list-engagements-page-length"), id="length"),
        pytest.param([Aspect.CONTENTS], False, marks=requirement("list-engagements-pages-partition"), id="contents"),
        pytest.param([Aspect.TOTAL], True, marks=requirement("list-engagements-filter-counts"), id="filtered-total"),
        pytest.param(_PLACES, True, marks=requirement("list-engagements-status-filter"), id="filtered-contents"),
    ],
)
def test_pages_in_combination(
    combined_lists: tuple[CombinedLists, ...], aspects: Collection[Aspect], *, filtered: bool
) -> None:
    """With every filter, order and size, pages have the total, the length and the items that the whole list implies."""
    _expect(combined_lists, [lists for lists in combined_lists if lists.is_filtered is filtered], aspects)


@pytest.mark.parametrize(
    ("sort", "filtered"),
    [
        pytest.param("createdAt", False, marks=requirement("sort-by-created-at"), id="created"),
        pytest.param("updatedAt", False, marks=requirement("sort-by-updated-at"), id="updated"),
        pytest.param("name", False, marks=requirement("sort-by-name"), id="name"),
        pytest.param(None, True, marks=requirement("sort-with-filter"), id="filtered"),
    ],
)
def test_order_in_combination(combined_lists: tuple[CombinedLists, ...], sort: str | None, *, filtered: bool) -> None:
    """With every filter and size, neighbouring pages are in the requested order."""
    judged = [
        lists for lists in combined_lists if lists.sort and lists.is_filtered is filtered and sort in {None, lists.sort}
    ]
    _expect(combined_lists, judged, [Aspect.ORDER])
    if not any(lists.ordered for lists in judged):
        raise Inapplicable(f"there were no two engagements of different {sort or 'keys'} to compare")


def _expect(every: Collection[CombinedLists], judged: Collection[CombinedLists], aspects: Collection[Aspect]) -> None:
    """Expect some properties of pages; items in the wrong order do not belong on their pages either."""
    if not judged:
        raise Inapplicable("no list with these parameters was requested")
    doubts: list[CantTell] = []
    for lists in judged:
        evidence(*lists.pages)
        if isinstance(lists.outcome, CantTell):
            doubts.append(lists.outcome)
        elif isinstance(lists.outcome, Deviation) and lists.outcome.aspect in aspects:
            if lists.outcome.aspect is Aspect.CONTENTS and _is_disordered(every, lists.sort):
                raise CantTell("lists are not in the requested order", *lists.pages) from lists.outcome
            raise lists.outcome
    if doubts:
        raise doubts[0]


def _is_disordered(every: Collection[CombinedLists], sort: str | None) -> bool:
    return any(
        lists.sort == sort and isinstance(lists.outcome, Deviation) and lists.outcome.aspect is Aspect.ORDER
        for lists in every
    )
