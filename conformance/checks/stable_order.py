"""Lists whose order changes from answer to answer, although nothing in them does."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.checks.paged_lists import PER_PAGE, page_by_page
from conformance.oracle import paging
from conformance.oracle.effects import accepted, is_main
from conformance.oracle.listing import Listing
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.oracle.listing import Item
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_RESPONSES: Final = 10
_LOOKS: Final = 8
_TURNS: Final = 3
_SECONDS: Final = 5.0


def expect_one_order(
    run: Run,
    judge: Callable[[], None],
    listing: Callable[..., Request],
    counts: Callable[[Item], bool] = lambda _: True,
) -> None:
    """Judge the pages of a list; where its order does not last, tell that from a list that others keep changing.

    Whatever order a list has that is asked for none, what others do moves an item now and then, not in every other
    answer. Of a list in a new order each time pages fit together by chance at most, and each look at them differs.

    Args:
        run: The run.
        judge: Judges the pages.
        listing: Makes the calls of the list.
        counts: Whether an item is one whose place others do not change.

    Raises:
        NonConformity: The judgement, or that pages repeat or lack something since the order does not last.
        CantTell: Others were changing the list.
    """
    try:
        judge()
    except CantTell as doubt:
        if not (fault := _restless(run, doubt, listing, counts)):
            raise
        raise fault from doubt
    else:
        told = _turns(_asked_alike(run, listing()), counts)
        torn = _torn(run, listing) if len(told) >= _TURNS else None
        if torn and (fault := _restless(run, torn, listing, counts)):
            raise fault


def _restless(
    run: Run, torn: CheckOutcome, listing: Callable[..., Request], counts: Callable[[Item], bool]
) -> NonConformity | None:
    """What is wrong where further answers, in direct succession, are in another order again and again."""
    responses = [response for _ in range(_RESPONSES) if accepted(response := run.send(listing(perPage=PER_PAGE)))]
    turns = _turns([responses], counts)
    if len(turns) < _TURNS or (responses[-1].started_at - responses[0].started_at).total_seconds() > _SECONDS:
        return None
    return NonConformity(
        "the list is in another order from one answer to the next, so that its pages cannot hold everything once",
        *torn.exchanges,
        *turns[0],
        expected="one order, as long as nobody changes the list",
        actual=f"another order in {len(turns)} of {len(responses) - 1} further answers",
    )


def _torn(run: Run, listing: Callable[..., Request]) -> NonConformity | None:
    """The first of some looks at the pages that repeats or lacks something."""
    for _ in range(_LOOKS):
        try:
            paging.expect_partition(page_by_page(run, listing))
        except NonConformity as fault:
            return fault
        except CantTell:
            continue
    return None


def _asked_alike(run: Run, listed: Request) -> Iterable[list[Exchange]]:
    """The successes of the run of the main key's calls of a list without an order, those to the same call together."""
    alike: dict[Request, list[Exchange]] = {}
    for exchange in run.wire.exchanges:
        asked = exchange.request
        plain = asked.operation is listed.operation and "sort" not in dict(asked.query)
        if plain and is_main(exchange) and accepted(exchange):
            alike.setdefault(asked, []).append(exchange)
    return alike.values()


def _turns(groups: Iterable[list[Exchange]], counts: Callable[[Item], bool]) -> list[tuple[Exchange, Exchange]]:
    """Successive answers in which the items that both show alike stand in different orders."""
    return [pair for group in groups for pair in pairwise(group) if _is_reordered(*pair, counts)]


def _is_reordered(one: Exchange, other: Exchange, counts: Callable[[Item], bool]) -> bool:
    try:
        earlier, later = (
            {item.identifier: item.value for item in Listing((response,)).items if counts(item)}
            for response in (one, other)
        )
    except CheckOutcome:
        return False
    alike = {identifier for identifier, value in earlier.items() if later.get(identifier) == value}
    return [one for one in earlier if one in alike] != [one for one in later if one in alike]
