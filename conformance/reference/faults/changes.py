"""Changes of values, and mutations of the replies and pages that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.records import Item, Page

from .conditions import always
from .mutations import Change, Method, Mutation, at_step, result, wrap
from .situations import ALL, Condition, Situation

if TYPE_CHECKING:
    from starlette.responses import Response

    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service


def put(**members: object) -> Change:
    """Set members of a JSON object."""
    return lambda shown: {**shown, **members}


def edit(**changes: Change) -> Change:
    """Change the values of members that are there."""
    return lambda shown: {key: changes[key](value) if key in changes else value for key, value in shown.items()}


def drop(*names: str) -> Change:
    """Leave members out."""
    return lambda shown: {key: value for key, value in shown.items() if key not in names}


def rename(name: str, other: str) -> Change:
    """Give a member another name."""
    return lambda shown: {other if key == name else key: value for key, value in shown.items()}


def inside(name: str, change: Change) -> Change:
    """Change the object in a member."""
    return lambda shown: {**shown, name: change(shown[name])}


def set_fields(**values: object) -> Change:
    """Set fields of a record or of a query."""
    return lambda record: replace(record, **values)


def view(name: str, *changes: Change) -> Mutation:
    """Change a JSON view, named as in ``reference/views.py``, such as ``created``, ``read`` or ``item``."""

    def change(shown: object) -> object:
        for each in changes:
            shown = each(shown)
        return shown

    return result(f"view_{name}", change)


def reply(operation: str, change: Callable[[Situation], Reply], when: Condition = always) -> Mutation:
    """Change the reply to an operation that was carried out; ``*`` stands for all operations."""

    def around(at: Situation, honest: Method) -> object:
        at = replace(at, reply=honest())
        return change(at) if operation in {"*", at.operation} and when(at) else at.reply

    return at_step("act", around)


def status(operation: str, code: int, when: Condition = always) -> Mutation:
    """Reply to an operation with another status."""
    return reply(operation, lambda at: replace(at.reply_so_far, status=code), when)


def data(operation: str, change: Callable[[Situation, Any], Any], when: Condition = always) -> Mutation:
    """Change the ``data`` of the reply to an operation."""
    return reply(operation, lambda at: at.with_data(change(at, at.data)), when)


def content(operation: str, change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of the reply to an operation."""

    def changed(at: Situation) -> Reply:
        return replace(at.reply_so_far, content=change(at.reply_so_far.content))

    return reply(operation, changed, when)


def error(change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of errors, whatever refuses the request."""

    def around(service: Service, honest: Method, context: RequestContext, refused: Reply) -> object:
        if refused.is_error and when(Situation(service, context, refused)):
            refused = replace(refused, content=change(refused.content))
        return honest(context, refused)

    return wrap("respond", around)


def header(name: str, value: Callable[[Situation], str | None], when: Condition = always) -> Mutation:
    """Send another value of a header; without the header if the value is None."""

    def around(at: Situation, honest: Method) -> dict[str, str]:
        headers: dict[str, str] = honest()
        if not when(at):
            return headers
        changed = {**headers, name: value(at)}
        return {key: text for key, text in changed.items() if text is not None}

    return at_step("headers", around)


def send(change: Callable[[bytes], bytes], when: Condition = always, *, media_type: str | None = None) -> Mutation:
    """Send another body than the JSON of a reply, and another media type; no media type if it is empty."""
    replaced = {b"content-length"} if media_type is None else {b"content-length", b"content-type"}
    typed = [(b"Content-Type", media_type.encode())] if media_type else []

    def around(at: Situation, honest: Method) -> Response:
        response: Response = honest()
        if when(at):
            response.body = change(bytes(response.body))
            kept = [(name, value) for name, value in response.raw_headers if name.lower() not in replaced]
            response.raw_headers = [*kept, *typed, (b"Content-Length", str(len(response.body)).encode())]
        return response

    return at_step("respond", around)


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
        deleted = [engagement for engagement in service.memory.get("deleted", ()) if are_listed(asked, engagement)]
        return Page((*found.items, *deleted)[: asked.limit], found.total + len(deleted))

    return wrap("find_engagements", around)
