"""What is sent to be refused is what it is said to be."""

from __future__ import annotations

import random
from base64 import b32decode, b32encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress

import pytest

from conformance.checks.every_operation import unknown_like
from conformance.checks.invalid_credentials import near_keys, other_schemes, rarer_schemes, telling, unknown_keys
from conformance.json_text import Malformed, Parsed, read_json
from conformance.operations import OPERATIONS, SCOPES
from conformance.oracle.invalid_inputs import BODIES, QUERIES, InvalidBody, Kind
from conformance.oracle.permissions import MATRIX, Permission, scopes

ALL_BODIES = [pytest.param(name, one, id=f"{name}: {one.what}") for name, table in BODIES.items() for one in table]
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
    """Random choices that are the same each time."""
    return random.Random(seed)


def as_sent(body: InvalidBody) -> bytes:
    """The bytes of a body with some label."""
    return body.wire(label="cf-label", domain="example.com", role="admin")


@pytest.mark.parametrize(("operation", "body"), ALL_BODIES)
def test_a_body_is_malformed_exactly_where_the_table_says_so(operation: str, body: InvalidBody) -> None:
    """A strict reader refuses the malformed bodies, and no other."""
    assert OPERATIONS[operation].takes_body
    assert isinstance(read_json(as_sent(body)), Malformed) is (body.kind is Kind.MALFORMED)


@pytest.mark.parametrize(("operation", "body"), ALL_BODIES)
def test_a_body_is_no_object_exactly_where_the_table_says_so(operation: str, body: InvalidBody) -> None:
    """Bodies that are JSON are objects, but for those that are there because they are not."""
    read = read_json(as_sent(body))
    if isinstance(read, Parsed):
        assert isinstance(read.value, dict) is (body.kind is not Kind.NO_OBJECT)
        assert body.kind is not Kind.MISSING or operation not in {"updateEngagement", "updateCurrentOrganization"}


@pytest.mark.parametrize("operation", list(BODIES))
def test_no_optional_field_is_null(operation: str) -> None:
    """Null for an optional field is left open, so that it is in no table."""
    required = {"createEngagement": {"name"}, "inviteMember": {"email", "role"}, "updateMemberRole": {"role"}}
    for body in BODIES[operation]:
        read = read_json(as_sent(body))
        if isinstance(read, Parsed) and isinstance(read.value, dict):
            assert {name for name, value in read.value.items() if value is None} <= required.get(operation, set())


@pytest.mark.parametrize("operation", [*BODIES, *QUERIES])
def test_no_two_requests_of_a_table_are_told_alike(operation: str) -> None:
    """Each is named by words of its own."""
    table = BODIES.get(operation) or QUERIES[operation]
    assert len({one.what for one in table}) == len(table)


def test_each_operation_with_a_body_has_a_table() -> None:
    """No operation that takes a body or parameters is left out."""
    assert set(BODIES) == {name for name, operation in OPERATIONS.items() if operation.takes_body}
    assert set(QUERIES) == {name for name, operation in OPERATIONS.items() if operation.response == "list"}


@pytest.mark.parametrize("key", KEYS)
def test_unknown_keys_are_not_the_real_one(key: str) -> None:
    """Whatever the seed, no key that must be refused is the real one, and each stands by itself."""
    for seed in range(50):
        made = [credential.authorization for _, credential in unknown_keys(key, seeded(seed))]
        assert made
        assert f"Bearer {key}" not in made
        assert len(set(made)) == len(made)


@pytest.mark.parametrize("key", KEYS)
def test_near_keys_are_nearly_the_real_one(key: str) -> None:
    """They differ from it in one character or in letter case; none is made of a key that could be guessed."""
    for seed in range(50):
        made = [
            (credential.authorization or "").removeprefix("Bearer ") for _, credential in near_keys(key, seeded(seed))
        ]
        assert key not in made
        assert all(len(one) == len(key) for one in made)
        assert all(
            one.casefold() == key.casefold() or sum(mine != other for mine, other in zip(one, key, strict=True)) == 1
            for one in made
        )
        assert made == [] or len(key) >= 16


@pytest.mark.parametrize("key", KEYS)
def test_all_that_tells_of_the_real_key_is_named(key: str) -> None:
    """Every wrong key that is made from it, and both of its halves where they are no words."""
    wrong = [credential for _, credential in (*unknown_keys(key, seeded(1)), *near_keys(key, seeded(1)))]
    texts = telling(key, wrong)

    made = {(credential.authorization or "").removeprefix("Bearer ") for credential in wrong} - {"null"}
    assert made <= set(texts)
    assert "null" not in texts
    assert all(len(half) >= 16 and half in key for half in set(texts) - made)


def test_both_halves_of_a_long_key_tell_of_it() -> None:
    """Of what stands behind the prefix that a service gives to all of its keys."""
    assert telling("sk_live_abcDEF12345678901234567890123456", []) == ["abcDEF1234567890", "1234567890123456"]
    assert telling("sk_live_abcDEF123456789012345678", []) == []


@pytest.mark.parametrize("length", [*range(16, 34), 64, 256])
def test_no_near_key_stands_for_the_same_bits(length: int) -> None:
    """Where a key is an encoding of bits, decoders may pass over those that are left at its end, or over case."""
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
            made = [(one.authorization or "").removeprefix("Bearer ") for _, one in near_keys(key, seeded(seed))]
            assert len(made) >= 2
            for one in made:
                with suppress(ValueError):  # no such encoding at all
                    assert read(one) != bits


def test_letter_case_of_a_uuid_says_nothing() -> None:
    """It is the same number in either; that of random letters is part of what they say."""
    number, letters = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "aBcDeFgHiJkLmNoPqRsT"

    assert [what for what, _ in near_keys(number, seeded(1)) if "case" in what] == []
    assert [what for what, _ in near_keys(letters, seeded(1)) if "case" in what] == [
        "the real key in other letter case"
    ]


@pytest.mark.parametrize("key", KEYS)
def test_other_schemes_show_the_real_key(key: str) -> None:
    """The real key is shown, and never as Bearer; a short one that no record could hide never stands alone."""
    values = [credential.authorization or "" for _, credential in (*other_schemes(key), *rarer_schemes(key))]
    assert not any(value.startswith("Bearer") for value in values)
    assert len(set(values)) == len(values)
    assert (key in values) is (len(key) >= 6)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_unknown_identifiers_are_new(identifier: str) -> None:
    """They differ from what they were made from, and from each other."""
    made = [unknown_like(identifier, seeded(seed)) for seed in range(30)]
    assert identifier not in made
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("identifier", ["550e8400-e29b-41d4-a716-446655440000", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
def test_unknown_identifiers_keep_the_shape(identifier: str) -> None:
    """Long ones keep their length, their marks and what their first half says."""
    made = unknown_like(identifier, seeded(1))
    assert len(made) == len(identifier)
    assert made[:10] == identifier[:10]
    assert [place for place, sign in enumerate(made) if sign == "-"] == [
        place for place, sign in enumerate(identifier) if sign == "-"
    ]


def test_without_an_example_an_unknown_identifier_is_a_uuid() -> None:
    """Where no identifier was seen, a random UUID serves."""
    assert len(unknown_like(None, seeded(1))) == 36


def test_the_matrix_of_permissions() -> None:
    """Every listed permission allows, other families and reads are refused, the rest is open."""
    counted = {kind: sum(one is kind for one in MATRIX.values()) for kind in Permission}
    assert counted == {Permission.ALLOWED: 11, Permission.REFUSED: 36, Permission.OPEN: 18}
    assert scopes("deleteEngagement", Permission.REFUSED) == (*SCOPES[:2], "engagements:read")
    assert scopes("listEngagements", Permission.OPEN) == SCOPES
