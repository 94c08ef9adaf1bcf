"""Invitation mail over SMTP."""

from __future__ import annotations

import logging
import socket
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.reference.fields import ADDRESS
from conformance.reference.mail import SENDER, Postman, invitation_mail, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LINK = "https://service.example/invitations/" + "x" * 32


class Mailbox:
    """Handler that keeps the messages of an SMTP server."""

    def __init__(self) -> None:
        self.received: list[tuple[list[str], EmailMessage]] = []

    async def handle_DATA(self, _: object, __: object, envelope: Envelope) -> str:  # noqa: N802, D102 - aiosmtpd calls this name
        assert isinstance(envelope.content, bytes)
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.received.append((envelope.rcpt_tos, message))
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, tuple[str, int]]]:
    """A mail server on loopback."""
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    yield mailbox, (controller.hostname, controller.port)
    controller.stop()


def free_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@pytest.mark.parametrize("form", ["text", "html", "both", "base64"])
def test_mail_arrives_with_its_link(mailbox: tuple[Mailbox, tuple[str, int]], form: str) -> None:
    """The invited address receives one message with a complete link."""
    box, server = mailbox
    postman = Postman(server)

    postman.send(invitation_mail("guest@example.com", "Ärzte & Söhne", LINK, form))
    postman.close()

    ((recipients, message),) = box.received
    assert (recipients, message["To"], message["From"]) == (["guest@example.com"], "guest@example.com", SENDER)
    assert message["Subject"] == "Invitation to join Ärzte & Söhne"
    assert LINK in text_of(message)


def test_mail_that_cannot_be_sent_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """An invitation is created also if the mail server is unreachable."""
    postman = Postman(("127.0.0.1", free_port()))

    postman.send(invitation_mail("guest@example.com", "n", LINK))
    postman.close()

    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@settings(deadline=None)
@given(st.from_regex(ADDRESS, fullmatch=True), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_address_and_name_can_be_written(address: str, organization: str) -> None:
    """Every accepted address gives a mail with one recipient and no injected headers."""
    message = invitation_mail(address, organization, LINK)

    assert sorted(message.keys()) == sorted(
        ["From", "To", "Subject", "Content-Type", "Content-Transfer-Encoding", "MIME-Version"]
    )
    assert LINK in text_of(message)
