"""Section 4 in parallel: simultaneous creations and edits, and refusals from the response to an archive on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.engagements import ONE_SECOND_TICK, field_or_none, identifier_of, read_engagement
from conformance.checks.finding import Search, expect_listed, search
from conformance.checks.markers import requirement, scenario
from conformance.checks.test_s4_create_engagement import Creating, creating
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.running.options import Effort
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_ROUNDS: Final = {Effort.QUICK: 2, Effort.STANDARD: 4, Effort.DEEP: 16}
_REFUSED_BESIDE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})
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
        return [identifier for response in self.responses if (identifier := identifier_of(response)) is not None]


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
        if self.response.status in _REFUSED_BESIDE:
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


def parallel_creation(run: Run) -> ParallelCreation:
    """Create several engagements simultaneously and search for them in the list."""
    names = [run.name(f"parallel-{place}") for place in range(1 + 2 * _ROUNDS[run.effort])]
    responses = run.send_all(
        [requests.create_engagement({"name": name, "description": "Made in parallel."}) for name in names]
    )
    ids = [identifier for response in responses if (identifier := identifier_of(response)) is not None]
    return ParallelCreation(tuple(responses), search(run, ids, sort="name", order="asc"))


def parallel_edits(run: Run) -> list[tuple[FieldEdit, FieldEdit]]:
    """Edit an engagement's name and its description simultaneously, several times."""
    subject = _subjects(run)[0]
    return [_edit_in_parallel(run, subject, number) for number in range(_ROUNDS[run.effort] - 1)]


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


creating_scenario = scenario(creating)
parallel_creation_scenario = scenario(parallel_creation)
parallel_edits_scenario = scenario(parallel_edits)
archives_at_once_scenario = scenario(archives_at_once)
deletions_at_once_scenario = scenario(deletions_at_once)


@requirement("create-engagement-in-parallel")
def test_parallel_creations_are_engagements_of_their_own(
    creating: Creating, parallel_creation: ParallelCreation
) -> None:
    """Engagements created simultaneously have different identifiers, and lists show all of them."""
    responses, ids = parallel_creation.responses, parallel_creation.identifiers
    if not any(response.succeeded for response in responses):
        raise CantTell("no creation succeeded", *responses)
    for response in responses:
        expect.success(response)

    distinct, expected = len(set(ids)), f"{len(ids)} identifiers"
    expect.holds(
        distinct == len(ids), "creations share an identifier", *responses, expected=expected, actual=f"{distinct}"
    )
    if not creating.found.ids >= creating.found.wanted:
        raise CantTell("engagements created in sequence are not listed either", *responses)
    expect_listed("an engagement created in parallel", parallel_creation.found)


@requirement("update-engagement-in-parallel")
def test_parallel_updates_both_take_effect(parallel_edits: list[tuple[FieldEdit, FieldEdit]]) -> None:
    """Two simultaneous updates of different fields both take effect if both succeed."""
    for pair in parallel_edits:
        if all(edit.response.status in _REFUSED_BESIDE for edit in pair):
            raise CantTell("each update was refused because of the other", *(edit.response for edit in pair))
        for edit in pair:
            _expect_right_alone(edit)

        for edit in pair:
            exchanges = (*(edited.response for edited in pair), edit.after)
            expected = f"any 2xx and {edit.value}, or 404 or 409"
            actual = f"{edit.response.status}, and {field_or_none(edit.after, edit.field)}"
            expect.holds(
                edit.right, f"the update of {edit.field} is lost", *exchanges, expected=expected, actual=actual
            )


def _expect_right_alone(edit: FieldEdit) -> None:
    """Expect a failed edit to succeed alone, so that the fault is about parallel requests."""
    if edit.alone is not None:
        response, after = edit.alone
        if read_engagement(after).get(edit.field) != edit.value or not response.succeeded:
            raise CantTell(f"an update of {edit.field} does not succeed alone either", response, after)
    read_engagement(edit.after)


@requirement("archive-effective-at-once")
def test_archive_is_effective_at_once(archives_at_once: list[Closing]) -> None:
    """No edit that starts after the response to an archive succeeds."""
    _expect_closed(archives_at_once, "an edit succeeded after the response to the archive", "a refusal of every edit")


@requirement("delete-effective-at-once")
def test_deletion_is_effective_at_once(deletions_at_once: list[Closing]) -> None:
    """No read that starts after the response to a deletion succeeds."""
    _expect_closed(deletions_at_once, "a read succeeded after the response to the deletion", "a refusal of every read")


def _expect_closed(closings: list[Closing], message: str, expected: str) -> None:
    """Expect no success after the responses; if requests still succeed a while later, another requirement is broken."""
    for closing in closings:
        read.success(closing.response)
        if closing.later is not None and closing.later.succeeded:
            raise CantTell(f"{message}, and still does later", closing.response, closing.later)
        evidence(closing.response, *closing.attempts)
        for attempt in closing.attempts:
            if attempt.succeeded:
                raise NonConformity(message, closing.response, attempt, expected=expected, actual=str(attempt.status))
