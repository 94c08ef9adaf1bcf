"""Pages of combined lists: orders that explain deviations, and their confirmation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.oracle.lists.slices import Aspect, Deviation, Known
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.lists import combined
from conformance.scenarios.lists.combined import CombinedLists
from tests.fakes.exchanges import page, refusal
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

KNOWN = Known(1, True, frozenset(), bool)
WHOLE = page(["a", "b", "c"])


def wrong(aspect: Aspect, *orders: tuple[str, str], **query: str) -> CombinedLists:
    """Return pages that deviate, and would be right in some orders."""
    fault = NonConformity("it is wrong", expected="a", actual="b")
    return CombinedLists((WHOLE, page(query=query)), KNOWN, outcome=Deviation(aspect, fault, frozenset(orders)))


UP, DOWN = ("name", "up"), ("name", "down")
RIGHT = CombinedLists((WHOLE, page(query={"sort": "name", "status": "active"})), KNOWN)


@pytest.mark.parametrize(
    ("lists", "aspects"),
    [
        ([wrong(Aspect.CONTENTS, UP, DOWN, sort="name"), wrong(Aspect.CONTENTS, UP, sort="name")], ["ORDER", "ORDER"]),
        ([wrong(Aspect.CONTENTS, UP, sort="name"), wrong(Aspect.CONTENTS, DOWN, sort="name")], ["CONTENTS"] * 2),
        ([wrong(Aspect.TOTAL, UP, sort="name")], ["TOTAL"]),
        ([wrong(Aspect.CONTENTS, UP)], ["CONTENTS"]),
        ([wrong(Aspect.CONTENTS, sort="createdAt", status="active"), RIGHT], ["ORDER", None]),
        ([wrong(Aspect.CONTENTS, sort="name", status="active"), RIGHT], ["CONTENTS", None]),
        (
            [wrong(Aspect.CONTENTS, sort="name"), wrong(Aspect.TOTAL, sort="name", status="active")],
            ["CONTENTS", "undecided"],
        ),
    ],
    ids=["one order", "two orders", "total", "unsorted", "one filtered sort", "some of a sort", "wrong unfiltered too"],
)
def test_the_order_explains_deviations(lists: list[CombinedLists], aspects: list[str | None]) -> None:
    """Pages that are all right in one other order are in the wrong order."""
    outcomes = [each.outcome for each in combined._attributed(lists)]

    assert [
        "undecided" if isinstance(each, CantTell) else each.aspect.name if each else None for each in outcomes
    ] == aspects


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ({"page": 2, "perPage": 3}, True),
        ({"page": 2, "perPage": 2}, False),
        ({"page": 2}, True),
        ({"page": 2, "perPage": 3, "status": "active"}, True),
        ({"page": 1, "perPage": 3, "status": "active"}, False),
        ({}, False),
    ],
)
def test_a_refused_page_may_be_one_that_is_gone(query: dict[str, object], *, shorter: bool) -> None:
    """A page past the end may be refused; the first page of an empty list is not past its end."""
    asked = page(query=query).request

    for response, expected in ((refusal(), shorter), (page(), False)):
        pages = replace(response, request=asked)
        assert combined._is_shorter(CombinedLists((WHOLE, pages), KNOWN)) is expected


@pytest.mark.parametrize(("later", "kept"), [(["a", "b"], True), (["a", "b", "c"], False)])
def test_a_list_may_become_shorter_before_its_last_page_is_refused(later: list[str], *, kept: bool) -> None:
    """The list is read again after a refused page, since another user may have deleted an engagement before it."""
    wholes = iter([page(["a", "b", "c"]), *[page(later)] * 9])

    def respond(request: Request) -> Exchange:
        return refusal(404) if dict(request.query).get("page") == "2" else next(wholes)

    last = page(["c"], query={"page": 2, "perPage": 2})
    seen = combined._confirm(FakeRun(respond), CombinedLists((WHOLE, last), KNOWN))

    assert (seen.outcome is None) is kept
