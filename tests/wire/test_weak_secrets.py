"""Tests of weak secrets: short keys and ordinary words."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.running.common_words import ordinary_words
from conformance.wire import redaction
from conformance.wire.redaction import WITHHELD, Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

WEAK = ["a", "1", "k7Q+", "admin", "active", "archived", "conformance", "api_key", "passed", "organizations:read"]
RESPONSE = json.dumps(
    {"data": {"role": "admin", "status": "active", "name": "an archived one", "n": 1}, "error": {"code": "CONFLICT"}}
).encode()


def redactor(*secrets: str) -> Redactor:
    """Return a redactor with these keys."""
    made = Redactor(ordinary_words())
    for number, secret in enumerate(secrets):
        made.add(f"key {number}", secret)
    return made


@pytest.mark.parametrize("key", WEAK)
def test_a_weak_key_takes_nothing_away(key: str) -> None:
    """A response in words of the interface can still be judged, and outputs can be written."""
    made = redactor(key)

    assert made.weak == ["key 0"]
    assert made.bytes(RESPONSE) == RESPONSE
    assert made.find(RESPONSE) == []
    assert made.find(b'"<api_key>" core passed failed {"classes": [{"id": "core"}]}') == []


def test_weak_keys_are_reported_once_each() -> None:
    """Weak secrets are replaced as whole texts."""
    made = redactor("k7x9", "q4z2")
    made.add("key 1", "q4z2")

    assert made.weak == ["key 0", "key 1"]
    assert [made.bytes(data) for data in (b"k7x9", b"q4z2", b'["k7x9"]')] == [b"<key 0>", b"<key 1>", b'["<key 0>"]']


@pytest.mark.parametrize("key", WEAK)
@pytest.mark.parametrize("around", ["Bearer {}", '{{"seen": "Bearer {}"}}', "authorization: Bearer {}, and more", "{}"])
def test_a_reflected_header_does_not_tell_a_weak_key(key: str, around: str) -> None:
    """A key after its scheme is found in every usual encoding."""
    if around == "{}":
        around = base64.b64encode(f"Bearer {key}".encode()).decode()
    shown = redactor(key).text(around.format(key))

    assert "<key 0>" in shown
    assert f"Bearer {key}" not in shown


def test_a_key_that_a_document_shows_is_a_key() -> None:
    """Letters and digits are no ordinary word."""
    made = Redactor(b"Authorization: Bearer key0123456789")
    made.add("api_key", "key0123456789")

    assert made.weak == []
    assert made.text("it is key0123456789") == "it is <api_key>"


def test_a_word_that_begins_with_a_weak_key_stays_in_a_url_too() -> None:
    """Escaped forms are found."""
    made = redactor("core")

    assert made.text("Bearer%20cores") == "Bearer%20cores"
    assert made.text("Bearer%20core,") == "<key 0>,"
    assert made.text("Bearer%20cores, Bearer%20core") == "Bearer%20cores, <key 0>"


def test_a_word_that_begins_with_a_weak_key_stays() -> None:
    """Half a word is no key."""
    assert redactor("a").text("Use Bearer authentication") == "Use Bearer authentication"


@pytest.mark.parametrize("key", ["k7Q+", "x9-z"])
def test_a_short_key_is_replaced_if_it_is_a_whole_text(key: str) -> None:
    """A weak secret is replaced as a whole header or string."""
    made = redactor(key)

    assert made.text(key) == "<key 0>"
    assert made.text(f'{{"your key": "{key}"}}') == '{"your key": "<key 0>"}'
    assert made.text(f"page{key}2") == f"page{key}2"


def test_keys_within_keys_are_distinguished() -> None:
    """The longest secret is named, even if it contains a weak one."""
    made = redactor("abcdefgh", "abcdefghijkl", "abc", "fghijkl")

    assert made.text("abcdefghijkl abcdefgh abc fghijkl") == "<key 1> <key 0> abc <key 3>"


@pytest.mark.parametrize("around", ["%sabc", "abc%s", "x%s9", "%s_", "%s%s"])
def test_a_key_within_a_longer_word_is_a_key(around: str) -> None:
    """A suffix does not hide a secret, unless it is weak."""
    secret = "sk-live-0123456789"

    assert secret not in redactor(secret).text(around.replace("%s", secret))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_tell_no_key(encoding: str) -> None:
    """A body in UTF-16 or UTF-32 may show the key as well."""
    shown = redactor("sk-live-0123456789").bytes("the key is sk-live-0123456789.".encode(encoding))

    assert "sk-live-0123456789".encode(encoding) not in shown
    assert b"<key 0>" in shown


def test_nested_gzip_is_decompressed_to_a_limit() -> None:
    """Nested gzip bombs take limited memory."""
    bomb = gzip.compress(gzip.compress(bytes(redaction._MOST_UNPACKED + 1)))

    assert [len(inner) for inner in redaction._unpacked(bomb)][1:] == [redaction._MOST_UNPACKED]


@pytest.mark.parametrize("compress", [gzip.compress, *(partial(zlib.compress, level=level) for level in (0, 1, 5, 9))])
def test_compressed_bodies_show_no_key(compress: Callable[[bytes], bytes]) -> None:
    """A gzip or zlib body without a Content-Encoding is withheld if it contains the key."""
    made = redactor("sk-live-0123456789")
    secret, harmless = compress(b"Bearer sk-live-0123456789" * 9), compress(b"nothing")

    assert made.bytes(secret) == WITHHELD
    assert made.bytes(gzip.compress(secret)) == WITHHELD
    assert made.bytes(harmless) == harmless
    assert made.bytes(b"\x1f\x8b") == b"\x1f\x8b"
