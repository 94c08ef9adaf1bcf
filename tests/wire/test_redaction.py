"""Tests that no secret stays in a record, in any usual encoding."""

from __future__ import annotations

import base64
import html
import json
import quopri
import textwrap
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.wire.escapes import without_escapes
from conformance.wire.redaction import (
    SHORTEST,
    WITHHELD,
    Redactor,
    _is_figure,
    _Needle,
    _needle,
    _Sieve,
)
from conformance.wire.requests import Credential, Request, get_engagement, get_organization
from tests.fakes.wires import KEY, Fixtures, Turn, raw_response

if TYPE_CHECKING:
    from collections.abc import Callable


def stays_long(secret: str) -> bool:
    """Whether a secret that looks escaped is long enough once it is unescaped."""
    return all(len(form) >= SHORTEST for form in without_escapes(secret.encode()))


def is_number(secret: str) -> bool:
    """Whether a secret may occur by chance."""
    return _is_figure(secret.encode())


SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="<>"), min_size=SHORTEST, max_size=40).filter(
    lambda secret: (
        len(secret.strip()) >= SHORTEST and "key" not in secret and stays_long(secret) and not is_number(secret)
    )
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


ASCII_SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=SHORTEST, max_size=40).filter(
    lambda secret: secret not in "<api_key>" and stays_long(secret) and not is_number(secret)
)


def _everywhere(template: str) -> Callable[[str], str]:
    return lambda text: "".join("".join(template.format(byte) for byte in char.encode()) for char in text)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent with slashes": quote,
    "percent in lower case": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent of everything": _everywhere("%{:02X}"),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON without ASCII escapes": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON with slashes escaped": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    "JSON in JSON in JSON": lambda text: json.dumps(
        json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False), ensure_ascii=False
    ),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False),
    "HTML": html.escape,
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
}
ASCII_ENCODINGS: dict[str, Callable[[str], str]] = {
    "form": quote_plus,
    "JSON escapes of everything": _everywhere("\\u{:04x}"),
    "JSON escapes in capitals": _everywhere("\\u{:04X}"),
    "JSON escapes of all but letters and digits": lambda text: "".join(
        char if char.isalnum() else f"\\u{ord(char):04x}" for char in text
    ),
    "decimal entities": _everywhere("&#{};"),
    "hexadecimal entities": _everywhere("&#x{:x};"),
    "decimal entities without a semicolon": _everywhere("&#{:03d}"),
    "hexadecimal entities without a semicolon": _everywhere("&#x{:x}"),
    "code points in braces": _everywhere("\\u{{{:x}}}"),
    "code points in braces with zeros": _everywhere("\\u{{{:06X}}}"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "quoted-printable of everything": _everywhere("={:02X}"),
    "quoted-printable in lower case": _everywhere("={:02x}"),
    "quoted-printable with a line broken, in JSON": lambda text: json.dumps(
        "=\r\n".join(map(_everywhere("={:02X}"), text))
    )[1:-1],
    "lines broken": lambda text: "\n".join(textwrap.wrap(text, 4, break_on_hyphens=False)),
    "lines broken as in mail": lambda text: "\r\n".join(textwrap.wrap(text, 5, break_on_hyphens=False)),
    "lines broken, in JSON": lambda text: json.dumps("\n".join(text))[1:-1],
}


def sieve_of(*secrets: str) -> tuple[_Sieve, list[_Needle]]:
    """A sieve and its needles."""
    needles = [_needle(secret.encode(), secret, weak=False, word=False) for secret in secrets]
    return _Sieve(needles), needles


def redactor(secret: str) -> Redactor:
    """Return a redactor with one secret."""
    made = Redactor()
    made.add("api_key", secret)
    return made


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None)
@given(secret=SECRETS.filter(lambda secret: all(ord(char) >= 32 for char in secret)), before=TEXTS, after=TEXTS)
def test_encoded_secrets_are_replaced(encoding: str, secret: str, before: str, after: str) -> None:
    """A secret in any encoding is replaced by its name and not found again."""
    form = ENCODINGS[encoding](secret)
    form = form[1:-1] if encoding.startswith("JSON") else form
    data = f"{before}|{form}|{after}".encode()

    redacted = redactor(secret).bytes(data)

    assert form.encode() not in redacted
    assert redactor(secret).find(redacted) == []
    assert redactor(secret).find(data) == ["api_key"]


@pytest.mark.parametrize("encoding", ASCII_ENCODINGS)
@settings(deadline=None)
@given(secret=ASCII_SECRETS)
@example(secret="a/b+c=d&e'f\"g\\h")
def test_ascii_secrets_are_replaced(encoding: str, secret: str) -> None:
    """All encodings that clients use for ASCII keys are recognized."""
    form = ASCII_ENCODINGS[encoding](secret)

    redacted = redactor(secret).bytes(b'{"?": "' + form.encode() + b'"}')

    assert redacted.startswith(b'{"?": "<api_key>')
    assert form.encode() not in redacted
    assert redactor(secret).find(redacted) == []


@pytest.mark.parametrize("encoding", ENCODINGS | ASCII_ENCODINGS)
def test_keys_leave_nothing_behind(encoding: str) -> None:
    """Of a typical key not even an escape is left."""
    secret = "sk_live/0123+4567=89-ab"
    form = (ENCODINGS | ASCII_ENCODINGS)[encoding](secret)
    form = form.strip('"\\') if form.startswith('"') else form

    assert redactor(secret).bytes(b"[" + form.encode() + b"]") == b"[<api_key>]"


@settings(deadline=None)
@given(
    secret=st.binary(min_size=8, max_size=60).map(lambda raw: raw.hex()),
    before=st.binary(max_size=9),
    lower=st.booleans(),
)
def test_base32_is_replaced_at_every_alignment(secret: str, before: bytes, *, lower: bool) -> None:
    """Base32 of a text with the secret shows at most one character at each end."""
    encoded = base64.b32encode(before + secret.encode() + b"tail")
    data = encoded.lower() if lower else encoded

    parts = redactor(secret).bytes(data).split(b"<api_key>")

    assert len(parts) == 2
    assert len(parts[0]) <= len(before) * 8 // 5 + 1


@settings(deadline=None)
@given(
    secret=st.binary(min_size=8, max_size=60).map(lambda raw: raw.hex()),
    before=st.binary(max_size=9),
    url=st.booleans(),
)
def test_base64_is_replaced_at_every_alignment(secret: str, before: bytes, *, url: bool) -> None:
    """Base64 of a text with the secret shows at most two characters at each end."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    data = encode(before + secret.encode() + b"tail")

    redacted = redactor(secret).bytes(data)

    assert b"<api_key>" in redacted
    parts = redacted.split(b"<api_key>")
    assert len(parts[0]) <= len(before) * 8 // 6 + 2
    assert redactor(secret).find(data) == ["api_key"]


@pytest.mark.parametrize("shift", range(57))
def test_base64_in_lines_is_replaced(shift: int) -> None:
    """Base64 in mail may have line breaks within the key."""
    secret = "sk_live_0123456789abcdefghijklmnopqrstuvwxyz"
    data = base64.encodebytes(b"." * shift + secret.encode() + b"." * 57)

    redacted = redactor(secret).bytes(data)

    assert redacted.count(b"<api_key>") == 1
    assert len(redacted) < len(data) - 40


@settings(deadline=None)
@given(secrets=st.lists(SECRETS, min_size=1, max_size=5), pieces=st.lists(TEXTS, min_size=6, max_size=6))
def test_no_form_slips_through_the_sieve(secrets: list[str], pieces: list[str]) -> None:
    """A sieve finds every form at any position."""
    sieve, needles = sieve_of(*secrets)

    for before, needle, after in zip(pieces, needles, pieces[1:], strict=False):
        assert needle in sieve.candidates(before.encode() + needle.form + after.encode())


def test_a_sieve_lets_little_through_that_holds_none() -> None:
    """A sieve returns few needles beside those in the data."""
    sieve, (_, second) = sieve_of("sk_live_0123456789abcdef", "sk_test_9876543210fedcba")
    response = b'{"data": {"id": "eng_1", "name": "Quarterly review", "createdAt": "2026-03-01T12:00:07.000Z"}}'

    assert sieve.candidates(response) == []
    assert sieve.candidates(b"sk_live_") == []
    assert sieve.candidates(response * 2**10) == []
    assert sieve.candidates(response + b" " + b"sk_test_9876543210fedcba") == [second]


@pytest.mark.parametrize("written", ["{}", "seen: {}", '"{}"', "%20{}"])
@pytest.mark.parametrize(
    "escape", [str, lambda text: text.replace("_", r"\u005f"), lambda text: text.replace("_", "%5f")]
)
def test_a_cached_text_is_redacted_again(written: str, escape: Callable[[str], str]) -> None:
    """A text is only cached as free if it contains no secret."""
    redactor = Redactor()
    redactor.add("api_key", "sk_live_0123456789")
    text = written.format(escape("sk_live_0123456789"))

    assert [redactor.text(text) for _ in range(3)] == [written.format("<api_key>")] * 3


@pytest.mark.parametrize(
    "key", ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "9F86D081884C7D659A2FEAA0C55AD015", "sk_live_4eC39HqLyjWDarjt"]
)
def test_a_key_is_known_in_capitals_and_in_small_letters(key: str) -> None:
    """Hexadecimal keys are found in upper and lower case."""
    made = redactor(key)

    assert made.text(f"[{key.upper()}] [{key.lower()}] [{key}]") == "[<api_key>] [<api_key>] [<api_key>]"


def test_a_uuid_is_known_without_hyphens() -> None:
    """Both letter cases are found."""
    made = redactor("3f2504e0-4f89-41d3-9a0c-0305e82c3301")

    assert made.text("3f2504e04f8941d39a0c0305e82c3301") == "<api_key>"
    assert made.text("3F2504E04F8941D39A0C0305E82C3301") == "<api_key>"


def test_words_are_not_known_in_other_letter_case() -> None:
    """Header values and short keys are only found in their own letter case."""
    made = redactor("Aurora-1")
    made.add("header:X-Tenant", "Aurora-Security-2026-Berlin")

    assert made.text("aurora-1 aurora-security-2026-berlin") == "aurora-1 aurora-security-2026-berlin"


@pytest.mark.parametrize("between", [":", " ", "-", ""])
@pytest.mark.parametrize("capitals", [True, False])
def test_hexadecimal_with_marks_between_is_replaced(between: str, *, capitals: bool) -> None:
    """Hexadecimal bytes with separators are found."""
    written = between.join(f"{byte:02X}" if capitals else f"{byte:02x}" for byte in b"sk_live_0123456789")

    assert redactor("sk_live_0123456789").text(f"({written})") == "(<api_key>)"


@settings(deadline=None)
@given(
    secret=st.binary(min_size=8, max_size=60).map(lambda raw: raw.hex()),
    before=st.binary(max_size=9),
    url=st.booleans(),
)
def test_base64_of_base64_is_replaced_at_every_alignment(secret: str, before: bytes, *, url: bool) -> None:
    """Base64 within base64 shows at most a few characters at each end."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    data = encode(before + encode(before + secret.encode() + b"tail") + b"tail")

    parts = redactor(secret).bytes(data).split(b"<api_key>")

    assert len(parts) == 2
    assert len(parts[0]) <= (len(before) * 4 / 3 + 2 + len(before)) * 4 / 3 + 4


def test_bytes_whose_base64_shows_a_key_are_withheld() -> None:
    """A recording has the base64 of a binary body, and a text unchanged."""
    key = "Vh7kQ2pLm9Zx4Rt8WcYb3Nf6Gd1JsKu5Ea0HoTi7"
    raw = base64.b64decode(key)

    assert redactor(key).body(raw) == WITHHELD
    assert redactor(key).body(b"\xff\xfe") == b"\xff\xfe"
    assert redactor("QUJDREVGR0hJ").body(b"ABCDEFGHI") == b"ABCDEFGHI"


@pytest.mark.parametrize("number", ["100000", "2026-11-25", "127.0.0.1", "12:30:00", "12345678901"])
def test_numbers_are_weak(number: str) -> None:
    """Short numbers occur by chance, as limits, times and addresses; long ones do not."""
    made = redactor(number)

    assert made.weak == ["api_key"]
    assert made.text(f'{number} {{"total": {number}, "seen": "{number}"}} Bearer {number}') == (
        f'{number} {{"total": {number}, "seen": "<api_key>"}} <api_key>'
    )
    assert made.text(number) == number
    assert redactor("123456789012").text("123456789012") == "<api_key>"


def test_a_label_does_not_give_its_secret_away() -> None:
    """A placeholder must not contain the secret itself."""
    made = redactor("<api_key>")

    assert made.text("it is <api_key>") == "it is <secret>"
    assert made.find(b"it is <secret>") == []


def test_a_known_secret_stays_as_it_was() -> None:
    """A known secret keeps its first name."""
    made = Redactor()
    made.add("header:X-Gateway", "staging-eu", shown=True)
    made.add("header X-Gateway", "staging-eu")

    assert made.text("at staging-eu") == "at staging-eu"


def test_a_secret_without_a_clear_end_is_withheld() -> None:
    """An escaped secret without a clear end is withheld."""
    redactor = Redactor()
    redactor.add("api_key", "sk_live_0123456789")
    quoted = "".join(f"%5Cu{ord(sign):04x}" for sign in "sk_live_0123456789")

    assert redactor.bytes(f"seen: {quoted}".encode()) == WITHHELD
    assert redactor.bytes(f"seen: {quoted[9:]}".encode()) == f"seen: {quoted[9:]}".encode()


def test_an_unpaired_surrogate_stays() -> None:
    """Unpaired surrogates in texts and secrets are handled."""
    redactor = Redactor()
    redactor.add("api_key", "sk_\ud800_0123456789")

    assert redactor.text("\udfff and more") == "\udfff and more"
    assert redactor.text("\udfff sk_\ud800_0123456789") == "\udfff <api_key>"


def test_base64_of_urls_is_known_by_its_letters() -> None:
    """The two that are others there."""
    redactor = Redactor()
    redactor.add("api_key", "key???>>>~~~1")

    assert redactor.text("a2V5Pz8/Pj4+fn5+MQ==").startswith("<api_key>")
    assert redactor.text("a2V5Pz8_Pj4-fn5-MQ==").startswith("<api_key>")


def test_a_secret_that_looks_escaped_is_found_unescaped() -> None:
    """The unescaped secret is found if it is long enough."""
    redactor = Redactor()
    redactor.add("api_key", "%61bcdef")

    assert redactor.text("it is abcdef, or %61bcdef") == "it is <api_key>, or <api_key>"


def test_an_empty_sieve_lets_nothing_through() -> None:
    """Without secrets nothing is found."""
    assert _Sieve([]).candidates(b"anything") == []
    assert _Sieve([]).candidates(bytes(100_000)) == []


def test_a_sieve_of_all_bytes_still_finds() -> None:
    """No byte is left that could part one run from another."""
    sieve = _Sieve([_needle(bytes(range(256)), "api_key", weak=False, word=False)])

    assert [found.form for found in sieve.candidates(b"before" + bytes(range(256)))] == [bytes(range(256))]


@settings(deadline=None)
@given(secret=SECRETS, data=st.binary(max_size=200))
def test_other_data_stays(secret: str, data: bytes) -> None:
    """Data without a secret stays unchanged."""
    found = redactor(secret).find(data)

    assert found or redactor(secret).bytes(data) is data


def test_names_do_not_give_secrets_away() -> None:
    """A name that contains the secret is replaced."""
    made = Redactor()
    made.add("header X-staging", "staging")

    assert made.text("on staging") == "on <secret>"


def test_a_redactor_shows_names_alone() -> None:
    """The repr shows no secret."""
    redactor = Redactor()
    redactor.add("other_key", "sk_live_9876543210")
    redactor.add("api_key", "sk_live_0123456789")

    assert repr(redactor) == "Redactor(['api_key', 'other_key'])"


def test_longer_secrets_come_first() -> None:
    """If one secret begins with another, the longer one is named."""
    made = redactor("abcdef")
    made.add("other", "abcdefghi")

    assert made.text("abcdefghi abcdef") == "<other> <api_key>"


def test_empty_secrets_are_refused() -> None:
    """An empty secret is refused."""
    with pytest.raises(ValueError, match="the secret api_key is empty"):
        redactor("")


@pytest.mark.parametrize("length", [1_000, 1_000_000])
def test_any_number_of_backslashes_is_gone_through_once(length: int) -> None:
    """Long escaped text before a key does not hide the key or stop the run."""
    redactor = Redactor()
    redactor.add("api_key", "key-of-the-target")
    escaped = "".join(f"%{byte:02x}" for byte in b"key-of-the-target").encode()

    assert redactor.bytes(b"\\" * length + escaped) == b"\\" * length + b"<api_key>"


def test_a_value_in_the_targets_name_is_weak() -> None:
    """A header's value that is part of the target's name cannot be hidden."""
    redactor = Redactor()
    redactor.add("header:X-Gateway", "staging", shown=True)

    assert redactor.bytes(b"the target staging-eu") == b"the target staging-eu"
    assert redactor.find(b"the target staging-eu") == []
    assert redactor.weak == ["header:X-Gateway"]


def test_short_secrets_are_not_searched_for() -> None:
    """A very short value is not replaced in responses."""
    assert redactor("1").text('{"page": 1}') == '{"page": 1}'


def test_names_may_hold_anything() -> None:
    """A name that looks like a group reference is inserted unchanged."""
    made = Redactor()
    made.add(r"a\1\g<0>", "secret-value")

    assert made.text("%73ecret-value secret-value") == r"<a\1\g<0>> <a\1\g<0>>"


def test_nothing_of_the_key_is_recorded(make: Fixtures) -> None:
    """A service that reflects the request cannot put a secret into the record."""

    async def behave(turn: Turn) -> None:
        credentials = base64.b64encode(b"user:" + KEY.encode()).decode()
        body = json.dumps({"head": turn.head.decode(), "basic": credentials, "url": quote(KEY)}).encode()
        await turn.say(raw_response(401, body, f"X-Key: {KEY}", f"{KEY}: x"))

    url = make.serve(behave).url.replace("http://", "http://someone:pass%2Fword1@")
    wire = make.wire(url, headers=(("X-Gateway", "gateway-secret"), ("X-Short", "1")))
    wire.send(get_engagement(KEY))
    wire.send(Request(operation=get_organization().operation, query=(("k", KEY),), body=KEY.encode()))

    for exchange in wire.exchanges:
        record = repr((exchange, exchange.sent_request, exchange.request.credential, wire, exchange.response.reading))
        for secret in (KEY, "gateway-secret", "pass%2Fword1", "pass/word1", "someone"):
            assert secret not in record
        assert ("Authorization", "Bearer <api_key>") in exchange.sent_request.headers
        assert ("X-Gateway", "<header X-Gateway>") in exchange.sent_request.headers
        assert ("X-Short", "<header X-Short>") in exchange.sent_request.headers


@pytest.mark.parametrize(
    ("authorization", "recorded"),
    [("Bearer wrong", "Bearer <unknown>"), ("Basic dTpw", "Basic <unknown>"), ("Bearer ", "Bearer "), ("", "")],
)
def test_credentials_are_recorded_by_name(authorization: str, recorded: str, make: Fixtures) -> None:
    """The Authorization header of a record has the scheme and the name of the key."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(401))

    wire = make.wire(make.serve(behave))

    exchange = wire.send(get_organization().with_key(Credential("unknown", authorization)))

    assert dict(exchange.sent_request.headers)["Authorization"] == recorded


def test_no_credential_sends_no_header(make: Fixtures) -> None:
    """A credential without a value sends no Authorization header at all."""

    async def behave(turn: Turn) -> None:
        await turn.say(raw_response(401))

    server = make.serve(behave)

    exchange = make.wire(server).send(get_organization().with_key(Credential("none", None)))

    assert b"authorization" not in server.turns[0].head.lower()
    assert "Authorization" not in dict(exchange.sent_request.headers)
