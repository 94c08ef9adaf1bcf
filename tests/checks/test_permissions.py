"""Refusals of keys without the permission, which may be for the state that is asked for."""

from __future__ import annotations

import pytest

from conformance.checks.test_s5_permissions import _may_look_first
from conformance.oracle.bulk import Sent
from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.access.single_scope import Permissions
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange, page_for
from tests.fakes.runs import FakeRun, unexpected


@pytest.mark.parametrize(("role", "may"), [("member", True), ("admin", False)])
def test_a_role_that_the_member_has_may_be_refused_first(role: str, *, may: bool) -> None:
    """Which refusal comes first is open, and so is a change to the role that the member has."""
    members = page_for(requests.list_members(), [{"id": "u_1", "role": "member"}])
    tried = Permissions("x", ReservedEngagements({}, {}), user="u_1", members=((members,), ()))
    refused = make_exchange(requests.update_member_role("u_1", {"role": role}), 409, {})
    assert _may_look_first(FakeRun(unexpected), tried, Sent("a key", refused)) is may


@pytest.mark.parametrize(("archived", "may"), [(True, True), (False, False)])
def test_an_engagement_that_was_changed_since_may_be_refused_first(*, archived: bool, may: bool) -> None:
    """A request beyond the limit may have been served, so that the engagement is no longer what it was."""
    known = make_exchange(requests.get_engagement("e_1"), 200, {"data": {"id": "e_1", "status": "active"}}, number=1)
    change = make_exchange(requests.archive_engagement("e_1"), 200 if archived else 429, number=2)
    refused = make_exchange(requests.delete_engagement("e_1"), 409, {}, number=3)
    tried = Permissions("x", ReservedEngagements({}, {"e_1": known}))
    assert _may_look_first(FakeRun(unexpected, [change]), tried, Sent("a key", refused)) is may
