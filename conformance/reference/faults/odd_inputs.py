"""Faults that only unusual, but permitted input shows: unexpected errors, and limits that are not told the truth of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext

_LONG = 200
_VERY_LONG = 1_000
_SIZE, _LARGEST = 20, 100


def _breaking(identifier: str, title: str, is_odd: Callable[[RequestContext], bool], *breaks: str) -> Fault:
    """A service that stumbles over a request."""

    def act(self: Service, context: RequestContext) -> Reply:
        if is_odd(context):
            raise RuntimeError("nobody thought of that")
        return Service.act(self, context)

    return made(identifier, title, "no-server-error", *breaks, act=act)


def _says(context: RequestContext, *parts: bytes) -> bool:
    return any(part in context.content for part in parts)


def _number(context: RequestContext, name: str) -> int:
    text = context.request.query_params.get(name, "")
    return int(text) if text.lstrip("-").isdigit() else 1


BREAKING = (
    _breaking(
        "breaks-on-emoji",
        "An emoji ends in an unexpected error.",
        lambda context: _says(context, b"\xf0\x9f", b"\\ud83d", b"\\ud83D"),
    ),
    _breaking(
        "breaks-on-astral",
        "A character beyond the first plane ends in an unexpected error.",
        lambda context: _says(context, b"\xf0", b"\\ud8"),
    ),
    _breaking(
        "breaks-on-backslash", "A backslash ends in an unexpected error.", lambda context: _says(context, b"\\\\")
    ),
    _breaking(
        "breaks-on-quote",
        "A single quote ends in an unexpected error.",
        lambda context: context.operation.takes_body and _says(context, b"');"),
    ),
    _breaking(
        "breaks-on-long-text",
        "A body of more than 1,000 bytes ends in an unexpected error.",
        lambda context: len(context.content) > _VERY_LONG,
    ),
    _breaking(
        "breaks-on-lone-surrogate",
        "Half of a surrogate pair ends in an unexpected error.",
        lambda context: _says(context, b'\\ud800"', b'\\uD800"', b"\\ud800 ", b"\\udc00"),
    ),
    _breaking(
        "breaks-on-nesting",
        "A deeply nested body ends in an unexpected error.",
        lambda context: _says(context, b"[[[[[[[[", b'{"a":{"a":{"a":{"a":'),
    ),
    _breaking(
        "breaks-on-empty-object",
        "An edit without any field ends in an unexpected error.",
        lambda context: context.operation.id == "updateEngagement" and context.content.strip() == b"{}",
    ),
    _breaking(
        "breaks-on-null-description",
        "An edit that takes the description away ends in an unexpected error.",
        lambda context: (
            context.operation.id == "updateEngagement" and _says(context, b'"description":null', b'"description": null')
        ),
    ),
    _breaking(
        "breaks-on-unknown-field",
        "A creation with an unknown field ends in an unexpected error.",
        lambda context: context.operation.id == "createEngagement" and _says(context, b'"colour"'),
    ),
    _breaking(
        "breaks-on-page-zero", "Page 0 ends in an unexpected error.", lambda context: _number(context, "page") == 0
    ),
    _breaking(
        "breaks-on-negative-page",
        "A negative page ends in an unexpected error.",
        lambda context: _number(context, "page") < 0,
    ),
    _breaking(
        "breaks-on-per-page-zero",
        "A perPage of 0 ends in an unexpected error, as a division by it would.",
        lambda context: _number(context, "perPage") == 0,
    ),
    _breaking(
        "breaks-on-page-past-end",
        "A page past the end ends in an unexpected error.",
        lambda context: _number(context, "page") > _LONG,
        "list-past-the-end",
    ),
    _breaking(
        "breaks-on-unknown-parameter",
        "An unknown query parameter ends in an unexpected error.",
        lambda context: bool(set(context.request.query_params) - set(context.operation.parameters)),
    ),
    _breaking(
        "breaks-on-blank-name",
        "A blank name ends in an unexpected error.",
        lambda context: _says(context, b'"name": "   "', b'"name":"   "'),
    ),
    _breaking(
        "breaks-on-text-plain",
        "A body that is announced as text ends in an unexpected error.",
        lambda context: context.request.headers.get("content-type", "").startswith("text/plain"),
    ),
    _breaking(
        "breaks-on-odd-identifier",
        "An identifier of an odd shape ends in an unexpected error.",
        lambda context: context.operation.finds == "engagement" and not context.resource_id.startswith("eng_"),
    ),
    _breaking(
        "breaks-on-unknown-user",
        "An unknown user ends in an unexpected error.",
        lambda context: context.operation.finds == "member" and not context.resource_id.startswith("usr_"),
    ),
)

# Pages out of bounds


def _bounds(identifier: str, title: str, change: Callable[[int, int], tuple[int, int]], *breaks: str) -> Fault:
    """A list that accepts any page and perPage; ``change`` is given both and gives what meta says."""

    def read_page(self: Service, parameters: dict[str, str]) -> dict[str, int]:
        page, size = self.integer(parameters, "page", 1), self.integer(parameters, "perPage", 20)
        return {"page": page, "perPage": size}

    def offset(_: Service, context: RequestContext) -> int:
        return max(int((context.values["page"] - 1) * context.values["perPage"]), 0)

    def view_meta(_: Service, total: int, page: int, per_page: int) -> dict[str, Any]:
        said_page, said_size = change(page, per_page)
        pages = -(-total // said_size) if said_size > 0 else 0
        return {"total": total, "page": said_page, "perPage": said_size, "totalPages": pages}

    def check_page_exists(_: Service, __: dict[str, Any]) -> None:
        return

    return made(
        identifier,
        title,
        *breaks,
        read_page=read_page,
        offset=offset,
        view_meta=view_meta,
        check_page_exists=check_page_exists,
    )


_TRUTH = "list-paging-limits-truthful"

BOUNDS = (
    _bounds(
        "bounds-unchecked", "Any page and perPage are taken as they come.", lambda page, size: (page, size), _TRUTH
    ),
    _bounds(
        "bounds-per-page-says-100",
        "A perPage above 100 is honoured, and meta says 100.",
        lambda page, size: (max(page, 1), min(max(size, 1), 100)),
        _TRUTH,
    ),
    _bounds(
        "bounds-page-says-zero",
        "Page 0 is answered as page 0.",
        lambda page, size: (page, min(max(size, 1), 100)),
        _TRUTH,
    ),
)


@fault("bounds-pages-of-default", _TRUTH)
class BoundsPagesOfDefault(Service):
    """A perPage out of bounds is taken for the nearest one within, and totalPages counts pages of 20."""

    def read_page(self, parameters: dict[str, str]) -> dict[str, int]:
        """Accept anything."""
        page, size = self.integer(parameters, "page", 1), self.integer(parameters, "perPage", _SIZE)
        return {"page": max(page, 1), "perPage": min(max(size, 1), _LARGEST)}

    def act(self, context: RequestContext) -> Reply:
        """Count other pages than those that are told."""
        reply = super().act(context)
        if "meta" not in reply.content or 1 <= _number(context, "perPage") <= _LARGEST:
            return reply
        meta = {**reply.content["meta"], "totalPages": -(-reply.content["meta"]["total"] // _SIZE)}
        return replace(reply, content={**reply.content, "meta": meta})


def _past_the_end(identifier: str, title: str, find: str) -> Fault:
    """A list whose pages past the end are not empty."""
    honest = getattr(Service, find)

    def found(self: Service, query: Any) -> Any:  # noqa: ANN401 - of either list
        page = honest(self, query)
        if query.offset and query.offset >= page.total > 0:
            return honest(self, replace(query, offset=(page.total - 1) // query.limit * query.limit))
        return page

    return made(identifier, title, "list-past-the-end", **{find: found})


PAST_THE_END = (
    _past_the_end(
        "past-end-repeats-last-page", "A page of engagements past the end holds the last one's.", "find_engagements"
    ),
    _past_the_end(
        "past-end-repeats-last-members", "A page of members past the end holds the last one's.", "find_members"
    ),
)
