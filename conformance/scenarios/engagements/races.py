"""Races: many simultaneous requests on an engagement, whose responses must fit some order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle.linearizability import State, describe_events, history_of, order_of
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import create_engagements
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_ROUNDS: Final = {Effort.QUICK: 0, Effort.STANDARD: 4, Effort.DEEP: 24}
_AT_ONCE: Final = 3


@dataclass(frozen=True, slots=True)
class Race:
    """Overlapping requests on an engagement, and the requests right after them.

    Attributes:
        initial: The engagement before.
        responses: The exchanges.
        control: Later requests, sent alone, that show whether the service is right without a race.
    """

    initial: State
    responses: tuple[Exchange, ...]
    control: tuple[Exchange, ...]


@scenario
def edit_races(run: Run) -> list[Race]:
    """Edit the names and descriptions of engagements by several simultaneous requests, some of both fields."""
    subjects = enumerate(_subjects(run, "edit-race"))
    return [_race_of_edits(run, subject, whole=number % 2 == 0) for number, subject in subjects]


@scenario
def archive_races(run: Run) -> list[Race]:
    """Archive engagements while edits are in flight, and edit them as soon as the response arrives."""
    races = []
    for subject in _subjects(run, "archive-race"):
        edits = [_edit(run, subject, number) for number in range(2 * _AT_ONCE + 1)]
        closing = requests.archive_engagement(subject["id"])
        races.append(_race(run, subject, closing, edits[:_AT_ONCE], edits[_AT_ONCE:-1], edits[-1]))
    return races


@scenario
def deletion_races(run: Run) -> list[Race]:
    """Delete engagements while reads and edits are in flight, and read them as soon as the response arrives."""
    races = []
    for subject in _subjects(run, "delete-race"):
        read_it = requests.get_engagement(subject["id"])
        load = [read_it, _edit(run, subject, 0), _edit(run, subject, 1), read_it]
        races.append(
            _race(run, subject, requests.delete_engagement(subject["id"]), load, [read_it] * _AT_ONCE, read_it)
        )
    return races


def expect_order(races: Sequence[Race], message: str) -> None:
    """Expect that the responses of every race fit an order in which each request is carried out as a whole.

    Raises:
        NonConformity: Those of a race fit no order; the message has its history.
        CantTell: The same requests go wrong without a race too.
        Inapplicable: This effort has no races.
    """
    if not races:
        raise Inapplicable("Races are run at standard and deep effort only")
    for race in races:
        events = history_of(race.responses)
        evidence(*race.responses)
        if order_of(race.initial, events) is not None:
            continue
        if order_of(race.initial, history_of(race.control)) is None:
            raise CantTell(f"{message}, but sequential requests fit none either", *race.responses, *race.control)
        expected = "responses of requests that were carried out in some order"
        raise NonConformity(message, *race.responses, expected=expected, actual=describe_events(events))


def _subjects(run: Run, label: str) -> list[dict[str, str]]:
    rounds = _ROUNDS[run.effort]
    return create_engagements(run, *[label] * rounds) if rounds else []


def _edit(run: Run, subject: dict[str, str], number: int) -> Request:
    both = {"name": run.name("raced"), "description": f"raced in turn {number}"}
    return requests.update_engagement(subject["id"], both)


def _race_of_edits(run: Run, subject: dict[str, str], *, whole: bool) -> Race:
    """Edit an engagement by several simultaneous requests: both fields each, or some a single field."""
    identifier, initial = subject["id"], _state(subject)
    both = [{"name": run.name("raced-both"), "description": f"raced by both {number}"} for number in range(_AT_ONCE)]
    single = [{"name": run.name("raced-name")}, {"description": "raced alone by itself"}]
    bodies: list[dict[str, str]] = both if whole else [*both[:2], *single]
    responses = run.send_all([requests.update_engagement(identifier, body) for body in bodies])
    responses.append(run.send(requests.get_engagement(identifier)))
    control: tuple[Exchange, ...] = ()
    if order_of(initial, history_of(responses)) is None:
        body = {"name": run.name("alone"), "description": "Edited alone."}
        edit = run.send(requests.update_engagement(identifier, body))
        control = (edit, run.send(requests.get_engagement(identifier)))
    return Race(initial, tuple(responses), control)


def _race(
    run: Run, subject: dict[str, str], closing: Request, load: list[Request], late: list[Request], control: Request
) -> Race:
    """Send an archive or a deletion among other requests, and more as soon as its response arrives.

    Args:
        run: The run.
        subject: The engagement.
        closing: The archive or the deletion.
        load: The requests in flight meanwhile.
        late: The requests that must not succeed afterwards.
        control: The same a while later, sent if the race went wrong.
    """
    initial = _state(subject)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(copy_context().run, run.send_all, load)
        closed = run.send(closing)
        responses = [closed, *run.send_all(late)]
        responses += under_way.result()
    run.send(requests.get_engagement(subject["id"]))  # for the ledger, which judges the effects of refused edits
    controls: tuple[Exchange, ...] = ()
    if closed.accepted and order_of(initial, history_of(responses)) is None:
        run.sleep(ONE_SECOND_TICK)
        controls = (closed, run.send(control))
    return Race(initial, tuple(responses), controls)


def _state(subject: dict[str, str]) -> State:
    """Return the engagement as the response to its creation shows it."""
    name, description = subject.get("name"), subject.get("description")
    if not isinstance(name, str) or not isinstance(description, str):
        raise CantTell("the response to a creation does not show what was sent")
    return State(name, description)
