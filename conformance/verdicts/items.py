"""Metadata of checks, from pytest's items."""

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
        requirement: The id of the judged requirement; None for an observation.
        observed: The ids of the observed open points.
        stage: Its stage in the run.
        least_effort: The lowest effort that includes it.
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
    """Return the marks of an item, cached for its phases; None if it is no check."""
    if _MARKS not in item.stash:
        item.stash[_MARKS] = _found(item) if is_check(item) else None
    return item.stash[_MARKS]


def _found(item: pytest.Item) -> Marks:
    requirement, stage, least = (_argument(item, name) for name in ("requirement", "stage", "least_effort"))
    return Marks(
        requirement=requirement,
        observed=tuple(point for mark in item.iter_markers("observes") for point in mark.args),
        stage=Stage.SCENARIOS if stage is None else Stage(stage),
        least_effort=Effort.QUICK if least is None else Effort(least),
    )


def _argument(item: pytest.Item, name: str) -> Any:  # noqa: ANN401 - any argument
    mark = item.get_closest_marker(name)
    return None if mark is None else mark.args[0]


def name_of(item: pytest.Item) -> str:
    """Return the module and function of a check, with its parameter."""
    return item.nodeid.rpartition("/")[2].replace(".py::", "::")


def requirement_of(item: pytest.Item) -> str | None:
    """Return the requirement that an item judges, or None."""
    marks = marks_of(item)
    return None if marks is None else marks.requirement


def cited_by(item: pytest.Item) -> tuple[str, ...]:
    """Return the ids of the requirement and the open points that an item cites."""
    marks = marks_of(item)
    if marks is None:
        return ()
    return marks.observed if marks.requirement is None else (marks.requirement, *marks.observed)


def stage_of(item: pytest.Item) -> Stage:
    """Return the stage of an item."""
    marks = marks_of(item)
    return Stage.SCENARIOS if marks is None else marks.stage


def background_scenarios(item: pytest.Item) -> list[Callable[[Run], Any]]:
    """Return the scenarios of an item that may run concurrently with others."""
    return [found.background for found in scenarios_of(item).values() if found.background is not None]


def scenarios_of(item: pytest.Item) -> dict[str, Any]:
    """Return the fixtures of an item that ``scenario`` made, by name."""
    functions = {name: found[-1].func for name, found in _fixtures(item).name2fixturedefs.items()}
    return {name: function for name, function in functions.items() if hasattr(function, "background")}


def arguments_of(item: pytest.Function) -> dict[str, Any]:
    """Return the arguments that pytest passes to the function of an item."""
    return {name: item.funcargs[name] for name in _fixtures(item).argnames}


def _fixtures(item: pytest.Item) -> Any:  # noqa: ANN401 - pytest gives no public way to an item's fixtures
    return vars(item)["_fixtureinfo"]
