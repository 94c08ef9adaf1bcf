"""Words over several answers at once: those that are wrong are told together, each with what was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.wire.exchange import REFUSALS, NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.wire.exchange import Exchange

_TOLD: Final = 6
_ENGAGEMENT: Final = ("name", "description", "status", "createdAt", "updatedAt")


@dataclass(frozen=True, slots=True)
class Sent:
    """One request of a batch.

    Attributes:
        what: What it was, in words that complete "createEngagement with ...".
        exchange: What came of it.
        label: A text that it carried and no other request did; empty for none.
        kind: What kind of request it was, where a batch has several.
    """

    what: str
    exchange: Exchange = field(repr=False)
    label: str = ""
    kind: str = ""

    @property
    def told(self) -> str:
        """The operation and what was sent."""
        return f"{self.exchange.request.operation.id} with {self.what}"


def every_status(sent: Iterable[Sent], permitted: Callable[[int], bool], expected: str) -> None:
    """Every answer has a permitted status.

    Args:
        sent: What was sent; what brought no answer is passed over where another one is wrong.
        permitted: Says of a status whether it is.
        expected: All permitted statuses in words.

    Raises:
        NonConformity: At least one has not; all of them are named.
        NoResponse: None is wrong, but something has no answer.
    """
    wrong: list[Sent] = []
    trouble: NoResponse | None = None
    for request in sent:
        try:
            status = request.exchange.status
        except NoResponse as no_response:
            trouble = trouble or no_response
            continue
        evidence(request.exchange)
        if not permitted(status):
            wrong.append(request)
    if wrong:
        raise NonConformity(
            _listed([f"{request.told} was answered {request.exchange.status}" for request in wrong]),
            *[request.exchange for request in wrong],
            expected=expected,
            actual=", ".join(sorted({str(request.exchange.status) for request in wrong})),
        )
    if trouble is not None:
        raise trouble


def every_invalid_refused(sent: Iterable[Sent]) -> None:
    """Every certainly invalid request was refused as such."""
    every_status(sent, lambda status: status in {400, 422}, "400 or 422")


def engagement_untouched(before: Exchange, after: Exchange, sent: Sequence[Sent]) -> None:
    """Refused requests have left an engagement as it was, ``updatedAt`` included.

    Args:
        before: A read of it before they were sent.
        after: A read of it afterwards.
        sent: The requests. Where one of them was not refused, a change says nothing about those that were.

    Raises:
        NonConformity: It has changed or is gone, although all were refused.
        CantTell: It has changed, and some were not refused.
    """
    was = read.data(before)
    only_if_refused(sent, lambda: _same_engagement(was, before, after, sent))


def only_if_refused(sent: Iterable[Sent], judge: Callable[[], None]) -> None:
    """Judge what refused requests have left; a fault is open to doubt where one of them was not refused.

    Raises:
        NonConformity: What ``judge`` raises, where all were refused with a 4xx.
        CantTell: It raises one, and some were not refused.
    """
    try:
        judge()
    except NonConformity as fault:
        if accepted := [request for request in sent if request.exchange.status not in REFUSALS]:
            exchanges = [request.exchange for request in accepted]
            raise CantTell(f"{fault.message}, but {accepted[0].told} was not refused", *exchanges) from None
        raise


def none_created(sent: Iterable[Sent], listed: Sequence[Exchange]) -> None:
    """Nothing that a refused creation carried is among the engagements listed afterwards.

    Args:
        sent: The creations, each with a label of its own.
        listed: Pages of the list that would hold them.
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
            _listed([f"{request.told} was refused, but its engagement is in the list" for request in found]),
            *[request.exchange for request in found],
            *listed,
            expected="no engagement of a refused creation",
            actual=f"{len(found)} of them",
        )


def carries(item: dict[str, Any], label: str) -> bool:
    """Whether an engagement has a label in its name or description."""
    return any(isinstance(item.get(name), str) and label in item[name] for name in ("name", "description"))


def refused(request: Sent) -> bool:
    """Whether a request was answered with a 4xx; what has no answer was not."""
    return request.exchange.judgeable and request.exchange.status in REFUSALS


def _same_engagement(was: dict[str, Any], before: Exchange, after: Exchange, sent: Sequence[Sent]) -> None:
    exchanges = [request.exchange for request in sent]
    if after.status == HTTPStatus.NOT_FOUND:
        message = "the engagement is gone"
        raise NonConformity(message, before, *exchanges, after, expected="the engagement as before", actual="404")
    expect.unchanged("the engagement", was, read.data(after), _ENGAGEMENT, before, *exchanges, after)


def _listed(sentences: list[str]) -> str:
    """Sentences in one text, the last ones only counted where there are many."""
    more = len(sentences) - _TOLD
    return "; ".join(sentences[:_TOLD]) + (f"; and {more} more" if more > 0 else "")
