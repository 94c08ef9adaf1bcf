"""Assertions over several responses at once: the message names every wrong response and what was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.wire.exchange import REFUSALS, TOO_MANY_REQUESTS, NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.wire.exchange import Exchange

_MOST_NAMED: Final = 6
_ENGAGEMENT: Final = ("name", "description", "status", "createdAt", "updatedAt")


@dataclass(frozen=True, slots=True)
class Sent:
    """One request of a batch.

    Attributes:
        what: What was sent, in words that complete "createEngagement with ...".
        exchange: The exchange.
        label: A text that this request carried and no other did; empty for none.
        kind: The kind of request, if a batch has several.
    """

    what: str
    exchange: Exchange = field(repr=False)
    label: str = ""
    kind: str = ""

    @property
    def summary(self) -> str:
        """The operation and what was sent."""
        return f"{self.exchange.operation_id} with {self.what}"


def last_attempts(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return the exchanges with a response that counts, without those whose request was sent again."""
    found = list(exchanges)
    repeated = {(exchange.request, exchange.attempt - 1) for exchange in found}
    last = [exchange for exchange in found if (exchange.request, exchange.attempt) not in repeated]
    return [exchange for exchange in last if exchange.judgeable and exchange.received_status != TOO_MANY_REQUESTS]


def every_status(sent: Iterable[Sent], permitted: Callable[[int], bool], expected: str) -> None:
    """Require a permitted status of every response.

    Args:
        sent: The requests; those without a response are skipped if a response is wrong.
        permitted: Whether a status is permitted.
        expected: All permitted statuses in words.

    Raises:
        NonConformity: At least one status is not permitted; the message names all of them.
        NoResponse: No status is wrong, but a request got no response.
    """
    wrong: list[Sent] = []
    judged = 0
    error: NoResponse | None = None
    for request in sent:
        try:
            status = request.exchange.status
        except NoResponse as no_response:
            error = error or no_response
            continue
        evidence(request.exchange, expected=expected)
        judged += 1
        if not permitted(status):
            wrong.append(request)
    if wrong:
        share = f" ({len(wrong)} of {judged} responses)" if len(wrong) < judged else ""
        raise NonConformity(
            _listed([f"{request.summary} returned {request.exchange.status}" for request in wrong]) + share,
            *[request.exchange for request in wrong],
            expected=expected,
            actual=", ".join(sorted({str(request.exchange.status) for request in wrong})),
        )
    if error is not None:
        raise error


def every_invalid_refused(sent: Iterable[Sent]) -> None:
    """Require 400 or 422 for every certainly invalid request."""
    every_status(sent, lambda status: status in {400, 422}, "400 or 422")


def engagement_untouched(before: Exchange, after: Exchange, sent: Sequence[Sent]) -> None:
    """Require that refused requests left an engagement as it was, ``updatedAt`` included.

    Args:
        before: A read of the engagement before the requests.
        after: A read of it afterwards.
        sent: The requests. If one was not refused, a change proves nothing about the others.

    Raises:
        NonConformity: The engagement changed or is gone, although all requests were refused.
        CantTell: The engagement changed, and some requests were not refused.
    """
    was = read.data(before)
    only_if_refused(sent, lambda: _same_engagement(was, before, after, sent))


def only_if_refused(sent: Iterable[Sent], judge: Callable[[], None]) -> None:
    """Judge what refused requests left; if one was not refused, a failure becomes ``cantTell``.

    Raises:
        NonConformity: ``judge`` raised it, and all requests were refused with a 4xx.
        CantTell: ``judge`` raised a ``NonConformity``, and some requests were not refused.
    """
    try:
        judge()
    except NonConformity as fault:
        if accepted := [request for request in sent if request.exchange.status not in REFUSALS]:
            exchanges = [request.exchange for request in accepted]
            raise CantTell(f"{fault.message}, but {accepted[0].summary} was not refused", *exchanges) from None
        raise


def none_created(sent: Iterable[Sent], listed: Sequence[Exchange]) -> None:
    """Require that no engagement of a refused creation is listed afterwards.

    Args:
        sent: The creations, each with a label of its own.
        listed: Pages of the list that would hold the engagements.
    """
    items = [item for page in listed for item in read.items(page)]
    evidence(*listed)
    found = [
        request
        for request in sent
        if request.label and refused(request) and any(carries(item, request.label) for item in items)
    ]
    if found:
        raise NonConformity(
            _listed([f"{request.summary} was refused, but its engagement is in the list" for request in found]),
            *[request.exchange for request in found],
            *listed,
            expected="no engagement of a refused creation",
            actual=f"{len(found)} in the list",
        )


def carries(item: dict[str, Any], label: str) -> bool:
    """Whether an engagement has a label in its name or description."""
    return any(isinstance(item.get(name), str) and label in item[name] for name in ("name", "description"))


def refused(request: Sent) -> bool:
    """Whether a request got a 4xx response."""
    return request.exchange.judgeable and request.exchange.status in REFUSALS


def _same_engagement(was: dict[str, Any], before: Exchange, after: Exchange, sent: Sequence[Sent]) -> None:
    exchanges = [request.exchange for request in sent]
    if after.status == HTTPStatus.NOT_FOUND:
        message = "the engagement no longer exists"
        raise NonConformity(message, before, *exchanges, after, expected="the engagement as before", actual="404")
    expect.unchanged("the engagement", was, read.data(after), _ENGAGEMENT, before, *exchanges, after)


def _listed(sentences: list[str]) -> str:
    """Join different sentences into one text; of many, only count the last."""
    sentences = list(dict.fromkeys(sentences))
    more = len(sentences) - _MOST_NAMED
    return "; ".join(sentences[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
