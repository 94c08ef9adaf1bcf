"""Engagements of the run's own that lists are judged by, among whatever else an organization holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.engagements import ensure_responses, tick_of
from conformance.oracle import read
from conformance.oracle.collation import SYLLABLES
from conformance.oracle.laws import readable_resources
from conformance.oracle.outcomes import CantTell, CheckOutcome
from conformance.oracle.timestamps import parse_timestamp
from conformance.running.options import Effort
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_SIZES: Final = {Effort.QUICK: 10, Effort.STANDARD: 55, Effort.DEEP: 105}
_BATCHES: Final = {Effort.QUICK: 2, Effort.STANDARD: 3, Effort.DEEP: 4}
_CAPITALIZED: Final = "Kuku"
"""In the midst of the others where letter case does not count."""
_SERVER_ERRORS_FROM: Final = 500
_ARCHIVED: Final = (0, 3, -2, -1)
_DESCRIBED: Final = 1
_EMPTIED: Final = 4
_RENAMED: Final = 5
_RENAMED_AND_EMPTIED: Final = 2
_RENAMED_AND_NULL: Final = 6
_UNEDITED: Final = 7
_UNDESCRIBED: Final = (1, 3, _RENAMED, 9)
_WORDS: Final = {0: "false", 2: "null", 4: "0012", 6: "0", 7: "[]", 8: "2026-01-02", 10: "NaN", 12: "1e5", 14: "{}"}
"""By place, descriptions that a careless service takes for something else than text."""


@dataclass(frozen=True, slots=True)
class SeededEngagement:
    """One engagement of the stock.

    Attributes:
        identifier: Its id.
        name: The name that was given to it last.
        created: The answer to its creation.
        archived: Whether it was archived.
        changed: Whether it was edited or archived after its creation.
    """

    identifier: str
    name: str
    created: Exchange = field(repr=False)
    archived: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class SeededEngagements:
    """All of them, in the order of their creation; nothing changes them any more."""

    pieces: tuple[SeededEngagement, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that any collation puts in one order: all but the capitalized one."""
        return frozenset(piece.name for piece in self.pieces if piece.name.islower())

    @property
    def capitalized(self) -> SeededEngagement | None:
        """The one whose name tells whether letter case counts; None where it could not be created."""
        return next((piece for piece in self.pieces if not piece.name.islower()), None)

    @property
    def active(self) -> tuple[str, ...]:
        """The ids of those that are active."""
        return tuple(piece.identifier for piece in self.pieces if not piece.archived)

    @property
    def archived(self) -> tuple[str, ...]:
        """The ids of those that were archived."""
        return tuple(piece.identifier for piece in self.pieces if piece.archived)

    def active_names(self) -> dict[str, str]:
        """The names by id of those that are active, without the capitalized one."""
        return {piece.identifier: piece.name for piece in self.pieces if not piece.archived and piece.name.islower()}


def new_engagements(run: Run) -> tuple[tuple[SeededEngagement, ...], float]:
    """Engagements are created in batches, over a time in which any clock moves.

    Returns:
        Those that were created, and the run's time when the last one was.
    """
    if run.mode is Mode.READ_ONLY:
        return (), run.clock.monotonic()
    names = [run.name(word) for word in _words(run)]
    pieces: list[SeededEngagement] = []
    size = -(-len(names) // _BATCHES[run.effort])
    for start in range(0, len(names), size):
        if pieces:
            run.sleep(_tick(pieces))
        batch = names[start : start + size]
        responses = run.send_all([requests.create_engagement(_body(name, names.index(name))) for name in batch])
        pieces += [
            SeededEngagement(made, name, response)
            for name, response in zip(batch, responses, strict=True)
            if (made := identifier_made(response))
        ]
        if not pieces:  # where a gateway answered all of them, this is begun anew
            ensure_responses(responses)
    return tuple(pieces), run.clock.monotonic()


def stock(run: Run) -> SeededEngagements:
    """Of the new engagements some are archived, some edited, later than all of them were created."""
    pieces, finished = run.scenarios.result(new_engagements)
    if run.mode is Mode.READ_ONLY:
        return SeededEngagements(())
    if not pieces:
        raise CantTell("no engagement could be created that lists could be judged by")
    run.sleep(max(0.0, finished + _tick(pieces) - run.clock.monotonic()))
    kept = {piece.identifier: piece for piece in pieces}
    for place in _ARCHIVED:
        piece = pieces[place % len(pieces)]
        if piece.identifier in kept:
            response = run.send(requests.archive_engagement(piece.identifier))
            _keep(kept, piece, response, replace(piece, archived=True, changed=True))
    for place, body in _edits(run, pieces).items():
        found = kept.get(pieces[place % len(pieces)].identifier)
        if found is not None and not found.archived:
            response = run.send(requests.update_engagement(found.identifier, body))
            _keep(kept, found, response, replace(found, name=body.get("name", found.name), changed=True))
    if not any(piece.changed for piece in kept.values()):
        raise CantTell("nothing that was created could be changed, so that it is doubtful what there is")
    return SeededEngagements(tuple(kept.values()))


def _tick(pieces: Iterable[SeededEngagement]) -> float:
    return tick_of(resource for piece in pieces for resource in readable_resources(piece.created))


def _keep(
    kept: dict[str, SeededEngagement], piece: SeededEngagement, response: Exchange, then: SeededEngagement
) -> None:
    """Keep a piece as it is after a change; where no answer tells whether that was done, it is left out."""
    if _succeeded(response):
        kept[piece.identifier] = then
    elif not (response.judgeable and response.received is not None and response.received.status < _SERVER_ERRORS_FROM):
        del kept[piece.identifier]


def _edits(run: Run, pieces: tuple[SeededEngagement, ...]) -> dict[int, dict[str, Any]]:
    """What is changed, by place: a name, a description, or both; descriptions are given and taken away."""
    return {
        _DESCRIBED: {"name": pieces[_DESCRIBED % len(pieces)].name, "description": "null"},
        _EMPTIED: {"description": ""},
        _RENAMED: {"name": run.name("tutu")},
        _RENAMED_AND_EMPTIED: {"name": run.name("tuku"), "description": ""},
        _RENAMED_AND_NULL: {"name": run.name("tuta"), "description": None},
    }


def _words(run: Run) -> list[str]:
    """Words in an order that has nothing to do with their own; one of them has a capital."""
    words = ["".join(pair) for pair in product(SYLLABLES, repeat=2)]
    random = run.random("stock")
    drawn = random.sample(words, _SIZES[run.effort] - 1)
    # Of two lengths, so that an order by length is told from one by letters; names keep no longer words whole.
    chosen = [*(word + "ba" * (place % 2) for place, word in enumerate(drawn)), _CAPITALIZED]
    random.shuffle(chosen)
    if (place := chosen.index(_CAPITALIZED)) in {_RENAMED, _RENAMED_AND_EMPTIED, _RENAMED_AND_NULL}:
        chosen[place], chosen[_UNEDITED] = chosen[_UNEDITED], chosen[place]
    return chosen


def _body(name: str, place: int) -> dict[str, str]:
    """Some have no description, and some one that could be taken for something else than text."""
    if place % 10 in _UNDESCRIBED:
        return {"name": name}
    return {"name": name, "description": _WORDS.get(place, f"About {name}")}


def identifier_made(response: Exchange) -> str | None:
    """The id of what was created; None where that cannot be told."""
    try:
        return read.text(read.data(response), "id", response)
    except (CheckOutcome, NoResponse):
        return None


def created_at(response: Exchange) -> datetime | None:
    """The time of creation that an answer tells; None where it tells none."""
    try:
        return parse_timestamp(read.text(read.data(response), "createdAt", response))
    except (CheckOutcome, NoResponse):
        return None


def _succeeded(response: Exchange) -> bool:
    try:
        return response.succeeded
    except NoResponse:
        return False
