"""Refusals of keys without the permission, which may be for the state that is asked for."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from conformance.checks.test_s5_permissions import _may_look_first
from conformance.checks.test_s5_permissions import test_the_permission_listed_is_enough as permission_is_enough
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import NonConformity
from conformance.scenarios.access.reserved_engagements import ReservedEngagements
from conformance.scenarios.access.single_scope import Permissions
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange, page_for
from tests.fakes.runs import FakeRun, unexpected


@pytest.mark.parametrize(("role", "may"), [("member", True), ("admin", False)])
def test_a_role_that_the_member_has_may_be_refused_first(role: str, *, may: bool) -> None:
    """Which refusal comes first is open, and so is a change to the role that the member has."""
    members = page_for(requests.list_members(), [{"id": "u_1", "role": "member"}])
    tried = Permissions("x", ReservedEngagements({}, {}), user="u_1", members=((members,), ()))
    refused = make_exchange(requests.update_member_role("u_1", {"role": role}), 409, {})
    assert _may_look_first(FakeRun(unexpected), tried, Sent("a key", refused)) is may


@pytest.mark.parametrize(("query", "may"), [({"page": 2}, True), ({"page": 1}, False), ({}, False)])
def test_a_page_past_the_end_may_be_refused_first(query: dict[str, object], *, may: bool) -> None:
    """A service may refuse such a page, and look for it before it looks at the permissions."""
    refused = make_exchange(requests.list_members(**query), 404, {})
    tried = Permissions("x", ReservedEngagements({}, {}))
    assert _may_look_first(FakeRun(unexpected), tried, Sent("a key", refused)) is may


@pytest.mark.parametrize(("archived", "may"), [(True, True), (False, False)])
def test_an_engagement_that_was_changed_since_may_be_refused_first(*, archived: bool, may: bool) -> None:
    """A request beyond the limit may have been served, so that the engagement is no longer what it was."""
    known = make_exchange(requests.get_engagement("e_1"), 200, {"data": {"id": "e_1", "status": "active"}}, number=1)
    change = make_exchange(requests.archive_engagement("e_1"), 200 if archived else 429, number=2)
    refused = make_exchange(requests.delete_engagement("e_1"), 409, {}, number=3)
    tried = Permissions("x", ReservedEngagements({}, {"e_1": known}))
    assert _may_look_first(FakeRun(unexpected, [change]), tried, Sent("a key", refused)) is may


@pytest.mark.parametrize(
    ("status", "then", "outcome"),
    [(403, 201, NonConformity), (403, 403, None), (409, 201, None), (201, 201, None)],
)
def test_a_refusal_that_the_main_key_does_not_get(status: int, then: int, outcome: type[NonConformity] | None) -> None:
    """A 403 to a key with the permission fails if the same request with the main key succeeds."""
    asked = requests.invite_member({"email": "a@example.com", "role": "admin"})
    scope = "organizations:write"
    allowed = make_exchange(asked.with_key(Credential(scope, "Bearer k")), 201, {"data": {}}, number=1)
    again = [
        replace(make_exchange(sent, code, {}), number=number, check="inviting")
        for number, (sent, code) in enumerate([(allowed.request, status), (asked, then)], 2)
    ]
    tried = Permissions("x", ReservedEngagements({}, {}), cells={(scope, "inviteMember"): [allowed]})

    with nullcontext() if outcome is None else pytest.raises(outcome, match="the same request succeeded"):
        permission_is_enough(FakeRun(unexpected, [allowed, *again]), tried, "inviteMember")
