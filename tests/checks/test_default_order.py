"""The order of names in lists that were requested without an order."""

from __future__ import annotations

import pytest

from conformance.checks.test_s4_sorting import _in_order_of_names, _not_ascending
from conformance.oracle.outcomes import NonConformity
from tests.fakes.exchanges import make_exchange

META = {"total": 3, "page": 1, "perPage": 20, "totalPages": 1}


@pytest.mark.parametrize(
    "query", [{"sort": "name"}, {"sort": "name", "order": "asc"}, {"sort": "name", "order": "desc"}]
)
@pytest.mark.parametrize("names", ["abc", "cba", "bca"])
def test_an_ascending_list_breaks_the_default_alone(query: dict[str, str], names: str) -> None:
    """Without an order a list in ascending order breaks the default, and one in no order breaks the order of names."""
    items = [{"id": name, "name": name} for name in names]
    listed = make_exchange("listEngagements", 200, {"data": items, "meta": META}, query=tuple(query.items()))
    broken = []
    for law in ("default", "order"):
        try:
            _ = _not_ascending(str, listed) if law == "default" else _in_order_of_names(str, listed, filtered=False)
        except NonConformity:
            broken.append(law)
    right = {"asc": "abc", "desc": "cba"}.get(query.get("order", ""), "cba")
    default = names == "abc" and "order" not in query
    assert broken == ([] if names == right else ["default"] if default else ["order"])
