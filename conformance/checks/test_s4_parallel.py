"""Section 4 in parallel: creations and edits at one time, and what is refused from the answer to an archive on."""

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
"""Refusals that an edit may meet beside another one."""
_AT_ONCE: Final = {Effort.QUICK: 2, Effort.STANDARD: 3, Effort.DEEP: 5}
_TRIES: Final = 4
"""Times that an edit is tried by itself: other scenarios of the run, or other users, may be editing just then."""


@dataclass(frozen=True, slots=True)
class ParallelCreation:
    """Creations at the same time, and what the list shows of them afterwards."""

    responses: tuple[Exchange, ...]
    found: Search

    @property
    def identifiers(self) -> list[str]:
        """The identifiers that were given, as often as they were."""
        return [identifier for response in self.responses if (identifier := identifier_of(response)) is not None]


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """An edit of one field while another one is edited.

    Attributes:
        field: The field.
        value: What was sent for it.
        response: The answer.
        after: A read after both edits.
        alone: The answer to the same edit by itself and a read after that, where it was refused or had no effect.
    """

    field: str
    value: str
    response: Exchange
    after: Exchange
    alone: tuple[Exchange, Exchange] | None = None

    @property
    def right(self) -> bool:
        """Whether it was refused for the other one, or succeeded and is read."""
        if self.response.status in _REFUSED_BESIDE:
            return True
        return self.response.succeeded and field_or_none(self.after, self.field) == self.value


@dataclass(frozen=True, slots=True)
class Closing:
    """An archive or a deletion, and what was sent the instant its answer was there.

    Attributes:
        response: The answer.
        attempts: What must not succeed from then on, sent at once.
        later: One more such attempt after a while, where one of those succeeded.
    """

    response: Exchange
    attempts: tuple[Exchange, ...]
    later: Exchange | None


def parallel_creation(run: Run) -> ParallelCreation:
    """Several engagements are created at the same time and looked for in the list."""
    names = [run.name(f"parallel-{place}") for place in range(1 + 2 * _ROUNDS[run.effort])]
    responses = run.send_all(
        [requests.create_engagement({"name": name, "description": "Made in parallel."}) for name in names]
    )
    ids = [identifier for response in responses if (identifier := identifier_of(response)) is not None]
    return ParallelCreation(tuple(responses), search(run, ids, sort="name", order="asc"))


def parallel_edits(run: Run) -> list[tuple[FieldEdit, FieldEdit]]:
    """An engagement's name and its description are edited at the same time, several times."""
    subject = _subjects(run)[0]
    return [_edit_in_parallel(run, subject, number) for number in range(_ROUNDS[run.effort] - 1)]


def archives_at_once(run: Run) -> list[Closing]:
    """Engagements are archived, and edits are sent the instant the answer is there: of both fields, or emptying one."""

    def edits(subject: str) -> list[Request]:
        names = [run.name("slipped-in") for _ in range(1, _AT_ONCE[run.effort])]
        bodies = [*({"name": name, "description": "slipped in"} for name in names), {"description": ""}]
        return [requests.update_engagement(subject, body) for body in bodies]

    return [
        _close(run, requests.archive_engagement(subject), edits(subject), race=number % 2 == 1)
        for number, subject in enumerate(_subjects(run)[1::2])
    ]


def deletions_at_once(run: Run) -> list[Closing]:
    """Engagements are deleted, and reads are sent the instant the answer is there."""
    return [
        _close(run, requests.delete_engagement(subject), [read_it] * _AT_ONCE[run.effort], race=number % 2 == 1)
        for number, subject in enumerate(_subjects(run)[2::2])
        for read_it in (requests.get_engagement(subject),)
    ]


def _subjects(run: Run) -> list[str]:
    """Engagements of the parallel creation; each is used by one journey only."""
    subjects = list(dict.fromkeys(run.scenarios.result(parallel_creation).identifiers))
    if len(subjects) < 3:  # noqa: PLR2004 - one for each journey
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
    """The edit, sent once more by itself where it did not go right beside another one."""
    if edit.right:
        return edit
    for _ in range(_TRIES):
        alone = run.send(edit.response.request)
        if alone.succeeded:
            break
        run.sleep(ONE_SECOND_TICK)
    return replace(edit, alone=(alone, run.send(edit.after.request)))


def _close(run: Run, closing: Request, attempts: list[Request], *, race: bool) -> Closing:
    """Send an archive or a deletion, and the instant its answer is there what must not succeed any more.

    Args:
        run: The run.
        closing: The archive or the deletion.
        attempts: What must not succeed afterwards.
        race: Whether the first one is under way already when the archive or the deletion is sent; it may succeed.
    """
    with _under_way(run, attempts[0] if race else None):
        response = run.send(closing)
        # A conflict is one with the edit that is under way.
        if response.received is not None and response.received.status == HTTPStatus.CONFLICT:
            response = run.send(closing)
        tried = tuple(run.send_all(attempts))
    slipped_in = next((one.request for one in tried if one.succeeded), None)
    if slipped_in is None:
        return Closing(response, tried, None)
    run.sleep(ONE_SECOND_TICK)
    return Closing(response, tried, run.send(slipped_in))


@contextmanager
def _under_way(run: Run, sent: Request | None) -> Iterator[None]:
    """Have a request under way, from another thread, while others are sent."""
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
    """Engagements created at the same time differ in their identifiers, and lists show every one of them."""
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
        raise CantTell("what was created one by one is not listed either", *responses)
    expect_listed("one of the engagements created in parallel", parallel_creation.found)


@requirement("update-engagement-in-parallel")
def test_parallel_updates_both_take_effect(parallel_edits: list[tuple[FieldEdit, FieldEdit]]) -> None:
    """Two updates of different fields at the same time both take effect if both succeed."""
    for pair in parallel_edits:
        if all(edit.response.status in _REFUSED_BESIDE for edit in pair):
            raise CantTell("each update was refused for the other", *(edit.response for edit in pair))
        for edit in pair:
            _expect_right_alone(edit)

        for edit in pair:
            exchanges = (*(one.response for one in pair), edit.after)
            expected = f"any 2xx and {edit.value}, or 404 or 409"
            actual = f"{edit.response.status}, and {field_or_none(edit.after, edit.field)}"
            expect.holds(
                edit.right, f"the update of {edit.field} is lost", *exchanges, expected=expected, actual=actual
            )


def _expect_right_alone(edit: FieldEdit) -> None:
    """An edit that did not go right beside another one does by itself, so that it is about being in parallel."""
    if edit.alone is not None:
        response, after = edit.alone
        if read_engagement(after).get(edit.field) != edit.value or not response.succeeded:
            raise CantTell(f"an update of {edit.field} does not succeed by itself either", response, after)
    read_engagement(edit.after)


@requirement("archive-effective-at-once")
def test_archive_is_effective_at_once(archives_at_once: list[Closing]) -> None:
    """No edit that starts after the answer to an archive succeeds."""
    _expect_closed(archives_at_once, "an edit succeeded after the answer to the archive", "a refusal of every edit")


@requirement("delete-effective-at-once")
def test_deletion_is_effective_at_once(deletions_at_once: list[Closing]) -> None:
    """No read that starts after the answer to a deletion succeeds."""
    _expect_closed(deletions_at_once, "a read succeeded after the answer to the deletion", "a refusal of every read")


def _expect_closed(closings: list[Closing], message: str, expected: str) -> None:
    """Nothing succeeded after the answers; where it still does a while later, another requirement is broken."""
    for closing in closings:
        read.success(closing.response)
        if closing.later is not None and closing.later.succeeded:
            raise CantTell(f"{message}, and still does later", closing.response, closing.later)
        evidence(closing.response, *closing.attempts)
        for attempt in closing.attempts:
            if attempt.succeeded:
                raise NonConformity(message, closing.response, attempt, expected=expected, actual=str(attempt.status))
