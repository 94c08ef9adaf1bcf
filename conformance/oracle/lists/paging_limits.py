"""Assertions about responses to a page or a perPage out of bounds."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import expect, read
from conformance.oracle.laws import lists as list_laws
from conformance.oracle.lists.listing import cant_tell_unless
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.oracle.rendering import kind_of
from conformance.wire.exchange import OF_KEY, REFUSALS

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


def expect_refused_or_truthful(response: Exchange) -> None:
    """Require a refusal, or a page that agrees with its meta."""
    _expect_list_or_refusal(response, "a list that agrees with its meta")
    if not response.succeeded:
        return
    page, size = read.number(response, "page"), read.number(response, "perPage")
    asked = ", ".join(f"{name}={value}" for name, value in response.request.query)
    expect.holds(
        1 <= size <= MAX_PER_PAGE,
        f"a list requested with {asked} has the perPage {size}",
        response,
        expected=f"a perPage from 1 to {MAX_PER_PAGE}",
        actual=str(size),
        pointer="/meta/perPage",
    )
    expect.holds(
        page >= 1,
        f"a list requested with {asked} has the page {page}",
        response,
        expected="page 1 or later",
        actual=str(page),
        pointer="/meta/page",
    )
    _expect_length(response, page, size)


def expect_total_pages(response: Exchange, plain: Exchange) -> None:
    """Require a correct totalPages of a success, unless it is wrong for a plain list too."""
    if response.succeeded:
        message = "totalPages is wrong without parameters too"
        cant_tell_unless(lambda: list_laws.fitting_total_pages(plain), message, plain)
        list_laws.fitting_total_pages(response)


def expect_refused_or_empty(response: Exchange, plain: Exchange) -> None:
    """Require that a page past the end is empty or refused.

    Args:
        response: The response to such a page.
        plain: The response to the list without parameters.
    """
    _expect_list_or_refusal(response, "200 with an empty data", may_list=plain.judgeable and plain.succeeded)
    if not response.succeeded:
        return
    data = read.body(response).get("data")
    if not isinstance(data, list):
        raise CantTell(f"data is {kind_of(data)}", response)
    expect.holds(
        not data,
        "a page past the end contains items",
        response,
        expected="200 with an empty data, or a 4xx",
        actual=f"{len(data)} items",
        pointer="/data",
    )


def expect_total_of(response: Exchange, plain: Exchange) -> None:
    """Require that a page past the end, if it is served, has the total of the first page.

    Args:
        response: The page past the end.
        plain: The same list, requested without a page.
    """
    if not (response.succeeded and plain.succeeded):
        return
    stated, right = read.number(response, "total"), read.number(plain, "total")
    expect.equal("the total of a page past the end", stated, right, plain, response, pointer="/meta/total")


def _expect_list_or_refusal(response: Exchange, words: str, *, may_list: bool = False) -> None:
    """Require a list or a refusal; a 403 refuses the key, unless the key may list otherwise."""
    evidence(response)
    if response.status == HTTPStatus.FORBIDDEN and not may_list:
        raise CantTell("the key is not permitted to list", response)
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # another requirement judges it
        raise CantTell(f"{response.operation_id} returned {response.status}", response)
    refused = response.status in REFUSALS and response.status not in OF_KEY
    if not refused and not response.succeeded:
        raise NonConformity(
            f"{response.operation_id} returned {response.status}",
            response,
            expected=f"{words}, or a 4xx other than 401, 403 or 429",
            actual=str(response.status),
        )


def _expect_length(response: Exchange, page: int, size: int) -> None:
    """Require that a page before the last is full, and that none exceeds its size."""
    found, is_full = len(read.items(response)), page * size <= read.number(response, "total")
    expect.holds(
        found <= size and (found == size or not is_full),
        f"page {page} with {size} per page contains {found}",
        response,
        expected=f"{size} items" if is_full else f"at most {size} items",
        actual=f"{found} items",
        pointer="/data",
    )
