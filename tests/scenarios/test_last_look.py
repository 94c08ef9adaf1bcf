"""Requests with the key of a removed member at the end of a run."""

from __future__ import annotations

import pytest

from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.last_look import _elsewhere
from conformance.wire import requests


@pytest.mark.parametrize(
    ("query", "later"), [({}, (("status", "active"),)), ({"status": "active"}, ()), ({"page": 1}, ())]
)
def test_a_list_is_requested_in_the_other_form(query: dict[str, object], later: tuple[tuple[str, str], ...]) -> None:
    """A list that was requested without parameters gets a filter, and one with parameters loses them."""
    (again,) = _elsewhere(requests.list_engagements(**query), ReservedEngagements({}, {}))

    assert again.query == later
