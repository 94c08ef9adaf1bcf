"""Tests of e-mails that are decoded, encoded, or encoded bodies."""

from __future__ import annotations

import base64
from email.message import EmailMessage

import pytest

from conformance.targets.mail_parsing import decoded

LINK = "https://acme.example/accept?i=1"


def message(text: str, coding: str, kind: str = "plain") -> EmailMessage:
    """Return a message in this transfer encoding."""
    made = EmailMessage()
    made["Subject"] = "Invitation"
    made.set_content(text, subtype=kind, cte=coding)
    return made


@pytest.mark.parametrize("coding", ["base64", "quoted-printable", "8bit"])
@pytest.mark.parametrize("kind", ["plain", "html"])
def test_a_message_as_sent_is_decoded(coding: str, kind: str) -> None:
    """A whole message is decoded by its headers."""
    text = f"Grüße! {'word ' * 20}\n{LINK}\n"

    assert decoded(message(text, coding, kind).as_string()) == text


def test_all_texts_of_a_message_are_read() -> None:
    """The plain text of an alternative comes first."""
    made = message("plain", "base64")
    made.add_alternative(f'<a href="{LINK}">', subtype="html", cte="base64")

    assert decoded(made.as_string()) == f'plain\n\n<a href="{LINK}">\n'


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_body_in_base64_is_decoded(ends: str) -> None:
    """An encoded body is decoded."""
    body = base64.encodebytes(f"Grüße! {'word ' * 20} {LINK}".encode()).decode().replace("\n", ends)

    assert LINK in decoded(body)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"You are invited.\n\n{LINK}\n",
        f"Note: this is no header\n\n{LINK}",
        "Content-Type: text/plain\n",
        "Invitation",
        "AAAABBBBCCCCDDDDEEEEFFFF/+==",
        base64.b64encode(b"\xff" * 30).decode(),
        "abcd efgh ijkl mnop qrst uvwx",
        "Q29udGVudA==",
        "\ud800",
    ],
)
def test_other_texts_stay(text: str) -> None:
    """Other texts stay unchanged."""
    assert decoded(text) == text
