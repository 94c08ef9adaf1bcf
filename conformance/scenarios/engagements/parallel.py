"""Requests for the same engagement at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import field_or_none
from conformance.scenarios.lists.finding import Search, search
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_ROUNDS: Final = {Effort.QUICK: 2, Effort.STANDARD: 4, Effort.DEEP: 16}
REFUSED_BESIDE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})
"""Refusals that an edit may get beside another edit."""
_AT_ONCE: Final = {Effort.QUICK: 2, Effort.STANDARD: 3, Effort.DEEP: 5}
_TRIES: Final = 4
"""Attempts to send an edit alone: other scenarios or other users may be editing at that time."""


@dataclass(frozen=True, slots=True)
class ParallelCreation:
    """Simultaneous creations, and the search for them in the list."""

    responses: tuple[Exchange, ...]
    found: Search

    @property
    def identifiers(self) -> list[str]:
        """Return the identifiers in the responses, with repetitions."""
        return [
            identifier for response in self.responses if (identifier := read.identifier_or_none(response)) is not None
        ]


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """An edit of a field while another field is edited.

    Attributes:
        field: The field.
        value: The sent value.
        response: The response.
        after: A read after both edits.
        alone: The response to the same edit sent alone and a read after it, if it was refused or had no effect.
    """

    field: str
    value: str
    response: Exchange
    after: Exchange
    alone: tuple[Exchange, Exchange] | None = None

    @property
    def right(self) -> bool:
        """Whether the edit was refused because of the other, or succeeded and is read."""
        if self.response.status in REFUSED_BESIDE:
            return True
        return self.response.succeeded and field_or_none(self.after, self.field) == self.value


@dataclass(frozen=True, slots=True)
class Closing:
    """An archive or a deletion, and the requests right after its response.

    Attributes:
        response: The response.
        attempts: Simultaneous requests that must not succeed from then on.
        later: Such a request after a while, if one of those succeeded.
    """

    response: Exchange
    attempts: tuple[Exchange, ...]
    later: Exchange | None


@scenario
def parallel_creation(run: Run) -> ParallelCreation:
    """Create several engagements simultaneously and search for them in the list."""
    names = [run.name(f"parallel-{place}") for place in range(1 + 2 * _ROUNDS[run.effort])]
    responses = run.send_all(
        [requests.create_engagement({"name": name, "description": "Made in parallel."}) for name in names]
    )
    ids = [identifier for response in responses if (identifier := read.identifier_or_none(response)) is not None]
    return ParallelCreation(tuple(responses), search(run, ids, sort="name", order="asc"))


@scenario
def parallel_edits(run: Run) -> list[tuple[FieldEdit, FieldEdit]]:
    """Edit an engagement's name and its description simultaneously, several times."""
    subject = _subjects(run)[0]
    return [_edit_in_parallel(run, subject, number) for number in range(_ROUNDS[run.effort] - 1)]


@scenario
def archives_at_once(run: Run) -> list[Closing]:
    """Archive engagements, and send edits as soon as the response arrives: of both fields, or clearing one."""

    def edits(subject: str) -> list[Request]:
        names = [run.name("slipped-in") for _ in range(1, _AT_ONCE[run.effort])]
        bodies = [*({"name": name, "description": "slipped in"} for name in names), {"description": ""}]
        return [requests.update_engagement(subject, body) for body in bodies]

    return [
        _close(run, requests.archive_engagement(subject), edits(subject), race=number % 2 == 1)
        for number, subject in enumerate(_subjects(run)[1::2])
    ]


@scenario
def deletions_at_once(run: Run) -> list[Closing]:
    """Delete engagements, and send reads as soon as the response arrives."""
    return [
        _close(run, requests.delete_engagement(subject), [read_it] * _AT_ONCE[run.effort], race=number % 2 == 1)
        for number, subject in enumerate(_subjects(run)[2::2])
        for read_it in (requests.get_engagement(subject),)
    ]


def _subjects(run: Run) -> list[str]:
    """Return engagements of the parallel creation; each is used by a single scenario."""
    subjects = list(dict.fromkeys(run.scenarios.result(parallel_creation).identifiers))
    if len(subjects) < 3:  # noqa: PLR2004 - one for each scenario
        raise CantTell("too few engagements were created in parallel")
    return subjects


def _edit_in_parallel(run: Run, subject: str, number: int) -> tuple[FieldEdit, FieldEdit]:
    sent = {"name": run.name("parallel-edit"), "description": f"edited in parallel {number}"}
    responses = run.send_all([requests.update_engagement(subject, {field: value}) for field, value in sent.items()])
    after = run.send(requests.get_engagement(subject))
    pairs = zip(sent.items(), responses, strict=True)
    name, description = (FieldEdit(field, value, response, after) for (field, value), response in pairs)
    return _tried_alone(run, name), _tried_alone(run, description)


def _tried_alone(run: Run, edit: FieldEdit) -> FieldEdit:
    """Send the edit again, alone, if it failed beside another."""
    if edit.right:
        return edit
    for _ in range(_TRIES):
        alone = run.send(edit.response.request)
        if alone.succeeded:
            break
        run.sleep(ONE_SECOND_TICK)
    return replace(edit, alone=(alone, run.send(edit.after.request)))


def _close(run: Run, closing: Request, attempts: list[Request], *, race: bool) -> Closing:
    """Send an archive or a deletion, and as soon as its response arrives the requests that must not succeed.

    Args:
        run: The run.
        closing: The archive or the deletion.
        attempts: The requests that must not succeed afterwards.
        race: Whether the first request is already in flight when the archive or deletion is sent; it may succeed.
    """
    with _under_way(run, attempts[0] if race else None):
        response = run.send(closing)
        # A conflict is with the edit in flight.
        if response.received is not None and response.received.status == HTTPStatus.CONFLICT:
            response = run.send(closing)
        tried = tuple(run.send_all(attempts))
    slipped_in = next((exchange.request for exchange in tried if exchange.succeeded), None)
    if slipped_in is None:
        return Closing(response, tried, None)
    run.sleep(ONE_SECOND_TICK)
    return Closing(response, tried, run.send(slipped_in))


@contextmanager
def _under_way(run: Run, sent: Request | None) -> Iterator[None]:
    """Keep a request in flight, from another thread, while others are sent."""
    with ThreadPoolExecutor(1) as pool:
        if sent is not None:
            pool.submit(copy_context().run, run.send, sent)
        yield
