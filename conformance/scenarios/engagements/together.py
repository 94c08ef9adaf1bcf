"""Two changes at once, for every pair of them, on one engagement and on two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.ledger.attribution import IN_PARALLEL
from conformance.oracle.linearizability import EngagementState, describe_events, history_of, order_of
from conformance.oracle.outcomes import CantTell, NonConformity, evidence
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import create_engagements, send_creations
from conformance.scenarios.engagements.editing import editing
from conformance.scenarios.lists.finding import Search, latest, search
from conformance.scenarios.samples import ENDINGS, shuffled
from conformance.wire import requests
from conformance.wire.exchange import BESIDE_OTHERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

ARCHIVED: Final = "archive-effective-at-once"
DELETED: Final = "delete-effective-at-once"

_TRIES: Final = 3
"""Attempts to send changes in turn: other scenarios or other users may be changing engagements at that time."""
_WORDS: Final = {
    "name": "edit of the name",
    "description": "edit of the description",
    "both": "edit of name and description",
    "clear": "edit that empties the description",
    "namesake": "edit to a common name",
}
_OTHER_TYPES: Final = ("yes", "1e3", "off", "NaN")
"""Descriptions that a careless service takes for other types than text."""
_CREATIONS: Final = {Effort.QUICK: 4, Effort.STANDARD: 9, Effort.DEEP: 33}


_Subject = tuple[str, EngagementState | None]
"""An engagement's identifier and state."""


class Step(NamedTuple):
    """A change or a read, and the place of its engagement among those of its sequence."""

    kind: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """Changes that are sent at once: usually two, and perhaps a read."""

    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> Pair:
        """Return the changes in a text, by spaces; a 1 behind a change stands for the second engagement."""
        return cls(tuple(Step(word.rstrip("1"), int(word.endswith("1"))) for word in text.split()))

    @property
    def kinds(self) -> set[str]:
        """The kinds of the changes."""
        return {step.kind for step in self.steps}

    @property
    def described(self) -> str:
        """The changes in words."""
        words = [(_WORDS.get(step.kind, step.kind), step.place) for step in self.steps]
        return ", ".join(f"{word} (another engagement)" if place else word for word, place in words)

    @property
    def requirement(self) -> str:
        """The requirement that judges them."""
        if "delete" in self.kinds:
            return DELETED
        return IN_PARALLEL if self.kinds - {"archive", "unarchive"} else ARCHIVED

    @property
    def attempts(self) -> tuple[str, ...]:
        """The requests right after them: those that must fail if a change was effective at once, and reads."""
        if len(self.steps) == 1:  # nothing delays the requests after its response
            return {DELETED: ("read", "read"), ARCHIVED: ("both", "clear")}[self.requirement]
        return ("both", "clear", "read") if self.steps == (Step("both"), Step("archive")) else ("read",)

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the engagements that they change."""
        return tuple(dict.fromkeys(step.place for step in self.steps if step.kind != "create"))


def _sequence(*pairs: str) -> tuple[Pair, ...]:
    return tuple(map(Pair.parse, pairs))


_FREQUENT: Final = (
    _sequence("name description read", "delete"),
    _sequence("both both", "archive", "delete"),
    _sequence("both both archive", "delete"),
)
_ALL: Final = (
    *_FREQUENT,
    _sequence("both both both", "namesake namesake1", "both archive1", "archive unarchive1", "delete1 create"),
    _sequence("both name description", "archive both name", "archive archive", "archive unarchive", "delete"),
    _sequence(
        "both both1", "archive archive1", "unarchive unarchive1", "both create", "unarchive both", "delete delete1"
    ),
    _sequence("create create", "archive delete1", "unarchive unarchive", "delete"),
    _sequence("both delete1", "delete"),
    _sequence("unarchive delete1", "delete"),
    _sequence("delete delete1"),
)
"""Every pair of changes, two single changes, and some changes of several engagements, in sequences.

Each sequence ends with the deletion of its engagements. No other change of an engagement goes with its deletion: a
service may give its id to another user's engagement at once.
"""
SEQUENCES: Final = {Effort.QUICK: _FREQUENT, Effort.STANDARD: _ALL, Effort.DEEP: _ALL * 4}


@dataclass(frozen=True, slots=True)
class Race:
    """Changes of one engagement that were sent at once, and the requests right after their responses.

    Attributes:
        pair: The changes.
        initial: The engagement before; None if it may change by itself, because the effect of unarchiving is open.
        changes: The exchanges that were sent at once.
        later: The exchanges after them.
        alone: The same with another engagement, in turn and with a pause, if no order explains these exchanges.
    """

    pair: Pair
    initial: EngagementState | None
    changes: tuple[Exchange, ...]
    later: tuple[Exchange, ...]
    alone: Race | None = None

    @property
    def explained(self) -> bool:
        """Whether an order of the changes explains all responses."""
        if self.initial is None:
            return True
        refusals = {change.status for change in self.changes if change.refused} - BESIDE_OTHERS
        permitted = not refusals or len(self.changes) == 1 or Step("archive") in self.pair.steps
        return permitted and order_of(self.initial, history_of(self.changes + self.later)) is not None

    @property
    def requirement(self) -> str:
        """The requirement that judges it: changes that began after the response to an archive were not simultaneous."""
        closed = [
            Interval.of(change)
            for change in self.changes
            if change.accepted and change.operation_id == "archiveEngagement"
        ]
        late = any(end.before(Interval.of(change)) for end in closed for change in self.changes)
        return ARCHIVED if late and self.pair.requirement == IN_PARALLEL else self.pair.requirement

    @property
    def left(self) -> EngagementState | None:
        """The engagement after it; None if that is not known."""
        reads = [event for event in history_of(self.later) if event.operation == "read"]
        return reads[-1].seen if reads else self.initial


@dataclass(frozen=True, slots=True)
class ParallelCreation:
    """Simultaneous creations, and the search for them in the list."""

    responses: tuple[Exchange, ...]
    found: Search

    @property
    def identifiers(self) -> list[str]:
        """The identifiers in the responses, with repetitions."""
        return read.identifiers(self.responses)


@scenario
def parallel_creation(run: Run) -> ParallelCreation:
    """Create several engagements simultaneously and search for them in the list.

    Their names end with characters that a service may lose, unless it refuses those.
    """
    ends = shuffled(ENDINGS, run.random("ends of parallel names"))
    names = [f"{run.name(f'parallel-{place}')}{end}" for place, end in zip(range(_CREATIONS[run.effort]), cycle(ends))]
    bodies = [{"name": name, "description": word} for name, word in zip(names, cycle(_OTHER_TYPES), strict=False)]
    responses = send_creations(run, bodies)
    made = ParallelCreation(tuple(responses), Search(frozenset(), ()))
    return ParallelCreation(tuple(responses), search(run, made.identifiers, sort="name", order="asc"))


@scenario
def together(run: Run) -> list[Race]:
    """Send every pair of changes at once, and at once after their responses what must fail or show them.

    The second of two edits has another key, because a service may lock for each key.
    """
    run.scenarios.wait_for(editing)
    sequences = SEQUENCES[run.effort]
    sizes = [max(place for pair in sequence for place in pair.places) + 1 for sequence in sequences]
    subjects = _subjects(run, sum(sizes))
    races = [race for sequence, size in zip(sequences, sizes, strict=True)
             for race in _send_sequence(run, sequence, [next(subjects) for _ in range(size)])]  # fmt: skip
    if run.effort is not Effort.QUICK:
        run.send_all([requests.get_organization(), latest(run)])  # for the ledger
    return races


def _send_sequence(run: Run, sequence: tuple[Pair, ...], subjects: list[_Subject]) -> list[Race]:
    """Send the pairs of a sequence until one goes wrong."""
    races: list[Race] = []
    for pair in sequence:
        if "unarchive" in pair.kinds:
            subjects = [(identifier, None) for identifier, _ in subjects]
        raced = _send_pair(run, pair, subjects)
        races += raced
        if not all(race.explained for race in raced):
            break
        left = {race.later[-1].request.identifier: race.left for race in raced}
        subjects = [(identifier, left.get(identifier, state)) for identifier, state in subjects]
    return races


def _subjects(run: Run, number: int) -> Iterator[_Subject]:
    """Return engagements of the parallel creation, and as many more as are needed."""
    made = run.scenarios.result(parallel_creation)
    is_missing = made.found.obstacle is None and not made.found.ids >= made.found.wanted
    if is_missing or len(made.found.wanted) < len(made.responses):
        raise CantTell("not all engagements were created in parallel", *made.responses)
    yield from ((read.identifier(response), _state(read.data(response))) for response in made.responses)
    yield from _created(run, number - len(made.responses), made.found.wanted)


def _created(run: Run, number: int, known: Collection[str] = ()) -> list[_Subject]:
    made = create_engagements(run, *["race"] * number, known=known)
    return [(engagement["id"], _state(engagement)) for engagement in made]


def _state(engagement: Mapping[str, object]) -> EngagementState:
    """Return an engagement as the response to its creation shows it."""
    name, description = engagement.get("name"), engagement.get("description") or ""
    if not isinstance(name, str) or not isinstance(description, str):
        raise CantTell("the response to a creation does not show what was sent")
    return EngagementState(name, description)


def _send_pair(run: Run, pair: Pair, subjects: Sequence[_Subject], *, alone: bool = False) -> list[Race]:
    """Send changes at once, and the requests that follow; return a race for each engagement that they change.

    Args:
        run: The run.
        pair: The changes.
        subjects: The engagements.
        alone: Whether to send everything in turn, and the last requests after a pause.
    """
    name, send = run.name("both"), run.send_in_turn if alone else run.send_all
    changed = [subjects[place] for place in pair.places]
    after = [_asked(run, kind, identifier, name) for identifier, _ in changed for kind in pair.attempts]
    asked = [_asked(run, step.kind, subjects[step.place][0], name) for step in pair.steps]
    other = _key_of_edits(run)
    edits = [place for place, request in enumerate(asked) if request.operation.id == "updateEngagement"]
    for place in edits[1::2]:
        asked[place] = replace(asked[place], credential=other)
    changes = send(asked)
    if alone:
        run.sleep(ONE_SECOND_TICK)
    later = send(after)
    races = [Race(pair, state, _about(changes, identifier), _about(later, identifier)) for identifier, state in changed]
    return races if alone else [race if race.explained else _send_alone(run, race) for race in races]


def _send_alone(run: Run, race: Race) -> Race:
    """Send the last requests again, and the changes in turn, if no order explains what happened at once."""
    run.sleep(ONE_SECOND_TICK)
    run.send_all([exchange.request for exchange in race.later])  # for the ledger, which judges late effects
    for _ in range(_TRIES):
        alone = _send_pair(run, race.pair, _created(run, 2), alone=True)
        if all(other.explained for other in alone):
            break
    return replace(race, alone=next((other for other in alone if not other.explained), alone[0]))


def _key_of_edits(run: Run) -> Credential | None:
    """Return another key that has edited an engagement; None for the main key if there is none."""
    edited = run.scenarios.result_if_any(editing)
    response = None if edited is None else edited.description.response
    return response.request.credential if response is not None and response.accepted else None


def _about(exchanges: Sequence[Exchange], identifier: str) -> tuple[Exchange, ...]:
    return tuple(exchange for exchange in exchanges if exchange.request.identifier == identifier)


def _asked(run: Run, kind: str, identifier: str, name: str) -> Request:
    """Return a request of a kind; the name is that of all new engagements of a pair, and of all namesakes."""
    plain = {
        "read": requests.get_engagement,
        "archive": requests.archive_engagement,
        "unarchive": requests.unarchive_engagement,
        "delete": requests.delete_engagement,
    }
    if kind in plain:
        return plain[kind](identifier)
    if kind == "create":
        return requests.create_engagement({"name": name})
    texts = {"name": run.name("raced"), "description": f"Raced by the change {run.name('raced')[-9:]}"}
    bodies = {"both": texts, "namesake": {"name": name}, "clear": {"description": ""}}
    return requests.update_engagement(identifier, bodies.get(kind) or {kind: texts[kind]})


def expect_explained(races: Sequence[Race], requirement: str) -> None:
    """Expect that the responses of every race fit an order in which each change is carried out as a whole.

    Raises:
        NonConformity: Those of a race fit no order; the message has its history.
        CantTell: The same changes fail one after the other, too, or one of them fails without the others.
    """
    single = (race for race in races if len(race.pair.steps) == 1)
    failing = {kind for race in single if not race.explained for kind in race.pair.kinds}
    for race in (race for race in races if race.requirement == requirement):
        exchanges = (*race.changes, *race.later)
        evidence(*exchanges)
        if race.explained:
            continue
        message = f"no order explains the responses to these requests: {race.pair.described}"
        if len(race.pair.steps) > 1 and failing & race.pair.kinds:
            raise CantTell(f"{message}; one of them fails without the others, too", *exchanges)
        if race.alone is None or not race.alone.explained:
            more = () if race.alone is None else (*race.alone.changes, *race.alone.later)
            raise CantTell(f"{message}; sent one after the other, they fail, too", *exchanges, *more)
        expected = "responses of changes that were carried out in some order"
        raise NonConformity(message, *exchanges, expected=expected, actual=describe_events(history_of(exchanges)))
