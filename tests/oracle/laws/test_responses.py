"""Laws of every response: body, fields and times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.interface.list_parameters import ROLES, STATUSES
from conformance.interface.operations import OPERATIONS
from conformance.oracle.laws import responses as laws
from conformance.oracle.outcomes import CantTell
from conformance.oracle.rendering import render
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange, page, refusal
from tests.oracle.failures import broken

if TYPE_CHECKING:
    from conformance.oracle.laws.responses import LawFunction

NOW = "2026-01-02T03:04:05.006Z"
ENGAGEMENT = {"id": "e", "name": "Audit", "status": "active", "createdAt": NOW, "updatedAt": NOW}
LISTS = [operation.id for operation in OPERATIONS.values() if operation.response == "list"]
RESOURCES = [operation.id for operation in OPERATIONS.values() if operation.response == "resource"]


def engagement(**changed: object) -> Exchange:
    """Return a read of an engagement with other fields."""
    return make_exchange("getEngagement", body={"data": ENGAGEMENT | changed})


# --- bodies


def test_a_body_is_json() -> None:
    """An empty body is not judged."""
    assert laws.json_well_formed(make_exchange(body=b"")) is False
    assert laws.json_well_formed(make_exchange(body=b" [1] ")) is True
    assert broken(laws.json_well_formed, make_exchange(body=b"\xef\xbb\xbf{}")) == (
        "the body is not JSON: status 200, 5 bytes",
        "a JSON text (RFC 8259)",
        "it begins with a byte order mark",
        None,
    )


def test_a_body_that_is_nested_too_deeply_is_not_judged() -> None:
    """The interface does not limit the nesting."""
    exchange = make_exchange(body=b"[" * 101 + b"]" * 101)

    with pytest.raises(CantTell, match=r"^the body cannot be judged: it is nested beyond") as raised:
        laws.json_well_formed(exchange)
    assert raised.value.exchanges == (exchange,)


@pytest.mark.parametrize(
    "announced",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON ;charset=UTF-8",
        "text/json",
        "application/problem+json",
        "application/vnd.vendor.v1+json",
    ],
)
def test_json_has_several_media_types(announced: str) -> None:
    """Letter case and parameters do not matter."""
    assert laws.json_media_type(make_exchange(body=b"{}", headers=(("content-type", announced),))) is True


@pytest.mark.parametrize(
    "announced", ["text/html", "application/jsonp", "text/problem+json", "application/+json", "application/a b+json"]
)
def test_other_media_types_are_wrong(announced: str) -> None:
    """The failure shows the actual media type."""
    exchange = make_exchange(body=b"{}", headers=(("Content-Type", announced),))

    assert broken(laws.json_media_type, exchange) == (
        "the Content-Type of the body is not JSON",
        "Content-Type: application/json",
        f"Content-Type: {announced}",
        None,
    )


def test_a_body_without_a_media_type_is_wrong() -> None:
    """A response without a body needs none."""
    assert broken(laws.json_media_type, make_exchange(body=b"{}", headers=()))[2] == "no Content-Type"
    assert laws.json_media_type(make_exchange(body=b"", headers=())) is False


# --- envelopes


@pytest.mark.parametrize("operation", RESOURCES)
@pytest.mark.parametrize(
    ("body", "actual"),
    [
        ({"data": []}, '{"data": []}'),
        ({"data": None}, '{"data": null}'),
        ({}, "{}"),
        ([], "[]"),
        (None, "null"),
    ],
)
def test_a_resource_is_an_object(operation: str, body: object, actual: str) -> None:
    """The member data is an object."""
    assert broken(laws.success_data_object, make_exchange(operation, body=body)) == (
        "a success has no object data",
        "an object with the object data",
        actual,
        "/data",
    )
    assert laws.success_data_object(make_exchange(operation, body={"data": {}})) is True


def test_a_success_without_a_body_has_no_data() -> None:
    """The interface promises a body."""
    assert broken(laws.success_data_object, make_exchange(body=b""))[2] == "no body"


@pytest.mark.parametrize("operation", LISTS)
def test_a_list_is_an_array_with_meta(operation: str) -> None:
    """A list has an array data and an object meta."""
    whole: dict[str, object] = {"data": [], "meta": {}}
    bare: dict[str, object] = {"data": {}, "meta": []}

    assert laws.list_data_array(make_exchange(operation, body=whole)) is True
    assert laws.list_meta_object(make_exchange(operation, body=whole)) is True
    assert broken(laws.list_data_array, make_exchange(operation, body=bare)) == (
        "a success has no array data",
        "an object with the array data",
        '{"data": {}, "meta": []}',
        "/data",
    )
    assert broken(laws.list_meta_object, make_exchange(operation, body=bare)) == (
        "a success has no object meta",
        "an object with the object meta",
        '{"data": {}, "meta": []}',
        "/meta",
    )


@pytest.mark.parametrize("law", [laws.success_data_object, laws.list_data_array, laws.list_meta_object])
@pytest.mark.parametrize("operation", ["getEngagement", "listEngagements"])
def test_envelopes_are_judged_of_readable_successes_only(law: LawFunction, operation: str) -> None:
    """Errors have another envelope, and another law judges that a body is JSON."""
    assert law(refusal(operation=operation)) is False
    assert law(make_exchange(operation, body=b"{")) is False


@pytest.mark.parametrize(
    ("law", "operation"),
    [
        (laws.success_data_object, "getEngagement"),
        (laws.list_data_array, "listEngagements"),
        (laws.fields, "getEngagement"),
        (laws.timestamp_format, "getEngagement"),
    ],
)
def test_outside_the_interface_nothing_is_promised(law: LawFunction, operation: str) -> None:
    """A path without an operation may return any body."""
    made = make_exchange(operation, body={"data": {"createdAt": "now"}})

    assert law(replace(made, request=replace(made.request, probe=("GET", "/elsewhere")))) is False


def test_each_kind_of_response_has_its_own_envelope() -> None:
    """A resource needs no array, a list no object."""
    assert laws.success_data_object(page(["e"])) is False
    assert laws.list_data_array(engagement()) is False
    assert laws.list_meta_object(engagement()) is False


# --- fields


def test_an_engagement_has_its_fields() -> None:
    """The description may be absent."""
    assert laws.fields(engagement()) is True
    assert laws.fields(engagement(description=None, other=1)) is True
    assert broken(laws.fields, engagement(name=7)) == (
        "/data/name is not as promised",
        "a string",
        "7 (number)",
        "/data/name",
    )


def test_every_item_of_a_list_has_its_fields() -> None:
    """The failure points at the item."""
    assert laws.fields(page([ENGAGEMENT])) is True
    assert broken(laws.fields, page([ENGAGEMENT, {"id": "e"}])) == (
        "/data/1/name is not as promised",
        "a string",
        "absent",
        "/data/1/name",
    )
    assert broken(laws.fields, page([ENGAGEMENT, []])) == (
        "an item of the list is not an object",
        "an object",
        "array",
        "/data/1",
    )


@pytest.mark.parametrize(
    "exchange",
    [
        page([]),
        refusal(operation="getEngagement"),
        make_exchange("getEngagement", 404, body={"data": {}}),
        make_exchange("getEngagement", body=[]),
        make_exchange("getEngagement", body={"data": 7}),
        make_exchange("getEngagement", body=b"{"),
        make_exchange("listEngagements", body={"data": {"0": 7}}),
        make_exchange("unarchiveEngagement", body={"data": {}}),
        make_exchange("updateEngagement", body={"data": {}}),
    ],
    ids=[
        "no items",
        "refusal",
        "refusal with data",
        "no object",
        "no data",
        "no JSON",
        "no array",
        "open",
        "open, too",
    ],
)
def test_unpromised_fields_are_never_missing(exchange: Exchange) -> None:
    """A broken envelope is not judged for fields either."""
    assert laws.fields(exchange) is False


# --- times


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05Z", "2026-02-30T03:04:05.006Z", "2026-01-02T03:04:05.006+00:00", "", "1767323045"]
)
def test_a_time_of_another_format_is_wrong(text: str) -> None:
    """A date that does not exist is wrong too."""
    assert broken(laws.timestamp_format, engagement(updatedAt=text)) == (
        "a timestamp is not of the interface's format",
        "YYYY-MM-DDTHH:MM:SS.mmmZ, a real date",
        f'"{text}"',
        "/data/updatedAt",
    )


def test_every_time_of_every_item_is_judged() -> None:
    """Only texts are judged: the law of fields judges other types."""
    assert laws.timestamp_format(page([ENGAGEMENT, ENGAGEMENT])) is True
    assert broken(laws.timestamp_format, page([ENGAGEMENT, 7, ENGAGEMENT | {"createdAt": "now"}]))[3] == (
        "/data/2/createdAt"
    )
    assert laws.timestamp_format(page([{"createdAt": 7}])) is False
    assert laws.timestamp_format(make_exchange("unarchiveEngagement", body={"data": {"updatedAt": "now"}})) is False


# --- values


@pytest.mark.parametrize("operation", ["getCurrentOrganization", "updateCurrentOrganization"])
@pytest.mark.parametrize(
    ("slug", "safe"),
    [("acme-1_x.y~", True), ("a%20b", True), ("caf%C3%A9", True), ("a%2", False), ("a b", False), ("é", False)],
)
def test_a_slug_is_valid_in_a_path(operation: str, slug: str, safe: bool) -> None:  # noqa: FBT001 - a table
    """It needs no percent-encoding."""
    exchange = make_exchange(operation, body={"data": {"slug": slug}})

    if safe:
        assert laws.slug_url_safe(exchange) is True
    else:
        message, expected, actual, pointer = broken(laws.slug_url_safe, exchange)
        assert message == f"slug is {actual}"
        assert (expected, pointer) == ("characters that are valid in a URL path", "/data/slug")


def test_roles_are_those_of_the_interface() -> None:
    """Both the list and the response to a role change are judged."""
    for role in ROLES:
        assert laws.member_roles_known(make_exchange("updateMemberRole", body={"data": {"role": role}})) is True
    assert broken(laws.member_roles_known, page([{"role": "admin"}, {"role": "Admin"}], operation="listMembers")) == (
        'role is "Admin"',
        "owner, admin or member",
        '"Admin"',
        "/data/1/role",
    )


@pytest.mark.parametrize(
    "email", ["@", "a@b", "\u00e9@\u00fc.example", '"mailto:<a>"@b', '"<a@b>"@c', "mailto@b", "a.<b>@c"]
)
def test_an_address_has_an_at_sign(email: str) -> None:
    """The law requires nothing else, unless the text is clearly more than an address."""
    assert laws.member_email_is_address(page([{"email": email}], operation="listMembers")) is True


@pytest.mark.parametrize("email", ["mailto:a@b", "MAILTO:a@b.example", "<a@b>", "Ann <a@b>", '"Ann" <a@b>'])
def test_a_link_or_a_mailbox_is_no_address(email: str) -> None:
    """A link prefix or a display name is not part of an address."""
    failure = broken(laws.member_email_is_address, page([{"email": email}], operation="listMembers"))

    assert failure[1:] == ("an e-mail address", render(email), "/data/0/email")


def test_a_text_without_an_at_sign_is_no_address() -> None:
    """A name alone is no address."""
    assert broken(laws.member_email_is_address, page([{"email": "a.b"}], operation="listMembers")) == (
        'email is "a.b"',
        "an e-mail address",
        '"a.b"',
        "/data/0/email",
    )


@pytest.mark.parametrize("operation", ["createEngagement", "getEngagement", "archiveEngagement"])
def test_statuses_are_those_of_the_interface(operation: str) -> None:
    """Every promised status is judged."""
    for status in STATUSES:
        assert laws.engagement_status_known(make_exchange(operation, body={"data": {"status": status}})) is True
    assert broken(laws.engagement_status_known, make_exchange(operation, body={"data": {"status": "done"}})) == (
        'status is "done"',
        "active or archived",
        '"done"',
        "/data/status",
    )


def test_the_status_of_every_item_is_one_of_the_interface() -> None:
    """The failure points at the item."""
    assert broken(laws.engagement_status_known, page([ENGAGEMENT, {"status": "done"}]))[3] == "/data/1/status"


@pytest.mark.parametrize(
    ("law", "exchange"),
    [
        (laws.member_roles_known, make_exchange("inviteMember", body={"data": {"role": "guest"}})),
        (laws.engagement_status_known, make_exchange("unarchiveEngagement", body={"data": {"status": "done"}})),
        (laws.engagement_status_known, make_exchange("inviteMember", body={"data": {"status": "done"}})),
        (laws.member_email_is_address, make_exchange("inviteMember", body={"data": {"email": "a"}})),
        (laws.slug_url_safe, make_exchange("getEngagement", body={"data": {"slug": "a b"}})),
        (laws.engagement_status_known, engagement(status=7)),
        (laws.engagement_status_known, page([7])),
        (laws.engagement_status_known, refusal(operation="getEngagement")),
    ],
)
def test_unpromised_values_and_other_types_are_not_judged(law: LawFunction, exchange: Exchange) -> None:
    """The law does not apply to them."""
    assert law(exchange) is False


@pytest.mark.parametrize("status", [200, 204, 299, 400, 404, 500, 599])
def test_successes_and_errors_are_responses(status: int) -> None:
    """Every success and error status is permitted."""
    assert laws.no_redirect(make_exchange(status=status)) is True


def test_outside_the_interface_a_redirect_is_permitted() -> None:
    """A path without an operation may redirect."""
    made = make_exchange(status=302)

    assert laws.no_redirect(replace(made, request=replace(made.request, probe=("GET", "/elsewhere")))) is False


@pytest.mark.parametrize("status", [199, 300, 302, 399])
def test_redirects_are_wrong(status: int) -> None:
    """The failure shows the status."""
    assert broken(laws.no_redirect, make_exchange(status=status)) == (
        f"the response has the status {status}",
        "a 2xx or an error",
        str(status),
        None,
    )


@pytest.mark.parametrize(
    ("exchange", "resources"),
    [
        (engagement(), [ENGAGEMENT]),
        (page([ENGAGEMENT, 7]), [ENGAGEMENT]),
        (make_exchange(status=None), []),
        (make_exchange(status=429, body={"data": ENGAGEMENT}), []),
        (make_exchange(status=503, body={"data": ENGAGEMENT}), []),
        (refusal(), []),
    ],
)
def test_readable_resources_of_any_response(exchange: Exchange, resources: list[Any]) -> None:
    """A missing or malformed response has no resources and raises nothing."""
    assert laws.readable_resources(exchange) == resources


# --- statuses


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_a_success_has_the_stated_status(operation: str) -> None:
    """Errors and responses outside the interface are not judged."""
    exchange, other = (make_exchange(operation, status, {"data": {}}) for status in (200, 206))
    beside = replace(other, request=replace(other.request, probe=("GET", "/api/v1/else")))

    if OPERATIONS[operation].status is None:
        assert laws.stated_status(exchange) is laws.stated_status(other) is False
    else:
        assert laws.stated_status(exchange) is True
        assert broken(laws.stated_status, other) == (
            f"a success of {operation} has the status 206",
            "200",
            "206",
            None,
        )
    assert laws.stated_status(refusal(404, operation)) is laws.stated_status(beside) is False
