"""Finding engagements of the run in the list, among those of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.oracle.judgement import NonConformity, Undecided, judged
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PER_PAGE: Final = 100
_MOST_PAGES: Final = 20
_PAUSES: Final = (0.4, 1.0)

NEWEST: Final = {"sort": "createdAt", "order": "desc", "perPage": _PER_PAGE}
"""The parameters of the page that shows what was created last."""


@dataclass(frozen=True, slots=True)
class Search:
    """One look for some engagements through the list without a filter.

    Attributes:
        items: All that was seen, by id.
        pages: The answers that it was seen in.
        complete: Whether every page was seen.
    """

    items: dict[str, dict[str, Any]]
    pages: tuple[Exchange, ...]
    complete: bool


def search(run: Run, wanted: Collection[str]) -> tuple[Search, ...]:
    """Look for engagements that must be in the list.

    The newest page comes first, where engagements of the run are. What is not there is looked for on every page,
    and again after pauses, because others may move it from page to page meanwhile.

    Returns:
        Every look but the first one at the newest page, the last one having found all if any has.
    """
    newest = run.send(call.list_engagements(**NEWEST))
    look = Search(_by_id([newest]), (newest,), complete=False)
    looks: list[Search] = []
    for pause in (0.0, *_PAUSES):
        if look.items.keys() >= set(wanted):
            break
        run.sleep(pause)
        look = _look_through(run)
        looks.append(look)
    return tuple(looks or [look])


def expect_listed(what: str, wanted: Collection[str], looks: Sequence[Search]) -> None:
    """All of some engagements were found.

    Raises:
        NonConformity: Some were in none of the pages, and nobody moved anything between the last two looks.
        Undecided: They were not found, but that may have other reasons.
    """
    last = looks[-1]
    judged(*last.pages)
    missing = [identifier for identifier in wanted if identifier not in last.items]
    if not missing:
        return
    if not last.complete:
        raise Undecided("the list has too many pages to look through", *last.pages[:1])
    if len(looks) < 1 + len(_PAUSES) or looks[-2].items.keys() != last.items.keys():
        raise Undecided(f"{what} was not found in the list, but others were changing it", *last.pages)
    raise NonConformity(
        f"{what} is not in the list",
        *last.pages,
        expected=f"{len(set(wanted))} of {len(set(wanted))} found on the pages of the list",
        actual=f"{len(missing)} missing",
        pointer="/data",
    )


def _look_through(run: Run) -> Search:
    """Every page of the list, as far as that can be afforded."""
    pages: list[Exchange] = []
    for page in range(1, _MOST_PAGES + 1):
        pages.append(run.send(call.list_engagements(page=page, perPage=_PER_PAGE)))
        items = read.items(pages[-1])
        if not items or page >= read.number(pages[-1], "totalPages"):
            return Search(_by_id(pages), tuple(pages), complete=True)
    return Search(_by_id(pages), tuple(pages), complete=False)


def _by_id(pages: Sequence[Exchange]) -> dict[str, dict[str, Any]]:
    items = [item for page in pages for item in read.items(page)]
    return {item["id"]: item for item in items if isinstance(item.get("id"), str)}
