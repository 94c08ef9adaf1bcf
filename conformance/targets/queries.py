"""Tolerant client for requests outside of checks, which returns a response or the reason for its absence."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.json_text import integer_or_none
from conformance.targets.responses import identifier_of, listed_members, member_of, time_of, value_of
from conformance.wire.exchange import SUCCESSES, Exchange, NoResponse, Response
from conformance.wire.rate_limit_headers import date_of
from conformance.wire.requests import MAIN_KEY, list_engagements, list_members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.targets.names import RunNames
    from conformance.wire.requests import Credential, Request

PAGES: Final = 10
"""The most pages of engagements, the latest first, that are searched for those of a run."""

_MEMBER_PAGES: Final = 20
"""The most pages of members that are read."""

_READS: Final = 2
"""Reads of a list of members whose pages do not agree with its total."""

_PAST_THE_END: Final = frozenset({400, 404, 422})
"""Statuses of a page after the last one, beside an empty list."""

_PATIENCE: Final = 3
"""Consecutive requests without a response after which no other is sent."""

_BATCH_SIZE: Final = 50


class QueryClient:
    """Sends requests whose responses are not judged, with retries.

    Deletions of engagements are not retried, because the id may be another engagement's by then.

    Args:
        send: Sends a request, with the main key by default.
        send_all: Sends independent requests together; None to send them one by one.
        credentials: Further keys by their names.
    """

    def __init__(
        self,
        send: Callable[[Request], Exchange],
        send_all: Callable[[Sequence[Request]], Sequence[Exchange]] | None = None,
        credentials: Mapping[str, Credential] | None = None,
    ) -> None:
        self._send_all = send_all or (lambda requests: [send(request) for request in requests])
        self._batch_size = _BATCH_SIZE if send_all else 1
        self._credentials = dict(credentials or {})
        self._silent = 0

    def send(self, request: Request, key: str = MAIN_KEY) -> Response | str:
        """Return the response to a request, or the reason for its absence as a clause."""
        return self.send_all([request], key)[0]

    def send_all(self, requests: Sequence[Request], key: str = MAIN_KEY) -> list[Response | str]:
        """Return the responses to independent requests with one key."""
        if key != MAIN_KEY and key not in self._credentials:
            return [f"the key <{key}> is not at hand"] * len(requests)
        credential = self._credentials.get(key)
        keyed = [
            replace(request, credential=credential, repeatable=request.operation.id != "deleteEngagement")
            for request in requests
        ]
        responses: list[Response | str] = []
        for first in range(0, len(keyed), self._batch_size):
            responses += self._send_batch(keyed[first : first + self._batch_size])
        return responses

    def _send_batch(self, requests: Sequence[Request]) -> list[Response | str]:
        """Return the responses to a few requests; those without one are sent again while others get one."""
        if len(requests) == 1 or self._silent >= _PATIENCE:
            return [self._send_one(request) for request in requests]
        try:
            responses = [_response(exchange) for exchange in self._send_all(requests)]
        except NoResponse:
            return [self._send_one(request) for request in requests]
        missing = [index for index, response in enumerate(responses) if isinstance(response, str)]
        if len(missing) == len(requests):
            self._silent += len(requests)
            return responses
        self._silent = 0
        for index, response in zip(missing, self._send_batch([requests[index] for index in missing]), strict=True):
            responses[index] = response
        return responses

    def _send_one(self, request: Request) -> Response | str:
        if self._silent >= _PATIENCE:
            return "the service no longer responds"
        try:
            (exchange,) = self._send_all([request])
        except NoResponse as stopped:
            return str(stopped)
        response = _response(exchange)
        self._silent = self._silent + 1 if isinstance(response, str) else 0
        return response


@dataclass(frozen=True, slots=True)
class Listed:
    """The latest engagements of an organization.

    Attributes:
        items: The items of the list, those that are objects.
        complete: Whether none can be missing: the list was read to its end, or its order is right.
        created: Creation time of each, in seconds of the epoch by our clock; infinity if unknown.
    """

    items: tuple[Mapping[str, Any], ...]
    complete: bool
    created: tuple[float, ...]


def latest_items(queries: QueryClient, *, pages: int = PAGES, key: str = MAIN_KEY) -> Listed | str:
    """Read the latest engagements, or return why that fails, as a clause."""
    shown = _pages(
        queries,
        lambda page: list_engagements(page=page, perPage=MAX_PER_PAGE, sort="createdAt", order="desc"),
        pages,
        key,
    )
    if isinstance(shown, str):
        return f"the engagements could not be listed ({shown})"
    items = [(item, response) for response, listed in shown.pages for item in listed if isinstance(item, dict)]
    whole = all(value_of(response)[1] for response, _ in shown.pages) and len(items) == shown.length
    times = [str(item.get("createdAt")) for item, _ in items]
    return Listed(
        items=tuple(item for item, _ in items),
        complete=whole and (shown.ended or times == sorted(times, reverse=True)),
        created=tuple(_created(item, response) for item, response in items),
    )


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages of a list, beginning with the first.

    Attributes:
        pages: The responses, each with its items.
        ended: Whether the list was read to its end, in agreement with its total.
    """

    pages: tuple[tuple[Response, Sequence[Any]], ...]
    ended: bool

    @property
    def length(self) -> int:
        """The number of items on all pages."""
        return sum(len(listed) for _, listed in self.pages)


def _pages(queries: QueryClient, request_of: Callable[[int], Request], most: int, key: str = MAIN_KEY) -> _Pages | str:
    """Read the pages of a list, or return why that fails, as a clause.

    Args:
        queries: Sends the requests.
        request_of: Returns the request for a page.
        most: The most pages to read.
        key: The name of the key that reads them.
    """
    pages: list[tuple[Response, Sequence[Any]]] = []
    total: int | None = None
    while len(pages) < most:
        response = queries.send(request_of(len(pages) + 1), key)
        if isinstance(response, str):
            return response
        listed = member_of(response, "data")
        if pages and total is None and response.status in _PAST_THE_END:
            return _Pages(tuple(pages), ended=True)
        if response.status not in SUCCESSES or not isinstance(listed, list):
            return f"status {response.status}"
        pages.append((response, listed))
        total = _total(response)
        shown = _distinct(item for _, items in pages for item in items)
        if not listed or (len(listed) < MAX_PER_PAGE if total is None else shown >= total):
            return _Pages(tuple(pages), ended=total is None or shown == total)
    return _Pages(tuple(pages), ended=False)


def _total(response: Response) -> int | None:
    """Return the number of items of a list by its ``meta``."""
    meta = member_of(response, "meta")
    return integer_or_none(meta.get("total")) if isinstance(meta, dict) else None


def _distinct(items: Iterable[object]) -> int:
    """Count different items; those without an id differ from all others."""
    ids = [identifier_of(item) if isinstance(item, dict) else None for item in items]
    return len({identifier for identifier in ids if identifier is not None}) + ids.count(None)


@dataclass(frozen=True, slots=True)
class OwnEngagements:
    """Listed engagements of a run.

    Attributes:
        ids: Their ids.
        complete: Whether none can be missing.
        latest_other: Creation time of the latest other engagement, in seconds of the epoch by our clock.
    """

    ids: tuple[str, ...]
    complete: bool
    latest_other: float


def own_among(listed: Listed, names: RunNames) -> OwnEngagements:
    """Return the engagements with a name or description of a run."""
    marked = [names.owns_engagement(item) for item in listed.items]
    ids = [identifier_of(item) for item, is_own in zip(listed.items, marked, strict=True) if is_own]
    others = [moment for moment, is_own in zip(listed.created, marked, strict=True) if not is_own]
    return OwnEngagements(
        tuple(dict.fromkeys(found for found in ids if found is not None)),
        listed.complete,
        max(others, default=-math.inf),
    )


def all_members(queries: QueryClient) -> dict[str, Mapping[str, Any]] | None:
    """Return all members of the main key's organization by id; None if they cannot all be read.

    The list is read again if its pages do not agree with its total, because members may have changed meanwhile.
    """
    for _ in range(_READS):
        shown = _pages(queries, lambda page: list_members(page=page, perPage=MAX_PER_PAGE), _MEMBER_PAGES)
        if isinstance(shown, str):
            return None
        if shown.ended and all(value_of(response)[1] for response, _ in shown.pages):
            pages = [listed_members(response) for response, _ in shown.pages]
            return {user_id: item for page in pages for user_id, item in page.items()}
    return None


def _created(item: Mapping[str, Any], response: Response) -> float:
    """Return the creation time of an engagement by our clock, corrected by the Date; infinity if unknown."""
    now, date, moment = time.time(), date_of(response), time_of(item.get("createdAt"))
    if moment is None:
        return math.inf
    return moment if date is None else moment - date + now


def _response(exchange: Exchange) -> Response | str:
    try:
        return exchange.response
    except NoResponse as no_response:
        return str(no_response)
