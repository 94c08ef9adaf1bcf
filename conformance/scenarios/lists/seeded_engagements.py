"""Engagements that the run creates to judge lists by, among others of the organization."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.lists.collation import SYLLABLES
from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import ensure_responses, send_creations, tick_of
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.statuses import SERVER_ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_SIZES: Final = {Effort.QUICK: 10, Effort.STANDARD: 55, Effort.DEEP: 105}
_BATCHES: Final = {Effort.QUICK: 2, Effort.STANDARD: 3, Effort.DEEP: 4}
_CAPITALIZED: Final = "Kuku"
"""A name in the midst of the others if letter case does not count."""
LISTS_BY_STATUS: Final = MappingProxyType(
    {
        "active": requests.list_engagements(status="active", sort="createdAt", order="desc", perPage=MAX_PER_PAGE),
        "archived": requests.list_engagements(status="archived", sort="updatedAt"),  # descending by default
    }
)
"""Lists that are read before and after the seeded engagements are changed."""
_ARCHIVED: Final = (0, 3, -2, -1)
_ALSO_ARCHIVED: Final = range(20, 32)
"""Places that only a list of more engagements has, so that the archived ones nearly fill a page of the default size."""
_DESCRIBED: Final = 1
_EMPTIED: Final = 4
_RENAMED: Final = 5
_RENAMED_AND_EMPTIED: Final = 2
_RENAMED_AND_NULL: Final = 6
_UNEDITED: Final = 7
_UNDESCRIBED: Final = (1, 3, _RENAMED)
_NAMED_ALIKE: Final = 9
_WORDS: Final = {0: "false", 2: "null", 4: "0012", 6: "0", 7: "[]", 8: "2026-01-02", 10: "NaN", 12: "1e5", 14: "{}"}
"""By place, descriptions that a careless service takes for other types than text."""


@dataclass(frozen=True, slots=True)
class SeededEngagement:
    """A seeded engagement.

    Attributes:
        identifier: Its id.
        name: Its latest name.
        created: The response to its creation.
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
    """All seeded engagements in the order of their creation; nothing changes them any more."""

    engagements: tuple[SeededEngagement, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that every collation puts in the same order: all but the capitalized one."""
        return frozenset(engagement.name for engagement in self.engagements if engagement.name.islower())

    @property
    def capitalized(self) -> SeededEngagement | None:
        """The engagement whose name shows whether letter case counts; None if it could not be created."""
        return next((engagement for engagement in self.engagements if not engagement.name.islower()), None)

    @property
    def active(self) -> tuple[str, ...]:
        """The ids of the active ones."""
        return tuple(engagement.identifier for engagement in self.engagements if not engagement.archived)

    @property
    def archived(self) -> tuple[str, ...]:
        """The ids of the archived ones."""
        return tuple(engagement.identifier for engagement in self.engagements if engagement.archived)


@scenario
def new_engagements(run: Run) -> tuple[tuple[SeededEngagement, ...], float]:
    """Create engagements in batches, over a time in which any clock moves.

    Returns:
        The created engagements, and the run's time at the last creation.
    """
    if run.mode is Mode.READ_ONLY:
        return (), run.clock.monotonic()
    names = [run.name(word) for word in _words(run)]
    engagements: list[SeededEngagement] = []
    size = -(-len(names) // _BATCHES[run.effort])
    for start in range(0, len(names), size):
        if engagements:
            run.sleep(_tick(engagements))
        batch = names[start : start + size]
        responses = send_creations(run, [_body(name, names.index(name)) for name in batch])
        engagements += [
            SeededEngagement(made, name, response)
            for name, response in zip(batch, responses, strict=True)
            if response.accepted and (made := read.identifier_or_none(response))
        ]
        if not engagements:  # if a gateway refused all of them, the scenario starts again
            ensure_responses(responses)
    return tuple(engagements), run.clock.monotonic()


@scenario(alone=True)
def seeded_engagements(run: Run) -> SeededEngagements:
    """Archive some of the new engagements and edit some, later than the creation of all."""
    engagements, finished = run.scenarios.result(new_engagements)
    if run.mode is Mode.READ_ONLY:
        return SeededEngagements(())
    if not engagements:
        raise CantTell("no engagement could be created to judge lists by")
    # For the laws and the ledger, which see the changes in later reads. After a read of each, no read of the guard is
    # between the changes, so that the rate limit of a series of edits shows.
    run.send_all(
        [*LISTS_BY_STATUS.values(), *(requests.get_engagement(engagement.identifier) for engagement in engagements)]
    )
    run.sleep(max(0.0, finished + _tick(engagements) - run.clock.monotonic()))
    by_id = {engagement.identifier: engagement for engagement in engagements}
    for place in (*_ARCHIVED, *(place for place in _ALSO_ARCHIVED if place < len(engagements))):
        engagement = engagements[place % len(engagements)]
        if engagement.identifier in by_id and sum(not other.archived for other in by_id.values()) > 1:
            response = run.send(requests.archive_engagement(engagement.identifier))
            _keep(by_id, engagement, response, replace(engagement, archived=True, changed=True))
    for place, body in _edits(run, engagements).items():
        found = by_id.get(engagements[place % len(engagements)].identifier)
        if found is not None and not found.archived:
            response = run.send(requests.update_engagement(found.identifier, body))
            _keep(by_id, found, response, replace(found, name=body.get("name", found.name), changed=True))
    if not any(engagement.changed for engagement in by_id.values()):
        raise CantTell("no created engagement could be changed, so that their state is unknown")
    return SeededEngagements(tuple(by_id.values()))


def _tick(engagements: Iterable[SeededEngagement]) -> float:
    return tick_of(resource for engagement in engagements for resource in readable_resources(engagement.created))


def _keep(
    by_id: dict[str, SeededEngagement], engagement: SeededEngagement, response: Exchange, then: SeededEngagement
) -> None:
    """Record an engagement after a change; drop it if no response shows whether the change happened."""
    if response.accepted:
        by_id[engagement.identifier] = then
    elif not (response.judgeable and response.received is not None and response.received.status < SERVER_ERRORS_FROM):
        del by_id[engagement.identifier]


def _edits(run: Run, engagements: tuple[SeededEngagement, ...]) -> dict[int, dict[str, Any]]:
    """Return the changes by place: a name, a description, or both; descriptions are set and removed."""
    return {
        _DESCRIBED: {"name": engagements[_DESCRIBED % len(engagements)].name, "description": "null"},
        _EMPTIED: {"description": ""},
        _RENAMED: {"name": run.name("tutu"), "description": "false"},
        _RENAMED_AND_EMPTIED: {"name": run.name("tuku"), "description": ""},
        _RENAMED_AND_NULL: {"name": run.name("tuta"), "description": None},
    }


def _words(run: Run) -> list[str]:
    """Return words in an order unrelated to their own; one has a capital."""
    words = ["".join(pair) for pair in product(SYLLABLES, repeat=2)]
    random = run.random("stock")
    drawn = random.sample(words, _SIZES[run.effort] - 1)
    # Of two lengths, so that an order by length differs from one by letters; names truncate longer words.
    chosen = [*(word + "ba" * (place % 2) for place, word in enumerate(drawn)), _CAPITALIZED]
    random.shuffle(chosen)
    if (place := chosen.index(_CAPITALIZED)) in {_RENAMED, _RENAMED_AND_EMPTIED, _RENAMED_AND_NULL}:
        chosen[place], chosen[_UNEDITED] = chosen[_UNEDITED], chosen[place]
    return chosen


def _body(name: str, place: int) -> dict[str, str]:
    """Return a body: without a description, or with a description that looks like another type or like the name."""
    if place % 10 in _UNDESCRIBED:
        return {"name": name}
    if place % 10 == _NAMED_ALIKE:
        return {"name": name, "description": name}
    return {"name": name, "description": _WORDS.get(place, f"About {name}")}
