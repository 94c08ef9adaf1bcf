"""Section 8: pages and page sizes out of bounds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.oracle import read
from conformance.oracle.lists import paging_limits
from conformance.oracle.lists.listing import cant_tell_unless
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CheckOutcome, Inapplicable
from conformance.scenarios.lists.odd_queries import list_queries
from conformance.verdicts.stages import Stage
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.scenarios.lists.odd_queries import ListQueries
    from conformance.wire.exchange import Exchange


@requirement("list-paging-limits-truthful")
def test_out_of_bounds_refused_or_truthful(run: Run, list_queries: ListQueries) -> None:
    """A page or perPage out of bounds is refused, or served as its meta states."""
    for response in list_queries.out_of_bounds.values():
        confirm.stable_list(run, (response,), lambda snapshot: paging_limits.expect_refused_or_truthful(snapshot[0]))


@requirement("list-paging-limits-truthful")
def test_out_of_bounds_total_pages(list_queries: ListQueries) -> None:
    """A page or perPage out of bounds is refused, or served with the right totalPages."""
    plain = _plain(list_queries)

    for response in list_queries.out_of_bounds.values():
        truthful = partial(paging_limits.expect_refused_or_truthful, response)
        cant_tell_unless(truthful, "the page is not what its meta says", response)
        paging_limits.expect_total_pages(response, plain[response.operation_id])


@requirement("list-past-the-end")
def test_past_the_end(run: Run, list_queries: ListQueries) -> None:
    """A page past the end is an empty list, or refused."""
    plain = _plain(list_queries)

    for response in list_queries.past_the_end.values():
        judge = partial(_expect_past_the_end, plain[response.operation_id])
        confirm.stable_list(run, (response,), judge)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("page-past-the-end", marks=requirement("list-engagements-total")),
        pytest.param("members", marks=requirement("list-members-total")),
    ],
)
def test_total_past_the_end(run: Run, list_queries: ListQueries, asked: str) -> None:
    """A page past the end, if it is served, states the total of the first page."""
    response = list_queries.past_the_end[asked]
    plain = _plain(list_queries)[response.operation_id]
    if not response.succeeded:
        raise Inapplicable("a page past the end was refused")

    confirm.stable_list(run, (response, plain), lambda snapshot: paging_limits.expect_total_of(*snapshot))


def _plain(queries: ListQueries) -> dict[str, Exchange]:
    """Return the lists without parameters, by their operationId."""
    return {response.operation_id: response for response in queries.plain.values()}


def _expect_past_the_end(plain: Exchange, snapshot: Snapshot) -> None:
    paging_limits.expect_refused_or_empty(snapshot[0], plain)


@pytest.mark.stage(Stage.WHOLE_RUN)
@observes("empty-list-total-pages")
def test_empty_list(run: Run) -> None:
    """Observe totalPages if nothing matches."""
    lists = [exchange for exchange in run.wire.exchanges if exchange.request.operation.response == "list"]
    empty = {
        str(meta["totalPages"]): page
        for page in lists
        if (meta := _meta(page)).get("total") == 0 and "totalPages" in meta
    }

    if empty:
        run.observe("empty-list-total-pages", " or ".join(sorted(empty)), *empty.values())


def _with_meta(response: Exchange, name: str) -> str:
    """Describe the status, and the value of a parameter in meta."""
    value = _meta(response).get(name)
    return f"{describe_response(response)}, {name} {value}" if isinstance(value, int) else describe_response(response)


def _meta(response: Exchange) -> dict[str, object]:
    """Return the readable meta of a list."""
    try:
        return read.meta(response) if response.judgeable else {}
    except (CheckOutcome, NoResponse):
        return {}


def _out_of_bounds(point: str, seen: ListQueries) -> Described:
    response = seen.out_of_bounds[point]
    asked, _ = response.request.query[0]
    return _with_meta(response, asked), response


def _empty_page(seen: ListQueries) -> Described:
    return _with_meta(seen.odd["page-empty"], "page"), seen.odd["page-empty"]


def _oddly_written(seen: ListQueries) -> Described:
    zero, decimal = seen.odd["page-leading-zero"], seen.odd["page-decimal"]
    return f"01: {_with_meta(zero, 'page')}, 1.0: {_with_meta(decimal, 'page')}", zero, decimal


def _cursor(seen: ListQueries) -> Described:
    response, plain = seen.odd["cursor"], seen.plain["engagements"]
    cursors = sorted({name for page in (response, plain) for name in _meta(page) if "cursor" in name.lower()})
    words = f"meta has {', '.join(name[:40] for name in cursors)}" if cursors else "no cursor in meta"
    return f"{describe_response(response)}, {words}", response, plain


OBSERVATIONS: Final = (
    *(
        observing(point, list_queries, partial(_out_of_bounds, point))
        for point in ("page-zero", "page-negative", "per-page-zero", "per-page-negative", "per-page-above-maximum")
    ),
    observing("page-past-the-end", list_queries, lambda seen: seen.past_the_end["page-past-the-end"]),
    observing("page-empty", list_queries, _empty_page),
    observing("page-oddly-written", list_queries, _oddly_written),
    observing("cursor-parameters", list_queries, _cursor),
)
