"""Observations: short texts, the same between targets, and total."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.oracle import observe
from tests.fakes.exchanges import make_exchange

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
LETTERS = string.ascii_lowercase
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def error(code: object) -> dict[str, object]:
    """Return the body of an error with this code."""
    return {"error": {"code": code, "message": "", "statusCode": 0}}


# --- responses


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, {"data": {}}, "200"),
        (409, error("CONFLICT"), "409 CONFLICT"),
        (400, error("BAD.REQUEST-1_$"), "400 BAD.REQUEST-1_$"),
        (399, error("CONFLICT"), "399"),
        (201, error("CONFLICT"), "201"),
        (500, error("C" * 60), f"500 {'C' * 60}"),
        (500, error("C" * 61), "500 (odd)"),
        (404, error("not found"), "404 (odd)"),
        (404, error(""), "404 (odd)"),
        (404, error("A\n"), "404 (odd)"),
        (404, error(7), "404"),
        (404, error(None), "404"),
        (404, {"error": "CONFLICT"}, "404"),
        (404, {"code": "CONFLICT"}, "404"),
        (404, ["CONFLICT"], "404"),
        (404, "CONFLICT", "404"),
    ],
)
def test_describe_response(status: int, body: object, words: str) -> None:
    """The text has the status, and an error's code if that is safe in a sentence."""
    assert observe.describe_response(make_exchange(status=status, body=body)) == words


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff"])
def test_an_error_without_json(raw: bytes) -> None:
    """The text has the status alone."""
    assert observe.describe_response(make_exchange(status=404, body=raw)) == "404"


def test_why_there_is_no_response() -> None:
    """The text has the reason; a 429 is a response only if the request expected it."""
    limited = make_exchange(status=429, body=error("RATE_LIMITED"))

    assert observe.describe_response(make_exchange(status=None)) == "no response (the connection broke)"
    assert (
        observe.describe_response(make_exchange(status=502))
        == "no response (a gateway responded with 502 in place of the service)"
    )
    assert observe.describe_response(limited) == "no response (the service returned only 429)"
    assert (
        observe.describe_response(replace(limited, request=replace(limited.request, expects_429=True)))
        == "429 RATE_LIMITED"
    )


# --- members


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "none"),
        ({"id": 1}, "id"),
        ({"name": 1, "id": 2, "Zip": None}, "Zip, id, name"),
        ({"a b": 1, "id": 2}, "(odd), id"),
        (dict.fromkeys(LETTERS[:20]), ", ".join(LETTERS[:20])),
        (dict.fromkeys(LETTERS[:21]), ", ".join(LETTERS[:20]) + " and 1 more"),
        (dict.fromkeys(LETTERS), ", ".join(LETTERS[:20]) + " and 6 more"),
        ([{"id": 1}], "no object data"),
        (None, "no object data"),
        ("id", "no object data"),
    ],
)
def test_which_members_a_response_has(data: object, words: str) -> None:
    """Members are sorted, and only counted if they are many."""
    assert observe.members(make_exchange(body={"data": data})) == words


@pytest.mark.parametrize("status", [200, 404, 502])
def test_members_of_any_status(status: int) -> None:
    """The status makes no difference."""
    assert observe.members(make_exchange(status=status, body={"data": {"id": 1}})) == "id"


def test_no_members() -> None:
    """A missing response, a body that is no JSON and other types have none."""
    for made in (make_exchange(status=None), make_exchange(body=b"{"), make_exchange(body=[]), make_exchange(body={})):
        assert observe.members(made) == "no object data"


@pytest.mark.parametrize(
    ("holder", "words"),
    [
        ({}, "absent"),
        ({"other": "text"}, "absent"),
        ({"name": None}, "null"),
        ({"name": ""}, "empty"),
        ({"name": " "}, "text"),
        ({"name": "null"}, "text"),
        ({"name": 0}, "number"),
        ({"name": False}, "boolean"),
        ({"name": []}, "array"),
        ({"name": {}}, "object"),
    ],
)
def test_kinds_of_members(holder: dict[str, object], words: str) -> None:
    """An empty text differs from another text."""
    assert observe.reads(holder, "name") == words


# --- texts


@pytest.mark.parametrize(
    ("sent", "got", "words"),
    [
        ("a  b", "a  b", "kept as sent"),
        ("", "", "kept as sent"),
        (" a  b ", "a  b", "trimmed"),
        ("a  b", "a b", "blanks merged"),
        (" a \t b ", "a b", "blanks merged"),
        ("e\u0301", "\u00e9", "normalized to NFC"),
        ("\u00e9", "e\u0301", "normalized to NFD"),
        ("\ufb01x", "fix", "normalized to NFKC"),
        ("a\u200bb\u0007", "ab", "control and format characters left out"),
        ("a\u0007b", "ab", "control and format characters left out"),
        ("a\u200db", "ab", "control and format characters left out"),
        ("a", "b", "changed otherwise"),
        ("A", "a", "changed otherwise"),
        (" a\u0007 ", "a", "changed otherwise"),
        ("a", None, "null"),
        ("1", 1, "number"),
        ("a", ["a"], "array"),
    ],
)
def test_recorded_changes_of_a_text(sent: str, got: object, words: str) -> None:
    """The first usual change that explains the text is reported."""
    assert observe.recorded_change(sent, got) == words


# --- identifiers


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("0", "digits"),
        ("1234567890123456789", "digits"),
        ("\u0661\u0662", "letters, digits, - or _, and U+0661 U+0662"),
        (UUID, "a UUID"),
        (UUID.upper(), "a UUID"),
        (f"x{UUID}", "37 letters, digits, - or _"),
        (f"{UUID}x", "37 letters, digits, - or _"),
        (UUID.replace("-", ""), "32 letters, digits, - or _"),
        (ULID, "a ULID"),
        (ULID.lower(), "26 letters, digits, - or _"),
        (f"8{ULID[1:]}", "26 letters, digits, - or _"),
        (f"{ULID[:-1]}U", "26 letters, digits, - or _"),
        (f"{ULID}0", "27 letters, digits, - or _"),
        ("eng_1", "letters, digits, - or _"),
        ("a" * 15, "letters, digits, - or _"),
        ("a" * 16, "16 letters, digits, - or _"),
        ("azAZ09-_", "letters, digits, - or _"),
        ("org:a.b:c", "letters, digits, - or _, and . :"),
        ("b~a b\u00e4", "letters, digits, - or _, and   ~ U+00E4"),
        ("a\n", "letters, digits, - or _, and U+000A"),
        ("a\U0001f600", "letters, digits, - or _, and U+1F600"),
        ("!\"#$%&'()*+,", "letters, digits, - or _, and ! \" # $ % & ' ( ) *"),
        ("", "letters, digits, - or _"),
    ],
)
def test_forms_of_identifiers(identifier: str, words: str) -> None:
    """Unusual characters are listed once each, in order, up to ten."""
    assert observe.shape(identifier) == words


@given(st.text())
def test_every_observation_is_total(text: str) -> None:
    """Any exchange yields a short text that is safe to print."""
    for words in (
        observe.shape(text),
        observe.recorded_change(text, text[:-1]),
        observe.describe_response(make_exchange(status=404, body=error(text))),
        observe.members(make_exchange(body={"data": {text: 1}})),
    ):
        assert len(words) < 200
        assert words.isascii()
        assert words.isprintable()
