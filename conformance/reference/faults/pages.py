"""Mutations of the pages of the two lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.records import Item, Page

from .conditions import always
from .mutations import Method, Mutation, at_step, wrap
from .situations import ALL, Condition

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement
    from conformance.reference.service import Service

    from .changes import Change


Find = Callable[[Method, Any], Page[Any]]
"""Returns another page than the honest one; gets the honest method and the query."""


def query(change: Change, when: Condition = always) -> Mutation:
    """Change the query for a page of engagements."""
    return at_step("engagement_query", lambda at, honest: change(honest()) if when(at) else honest())


def query_of_members(change: Change, when: Condition = always) -> Mutation:
    """Change the query for a page of members."""
    return at_step("member_query", lambda at, honest: change(honest()) if when(at) else honest())


def past_item(asked: Any) -> Any:  # noqa: ANN401 - a query
    """Leave out the item before each page but the first, as a change of a query."""
    return replace(asked, offset=asked.offset + (asked.offset > 0))


def from_item_before(asked: Any) -> Any:  # noqa: ANN401 - a query
    """Begin each page but the first with the last item of the page before, as a change of a query."""
    return replace(asked, offset=max(asked.offset - 1, 0))


def page(find: Find) -> Mutation:
    """Show another page of engagements."""
    return wrap("find_engagements", lambda _, honest, asked: find(honest, asked))


def page_of_members(find: Find) -> Mutation:
    """Show another page of members."""
    return wrap("find_members", lambda _, honest, asked: find(honest, asked))


def whole(find: Method, asked: EngagementQuery | MemberQuery) -> tuple[Any, ...]:
    """Return all items that a query matches, on whichever page."""
    items: tuple[Any, ...] = find(replace(asked, offset=0, limit=ALL)).items
    return items


def cut(asked: EngagementQuery | MemberQuery, items: tuple[Item, ...]) -> Page[Item]:
    """Return the page of these items that a query asks for."""
    return Page(items[asked.offset : asked.offset + asked.limit], len(items))


def reordered(order: Callable[[tuple[Any, ...], Any], Iterable[Any]]) -> Find:
    """Return pages of a list in another order, for ``page`` and ``page_of_members``.

    Args:
        order: Gets all items of the honest list and the query, and returns the items of the other list.
    """
    return lambda honest, asked: cut(asked, tuple(order(whole(honest, asked), asked)))


def list_deleted(are_listed: Callable[[EngagementQuery, Engagement], bool]) -> Mutation:
    """List engagements that were remembered as ``deleted``, too, on pages that have room for them.

    Args:
        are_listed: Gets the query and such an engagement.
    """

    def around(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
        found: Page[Engagement] = honest(asked)
        deleted = [each for each in service.memory.get("deleted", ()) if are_listed(asked, each)]
        return Page((*found.items, *deleted)[: asked.limit], found.total + len(deleted))

    return wrap("find_engagements", around)
