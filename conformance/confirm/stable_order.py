"""Lists whose order changes between responses, although their items do not."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.confirm.pages import page_by_page
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle.lists import paging
from conformance.oracle.lists.listing import Listing
from conformance.oracle.outcomes import CantTell, CheckOutcome, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.oracle.lists.listing import Item
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_RESPONSES: Final = 10
_SNAPSHOTS: Final = 8
_MIN_REORDERINGS: Final = 3
_SECONDS: Final = 5.0


def one_order(
    run: Run,
    judge: Callable[[], None],
    listing: Callable[..., Request],
    counts: Callable[[Item], bool] = lambda _: True,
) -> None:
    """Judge the pages of a list, and distinguish an unstable order from changes by other users.

    Other users move an item now and then, not in every other response. If the order is new in each response, pages fit
    together only by chance, and each snapshot differs.

    Args:
        run: The run.
        judge: Judges the pages.
        listing: Makes the requests of the list.
        counts: Whether other users do not change an item's place.

    Raises:
        NonConformity: The judgement, or that pages repeat or lack items because the order is unstable.
        CantTell: Others were changing the list.
    """
    try:
        judge()
    except CantTell as doubt:
        if not (fault := _unstable_order(run, doubt, listing, counts)):
            raise
        raise fault from doubt
    else:
        turns = _turns(_asked_alike(run, listing()), counts)
        torn = _torn(run, listing) if len(turns) >= _MIN_REORDERINGS else None
        if torn and (fault := _unstable_order(run, torn, listing, counts)):
            raise fault


def _unstable_order(
    run: Run, torn: CheckOutcome, listing: Callable[..., Request], counts: Callable[[Item], bool]
) -> NonConformity | None:
    """Return the fault if further responses, in direct succession, change their order again and again."""
    responses = [response for _ in range(_RESPONSES) if (response := run.send(listing(perPage=MAX_PER_PAGE))).accepted]
    turns = _turns([responses], counts)
    if len(turns) < _MIN_REORDERINGS or (responses[-1].started_at - responses[0].started_at).total_seconds() > _SECONDS:
        return None
    return NonConformity(
        "the order of the list changes between responses, so its pages cannot contain every item once",
        *torn.exchanges,
        *turns[0],
        expected="one order, as long as no user changes the list",
        actual=f"another order in {len(turns)} of {len(responses) - 1} further responses",
    )


def _torn(run: Run, listing: Callable[..., Request]) -> NonConformity | None:
    """Return the first fault of some snapshots of the pages that repeat or lack an item."""
    for _ in range(_SNAPSHOTS):
        try:
            paging.expect_partition(page_by_page(run, listing))
        except NonConformity as fault:
            return fault
        except CantTell:
            continue
    return None


def _asked_alike(run: Run, listed: Request) -> Iterable[list[Exchange]]:
    """Group the successes of the main key's requests for a list without an order by their request."""
    alike: dict[Request, list[Exchange]] = {}
    for exchange in run.wire.exchanges:
        asked = exchange.request
        plain = asked.operation is listed.operation and "sort" not in dict(asked.query)
        if plain and exchange.by_main_key and exchange.accepted:
            alike.setdefault(asked, []).append(exchange)
    return alike.values()


def _turns(groups: Iterable[list[Exchange]], counts: Callable[[Item], bool]) -> list[tuple[Exchange, Exchange]]:
    """Return successive responses in which the items that both show alike are in different orders."""
    return [pair for group in groups for pair in pairwise(group) if _is_reordered(*pair, counts)]


def _is_reordered(first: Exchange, other: Exchange, counts: Callable[[Item], bool]) -> bool:
    try:
        earlier, later = (
            {item.identifier: item.value for item in Listing((response,)).items if counts(item)}
            for response in (first, other)
        )
    except CheckOutcome:
        return False
    alike = {identifier for identifier, value in earlier.items() if later.get(identifier) == value}
    before, after = ([identifier for identifier in items if identifier in alike] for items in (earlier, later))
    return before != after
