"""Search for engagements of the run among those of others."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.lists.finding import Search, expect_listed, search
from conformance.targets.names import RunNames
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


class Lists:
    """A run that reads these lists in sequence; letters are engagements, capitals those of the run."""

    def __init__(self, *lists: str) -> None:
        self._lists = iter(lists)
        self._depth = 0
        self.disturbed: list[bool] = []

    @property
    def run(self) -> Run:
        """Return the run."""
        given = {"effort": None, "engagements_before": None, "names": RunNames("cf-")}
        wire = SimpleNamespace(undisturbed=self._undisturbed)
        return cast("Run", SimpleNamespace(send=self._send, sleep=lambda _: None, wire=wire, **given))

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def _send(self, asked: Request) -> Exchange:
        self.disturbed.append(self._depth == 0)
        items = [{"id": letter, "name": f"cf-{letter}" if letter.isupper() else letter} for letter in next(self._lists)]
        meta = {"total": len(items), "page": 1, "perPage": 100, "totalPages": 1}
        return replace(make_exchange("listEngagements", body={"data": items, "meta": meta}), request=asked)


def found(*lists: str) -> Search:
    """Return the result of a search for ``A``."""
    return search(Lists(*lists).run, "A", sort="name", order="asc")


def test_later_looks_are_undisturbed() -> None:
    """Only reads after the first one exclude other writes of the run."""
    lists = Lists("x", "x", "xA")

    expect_listed("an engagement", search(lists.run, "A", sort="name", order="asc"))

    assert lists.disturbed == [True, False, False]


@pytest.mark.parametrize("lists", [("x", "x", "x", "x"), ("x", "x", "xB", "x"), ("x", "y", "z", "z")])
def test_what_is_missing_twice_at_rest_is_not_listed(lists: tuple[str, ...]) -> None:
    """An engagement missing from two reads fails, if others changed nothing between those."""
    with pytest.raises(NonConformity, match="is not in the list"):
        expect_listed("an engagement", found(*lists))


def test_a_list_of_one_page_may_lack_something_while_others_change_it() -> None:
    """A missing engagement is undecided if others changed the single page, which a stale count may cut off."""
    with pytest.raises(CantTell, match="others were changing it"):
        expect_listed("an engagement", found("x", "x", "x", "y"))
