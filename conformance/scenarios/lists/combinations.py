"""Combinations of filter, sort, order, page size and page with which engagements are listed."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import DEFAULT_PER_PAGE, MAX_PER_PAGE, ORDERS, SORTS, STATUSES, page_count
from conformance.oracle.lists.listing import time_key
from conformance.running.options import Effort
from conformance.scenarios.lists.filtered import readable
from conformance.scenarios.lists.finding import places_of_repeats
from conformance.wire import requests

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.requests import Request

    Form = Callable[[Sequence[Any], random.Random], list[dict[str, int]]]
    """Returns the parameters of some pages for the sort keys of what they match, in their order."""

_MOST: Final = {Effort.QUICK: 20, Effort.STANDARD: 45, Effort.DEEP: 400}
"""Requests for combinations."""
_ORDER_COUNTS: Final = 10
"""The weight of a new combination of filter, sort and order, compared with that of another new pair."""


def _unsized(keys: Sequence[Any], _: random.Random) -> list[dict[str, int]]:
    """Return the list without a page and a size."""
    return [{}] if keys else []


def _numbered(keys: Sequence[Any], _: random.Random) -> list[dict[str, int]]:
    """Return the second page without a size."""
    return [{"page": 2}] if len(keys) > DEFAULT_PER_PAGE else []


def _largest(keys: Sequence[Any], _: random.Random) -> list[dict[str, int]]:
    """Return the largest page."""
    return [{"perPage": MAX_PER_PAGE}] if keys else []


def _full(keys: Sequence[Any], _: random.Random) -> list[dict[str, int]]:
    """Return the only page, exactly full."""
    return [{"page": 1, "perPage": len(keys)}] if 0 < len(keys) <= MAX_PER_PAGE else []


def _full_last(keys: Sequence[Any], random: random.Random) -> list[dict[str, int]]:
    """Return the last of several pages, exactly full."""
    return _last(len(keys), random, [size for size in range(1, len(keys) // 2 + 1) if len(keys) % size == 0])


def _one_over(keys: Sequence[Any], random: random.Random) -> list[dict[str, int]]:
    """Return the last page with a single item."""
    return _last(len(keys), random, [size for size in range(2, len(keys)) if len(keys) % size == 1])


def _remainder(keys: Sequence[Any], random: random.Random) -> list[dict[str, int]]:
    """Return the last page with some of the items of a full one."""
    return _last(len(keys), random, [size for size in range(3, len(keys)) if len(keys) % size > 1])


def _last(total: int, random: random.Random, sizes: Sequence[int]) -> list[dict[str, int]]:
    """Return the last page of one of some sizes."""
    possible = [size for size in sizes if size <= MAX_PER_PAGE]
    return [
        {"page": page_count(total, size), "perPage": size} for size in random.sample(possible, min(1, len(possible)))
    ]


def _divided(keys: Sequence[Any], random: random.Random) -> list[dict[str, int]]:
    """Two neighbouring pages, divided between equal keys if there are any."""
    if not keys[1:]:
        return []
    ties = list(places_of_repeats(keys))
    end = random.choice(ties or range(max(1, len(keys) // 3), max(2, 2 * len(keys) // 3)))
    sizes = [size for size in range(1, min(end, MAX_PER_PAGE) + 1) if end % size == 0]
    size = random.choice(sizes[1:] or sizes)
    return [{"page": page, "perPage": size} for page in (end // size, end // size + 1)]


_FORMS: Final[tuple[Form, ...]] = (_unsized, _numbered, _largest, _full, _full_last, _one_over, _remainder, _divided)
_SORTS: Final = (None, *SORTS)
_ORDERS: Final = (None, *ORDERS)
_Row = tuple[str | None, str | None, str | None, "Form"]
_FIRST: Final[tuple[_Row, ...]] = (
    *((None, sort, "asc", _divided) for sort in _SORTS[1:]),
    ("active", "name", "asc", _divided),
    ("archived", "updatedAt", "desc", _divided),
    (None, "name", "desc", _full),
    (None, "createdAt", None, _largest),
    (None, "name", "asc", _full),  # the key of the row before last, in the other order
)
"""Combinations that every run requests."""
_REQUESTED: Final[tuple[_Row, ...]] = (
    ("active", "createdAt", "desc", _largest),
    ("archived", "updatedAt", None, _unsized),
    (None, "createdAt", "desc", _largest),
    (None, "name", None, _largest),
    (None, None, None, _largest),
    (None, None, None, _unsized),
)
"""Combinations that other scenarios request."""


def combinations_for(run: Run, whole: Snapshot) -> list[list[Request]]:
    """Return the combinations that cover most, as many as the effort affords; each is one page or a pair of pages.

    Args:
        run: The run.
        whole: The pages of the whole list, by descending name.
    """
    batches: list[list[Request]] = []
    for status, sort, order, form in _covering(run.random("lists")):
        name = f"list {status} {sort} {order} {form.__name__}"
        random, shuffling = run.random(name), run.random(f"order of {name}")  # whatever the lists hold
        keys = _keys(whole, status, sort)
        batch = [
            requests.list_engagements(**_shuffled({"status": status, "sort": sort, "order": order, **place}, shuffling))
            for place in form(keys if order == "asc" else keys[::-1], random)
        ]
        if sum(map(len, batches)) + len(batch) <= _MOST[run.effort]:
            batches += [batch] if batch else []
    return batches


def _shuffled(asked: Mapping[str, object], random: random.Random) -> dict[str, object]:
    """Return parameters in another order, which means nothing."""
    return dict(random.sample([*asked.items()], len(asked)))


def _covering(random: random.Random) -> Iterator[_Row]:
    """Yield combinations, first those with the most pairs that no earlier one has."""
    rows: list[_Row] = list(product((None, *STATUSES), _SORTS, _ORDERS, _FORMS))
    random.shuffle(rows)
    yield from _FIRST
    covered = {part for row in (*_REQUESTED, *_FIRST) for part in _parts(row)}
    left = {row: _parts(row) for row in rows if row not in {*_REQUESTED, *_FIRST}}
    while left:
        best = max(left, key=lambda row: sum(weight for part, weight in left[row].items() if part not in covered))
        covered |= left.pop(best).keys()
        yield best


def _parts(row: _Row) -> dict[object, int]:
    """Return the pairs in a combination, and filter, sort and order together, with their weights."""
    weights: dict[object, int] = dict.fromkeys(combinations(enumerate(row), 2), 1)
    return weights | {row[:3]: _ORDER_COUNTS if all(row[1:3]) else 1}


def _keys(whole: Snapshot, status: str | None, sort: str | None) -> list[Any]:
    """Return the ascending sort keys of what a filter matches."""
    items = [item for item in readable(whole) if status in {None, item.get("status")}]
    if sort in {None, "name"}:
        return [str(item.get("name")) for item in reversed(items)]
    key = time_key(str(sort))
    moments: list[Any] = [moment for item in items if (moment := key(item)) is not None]
    return sorted(moments)
