"""What pytest's items say of the checks that they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.running.options import Effort
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a check or an observation.

    Attributes:
        requirement: The requirement that it judges; None for an observation.
        observed: The open points that it observes.
        stage: When it has its turn.
        least_effort: The cheapest run that it is part of.
    """

    requirement: str | None
    observed: tuple[str, ...]
    stage: Stage
    least_effort: Effort


_MARKS: Final = pytest.StashKey[Marks | None]()


def is_check(item: pytest.Item) -> bool:
    """Whether an item is one of this suite's checks or observations."""
    return any(item.get_closest_marker(name) is not None for name in ("requirement", "observes"))


def marks_of(item: pytest.Item) -> Marks | None:
    """The marks of an item, looked for once, as each phase of each item asks for them; None where it is no check."""
    if _MARKS not in item.stash:
        item.stash[_MARKS] = _found(item) if is_check(item) else None
    return item.stash[_MARKS]


def _found(item: pytest.Item) -> Marks:
    requirement, stage, least = (_argument(item, name) for name in ("requirement", "stage", "least_effort"))
    return Marks(
        requirement=requirement,
        observed=tuple(point for mark in item.iter_markers("observes") for point in mark.args),
        stage=Stage.PROBING if stage is None else Stage(stage),
        least_effort=Effort.QUICK if least is None else Effort(least),
    )


def _argument(item: pytest.Item, name: str) -> Any:  # noqa: ANN401 - whatever the mark has
    mark = item.get_closest_marker(name)
    return None if mark is None else mark.args[0]


def name_of(item: pytest.Item) -> str:
    """The module and function of a check, with its parameter."""
    return item.nodeid.rpartition("/")[2].replace(".py::", "::")


def requirement_of(item: pytest.Item) -> str | None:
    """The requirement that an item judges; None where it judges none."""
    marks = marks_of(item)
    return None if marks is None else marks.requirement


def cited_by(item: pytest.Item) -> tuple[str, ...]:
    """The entries of the catalogue that an item cites."""
    marks = marks_of(item)
    if marks is None:
        return ()
    return marks.observed if marks.requirement is None else (marks.requirement, *marks.observed)


def stage_of(item: pytest.Item) -> Stage:
    """When an item has its turn."""
    marks = marks_of(item)
    return Stage.PROBING if marks is None else marks.stage


def background_walks(item: pytest.Item) -> list[Callable[[Run], Any]]:
    """The journeys of an item that may be walked while others are."""
    definitions = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 - pytest gives no public way to an item's fixtures
    walks = [getattr(found[-1].func, "background", None) for found in definitions.values()]
    return [walk for walk in walks if walk is not None]
