"""Tests that refusals show no piece of a key."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import TYPE_CHECKING

import httpx
import pytest

from conformance.running.common_words import ordinary_words
from conformance.wire.key_pieces import LENGTH, KeyPieces
from conformance.wire.redaction import WITHHELD, Redactor
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.requests import Credential, get_organization
from conformance.wire.settings import WireSettings

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dcN2bV"
SETTINGS = WireSettings(base_url="http://x.test", credential=Credential.bearer("api_key", KEY))
ENVELOPE = {"error": {"statusCode": 401, "code": "UNAUTHORIZED", "message": "Invalid API key."}}
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "capitals": str.upper,
    "small letters": str.lower,
    "the other letter case": str.swapcase,
    "base64": lambda piece: base64.b64encode(piece.encode()).decode(),
    "base64 of a sentence": lambda piece: base64.b64encode(f"key {piece}".encode()).decode(),
    "base64 in the other letter case": lambda piece: base64.b64encode(piece.swapcase().encode()).decode(),
    "base32": lambda piece: base64.b32encode(piece.encode()).decode(),
    "hexadecimal": lambda piece: piece.encode().hex().upper(),
    "percent": lambda piece: "".join(f"%{byte:02x}" for byte in piece.encode()),
    "JSON in JSON": lambda piece: json.dumps({"key": piece}),
}


def pieces(key: str = KEY) -> KeyPieces:
    """Redaction of the pieces of a key."""
    return KeyPieces(key, Redactor(ordinary_words()).is_word)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", [0, 5, len(KEY) - 12])
def test_no_piece_of_a_key_is_recorded(form: str, start: int) -> None:
    """Pieces from any part of a key are removed, in any usual encoding, from body and headers."""
    shown = FORMS[form](KEY[start : start + 12])
    body = {"error": ENVELOPE["error"] | {"message": f"Unknown API key: {shown}..."}}

    redacted = json.loads(pieces().body(json.dumps(body).encode()))
    headers = pieces().headers((("X-Key", f"not {shown}"), ("X-RateLimit-Limit", "100")))

    assert redacted["error"] == ENVELOPE["error"] | {"message": "<withheld: a piece of a key was in it>"}
    assert headers == (("X-Key", "<withheld: a piece of a key was in it>"), ("X-RateLimit-Limit", "100"))


def test_a_body_without_a_piece_stays() -> None:
    """Only pieces of the full length are removed, and no ordinary words."""
    for text in (f"...{KEY[-LENGTH + 1 :]}", "Invalid API key.", "\u00fc \\u00fc"):
        body = json.dumps({"error": ENVELOPE["error"] | {"message": text}}, indent=3).encode()
        assert pieces().body(body) is body
    body = json.dumps(ENVELOPE).encode()
    assert pieces("the-organization-is-unauthorized").body(body) is body


def test_a_body_that_is_no_json_is_withheld_as_a_whole() -> None:
    """A body without JSON is withheld; in JSON only the string is removed."""
    assert pieces().body(f"Unknown API key: {KEY[:12]}".encode()) == WITHHELD
    assert (
        pieces().body(f'Unknown key "{KEY[:12]}"'.encode()) == b'Unknown key "<withheld: a piece of a key was in it>"'
    )


def test_numbers_stay_numbers() -> None:
    """A key of digits removes no times and limits."""
    body = b'{"error": {"statusCode": 401, "at": 17672256001767, "message": "not 17672256001767"}}'
    made = pieces("1767225600176722560017672256")

    assert json.loads(made.body(body))["error"] == {
        "statusCode": 401, "at": 17672256001767, "message": "<withheld: a piece of a key was in it>",
    }  # fmt: skip
    assert made.headers((("X-RateLimit-Reset", "1767225600"),)) == (("X-RateLimit-Reset", "1767225600"),)


def test_large_bodies_show_no_long_piece() -> None:
    """In a large body only longer pieces are searched for."""
    for before in range(20):
        body = json.dumps({"data": ["." * (70_000 + before) + KEY[3:20]]}).encode()
        assert KEY[3:20].encode() not in pieces().body(body)


@pytest.mark.parametrize("key", ["", "abc", "k7Q+", "admin"])
def test_short_keys_take_no_word_away(key: str) -> None:
    """A short key counts as one piece, unless it is a word."""
    body = json.dumps({"error": ENVELOPE["error"] | {"message": f"The admin k7Q+ abc {key}"}}).encode()

    assert (pieces(key).body(body) is body) is (key != "k7Q+")


def test_a_key_of_thousands_of_characters_is_no_burden() -> None:
    """Pieces at the end of a body are found."""
    key = "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=4_000))

    assert pieces(key).body(json.dumps([key[-20:]]).encode()) == b'["<withheld: a piece of a key was in it>"]'


@pytest.mark.parametrize(
    ("credential", "status", "shown"),
    [
        (Credential("unknown_key", f"Bearer {KEY[:20]}ABCDEFGH", invalid=True), 401, False),
        (Credential("unknown_key", f"Bearer {KEY[:20]}ABCDEFGH", invalid=True), 200, False),
        (Credential("no_key", None, invalid=True), 401, False),
        (None, 401, False),
        (None, 200, True),
    ],
)
def test_refusals_alone_lose_pieces(credential: Credential | None, status: int, *, shown: bool) -> None:
    """Only refusals and responses to wrong keys are searched for pieces."""
    request_builder = RequestBuilder(
        WireSettings(base_url="http://x.test", credential=Credential.bearer("api_key", KEY)), Redactor()
    )
    request = get_organization() if credential is None else get_organization().with_key(credential)

    response = request_builder.recorded(request, httpx.Response(status), json.dumps([KEY[:12]]).encode())

    assert (KEY[:12].encode() in response.body) is shown


def test_a_refused_key_loses_its_own_pieces() -> None:
    """The same holds for other keys than the main key."""
    request_builder = RequestBuilder(
        WireSettings(base_url="http://x.test", credential=Credential.bearer("api_key", KEY)), Redactor()
    )
    request = get_organization().with_key(Credential.bearer("member_1", "another-key-0123456789"))

    response = request_builder.recorded(request, httpx.Response(401), b'["another-key-01..."]')

    assert response.body == b'["<withheld: a piece of a key was in it>"]'
