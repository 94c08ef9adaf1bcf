"""Where no answer tells an id, no more is created than can be counted on one hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.target.names import RunNames
from conformance.target.untold import MOST_UNTOLD, UntoldIds
from conformance.wire import call as calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.exchange import Exchange

PREFIX = "cf-abcdefgh-"
NAMELESS = {"data": {"name": f"{PREFIX}a"}}


@pytest.fixture
def untold() -> UntoldIds:
    """What watches the wire for ids."""
    return UntoldIds(RunNames(PREFIX))


@pytest.fixture
def see(untold: UntoldIds, make_exchange: Callable[..., Exchange]) -> Callable[..., None]:
    """Lets it see creations, or a list, and their answers."""

    def seeing(body: object, *, status: int | None = 201, times: int = 1, listed: bool = False) -> None:
        call = calls.list_engagements() if listed else calls.create_engagement({"name": f"{PREFIX}a"})
        for _ in range(times):
            untold.before(call)
            untold.after(make_exchange(call, status, body))

    return seeing


def test_a_few_untold_ids_are_enough(untold: UntoldIds, see: Callable[..., None]) -> None:
    """The last one of them ends the creating, and it is said why."""
    see(NAMELESS, times=MOST_UNTOLD - 1)
    assert untold.refusal() is None

    see(NAMELESS)
    assert (
        untold.refusal()
        == "no answer tells the id of an engagement that was created, so that none could be deleted again"
    )


@pytest.mark.parametrize("body", [{"data": {"id": "e_1"}}, {"data": {"id": 7}}])
def test_one_told_id_is_enough_to_go_on(untold: UntoldIds, see: Callable[..., None], body: object) -> None:
    """Before or after the others, and of whatever type paths can show."""
    see(NAMELESS, times=MOST_UNTOLD)
    see(body)

    assert untold.refusal() is None


def test_a_list_may_tell_ids(untold: UntoldIds, see: Callable[..., None]) -> None:
    """Of what the run has made; then that can be found and deleted."""
    see(NAMELESS, times=MOST_UNTOLD)
    see({"data": [{"id": "e_1", "name": "somebody's"}, "odd", {"name": f"{PREFIX}a"}]}, status=200, listed=True)
    see({"data": "odd"}, status=200, listed=True)
    assert untold.refusal() is not None

    see({"data": [{"id": "e_2", "name": f"{PREFIX}a"}]}, status=200, listed=True)
    assert untold.refusal() is None


@pytest.mark.parametrize("status", [None, 400, 429, 500])
def test_what_created_nothing_is_not_counted(untold: UntoldIds, see: Callable[..., None], status: int | None) -> None:
    """A refused creation has no id to tell, and of a lost answer nobody knows."""
    see(NAMELESS if status else None, status=status, times=2 * MOST_UNTOLD)

    assert untold.refusal() is None
