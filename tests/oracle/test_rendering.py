"""Rendering of values: one line, bounded and total."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle.lists.collation import SYLLABLES, name_key, syllables
from conformance.oracle.rendering import kind_of, one_of, render


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (False, "boolean"),
        (0, "number"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_the_json_type_of_a_value(value: object, kind: str) -> None:
    """A boolean is no number."""
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        ('a"b\nc', '"a\\"b\\nc"'),
        ("\u00e9", '"\\u00e9"'),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        ("a" * 200, f'"{"a" * 200}"'),
        ("a" * 201, f'"{"a" * 200}"... (201 characters)'),
        ("\u00e9" * 300, json.dumps("\u00e9" * 200) + "... (300 characters)"),
        ([1] * 201, "array of 201 members"),
        ({str(number): 1 for number in range(201)}, "object of 201 members"),
        ([1] * 100, json.dumps([1] * 100)),
        (["a" * 396], json.dumps(["a" * 396])),
        (["a" * 397], json.dumps(["a" * 397])[:400] + "... (401 characters)"),
        ([100] * 200, json.dumps([100] * 200)[:400] + "... (1000 characters)"),
        ({1j}, '"{1j}"'),
    ],
)
def test_a_value_in_one_line(value: object, text: str) -> None:
    """It is JSON in ASCII; long values are cut or counted."""
    assert render(value) == text


@settings(max_examples=30)
@given(st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.floats() | st.binary()))
def test_every_value_is_bounded(value: object) -> None:
    """The text has no line breaks and no characters beyond ASCII."""
    text = render(value)

    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert len(text) < 2500


@pytest.mark.parametrize(
    ("choices", "words"), [((400,), "400"), ((400, 422), "400 or 422"), (("a", 2, "c"), "a, 2 or c")]
)
def test_choices(choices: tuple[object, ...], words: str) -> None:
    """They keep their order."""
    assert one_of(*choices) == words


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cf-x-walk-ba", "ba"),
        ("-walk-bafe", "bafe"),
        ("cf-x-walk-", None),
        ("walk-ba", None),
        ("cf-x-walk-ca", None),
        ("cf-x-walk-bab", None),
        ("cf-x-walk-BA", None),
        ("cf-x-walk-ba ", None),
        ("cf-x-WALK-ba", None),
        ("", None),
    ],
)
def test_names_that_every_collation_orders_alike(name: str, key: str | None) -> None:
    """Their keys are their syllables; other names have no key."""
    assert name_key(name) == key


@pytest.mark.parametrize(
    ("number", "text"), [(0, "baba"), (1, "babe"), (34, "baru"), (35, "beba"), (1224, "ruru"), (1225, "baba")]
)
def test_a_number_in_syllables(number: int, text: str) -> None:
    """The texts sort as the numbers do."""
    assert syllables(number) == text
    assert list(SYLLABLES) == sorted(SYLLABLES)
