"""The table of certainly invalid inputs: each is invalid in the form in which it is sent."""

from __future__ import annotations

import json

import pytest

from conformance.json_text import Malformed, Parsed, read_json
from conformance.scenarios.access import invalid_inputs
from conformance.scenarios.access.invalid_inputs import BODIES, QUERIES, InvalidBody, Kind

REQUIRED = {
    "createEngagement": {"name"},
    "updateEngagement": set(),
    "updateCurrentOrganization": set(),
    "inviteMember": {"email", "role"},
    "updateMemberRole": {"role"},
}
KNOWN = {
    "role": {"owner", "admin", "member"},
    "status": {"active", "archived"},
    "sort": {"createdAt", "updatedAt", "name"},
    "order": {"asc", "desc"},
}
EVERY_BODY = [(operation, body) for operation, bodies in BODIES.items() for body in bodies]
ALL_BODIES = pytest.mark.parametrize(("operation", "body"), EVERY_BODY, ids=lambda given: getattr(given, "what", given))


def reading(body: InvalidBody) -> object:
    """Return a strict reader's result for a body as sent."""
    return read_json(body.wire(label="cf-x", domain="mail.test", role="admin"))


def has_wrong_text(operation: str, body: dict[str, str]) -> bool:
    """Whether an object of texts holds a text that no service may accept."""
    roles = KNOWN["role"] - ({"owner"} if operation == "inviteMember" else set())
    return "@" not in body.get("email", "@") or body.get("role", "member") not in roles


@ALL_BODIES
def test_every_invalid_body_is_invalid(operation: str, body: InvalidBody) -> None:
    """Its defect is the one that its kind names."""
    found = reading(body)

    if body.kind is Kind.MALFORMED:
        assert isinstance(found, Malformed)
        return
    assert isinstance(found, Parsed)
    if body.kind is Kind.NO_OBJECT:
        assert not isinstance(found.value, dict)
        return
    assert isinstance(found.value, dict)
    given = {name: value for name, value in found.value.items() if value is not None}
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    assert (given.keys() >= REQUIRED[operation]) is (body.kind is not Kind.MISSING)
    assert (texts == given) is (body.kind is not Kind.TYPE)
    assert has_wrong_text(operation, texts) is (body.kind is Kind.VALUE)


@ALL_BODIES
def test_placeholders_are_filled_in(operation: str, body: InvalidBody) -> None:
    """No placeholder is sent, and a body that carries a label contains it."""
    wire = body.wire(label="cf-x", domain="mail.test", role="admin")

    assert not any(name in wire for name in (b"LABEL", b"DOMAIN", b"ROLE", b"VALUE"))
    assert body.carries_label is (b"cf-x" in wire)


def test_placeholders_are_replaced_by_the_arguments() -> None:
    """Each has its own argument; a text beyond ASCII is sent in UTF-8."""
    body = InvalidBody(Kind.TYPE, "x", "LABEL@DOMAIN ROLE LABEL")

    assert body.wire(label="ä", domain="d", role="r") == "ä@d r ä".encode()
    assert body.wire(label="a") == b"a@  a"
    assert InvalidBody(Kind.TYPE, "x", "ROLE").carries_label is False


@pytest.mark.parametrize("operation", REQUIRED)
def test_every_applicable_kind_is_tried(operation: str) -> None:
    """An operation's bodies differ, and each required field is omitted once."""
    kinds = {body.kind for body in BODIES[operation]}
    words = [body.what for body in BODIES[operation]]

    assert {Kind.MALFORMED, Kind.NO_OBJECT, Kind.TYPE} <= kinds
    assert (Kind.MISSING in kinds) is bool(REQUIRED[operation])
    assert (Kind.VALUE in kinds) is (operation in {"inviteMember", "updateMemberRole"})
    assert len(set(words)) == len(words)
    assert len({body.template for body in BODIES[operation]}) == len(words)


@pytest.mark.parametrize("operation", REQUIRED)
def test_each_field_is_tried_with_every_other_type(operation: str) -> None:
    """Quick runs too send a number, a boolean, an array and an object in place of a text."""
    for field in REQUIRED[operation] or {"name"}:
        quick = [
            body for body in invalid_inputs.bodies(operation, thorough=False) if body.what.endswith(f" for {field}")
        ]
        values = [json.loads(body.wire(label="x"))[field] for body in quick if body.kind is Kind.TYPE]
        assert {type(value) for value in values} == {int, bool, list, dict}


@pytest.mark.parametrize(
    ("operation", "query"), [(name, query) for name, queries in QUERIES.items() for query in queries]
)
def test_every_invalid_query_is_invalid(operation: str, query: invalid_inputs.InvalidQuery) -> None:
    """One value is invalid, or all are; the others are valid, as the description shows."""
    wrong = [
        name for name, value in query.query if (value not in KNOWN[name] if name in KNOWN else not value.isdigit())
    ]

    assert len(wrong) in {1, len(query.query)}
    assert query.what == "&".join(f"{name}={value}" for name, value in query.query)


@pytest.mark.parametrize("operation", BODIES)
def test_quick_runs_leave_some_bodies_out(operation: str) -> None:
    """A thorough run sends all."""
    assert invalid_inputs.bodies(operation, thorough=True) == list(BODIES[operation])
    assert invalid_inputs.bodies(operation, thorough=False) == [body for body in BODIES[operation] if not body.thorough]
    assert 0 < len(invalid_inputs.bodies(operation, thorough=False)) < len(BODIES[operation])


@pytest.mark.parametrize("operation", QUERIES)
def test_every_parameter_is_invalid_alone_and_among_valid_ones(operation: str) -> None:
    """Every parameter has an invalid value on its own, and beside valid values of all others."""
    known = (
        {"role", "page", "perPage"} if operation == "listMembers" else {"status", *KNOWN, "page", "perPage"} - {"role"}
    )
    wrong = [
        ({name for name, value in query.query if value == "abc" or value.startswith("no-such-")}, len(query.query))
        for query in QUERIES[operation]
    ]

    for name in known:
        assert ({name}, 1) in wrong
        assert ({name}, len(known)) in wrong


RENAMINGS = {
    "a body that is cut short": '{"name": "cf-x"',
    "text after the body": '{"name": "cf-x"} // and more',
    "single quotes": "{'name': 'cf-x'}",
    "an array as the body": '[{"name": "cf-x"}]',
    "a string as the body": '"cf-x"',
    "null as the body": "null",
    "a number for name": '{"name": 12345}',
    "false for name": '{"name": false}',
    "an array for name": '{"name": ["cf-x"]}',
    "an object for name": '{"name": {"value": "cf-x"}}',
}
THOROUGH_RENAMINGS = {
    "a comma too many": '{"name": "cf-x",}',
    "two bodies": '{"name": "cf-x"} {"name": "cf-x"}',
    "names without quotes": '{name: "cf-x"}',
    "a bare word as the body": "cf-x",
    "a number as the body": "12345",
    "a boolean as the body": "true",
    "an empty array as the body": "[]",
    "0 for name": '{"name": 0}',
    "a fraction for name": '{"name": 1.5}',
    "true for name": '{"name": true}',
    "an empty array for name": '{"name": []}',
    "an empty object for name": '{"name": {}}',
}


def test_bodies_in_place_of_a_new_name() -> None:
    """Every defect has a description; a thorough run sends what a quick run leaves out."""

    def sent(*, thorough: bool) -> dict[str, str]:
        bodies = invalid_inputs.bodies("updateCurrentOrganization", thorough=thorough)
        return {body.what: body.wire(label="cf-x").decode() for body in bodies}

    assert sent(thorough=False) == RENAMINGS
    assert sent(thorough=True) == RENAMINGS | THOROUGH_RENAMINGS


@pytest.mark.parametrize("operation", BODIES)
def test_a_quick_run_tries_one_lenient_defect(operation: str) -> None:
    """Each operation tries one, and all operations together try all of them."""
    ways = {"single quotes", "a comma too many", "names without quotes"}
    quick = {name: {body.what for body in invalid_inputs.bodies(name, thorough=False)} & ways for name in BODIES}

    assert len(quick[operation]) == 1
    assert set().union(*quick.values()) == ways
    assert ways <= {body.what for body in invalid_inputs.bodies(operation, thorough=True)}


def test_several_members_without_quotes() -> None:
    """All names are unquoted, and the values are unchanged."""
    (body,) = (body for body in BODIES["inviteMember"] if body.what == "names without quotes")

    assert body.wire(label="cf-x", domain="mail.test") == b'{email: "cf-x@mail.test", role: "member"}'


def test_a_string_as_the_body_is_only_sent_for_names() -> None:
    """A service that accepts a string as an object fails on an array and null too, which every operation is sent."""
    text = "a string as the body"
    quick = {name for name in BODIES if text in {body.what for body in invalid_inputs.bodies(name, thorough=False)}}

    assert quick == {"createEngagement", "updateEngagement", "updateCurrentOrganization"}


def test_which_missing_and_wrong_values_a_quick_run_tries() -> None:
    """A quick run leaves out only values that resemble another."""
    kinds = {Kind.MISSING, Kind.VALUE}
    left_out = {(name, body.what) for name, body in EVERY_BODY if body.kind in kinds and body.thorough}

    assert left_out == {
        ("createEngagement", "no field at all"),
        ("inviteMember", "an email without @ and dot"),
        ("inviteMember", "an empty email"),
    }
