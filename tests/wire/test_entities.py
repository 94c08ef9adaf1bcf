"""Tests of secrets in HTML with entities."""

from __future__ import annotations

import pytest

from conformance.wire import escapes
from conformance.wire.redaction import Redactor

SIGNS = {
    "&": ("&amp;", "&#38;", "&#038;", "&#x26;", "&#X26;", "&#38"),
    "<": ("&lt;", "&#60;", "&#x3c;", "&#x3C;"),
    ">": ("&gt;", "&#62;", "&#x3e;"),
    '"': ("&quot;", "&#34;", "&#x22;"),
    "'": ("&apos;", "&#39;", "&#x27;", "&#0039;"),
}


@pytest.mark.parametrize(("sign", "written"), [(sign, form) for sign, forms in SIGNS.items() for form in forms])
def test_a_sign_may_be_written_as_an_entity(sign: str, written: str) -> None:
    """Entities by name, decimal and hexadecimal are decoded."""
    redactor = Redactor()
    redactor.add("api_key", f"abc-{sign}-123456")

    found = redactor.bytes(f"<p>abc-{written}-123456</p>".encode())

    assert b"123456" not in found
    assert b"<api_key>" in found


@pytest.mark.parametrize(
    ("escape", "meaning"),
    [
        (rb"\u006a", b"j"), (rb"\u006A", b"j"), (rb"\u{6a}", b"j"), (rb"\u{00006A}", b"j"), (rb"\u{a}", b"\n"),
        (rb"\x6a", b"j"), (b"%6a", b"j"), (b"%6A", b"j"),
        (rb"\n", b"\n"), (rb"\r", b"\r"), (rb"\"", b'"'), (rb"\/", b"/"), (rb"\\", b"\\"),
        (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&quot;", b'"'),
        (b"&#106;", b"j"), (b"&#106", b"j"), (b"&#0106;", b"j"), (b"&#x6a;", b"j"), (b"&#X6A", b"j"),
        (b"&#" + b"0" * 5000 + b"106;", b"j"), (b"&#255;", b"\xff"), (b"&#256;", b"&#256;"), (b"&#0;", b"\0"),
    ],
)  # fmt: skip
def test_the_meaning_of_an_escape(escape: bytes, meaning: bytes) -> None:
    """Escapes of JSON, URLs and HTML are decoded; others stay."""
    assert escapes._meaning(escape) == meaning


@pytest.mark.parametrize("sign", ["\n", "\x0f", "\x10", "\x1f"])
@pytest.mark.parametrize("written", [r"\u{{{:x}}}", r"\u{{{:02X}}}", "&#x{:x};", "&#X{:02x};", "%{:02x}"])
def test_a_sign_that_cannot_be_seen_may_be_escaped(sign: str, written: str) -> None:
    """Escapes may have one digit or two."""
    redactor = Redactor()
    redactor.add("api_key", f"abc{sign}123456")

    assert redactor.text(f"<p>abc{written.format(ord(sign))}123456</p>") == "<p><api_key></p>"


@pytest.mark.parametrize("entity", ["&#256;", "&#999;", "&#x100;", "&#xfff", "&nbsp;", "&#;", "&#x;", "&;"])
def test_an_entity_that_is_no_byte_stays(entity: str) -> None:
    """The text around it is still searched."""
    redactor = Redactor()
    redactor.add("api_key", "abc-&-123456")
    data = f"{entity} &amp; more".encode()

    assert redactor.bytes(data) == data
    assert redactor.bytes(data + b" abc-&amp;-123456") == data + b" <api_key>"
