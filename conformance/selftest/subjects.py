"""What the suite is tried on: every fault, every value of every open point, every two together, and many by chance."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

from conformance.reference.faults import all_faults
from conformance.reference.latitude import POINTS
from conformance.selftest.pairwise import Pair, all_pairs, covering_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["fault", "latitude", "combination"]

EXCLUDED: Final[frozenset[Pair]] = frozenset(
    {
        (("rate_limit", "tight"), ("rate_window", "hourly")),
        (("gateway", "strict"), ("identifier_shape", "reserved")),
    }
)
"""Choices that do not meet: a few requests an hour, and identifiers that a gateway lets nobody use."""

HARD: Final = frozenset(
    {
        ("service_clock", "4-minutes-behind-undated"),
        ("service_clock", "4-minutes-ahead-undated"),
        ("company", "busy"),
        ("list_scope", "engagements:list"),
        ("rate_limit", "tight"),
    }
)
"""Choices that keep the interface and leave some requirements undecided, which is right there."""

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
"""The open points at which a service chooses what connections carry, or when."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One service that the suite is tried on.

    Attributes:
        id: The fault's id, or ``name=value``, or the number of a combination.
        kind: Whether it breaks the interface, differs at one open point, or at all of them.
        title: What is peculiar about it.
        breaks: The requirements that it breaks, the one first that has to be reported; none where it conforms.
        choices: Its choices at the open points, where they are not the default.
        spared: Whether it needs no socket because others have one for the same: for each choice of what connections
            carry, and for every two of these.
    """

    id: str
    kind: Kind
    title: str
    breaks: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    spared: bool = False

    @property
    def is_hard(self) -> bool:
        """Whether undecided requirements are to be expected of it."""
        return any(choice in HARD for choice in self.choices.items())

    @property
    def is_about_transport(self) -> bool:
        """Whether it takes a socket to see what is peculiar about it; no fault of the library is one of connections."""
        if self.kind == "fault" or self.spared:
            return False
        return not self.choices or not TRANSPORT.isdisjoint(self.choices)


def faults(pattern: str = "*") -> list[Subject]:
    """The faults whose id matches a pattern with ``*`` and ``?``, in the order of their ids."""
    found = sorted(all_faults().items())
    return [
        Subject(identifier, "fault", fault.title, fault.breaks)
        for identifier, fault in found
        if fnmatchcase(identifier, pattern)
    ]


def latitudes(pattern: str = "*") -> list[Subject]:
    """A service with its default choices, and one for every other value of every open point.

    Args:
        pattern: What ``name=value`` has to match, with ``*`` and ``?``; the first service is called ``default``.
    """
    honest = Subject("default", "latitude", "Every open point has its default.")
    others = [
        Subject(f"{point.name}={value}", "latitude", point.question, choices={point.name: value})
        for point in POINTS.values()
        for value in point.values
        if value != point.default
    ]
    return [one for one in (honest, *others) if fnmatchcase(one.id, pattern)]


def covering(seed: int) -> list[Subject]:
    """Services that choose at every open point, so that every two choices meet in one of them at least.

    Two choices of what connections carry meet in one that has a socket.

    Args:
        seed: What the search for them draws from.
    """
    rows = covering_rows(_questions(), seed=seed, excluded=EXCLUDED, rare=HARD)
    title = "Every open point has a value, so that every two values meet in one of these services."
    found: list[Subject] = []
    met: set[Pair] = set()
    for place, row in enumerate(rows, start=1):
        of_transport = pairs({name: value for name, value in row.items() if name in TRANSPORT})
        spared = of_transport <= met
        met |= of_transport
        found.append(Subject(f"pairs-{place:03}", "combination", title, choices=row, spared=spared))
    return found


def mixtures(number: int, seed: int) -> list[Subject]:
    """Services that choose at every open point by chance.

    Args:
        number: How many.
        seed: What the choices come from.
    """
    lot = random.Random(seed)  # noqa: S311 - reproducible on purpose
    title = f"Every open point has a value by chance, of seed {seed}."
    return [
        Subject(f"combination-{place:03}", "combination", title, choices=_drawn(lot), spared=True)
        for place in range(1, number + 1)
    ]


def pairs(choices: Mapping[str, str]) -> set[Pair]:
    """Every two choices that meet in one service."""
    return set(combinations(sorted(choices.items()), 2))


def share_of_pairs(subjects: Iterable[Subject]) -> float:
    """The share of all pairs of choices that may meet, which meet in one of these services at least."""
    met: set[Pair] = set().union(*(pairs(one.choices) for one in subjects))
    meant = set(all_pairs(_questions(), EXCLUDED))
    return len(met & meant) / len(meant)


def _questions() -> dict[str, tuple[str, ...]]:
    return {name: point.values for name, point in POINTS.items()}


def _drawn(lot: random.Random) -> dict[str, str]:
    """A choice at every open point, of those that may meet."""
    while True:
        drawn = {name: lot.choice(values) for name, values in _questions().items()}
        if EXCLUDED.isdisjoint(pairs(drawn)):
            return drawn
