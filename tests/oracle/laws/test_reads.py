"""Laws of plain reads: valid requests that must succeed, and exceptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.laws import reads as plain_reads
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import described

Query = tuple[tuple[str, str], ...]
Law = Callable[[Exchange], bool]

LAWS: dict[str, tuple[Law, str]] = {
    "organization": (plain_reads.organization_read, "getCurrentOrganization"),
    "members": (plain_reads.members_listed, "listMembers"),
    "engagements": (plain_reads.engagements_listed, "listEngagements"),
    "prefix": (plain_reads.found_under_prefix, "getCurrentOrganization"),
}
EXACT = {name: given for name, given in LAWS.items() if name != "prefix"}
ALL = pytest.mark.parametrize(("law", "operation"), LAWS.values(), ids=LAWS)
OF_SUCCESS = pytest.mark.parametrize(("law", "operation"), EXACT.values(), ids=EXACT)


def asked(operation: str, status: int = 200, *query: tuple[str, str], **changes: Any) -> Exchange:
    """Return the response to a request with this query, the request being changed so."""
    made = make_exchange(operation, status, {}, query=query)
    return replace(made, request=replace(made.request, **changes))


# --- outcomes


@ALL
def test_a_valid_request_that_succeeds(law: Law, operation: str) -> None:
    """The law applies and holds."""
    assert law(asked(operation)) is True


@OF_SUCCESS
@pytest.mark.parametrize("status", [199, 201, 204, 302, 400, 401, 404, 405, 500])
def test_a_valid_request_without_a_200(law: Law, operation: str, status: int) -> None:
    """No other status is permitted."""
    made = asked(operation, status)

    with pytest.raises(NonConformity) as raised:
        law(made)
    assert described(raised.value) == (f"{operation} returned {status}", "200", str(status), None)
    assert raised.value.exchanges == (made,)


def test_the_main_key_may_read_the_organization_but_perhaps_not_list_engagements() -> None:
    """The permission for listing engagements is not stated, so a refusal proves nothing."""
    for operation, law in (
        ("getCurrentOrganization", plain_reads.organization_read),
        ("listMembers", plain_reads.members_listed),
    ):
        with pytest.raises(NonConformity, match="returned 403"):
            law(asked(operation, 403))

    made = asked("listEngagements", 403)
    with pytest.raises(CantTell, match=r"^the key is not permitted to list engagements$") as raised:
        plain_reads.engagements_listed(made)
    assert raised.value.exchanges == (made,)


@pytest.mark.parametrize("status", [404, 410])
def test_an_organization_that_is_not_at_its_path(status: int) -> None:
    """The failure names the path."""
    made = asked("getCurrentOrganization", status)

    with pytest.raises(NonConformity) as raised:
        plain_reads.found_under_prefix(made)
    message = f"the path of the organization returned {status}"
    assert described(raised.value) == (message, "/api/v1/organizations/current is served", str(status), None)
    assert raised.value.exchanges == (made,)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 405, 500])
def test_an_organization_that_is_found(status: int) -> None:
    """Any other response shows that the path exists."""
    assert plain_reads.found_under_prefix(asked("getCurrentOrganization", status)) is True


# --- requests with a promised 200


@pytest.mark.parametrize(
    "query",
    [
        (),
        (("page", "1"),),
        (("perPage", "1"),),
        (("perPage", "9"),),
        (("perPage", "10"),),
        (("perPage", "99"),),
        (("perPage", "100"),),
        (("page", "1"), ("perPage", "20")),
    ],
)
@pytest.mark.parametrize("operation", ["listMembers", "listEngagements"])
def test_first_pages_of_every_size_exist(operation: str, query: Query) -> None:
    """A first page of 1 to 100 items always exists."""
    law = plain_reads.members_listed if operation == "listMembers" else plain_reads.engagements_listed

    assert law(asked(operation, 200, *query)) is True
    with pytest.raises(NonConformity):
        law(asked(operation, 400, *query))


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_members_can_be_filtered_by_role(role: str) -> None:
    """The filter works with and without a page."""
    assert plain_reads.members_listed(asked("listMembers", 200, ("role", role), ("page", "1")))


@pytest.mark.parametrize(
    ("name", "values"),
    [("status", ("active", "archived")), ("sort", ("createdAt", "updatedAt", "name")), ("order", ("asc", "desc"))],
)
def test_engagements_can_be_filtered_and_sorted(name: str, values: tuple[str, ...]) -> None:
    """Each named value is judged; other letter case and other values are open."""
    for value in values:
        assert plain_reads.engagements_listed(asked("listEngagements", 200, (name, value)))
        with pytest.raises(NonConformity):
            plain_reads.engagements_listed(asked("listEngagements", 400, (name, value)))
        assert not plain_reads.engagements_listed(asked("listEngagements", 400, (name, value.upper())))
    assert not plain_reads.engagements_listed(asked("listEngagements", 400, (name, "")))


def test_all_parameters_together() -> None:
    """Any combination of valid parameters is judged."""
    everything = (("status", "active"), ("sort", "name"), ("order", "asc"), ("page", "1"), ("perPage", "5"))

    assert plain_reads.engagements_listed(asked("listEngagements", 200, *everything))
    assert not plain_reads.engagements_listed(asked("listEngagements", 400, *everything[:3], ("page", "2")))
    assert not plain_reads.engagements_listed(asked("listEngagements", 400, *everything[:2], ("order", "up")))


OTHER = Credential("other_organization", "Bearer another-organization")


@OF_SUCCESS
def test_a_full_key_of_another_organization(law: Law, operation: str) -> None:
    """Its organization may have no items, which is no error."""
    assert law(asked(operation, 200, credential=OTHER)) is True
    with pytest.raises(NonConformity, match="returned 404"):
        law(asked(operation, 404, credential=OTHER))


@OF_SUCCESS
@pytest.mark.parametrize("status", [401, 403])
def test_an_invalid_key_of_another_organization(law: Law, operation: str, status: int) -> None:
    """The target file's description of the key may be wrong."""
    assert law(asked(operation, status, credential=OTHER)) is False


# --- open cases


@pytest.mark.parametrize(
    "query",
    [
        (("page", "2"),),
        (("page", "0"),),
        (("page", "-1"),),
        (("page", "01"),),
        (("page", ""),),
        (("perPage", "0"),),
        (("perPage", "101"),),
        (("perPage", "1000"),),
        (("perPage", "-1"),),
        (("perPage", "01"),),
        (("perPage", "1.0"),),
        (("perPage", "1 "),),
        (("perPage", "ten"),),
        (("perPage", ""),),
        (("unknown", "1"),),
        (("page", "1"), ("page", "1")),
        (("perPage", "20"), ("perPage", "20")),
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["listMembers", "listEngagements"])
def test_other_pages_and_parameters_may_be_refused(operation: str, query: Query) -> None:
    """Later pages and out-of-bounds, oddly written, repeated or unknown parameters are open."""
    law = plain_reads.members_listed if operation == "listMembers" else plain_reads.engagements_listed

    assert law(asked(operation, 400, *query)) is False
    assert law(asked(operation, 200, *query)) is False


@pytest.mark.parametrize(
    ("law", "operation", "query"),
    [
        (plain_reads.members_listed, "listMembers", ("role", "guest")),
        (plain_reads.members_listed, "listMembers", ("role", "Admin")),
        (plain_reads.members_listed, "listMembers", ("status", "active")),
        (plain_reads.members_listed, "listMembers", ("sort", "name")),
        (plain_reads.engagements_listed, "listEngagements", ("role", "admin")),
        (plain_reads.organization_read, "getCurrentOrganization", ("role", "admin")),
        (plain_reads.found_under_prefix, "getCurrentOrganization", ("status", "active")),
    ],
)
def test_parameters_of_other_operations_are_unknown(law: Law, operation: str, query: tuple[str, str]) -> None:
    """They are open."""
    assert law(asked(operation, 404, query)) is False


@ALL
def test_only_requests_of_the_operation_itself_are_judged(law: Law, operation: str) -> None:
    """Other operations, keys, headers and paths outside the interface have other rules."""
    for other in {"getCurrentOrganization", "listMembers", "listEngagements", "getEngagement"} - {operation}:
        assert law(asked(other, 404)) is False
    assert law(asked(operation, 404, credential=Credential("organizations:read", "Bearer k"))) is False
    assert law(asked(operation, 404, headers=(("Accept", "text/html"),))) is False
    assert law(asked(operation, 404, probe=("GET", "/api/v2"))) is False


@ALL
def test_a_request_that_met_the_rate_limit_is_not_judged(law: Law, operation: str) -> None:
    """The limit may hit any request; a missing response proves nothing either."""
    assert law(asked(operation, 429, expects_429=True)) is False
    for status in (429, 503, None):
        with pytest.raises(NoResponse):
            law(make_exchange(operation, status, {}))
