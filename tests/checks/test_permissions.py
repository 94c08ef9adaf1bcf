"""Refusals of keys without the permission, which may be for the state that is asked for."""

from __future__ import annotations

import pytest

from conformance.checks.test_s5_permissions import _may_look_first
from conformance.oracle.bulk import Sent
from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.access.single_scope import Permissions
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange, page_for


@pytest.mark.parametrize(("role", "may"), [("member", True), ("admin", False)])
def test_a_role_that_the_member_has_may_be_refused_first(role: str, *, may: bool) -> None:
    """Which refusal comes first is open, and so is a change to the role that the member has."""
    members = page_for(requests.list_members(), [{"id": "u_1", "role": "member"}])
    tried = Permissions("x", ReservedEngagements({}, {}), user="u_1", members=((members,), ()))
    refused = make_exchange(requests.update_member_role("u_1", {"role": role}), 409, {})
    assert _may_look_first(tried, Sent("a key", refused)) is may
