"""Section 4: the order of names in lists of engagements."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.laws import lists as list_laws
from conformance.oracle.laws.registry import Law
from conformance.oracle.lists.listing import Listing, expect_order, name_among
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.oracle.lists.listing import Comparable, Key
    from conformance.running.run import Run
    from conformance.scenarios.lists.sorted import ListByName
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.usefixtures("new_engagements")


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("sort-descending-by-default")
def test_no_list_is_ascending_by_default(run: Run, by_name: ListByName) -> None:
    """No list of the run with sort=name, without an order and without a filter is ascending."""
    law = partial(_not_ascending, name_among(by_name.seeded.names))
    expect_law(run, Law(law, ("listEngagements",), confirmed=True))


@pytest.mark.stage(Stage.WHOLE_RUN)
@pytest.mark.parametrize(
    "filtered",
    [
        pytest.param(False, marks=requirement("sort-by-name"), id="everything"),
        pytest.param(True, marks=requirement("sort-with-filter"), id="filtered"),
    ],
)
def test_every_list_is_in_the_order_of_names(run: Run, by_name: ListByName, *, filtered: bool) -> None:
    """Every list of the run sorted by name is in that order."""
    law = partial(_in_order_of_names, name_among(by_name.seeded.names), filtered=filtered)
    expect_law(run, Law(law, ("listEngagements",), confirmed=True))


def _in_order_of_names(key: Key, exchange: Exchange, *, filtered: bool) -> bool:
    """Require the order of names in a list with a filter, or without one; return whether the list shows an order."""
    asked = dict(exchange.request.query)
    if not _is_by_name(exchange) or ("status" in asked) is not filtered:
        return False
    if _is_by_default(asked) and (known := _known(exchange, key)) == sorted(known):
        return False
    return expect_order(Listing((exchange,)), "name", key, descending=asked.get("order") != "asc") > 1


def _not_ascending(key: Key, exchange: Exchange) -> bool:
    """Require that a list in the default order is not ascending; return whether it descends."""
    concerned = _is_by_name(exchange) and _is_by_default(dict(exchange.request.query))
    return concerned and list_laws.not_ascending(_known(exchange, key), exchange)


def _is_by_default(asked: Mapping[str, str]) -> bool:
    """Whether neither an order nor a filter was requested."""
    return not {"order", "status"} & asked.keys()


def _is_by_name(exchange: Exchange) -> bool:
    """Whether this is a readable list sorted by name."""
    asked = dict(exchange.request.query)
    if asked.get("sort") != "name" or asked.get("order", "desc") not in {"asc", "desc"} or not exchange.succeeded:
        return False
    return list_laws.is_list(exchange) and list_laws.is_unrepeated(exchange)


def _known(exchange: Exchange, key: Key) -> list[Comparable]:
    """Return the keys of a list's items, in their order."""
    return [value for item in Listing((exchange,)).items if (value := key(item.value)) is not None]
