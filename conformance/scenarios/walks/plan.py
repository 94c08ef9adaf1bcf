"""Random sequences of operations on several engagements at once, as plain values that can be cut and repeated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from conformance.interface.list_parameters import SORTS
from conformance.oracle.lists.collation import SYLLABLES, syllables

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_EPISODES: Final = 0.3
_COUNT: Final = 7
_READ_AFTER: Final = 0.55
TURNS: Final = 1 << 16
"""The number of different turns, far more than there are keys."""


class Kind(StrEnum):
    """Operation of a step."""

    CREATE = "create"
    RENAME = "rename"
    RENAME_ALIKE = "rename alike"
    """To the name of another engagement with a suffix."""
    DESCRIBE = "describe"
    EDIT = "edit"
    """Name and description at once."""
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    DELETE = "delete"
    GET = "get"
    LIST = "list"


WRITES: Final = frozenset(Kind) - {Kind.GET, Kind.LIST}
_WEIGHTS: Final = {
    Kind.CREATE: 3,
    Kind.RENAME: 4,
    Kind.RENAME_ALIKE: 2,
    Kind.DESCRIBE: 3,
    Kind.EDIT: 2,
    Kind.ARCHIVE: 3,
    Kind.UNARCHIVE: 3,
    Kind.DELETE: 1,
    Kind.GET: 4,
    Kind.LIST: 6,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a walk.

    Attributes:
        kind: The operation.
        slot: The index of the walk's engagement; a creation puts a new engagement there.
        other: The engagement whose name a renaming begins with.
        word: The new part of a name or a description.
        query: The parameters of a list, without the page.
        page: The requested page, if there are as many.
        turn: Chooses the key that sends it.
    """

    kind: Kind
    slot: int = 0
    other: int = 0
    word: str = ""
    query: tuple[tuple[str, str], ...] = ()
    page: int = 1
    turn: int = 0


def plan(choices: random.Random, size: int, slots: int) -> list[Step]:
    """Return a sequence of steps in which rare states are frequent.

    Args:
        choices: The source of all choices.
        size: The number of steps.
        slots: The number of engagements in use at once, at least 2.
    """
    words = _words(choices)
    steps = [Step(Kind.CREATE, slot, word=next(words)) for slot in range(min(slots, 3))]
    made = len(steps)
    bag: list[int] = []
    while len(steps) < size:
        slot, other = choices.sample(range(slots), 2)
        if choices.random() < _EPISODES or len(steps) == made:  # also if a walk is too short for chance
            # Each episode comes once before any is repeated.
            bag = bag or choices.sample(range(_COUNT), _COUNT)
            steps += _episode(choices, words, slot, other)[bag.pop()]
            continue
        kind = choices.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        steps.append(_step(choices, words, kind, slot, other))
        if kind in WRITES and choices.random() < _READ_AFTER:
            steps.append(Step(Kind.GET, slot))
    return [replace(step, turn=choices.randrange(TURNS)) for step in steps[:size]]


def _words(choices: random.Random) -> Iterator[str]:
    """Yield words of three syllables, none twice."""
    count = len(SYLLABLES)
    for number in choices.sample(range(count**3), count**3 // 4):
        yield SYLLABLES[number // count**2] + syllables(number % count**2)


def _step(choices: random.Random, words: Iterator[str], kind: Kind, slot: int, other: int) -> Step:
    if kind is Kind.LIST:
        return Step(kind, slot, query=_query(choices), page=choices.choice((1, 1, 1, 2, 2, 3)))
    return Step(kind, slot, other, next(words))


def _query(choices: random.Random, *, full: bool = False) -> tuple[tuple[str, str], ...]:
    """Return parameters of a list: each of them, or none; ``full`` has filter, sort and order, and small pages."""
    sizes = ("1", "2", "3", "5") if full else (None, "1", "2", "3", "5", "20", "50", "100", "100", "100")
    given = {
        "status": choices.choice(("active", "archived") if full else (None, None, "active", "archived")),
        "sort": choices.choice(SORTS if full else (None, *SORTS)),
        "order": choices.choice(("asc", "desc", "desc") if full else (None, "asc", "desc")),
        "perPage": choices.choice(sizes),
    }
    return tuple((name, value) for name, value in given.items() if value is not None)


def _episode(choices: random.Random, words: Iterator[str], slot: int, other: int) -> Sequence[list[Step]]:
    """Return all short sequences that lead to a state which single steps seldom reach."""

    def of(*kinds: Kind) -> list[Step]:
        return [_step(choices, words, kind, slot, other) for kind in kinds]

    query = _query(choices, full=True)
    pages = [Step(Kind.LIST, slot, query=query, page=page) for page in (1, 2, 3)]
    return (
        of(Kind.RENAME, Kind.ARCHIVE, Kind.UNARCHIVE, Kind.GET, Kind.ARCHIVE, Kind.RENAME, Kind.GET),
        of(Kind.ARCHIVE, Kind.EDIT, Kind.GET, Kind.UNARCHIVE, Kind.GET, Kind.RENAME, Kind.GET),
        of(Kind.RENAME, Kind.DESCRIBE, Kind.ARCHIVE, Kind.GET, Kind.ARCHIVE, Kind.GET),
        of(Kind.DELETE, Kind.GET, Kind.LIST, Kind.RENAME, Kind.GET, Kind.CREATE),
        of(Kind.ARCHIVE, Kind.DELETE, Kind.LIST, Kind.GET, Kind.CREATE),
        [*of(Kind.RENAME_ALIKE), Step(Kind.LIST, slot, query=(("sort", "name"), ("perPage", "100")))],
        pages,
    )
