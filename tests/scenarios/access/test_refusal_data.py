"""Data of requests that must be refused, which must be invalid as labelled."""

from __future__ import annotations

import random
from base64 import b32decode, b32encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress

import pytest

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.json_text import Malformed, Parsed, read_json
from conformance.oracle.permissions import MATRIX, Rule, keys_with
from conformance.scenarios.access.every_operation import unknown_like
from conformance.scenarios.access.invalid_credentials import (
    near_keys,
    other_schemes,
    rarer_schemes,
    revealing_texts,
    unknown_keys,
)
from conformance.scenarios.access.invalid_inputs import BODIES, QUERIES, InvalidBody, Kind

ALL_BODIES = [pytest.param(name, body, id=f"{name}: {body.what}") for name, table in BODIES.items() for body in table]
KEYS = ["a", "secret", "sk_live_abcDEF123456789012345678", "-" * 30, "x" * 40, "ab.cd_ef-1234567890abcdefghij"]
IDENTIFIERS = [
    "eng_12",
    "7",
    "abc",
    "eng_wEuPL4cWSgtj5d295aLUEQ",
    "550e8400-e29b-41d4-a716-446655440000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "17283746512345678",
    "a.b.c",
    "x" * 200,
    "~~~a",
    "/ü%1",
]


def seeded(seed: int) -> random.Random:
    """Return a repeatable random generator."""
    return random.Random(seed)


def as_sent(body: InvalidBody) -> bytes:
    """Return the bytes of a body with some label."""
    return body.wire(label="cf-label", domain="example.com", role="admin")


@pytest.mark.parametrize(("operation", "body"), ALL_BODIES)
def test_a_body_is_malformed_exactly_where_the_table_says_so(operation: str, body: InvalidBody) -> None:
    """A strict parser refuses exactly the bodies that are marked as malformed."""
    assert OPERATIONS[operation].takes_body
    assert isinstance(read_json(as_sent(body)), Malformed) is (body.kind is Kind.MALFORMED)


@pytest.mark.parametrize(("operation", "body"), ALL_BODIES)
def test_a_body_is_no_object_exactly_where_the_table_says_so(operation: str, body: InvalidBody) -> None:
    """Exactly the JSON bodies marked as no object are no objects."""
    read = read_json(as_sent(body))
    if isinstance(read, Parsed):
        assert isinstance(read.value, dict) is (body.kind is not Kind.NO_OBJECT)
        assert body.kind is not Kind.MISSING or operation not in {"updateEngagement", "updateCurrentOrganization"}


@pytest.mark.parametrize("operation", list(BODIES))
def test_no_optional_field_is_null(operation: str) -> None:
    """No table has null for an optional field, since that is left open."""
    required = {"createEngagement": {"name"}, "inviteMember": {"email", "role"}, "updateMemberRole": {"role"}}
    for body in BODIES[operation]:
        read = read_json(as_sent(body))
        if isinstance(read, Parsed) and isinstance(read.value, dict):
            assert {name for name, value in read.value.items() if value is None} <= required.get(operation, set())


@pytest.mark.parametrize("operation", [*BODIES, *QUERIES])
def test_requests_of_a_table_have_unique_labels(operation: str) -> None:
    """Every request of a table has a unique label."""
    table = BODIES.get(operation) or QUERIES[operation]
    assert len({body.what for body in table}) == len(table)


def test_each_operation_with_a_body_has_a_table() -> None:
    """Every operation with a body or parameters has a table."""
    assert set(BODIES) == {name for name, operation in OPERATIONS.items() if operation.takes_body}
    assert set(QUERIES) == {name for name, operation in OPERATIONS.items() if operation.response == "list"}


@pytest.mark.parametrize("key", KEYS)
def test_unknown_keys_are_not_the_real_one(key: str) -> None:
    """For any seed, no unknown key is the real one, and each is a complete key."""
    for seed in range(50):
        made = [credential.authorization for _, credential in unknown_keys(key, seeded(seed))]
        assert made
        assert f"Bearer {key}" not in made
        assert len(set(made)) == len(made)


@pytest.mark.parametrize("key", KEYS)
def test_near_keys_are_nearly_the_real_one(key: str) -> None:
    """Near keys differ from the real one in a character or in letter case, and none can be guessed."""
    for seed in range(50):
        made = [
            (credential.authorization or "").removeprefix("Bearer ") for _, credential in near_keys(key, seeded(seed))
        ]
        assert key not in made
        assert all(len(near) == len(key) for near in made)
        assert all(
            near.casefold() == key.casefold() or sum(mine != other for mine, other in zip(near, key, strict=True)) == 1
            for near in made
        )
        assert made == [] or len(key) >= 16


@pytest.mark.parametrize("key", KEYS)
def test_every_text_that_reveals_the_real_key_is_listed(key: str) -> None:
    """Every wrong key that reveals the real one is listed, and both of its halves."""
    wrong = [credential for _, credential in (*unknown_keys(key, seeded(1)), *near_keys(key, seeded(1)))]
    texts = revealing_texts(key, wrong)

    made = {(credential.authorization or "").removeprefix("Bearer ") for credential in wrong} - {"null"}
    assert made <= set(texts)
    assert "null" not in texts
    assert all(len(half) >= 16 and half in key for half in set(texts) - made)


def test_both_halves_of_a_long_key_tell_of_it() -> None:
    """Both halves of a long key reveal it, counted after the service's prefix."""
    assert revealing_texts("sk_live_abcDEF12345678901234567890123456", []) == ["abcDEF1234567890", "1234567890123456"]
    assert revealing_texts("sk_live_abcDEF123456789012345678", []) == []


@pytest.mark.parametrize("length", [*range(16, 34), 64, 256])
def test_no_near_key_stands_for_the_same_bits(length: int) -> None:
    """No near key decodes to the same bits, even if decoders ignore trailing bits or case."""
    for seed in range(50):
        bits = random.Random(seed).randbytes(length)
        readings: dict[str, Callable[[str], bytes]] = {
            urlsafe_b64encode(bits).decode().rstrip("="): lambda key: urlsafe_b64decode(key + "=" * (-len(key) % 4)),
            b32encode(bits).decode().rstrip("="): lambda key: b32decode(key + "=" * (-len(key) % 8), casefold=True),
            b32encode(bits).decode().rstrip("=").lower(): lambda key: b32decode(key + "=" * (-len(key) % 8), True),
            bits.hex(): bytes.fromhex,
            bits.hex().upper(): bytes.fromhex,
        }
        for key, read in readings.items():
            made = [(near.authorization or "").removeprefix("Bearer ") for _, near in near_keys(key, seeded(seed))]
            assert len(made) >= 2
            for near in made:
                with suppress(ValueError):  # not in this encoding
                    assert read(near) != bits


def test_letter_case_of_a_uuid_says_nothing() -> None:
    """The case of a UUID has no meaning, that of random letters has."""
    number, letters = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "aBcDeFgHiJkLmNoPqRsT"

    assert [what for what, _ in near_keys(number, seeded(1)) if "case" in what] == []
    assert [what for what, _ in near_keys(letters, seeded(1)) if "case" in what] == [
        "the real key in other letter case"
    ]


@pytest.mark.parametrize("key", KEYS)
def test_other_schemes_show_the_real_key(key: str) -> None:
    """The real key is sent under other schemes, and without a scheme only if it is long enough to be redacted."""
    values = [credential.authorization or "" for _, credential in (*other_schemes(key), *rarer_schemes(key))]
    assert not any(value.startswith("Bearer") for value in values)
    assert len(set(values)) == len(values)
    assert (key in values) is (len(key) >= 6)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_unknown_identifiers_are_new(identifier: str) -> None:
    """Unknown identifiers differ from their source and from each other."""
    made = [unknown_like(identifier, seeded(seed)) for seed in range(30)]
    assert identifier not in made
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("identifier", ["550e8400-e29b-41d4-a716-446655440000", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
def test_unknown_identifiers_keep_the_shape(identifier: str) -> None:
    """Long unknown identifiers keep length, punctuation and the first half."""
    made = unknown_like(identifier, seeded(1))
    assert len(made) == len(identifier)
    assert made[:10] == identifier[:10]
    assert [place for place, sign in enumerate(made) if sign == "-"] == [
        place for place, sign in enumerate(identifier) if sign == "-"
    ]


def test_without_an_example_an_unknown_identifier_is_a_uuid() -> None:
    """Without an example an unknown identifier is a random UUID."""
    assert len(unknown_like(None, seeded(1))) == 36


def test_the_matrix_of_permissions() -> None:
    """Every listed permission allows, other families and reads are refused, the rest is open."""
    counted = {kind: sum(rule is kind for (key, _), rule in MATRIX.items() if key in SCOPES) for kind in Rule}
    assert counted == {Rule.ALLOWED: 11, Rule.REFUSED: 36, Rule.OPEN: 18}
    assert keys_with(Rule.REFUSED, "deleteEngagement") == (
        *SCOPES[:2], "engagements:read", "both read permissions", "no permission"
    )  # fmt: skip
    assert keys_with(Rule.OPEN, "listEngagements")[: len(SCOPES)] == SCOPES
