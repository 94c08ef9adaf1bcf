"""Exchanges, made by hand."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.interface.operations import OPERATIONS
from conformance.wire.exchange import Exchange, Response, SentRequest
from conformance.wire.requests import JSON_HEADERS, Credential, Request

RATE_LIMIT = (
    ("X-RateLimit-Limit", "100"),
    ("X-RateLimit-Remaining", "99"),
    ("X-RateLimit-Reset", "1760000060"),
)
RESPONDED_AT = datetime.fromtimestamp(1_760_000_000, UTC)


def make_exchange(  # noqa: PLR0913 - each part has a usual value
    operation: str | Request = "getEngagement",
    status: int | None = 200,
    body: object = ...,
    *,
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"), *RATE_LIMIT),
    query: tuple[tuple[str, str], ...] = (),
    sent: object = ...,
    key: Credential | None = None,
    number: int = 1,
    at: float = 0.0,
    seconds: float = 0.01,
) -> Exchange:
    """Return an exchange with this response.

    Args:
        operation: The request, or the operation that it asks for, of the resource ``eng_1`` if it takes any.
        status: The status of the response; None for no response.
        body: The body of the response: bytes, or a value for JSON; none by default.
        headers: The headers of the response.
        query: The query of the request.
        sent: The body of the request, as JSON; none by default.
        key: The key of the request; None for the main key.
        number: The number in the run.
        at: Seconds from ``RESPONDED_AT`` to the request.
        seconds: Seconds from the request to the response.
    """
    request = operation
    if isinstance(request, str):
        text, named = (None, ()) if sent is ... else (json.dumps(sent).encode(), JSON_HEADERS)
        request = Request(
            operation=OPERATIONS[request], identifier="eng_1", query=query, body=text, headers=named, credential=key
        )
    content = body if isinstance(body, bytes) else b"" if body is ... else json.dumps(body).encode()
    return Exchange(
        number=number,
        check="test",
        request=request,
        sent_request=SentRequest(request.method, f"http://service.test{request.path}", (), request.body or b""),
        received=None if status is None else Response(status, headers, content),
        error="the connection broke" if status is None else None,
        started_at=RESPONDED_AT + timedelta(seconds=at),
        seconds=seconds,
    )


def page(
    items: Sequence[object] = (),
    *,
    number: int = 1,
    operation: str = "listEngagements",
    query: Mapping[str, object] | None = None,
    **meta: Any,
) -> Exchange:
    """Return a page with these items; a text stands for an item with that id, and ``meta`` replaces parts of meta.

    Without ``meta`` it is the whole list: page 1 with 20 items a page, and the number of items as the total.
    """
    data = [{"id": item} if isinstance(item, str) else item for item in items]
    usual = {"total": len(data), "page": 1, "perPage": 20, "totalPages": -(-len(data) // 20)}
    asked = tuple((name, str(value)) for name, value in (query or {}).items())
    return make_exchange(operation, body={"data": data, "meta": usual | meta}, query=asked, number=number)


def page_for(request: Request, items: Sequence[Mapping[str, object]], lacks: Collection[object] = ()) -> Exchange:
    """Return the page of these items that a request asks for; it lacks those with some ids."""
    query = dict(request.query)
    number, size = int(query.get("page", 1)), int(query.get("perPage", 20))
    meta = {"total": len(items), "page": number, "perPage": size, "totalPages": -(-len(items) // size)}
    part = [item for item in items[(number - 1) * size : number * size] if item["id"] not in lacks]
    return make_exchange(request, body={"data": part, "meta": meta})


def lettered(letters: Iterable[str]) -> list[dict[str, str]]:
    """Return an engagement for each letter; those of capitals are a fake run's."""
    return [{"id": letter, "name": f"cf-{letter}" if letter.isupper() else letter} for letter in letters]


def no_response(operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """Return an exchange without a response."""
    return make_exchange(operation, None, number=number)


def refusal(status: int = 404, operation: str = "listEngagements", *, number: int = 1) -> Exchange:
    """Return an exchange with an error response."""
    return make_exchange(
        operation, status, {"error": {"code": "X", "message": "", "statusCode": status}}, number=number
    )
