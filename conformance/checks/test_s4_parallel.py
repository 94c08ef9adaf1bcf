"""Section 4 in parallel: creations and edits at one time, and what is refused from the answer to an archive on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.engagements import A_TICK, identifier_of, shown
from conformance.checks.marks import journey, requirement
from conformance.checks.searching import Search, expect_listed, search
from conformance.oracle import expect, read
from conformance.oracle.judgement import NonConformity, Undecided, judged
from conformance.running.options import Effort
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

_ROUNDS: Final = {Effort.QUICK: 2, Effort.STANDARD: 4, Effort.DEEP: 16}
_AT_ONCE: Final = 3
_CONFLICT: Final = 409


@dataclass(frozen=True, slots=True)
class ParallelCreation:
    """Creations at the same time, and what the list shows of them afterwards."""

    answers: tuple[Exchange, ...]
    found: Search

    @property
    def identifiers(self) -> list[str]:
        """The identifiers that were given, as often as they were."""
        return [identifier for answer in self.answers if (identifier := identifier_of(answer)) is not None]


@dataclass(frozen=True, slots=True)
class ParallelEdit:
    """Two edits of different fields at the same time.

    Attributes:
        sent: The two bodies.
        answers: Their answers.
        after: A read then.
        alone: Reads after each lost edit was sent again by itself, by field.
    """

    sent: tuple[dict[str, str], ...]
    answers: tuple[Exchange, ...]
    after: Exchange
    alone: dict[str, Exchange]

    def lost(self) -> list[str]:
        """The fields whose edit succeeded and is not read."""
        return _lost(self.sent, self.answers, self.after)


@dataclass(frozen=True, slots=True)
class Closing:
    """An archive or a deletion, and what was sent the instant its answer was there.

    Attributes:
        answer: The answer.
        attempts: What must not succeed from then on, sent at once.
        later: One more such attempt after a while, where one of those succeeded.
    """

    answer: Exchange
    attempts: tuple[Exchange, ...]
    later: Exchange | None


def parallel_creation(run: Run) -> ParallelCreation:
    """Several engagements are created at the same time and looked for in the list."""
    names = [run.name(f"parallel-{place}") for place in range(1 + 2 * _ROUNDS[run.effort])]
    answers = run.send_all(
        [call.create_engagement({"name": name, "description": "Made in parallel."}) for name in names]
    )
    ids = [identifier for answer in answers if (identifier := identifier_of(answer)) is not None]
    return ParallelCreation(tuple(answers), search(run, ids))


def parallel_edits(run: Run) -> list[ParallelEdit]:
    """An engagement's name and its description are edited at the same time, several times."""
    subject = _subjects(run)[0]
    return [_edit_in_parallel(run, subject, number) for number in range(_ROUNDS[run.effort])]


def archives_at_once(run: Run) -> list[Closing]:
    """Engagements are archived, and edits are sent the instant the answer is there."""

    def edit(subject: str) -> Call:
        return call.update_engagement(subject, {"name": run.name("slipped-in")})

    return [
        _close(
            run,
            call.archive_engagement(subject),
            edit(subject),
            [edit(subject) for _ in range(_AT_ONCE)],
            race=number % 2 == 1,
        )
        for number, subject in enumerate(_subjects(run)[1::2])
    ]


def deletions_at_once(run: Run) -> list[Closing]:
    """Engagements are deleted, and reads are sent the instant the answer is there."""
    return [
        _close(run, call.delete_engagement(subject), read_it, [read_it] * _AT_ONCE, race=number % 2 == 1)
        for number, subject in enumerate(_subjects(run)[2::2])
        for read_it in (call.get_engagement(subject),)
    ]


def _subjects(run: Run) -> list[str]:
    """Engagements of the parallel creation; each is used by one journey only."""
    subjects = list(dict.fromkeys(run.journeys.result(parallel_creation).identifiers))
    if len(subjects) < 3:  # noqa: PLR2004 - one for each journey
        raise Undecided("too few engagements were created in parallel")
    return subjects


def _edit_in_parallel(run: Run, subject: str, number: int) -> ParallelEdit:
    sent = ({"name": run.name("parallel-edit")}, {"description": f"Edited in parallel, {number}."})
    answers = tuple(run.send_all([call.update_engagement(subject, body) for body in sent]))
    after = run.send(call.get_engagement(subject))
    alone = {}
    for field in _lost(sent, answers, after):
        body = next(body for body in sent if field in body)
        run.send(call.update_engagement(subject, body))
        alone[field] = run.send(call.get_engagement(subject))
    return ParallelEdit(sent, answers, after, alone)


def _lost(sent: tuple[dict[str, str], ...], answers: tuple[Exchange, ...], after: Exchange) -> list[str]:
    return [
        field
        for body, answer in zip(sent, answers, strict=True)
        for field, value in body.items()
        if answer.succeeded and shown(after, field) != value
    ]


def _close(run: Run, closing: Call, attempt: Call, attempts: list[Call], *, race: bool) -> Closing:
    """Send an archive or a deletion, and the instant its answer is there what must not succeed any more.

    Args:
        run: The run.
        closing: The archive or the deletion.
        attempt: What must not succeed afterwards.
        attempts: The same, several of them.
        race: Whether one is under way already when the archive or the deletion is sent; it may succeed.
    """
    with _under_way(run, attempt if race else None):
        answer = run.send(closing)
        tried = tuple(run.send_all(attempts))
    slipped_in = any(one.succeeded for one in tried)
    if slipped_in:
        run.sleep(A_TICK)
    return Closing(answer, tried, run.send(attempt) if slipped_in else None)


@contextmanager
def _under_way(run: Run, sent: Call | None) -> Iterator[None]:
    """Have a request under way, from another thread, while others are sent."""
    with ThreadPoolExecutor(1) as pool:
        if sent is not None:
            pool.submit(copy_context().run, run.send, sent)
        yield


parallel_creation_journey = journey(parallel_creation)
parallel_edits_journey = journey(parallel_edits)
archives_at_once_journey = journey(archives_at_once)
deletions_at_once_journey = journey(deletions_at_once)


@requirement("create-engagement-in-parallel")
def test_parallel_creations_are_engagements_of_their_own(parallel_creation: ParallelCreation) -> None:
    """Engagements created at the same time all get identifiers of their own and are all listed."""
    answers, ids = parallel_creation.answers, parallel_creation.identifiers
    if not any(answer.succeeded for answer in answers):
        raise Undecided("no creation succeeded", *answers)
    for answer in answers:
        expect.success(answer)

    distinct, expected = len(set(ids)), f"{len(ids)} identifiers"
    expect.holds(
        distinct == len(ids), "creations share an identifier", *answers, expected=expected, actual=f"{distinct}"
    )
    expect_listed("one of the engagements created in parallel", parallel_creation.found)


@requirement("update-engagement-in-parallel")
def test_parallel_updates_both_take_effect(parallel_edits: list[ParallelEdit]) -> None:
    """Two updates of different fields at the same time both take effect if both succeed."""
    for one in parallel_edits:
        statuses = [answer.status for answer in one.answers]
        if not any(answer.succeeded for answer in one.answers):
            raise Undecided("neither update succeeded", *one.answers)
        permitted = all(answer.succeeded or answer.status == _CONFLICT for answer in one.answers)
        expect.holds(
            permitted, "an update was refused", *one.answers, expected="any 2xx, or 409 for one", actual=statuses
        )

        lost, now = one.lost(), read.data(one.after)
        if len(lost) == len(one.sent) or any(_lost(one.sent, one.answers, again) for again in one.alone.values()):
            raise Undecided("an update does not take effect by itself either", *one.answers, one.after)
        for field in lost:
            value = next(body[field] for body in one.sent if field in body)
            expect.equal(field, now.get(field), value, *one.answers, one.after, pointer=f"/data/{field}")


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
        read.success(closing.answer)
        if closing.later is not None and closing.later.succeeded:
            raise Undecided(f"{message}, and still does later", closing.answer, closing.later)
        judged(closing.answer, *closing.attempts)
        for attempt in closing.attempts:
            if attempt.succeeded:
                raise NonConformity(message, closing.answer, attempt, expected=expected, actual=str(attempt.status))
