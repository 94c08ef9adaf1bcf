"""Subjects of the self-test: faults, drawn faults, latitudes, pairs of latitudes and random combinations."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

from conformance.catalogue import load_catalogue
from conformance.reference.faults import DRAWN, all_faults, fault_by_id
from conformance.reference.faults import drawn as composed
from conformance.reference.latitude import POINTS
from conformance.selftest.pairwise import Pair, all_pairs, covering_rows
from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["fault", "drawn", "latitude", "combination"]

EXCLUDED: Final[frozenset[Pair]] = frozenset(
    {
        (("rate_limit", "tight"), ("rate_window", "hourly")),
        (("gateway", "strict"), ("identifier_shape", "reserved")),
    }
)
"""Excluded pairs: a few requests an hour, and identifiers that a gateway always refuses."""

HARD: Final = frozenset(
    {
        ("service_clock", "4-minutes-behind-undated"),
        ("service_clock", "4-minutes-ahead-undated"),
        ("list_scope", "engagements:list"),
        ("rate_limit", "tight"),
    }
)
"""Conforming choices with which some requirements rightly stay undecided."""

TRANSPORT: Final = frozenset(
    {
        "content_coding",
        "framing",
        "connection",
        "header_case",
        "extra_headers",
        "head_requests",
        "options_requests",
        "body_limit",
        "parallel_edit",
        "pace",
    }
)
"""The latitudes about the content and timing of connections."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A service that the suite is tried on.

    Attributes:
        id: The fault's id, ``name=value``, or the number of a combination.
        kind: Whether it has a fault, a drawn fault, a single latitude, or a combination of latitudes.
        title: Its description.
        breaks: The requirements that it breaks, first the one that must be reported; empty if it conforms.
        choices: Its choices that are not the default.
        spared: Whether it needs no socket because other subjects test the same transport choices, and pairs of them,
            over one.
    """

    id: str
    kind: Kind
    title: str
    breaks: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    spared: bool = False

    @property
    def is_hard(self) -> bool:
        """Whether undecided requirements are expected."""
        return any(choice in HARD for choice in self.choices.items())

    @property
    def is_faulty(self) -> bool:
        """Whether it has a fault, drawn or not."""
        return self.kind in {"fault", "drawn"}

    @property
    def is_about_transport(self) -> bool:
        """Whether the trial needs a socket; no fault does."""
        if self.is_faulty or self.spared:
            return False
        return not self.choices or not TRANSPORT.isdisjoint(self.choices)


def faults(pattern: str = "*") -> list[Subject]:
    """Return the faults whose id matches a pattern with ``*`` and ``?``, sorted by id, or the drawn fault of an id.

    Raises:
        LookupError: A fault breaks a requirement that the catalogue does not have.
    """
    if pattern.startswith(DRAWN):
        return [_drawn_subject(pattern)]
    known = load_catalogue().requirements
    found = [fault for identifier, fault in sorted(all_faults().items()) if fnmatchcase(identifier, pattern)]
    for fault in found:
        for unknown in set(fault.breaks) - known.keys():
            hint = suggestion(unknown, known)
            raise LookupError(f"The fault {fault.id} breaks {unknown}, which is no requirement{hint}")
    return [Subject(fault.id, "fault", fault.title, fault.breaks) for fault in found]


def drawn(number: int, seed: int) -> list[Subject]:
    """Return drawn faults, evenly over their families."""
    return [_drawn_subject(identifier) for identifier in composed.drawn(number, seed)]


def _drawn_subject(identifier: str) -> Subject:
    fault = fault_by_id(identifier)
    return Subject(identifier, "drawn", fault.title, fault.breaks)


def latitudes(pattern: str = "*") -> list[Subject]:
    """Return a service with the default choices, and a service for every other value of every latitude.

    Args:
        pattern: A pattern for ``name=value``, with ``*`` and ``?``; the first service is ``default``.
    """
    honest = Subject("default", "latitude", "Every open point has its default.")
    others = [
        Subject(f"{point.name}={value}", "latitude", point.question, choices={point.name: value})
        for point in POINTS.values()
        for value in point.values
        if value != point.default
    ]
    return [subject for subject in (honest, *others) if fnmatchcase(subject.id, pattern)]


def covering(seed: int) -> list[Subject]:
    """Return services with a choice at every latitude, which together contain every allowed pair of choices.

    A pair of transport choices is in a service with a socket.
    """
    rows = covering_rows(_questions(), seed=seed, excluded=EXCLUDED, rare=HARD)
    title = "Every open point has a value; these services cover every pair of values."
    found: list[Subject] = []
    met: set[Pair] = set()
    for place, row in enumerate(rows, start=1):
        of_transport = pairs({name: value for name, value in row.items() if name in TRANSPORT})
        spared = of_transport <= met
        met |= of_transport
        found.append(Subject(f"pairs-{place:03}", "combination", title, choices=row, spared=spared))
    return found


def mixtures(number: int, seed: int) -> list[Subject]:
    """Return services with a random choice at every latitude."""
    generator = random.Random(seed)  # noqa: S311 - reproducible on purpose
    title = f"Every open point has a random value, of seed {seed}."
    return [
        Subject(f"combination-{place:03}", "combination", title, choices=_random_choices(generator), spared=True)
        for place in range(1, number + 1)
    ]


def pairs(choices: Mapping[str, str]) -> set[Pair]:
    """Return the pairs of choices of a service."""
    return set(combinations(sorted(choices.items()), 2))


def share_of_pairs(subjects: Iterable[Subject]) -> float:
    """Return the share of all allowed pairs of choices that the services cover."""
    met: set[Pair] = set().union(*(pairs(subject.choices) for subject in subjects))
    allowed = set(all_pairs(_questions(), EXCLUDED))
    return len(met & allowed) / len(allowed)


def _questions() -> dict[str, tuple[str, ...]]:
    return {name: point.values for name, point in POINTS.items()}


def _random_choices(generator: random.Random) -> dict[str, str]:
    """Return a random choice at every latitude, without excluded pairs."""
    while True:
        drawn = {name: generator.choice(values) for name, values in _questions().items()}
        if EXCLUDED.isdisjoint(pairs(drawn)):
            return drawn
