"""Observations as rows of a module's table: the open point, the scenario that shows it, and the words for it."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.checks.markers import observes
from conformance.oracle.observe import describe_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

    Described = tuple[str, *tuple[Exchange, ...]]
    Seen = Exchange | Described | list[Exchange] | list[Described]

S = TypeVar("S")

TABLE: Final = "OBSERVATIONS"
"""The name of the table in a module of checks; pytest collects each of its rows."""


def observing(point: str, scenario: Callable[[Run], S], describe: Callable[[S], Seen]) -> Callable[..., None]:
    """Return a test that observes an open point in the result of a scenario, and judges nothing.

    Args:
        point: The id of the open point.
        scenario: The scenario.
        describe: Returns a response, or words and the exchanges that show them; or a list of these, maybe empty.

    Raises:
        CatalogueError: The catalogue has no such open point.
    """

    def test(run: Run, **results: Any) -> None:  # noqa: ANN401 - pytest passes the result under the scenario's name
        seen = describe(results[scenario.__name__])
        for each in seen if isinstance(seen, list) else [seen]:
            words, *exchanges = each if isinstance(each, tuple) else (describe_response(each), each)
            run.observe(point, words, *exchanges)

    test.__name__ = f"test_observe[{point}]"
    names = ("run", scenario.__name__)
    test.__signature__ = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in names])  # type: ignore[attr-defined]  # pytest reads it
    test.place_as = describe  # type: ignore[attr-defined]  # the row's place in pytest's reports
    observes(point)(test)
    return test
