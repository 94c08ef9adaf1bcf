"""A secret is found in HTML, by whatever name or number its signs are written."""

from __future__ import annotations

import pytest

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
    """By name, in tens and in hexadecimal."""
    redactor = Redactor()
    redactor.add("api_key", f"abc-{sign}-123456")

    found = redactor.bytes(f"<p>abc-{written}-123456</p>".encode())

    assert b"123456" not in found
    assert b"<api_key>" in found


@pytest.mark.parametrize("entity", ["&#256;", "&#999;", "&#x100;", "&#xfff", "&nbsp;", "&#;", "&#x;", "&;"])
def test_what_is_no_byte_stays_as_it_is(entity: str) -> None:
    """A text around it is searched all the same."""
    redactor = Redactor()
    redactor.add("api_key", "abc-&-123456")
    data = f"{entity} &amp; more".encode()

    assert redactor.bytes(data) == data
    assert redactor.bytes(data + b" abc-&amp;-123456") == data + b" <api_key>"
