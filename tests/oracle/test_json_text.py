"""The strict JSON reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.json_text import Malformed, Parsed, SharedValues, TooDeep, read_json

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_json_round_trip(value: object) -> None:
    """Every JSON value is read back as it was written."""
    assert read_json(json.dumps(value).encode()) == Parsed(value)


@given(st.lists(JSON_VALUES, max_size=6))
def test_shared_values_are_what_was_written(values: list[object]) -> None:
    """Texts that share values are read as each alone, down to the types, and equal texts have the same values."""
    shared = SharedValues()
    texts = [json.dumps(value).encode() for value in values]

    read = [read_json(text, shared) for text in texts]

    assert [repr(each) for each in map(_value, read)] == [repr(_value(read_json(text))) for text in texts]
    for text, once in zip(texts, read, strict=True):
        again = read_json(text, shared)
        assert (_value(again) is _value(once)) or not isinstance(_value(once), dict | list)
        assert isinstance(again, Parsed)
        assert again.size == 0


def _value(reading: object) -> object:
    assert isinstance(reading, Parsed)
    return reading.value


def _first(reading: Parsed) -> object:
    assert isinstance(reading.value, dict)
    return reading.value["data"][0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "true"),
        ("1", "1.0"),
        ("0.0", "-0.0"),
        ("null", '"None"'),
        ("1", '"1"'),
        ("[]", "{}"),
        ('{"a": 1}', '{"a": true}'),
        ('["1"]', "[1]"),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ],
)
def test_unequal_values_are_not_shared(one: str, other: str) -> None:
    """Values of other types, and objects of another order, stay apart also inside of others."""
    shared = SharedValues()

    for text in (one, other):
        for whole in ('{"x": %s}', "[%s]", '{"data": [{"x": [%s]}]}'):
            read = read_json((whole % text).encode(), shared)
            assert repr(_value(read)) == repr(json.loads(whole % text))


def test_items_of_lists_are_shared() -> None:
    """An item that is in two lists is one object, and takes memory once."""
    shared = SharedValues()
    one, other = (
        read_json(text.encode(), shared)
        for text in ('{"data": [{"id": "a", "tags": ["t"]}, {"id": "b"}]}', '{"data": [{"id": "a", "tags": ["t"]}]}')
    )

    assert isinstance(one, Parsed)
    assert isinstance(other, Parsed)
    assert _first(one) is _first(other)
    assert one.size > other.size > 0
    assert shared.size == one.size + other.size


@given(st.binary())
def test_any_bytes_end_in_a_reading(text: bytes) -> None:
    """No bytes raise an exception."""
    assert isinstance(read_json(text), Parsed | Malformed | TooDeep)


@given(st.text(alphabet='{}[]",:\\ab01 .eE-nulltruefas'))
def test_the_reader_is_as_strict_as_json(text: str) -> None:
    """The reader accepts nothing that a JSON parser refuses."""
    if isinstance(read_json(text.encode()), Parsed):
        json.loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ('{"a":1}'.encode("utf-16"), "not UTF-8"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"{'a': 1}", "double quotes"),
        (b"{} {}", "Extra data"),
        (b"", "Expecting value"),
    ],
)
def test_malformed_json_has_a_reason(text: bytes, reason: str) -> None:
    """A refusal names its reason."""
    reading = read_json(text)

    assert isinstance(reading, Malformed)
    assert reason in reading.reason


def test_a_repeated_name_is_noticed() -> None:
    """The last value counts, and the name is reported."""
    read = read_json(b'{"a": 1, "b": {"a": 2, "c": 0, "a": 3}}')

    assert read == Parsed({"a": 1, "b": {"a": 3, "c": 0}}, ("a",))


@pytest.mark.parametrize(("levels", "kind"), [(100, Parsed), (101, TooDeep), (100_000, TooDeep)])
def test_nesting_is_judged_to_a_hundred_levels(levels: int, kind: type) -> None:
    """Deeper texts are neither right nor wrong."""
    assert isinstance(read_json(b"[" * levels + b"]" * levels), kind)
    assert isinstance(read_json(b'{"a":' * levels + b"0" + b"}" * levels), kind)
    if levels < 1000:
        assert isinstance(read_json(b"[" * 50 + b"[]," + b"[" * (levels - 50) + b"]" * levels), kind)


def test_siblings_are_no_nesting() -> None:
    """A closed bracket no longer counts."""
    assert isinstance(read_json(json.dumps([[{}]] * 200).encode()), Parsed)


@pytest.mark.parametrize("before", [b'"a",', b'"]}",', b"[],", b'{"a":{}},'])
@pytest.mark.parametrize(("levels", "kind"), [(100, Parsed), (101, TooDeep)])
def test_earlier_brackets_do_not_reduce_the_depth(before: bytes, levels: int, kind: type) -> None:
    """A closing bracket only closes its own, and a string closes none."""
    text = b"[" + before * 5 + b"[" * (levels - 1) + b"0" + b"]" * levels

    assert isinstance(read_json(text), kind)


@pytest.mark.parametrize(("parts", "kind"), [(100_000, Parsed), (100_001, TooDeep)])
def test_the_number_of_parts_is_limited(parts: int, kind: type) -> None:
    """Numbers count separately, strings together with brackets."""
    numbers, strings = [0] * parts, [""] * (parts - 2)

    assert isinstance(read_json(json.dumps(numbers).encode()), kind)
    assert isinstance(read_json(json.dumps(strings).encode()), kind)


def test_too_many_parts_have_their_own_reason() -> None:
    """The reason distinguishes them from deep nesting."""
    reading = read_json(b"[" + b"{}," * 100_000 + b"{}]")

    assert reading == TooDeep("it has more than the 100000 parts that are judged")


def test_commas_in_strings_do_not_count() -> None:
    """A long text of commas is one string."""
    assert isinstance(read_json(json.dumps(["," * 200_000]).encode()), Parsed)


def test_brackets_in_strings_are_no_nesting() -> None:
    """Only brackets outside strings count."""
    text = json.dumps(["[" * 500, '"' + "{" * 500]).encode()

    assert isinstance(read_json(text), Parsed)


@pytest.mark.parametrize("text", [b"1e400", b"9" * 10_000])
def test_numbers_beyond_any_type_are_read(text: bytes) -> None:
    """A number is JSON, whatever its size."""
    assert isinstance(read_json(text), Parsed)


@pytest.mark.parametrize(("digits", "kind"), [(30, int), (31, float)])
def test_long_integers_are_exact_up_to_a_length(digits: int, kind: type) -> None:
    """Longer integers cost no more than other numbers."""
    reading = read_json(b"7" * digits)

    assert isinstance(reading, Parsed)
    assert type(reading.value) is kind
