"""Section 8: the pages of unfiltered lists and their meta."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.confirm.pages import page_by_page
from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.input_validity import Validity, validity
from conformance.oracle.lists import paging
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.scenarios.lists.paged import PagedLists, pages_of_default_size
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.exchange import OF_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_TURNS: Final = 3
_MOST_REFUSED: Final = 3
_MOST_SERVED: Final = 25

pytestmark = pytest.mark.usefixtures("new_engagements")


# --- everything once


@requirement("list-engagements-pages-partition")
def test_pages_of_engagements_hold_everything_once(run: Run, paged_engagements: PagedLists) -> None:
    """The pages of engagements hold every engagement once."""
    confirm.one_order(
        run,
        lambda: _expect_of_engagements(run, paged_engagements, paging.expect_partition, paging.expect_partition_within),
        requests.list_engagements,
        lambda item: run.names.owns(item.value.get("name")),
    )


@requirement("list-engagements-pages-partition")
def test_pages_of_default_size_hold_everything_once(run: Run, paged_engagements: PagedLists) -> None:
    """The pages of the default size hold every engagement once."""
    lists = paged_engagements
    if not lists.of_default_size:
        raise Inapplicable("there are not two or three pages of the default size")

    confirm.list_within_bounds(
        run,
        lists.of_default_size,
        lambda snapshot: paging.expect_partition(snapshot, lists.known(snapshot)),
        lambda snapshot, closing: paging.expect_partition_within(
            paging.Bracket(snapshot, closing, lists.known(snapshot))
        ),
        retake=lambda: pages_of_default_size(run) or lists.of_default_size,
    )


@requirement("list-members-pages-partition")
def test_pages_of_members_hold_every_member_once(run: Run, paged_members: PagedLists) -> None:
    """The pages of members hold every member once."""
    if len(read.items(paged_members.snapshot[0])) == 1:
        raise Inapplicable("the organization has one member")

    confirm.one_order(
        run, lambda: _expect_of_members(run, paged_members, paging.expect_partition), requests.list_members
    )


# --- meta


@requirement("list-engagements-total")
def test_total_of_engagements(run: Run, paged_engagements: PagedLists) -> None:
    """The total of engagements is the same on every page, and the number of items on all pages."""
    with _confirmed_totals(run):
        _expect_of_engagements(run, paged_engagements, paging.expect_total, paging.expect_total_within)


@contextmanager
def _confirmed_totals(run: Run) -> Iterator[None]:
    """Ensure that pages that differ in their totals repeat them in turn, since others may be changing the list."""
    try:
        yield
    except NonConformity as fault:
        by_total = {read.number(response, "total"): response.request for response in fault.exchanges}
        for total, asked in [*by_total.items()] * _TURNS if len(by_total) > 1 else ():
            response = run.send(asked)
            if read.number(response, "total") != total:
                words = f"{fault.message}, but other users were changing the list"
                raise CantTell(words, *fault.exchanges, response) from None
        raise


@requirement("list-members-total")
def test_total_of_members(run: Run, paged_members: PagedLists) -> None:
    """The total of members is the same on every page, and the number of items on all pages."""
    with _confirmed_totals(run):
        _expect_of_members(run, paged_members, paging.expect_total)


@requirement("list-members-page-length")
def test_length_of_pages_of_members(run: Run, paged_members: PagedLists) -> None:
    """A page of members holds perPage items, and the last one the rest."""
    _expect_of_members(run, paged_members, paging.expect_lengths)
    if paged_members.full:
        confirm.stable_list(run, paged_members.full, paging.expect_lengths)


# --- every list of the run


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(
            "listEngagements",
            marks=[requirement("list-engagements-paging-honoured"), pytest.mark.stage(Stage.WHOLE_RUN)],
        ),
        pytest.param(
            "listMembers", marks=[requirement("list-members-paging-honoured"), pytest.mark.stage(Stage.AFTER_SCENARIOS)]
        ),
    ],
)
def test_no_existing_page_is_refused(run: Run, operation: str) -> None:
    """No existing page is refused, with any filter and order; of members, before the run removes its own."""
    pages = [exchange for exchange in of_operation(run.wire.exchanges, operation) if _is_later_page(exchange)]
    refused = dict.fromkeys(page.request for page in pages if not page.succeeded)
    for asked in list(refused)[:_MOST_REFUSED]:
        first = replace(asked, query=tuple((name, "1" if name == "page" else value) for name, value in asked.query))
        snapshot = run.send_all([first, asked])
        if snapshot[0].succeeded:
            confirm.stable_list(run, tuple(snapshot), paging.expect_served)
    served = [page for page in pages if page.succeeded]
    if not served:
        raise Inapplicable("no list of the run had a second page")
    evidence(*served[:_MOST_SERVED])


def _is_later_page(exchange: Exchange) -> bool:
    """Whether this is a response to the main key for a page after the first, with otherwise valid parameters."""
    asked = dict(exchange.request.query)
    page = asked.pop("page", "")
    rest = replace(exchange.request, query=tuple(asked.items()))
    is_later = page.isdecimal() and 1 < int(page) <= paging.MOST_PAGES
    return (
        is_later
        and exchange.by_main_key
        and exchange.judgeable
        and exchange.received_status not in OF_KEY
        and validity(rest) is Validity.VALID
    )


def _expect_of_engagements(
    run: Run,
    lists: PagedLists,
    judge: Callable[[Snapshot, frozenset[str]], object],
    bounded: Callable[[paging.Bracket], object],
) -> None:
    """Judge the pages of engagements, to which others and later scenarios may have added."""
    confirm.list_within_bounds(
        run,
        lists.snapshot,
        lambda snapshot: judge(snapshot, lists.known(snapshot)),
        lambda snapshot, closing: bounded(paging.Bracket(snapshot, closing, lists.known(snapshot))),
        retake=lambda: page_by_page(run, requests.list_engagements),
    )


def _expect_of_members(run: Run, lists: PagedLists, judge: Callable[[Snapshot], object]) -> None:
    """Judge the pages of members, to which others and later scenarios may have added."""
    confirm.stable_list(run, lists.snapshot, judge, retake=lambda: page_by_page(run, requests.list_members))
