"""Requests after which the service was gone: each is sent again, alone, if that is harmless."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.exchange import NotSent
from conformance.wire.losses import joined_names, losses

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

    Likeness = Callable[[Exchange], Hashable]

_TWICE: Final = 2
_MOST: Final = 10
"""Most requests that are sent again."""

_UNDONE: Final = frozenset(f"{what}Engagement" for what in ("create", "update", "archive", "unarchive", "delete"))
"""Writes that may be sent again: they concern engagements of the run, which are deleted in the end."""


@dataclass(slots=True)
class _Suspect:
    """A request that was in flight when the service was lost.

    Attributes:
        broken: The exchanges that broke off, in order.
        alone: Those of them with no other request in flight.
    """

    broken: list[Exchange] = field(default_factory=list)
    alone: list[Exchange] = field(default_factory=list)


class _Again(NamedTuple):
    """A request that was sent again, and the request that got a response right before."""

    control: Exchange
    exchange: Exchange


def expect_no_request_ends_service(run: Run) -> None:
    """Expect that the service is not gone after the same request twice.

    A restart may break off any request once. A request is therefore cleared by a response to it, or to one that differs
    only in names and identifiers of the run.

    Raises:
        NonConformity: The service is gone twice, with no other request in flight.
        CantTell: The service was gone once, and the request could not be sent again.
        Inapplicable: The service was never gone with a request in flight.
    """
    run.scenarios.finish_background()
    suspects = sorted(_suspects(run, _exactly).values(), key=lambda suspect: -len(suspect.broken))
    if not suspects:
        raise Inapplicable("the service was never gone while a request was in flight")
    doubtful = [
        suspect.broken[-1]
        for number, suspect in enumerate(suspects)
        if not _is_cleared(run, suspect, may_send=number < _MOST)
    ]
    if doubtful:
        raise CantTell(f"the service was gone after {joined_names(doubtful)}, which could not be sent again", *doubtful)


def _is_cleared(run: Run, suspect: _Suspect, *, may_send: bool) -> bool:
    """Whether a request, or an equivalent one, got a response after all.

    Raises:
        NonConformity: The service was gone again.
    """
    first = suspect.broken[0]
    if _had_response(run, first, _exactly):
        return True
    again = _sent_alone(run, first.request) if may_send else None
    if again is not None:
        _expect_not_gone(run, first, again)
        if again.exchange.judgeable and (first.request.harmless or again.exchange.accepted):
            evidence(again.exchange)
            return True
    if _had_response(run, first, lambda exchange: _form(run, exchange)):
        return True
    alike = _suspects(run, lambda exchange: _form(run, exchange))[_form(run, first)]
    if len(alike.alone) >= _TWICE:
        raise _fault(alike.alone[0], alike.alone[-1])
    return False


def _suspects(run: Run, likeness: Likeness) -> dict[Hashable, _Suspect]:
    """Return the requests in flight when the service was lost; equivalent ones count as one."""
    found: dict[Hashable, _Suspect] = {}
    for loss in losses(run.wire.exchanges):
        for exchange in loss.under_way:
            suspect = found.setdefault(likeness(exchange), _Suspect())
            suspect.broken.append(exchange)
            suspect.alone += [exchange] if loss.alone else []
    return found


def _had_response(run: Run, first: Exchange, likeness: Likeness) -> bool:
    """Whether a request equivalent to a broken one got a response later."""
    later = [exchange for exchange in run.wire.exchanges if exchange.number > first.number and exchange.judgeable]
    found = next((exchange for exchange in later if likeness(exchange) == likeness(first)), None)
    if found is not None:
        evidence(found)
    return found is not None


def _sent_alone(run: Run, asked: Request) -> _Again | None:
    """Send a request between two reads that show whether the service is up; return None if that could do harm."""
    is_undone = asked.operation.id in _UNDONE and asked.is_proper and asked.credential is None
    if not (asked.harmless or is_undone):
        return None
    try:
        control, exchange = run.send(requests.get_organization()), run.send(asked)
        run.send(requests.get_organization())
    except (NotSent, MissingMeans):
        return None
    return _Again(control, exchange)


def _expect_not_gone(run: Run, first: Exchange, again: _Again) -> None:
    for loss in losses(run.wire.exchanges):
        gone = [
            exchange
            for exchange in loss.under_way
            if exchange.number > again.control.number and _exactly(exchange) == _exactly(first)
        ]
        if gone and loss.alone and again.control.judgeable:
            raise _fault(first, gone[0])


def _fault(first: Exchange, again: Exchange) -> NonConformity:
    return NonConformity(
        f"the service was gone after {first.named}, and after the same request again",
        first,
        again,
        expected="a response, or a refusal",
        actual="no response, and no connections for a while",
    )


def _exactly(exchange: Exchange) -> Hashable:
    """Return what two exchanges of the same request have in common."""
    sent, credential = exchange.sent_request, exchange.request.credential
    return sent.method, sent.url, sent.body, credential and credential.name


def _form(run: Run, exchange: Exchange) -> Hashable:
    """Return what two requests have in common that differ only in names and identifiers of the run."""
    sent, asked = exchange.sent_request, exchange.request
    own = re.compile(re.escape(run.names.prefix) + r"[\w.+-]*")
    query, body = urlsplit(sent.url).query, sent.body.decode("utf-8", "replace")
    return asked.operation.id, asked.probe, own.sub("", f"{query} {body}"), asked.credential and asked.credential.name
