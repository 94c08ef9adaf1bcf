"""Safe output of text of unknown origin."""

from __future__ import annotations

import json
import math
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.text import bounded, json_bytes, one_line, visible

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(ANY_JSON)
def test_any_value_becomes_json_that_strict_readers_take(value: object) -> None:
    """The text is UTF-8, without lone surrogates in any spelling, and without NaN or Infinity."""
    text = json_bytes(value).decode("utf-8")

    read = json.loads(text, parse_constant=pytest.fail)
    json.dumps(read, ensure_ascii=False).encode("utf-8")


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_proper_values_read_back_exactly(value: dict[str, Any]) -> None:
    """Values that JSON can represent are unchanged."""
    assert json.loads(json_bytes(value, indent=1)) == value


@pytest.mark.parametrize("text", ["\ud800", "\\\ud800", "a\udfffb", "\ud83d\ude00"])
def test_a_lone_surrogate_is_written_as_text_that_shows_it(text: str) -> None:
    """The text shows the number of the surrogate, and a preceding backslash is kept."""
    read = json.loads(json_bytes(text))

    assert read == re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def test_numbers_that_json_lacks_become_strings() -> None:
    """Infinity becomes a string at any depth."""
    assert json.loads(json_bytes({"a": [math.inf, (-math.inf, 1.5)]})) == {"a": ["inf", ["-inf", 1.5]]}


@given(ANY_TEXT)
def test_visible_text_is_legal_in_xml_and_harmless_in_a_terminal(text: str) -> None:
    """No control or format character remains, and an XML parser returns the same text."""
    shown = visible(text)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    element = ET.Element("text")
    element.text = shown
    assert (ET.fromstring(ET.tostring(element, encoding="utf-8")).text or "") == shown  # noqa: S314 - the suite's own text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1bb", "a⟨U+001B⟩b"),
        ("\u202eexe", "⟨U+202E⟩exe"),
        ("\ufffe\U0010ffff", "⟨U+FFFE⟩⟨U+10FFFF⟩"),
        ("é\t\n🚀", "é\t\n🚀"),
    ],
)
def test_hidden_characters_are_shown_by_number(text: str, shown: str) -> None:
    """Hidden characters become visible, and ordinary text is unchanged."""
    assert visible(text) == shown


def test_one_line_merges_white_space() -> None:
    """No kind of line break starts a new line."""
    assert one_line("a\n\n# b\r\n\u2028 c") == "a # b c"


def test_bounded_text_says_what_it_leaves_out() -> None:
    """A cut text says how many characters are omitted."""
    assert bounded("x" * 1010, 10) == "x" * 10 + "… (1,000 more characters)"
    assert bounded("x" * 10, 10) == "x" * 10
