from __future__ import annotations

import smtplib
import socket
import threading
import time
from contextlib import suppress
from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets import mailbox as module
from conformance.targets.mailbox import MAX_BYTES, Mailbox, MailboxError, read_message

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """A mailbox that listens on a free port."""
    with Mailbox() as listening:
        yield listening


def send(mailbox: Mailbox, message: EmailMessage | bytes, *to: str) -> None:
    """Send a message by SMTP."""
    with smtplib.SMTP(mailbox.host, mailbox.port, timeout=10) as client:
        if isinstance(message, bytes):
            client.sendmail("service@example.org", list(to), message)
        else:
            client.send_message(message, "service@example.org", list(to))


def invitation(text: str = "Join: https://example.org/i/1?a=b&c=d", html: str | None = None) -> EmailMessage:
    """Return an invitation as text and optionally HTML."""
    message = EmailMessage()
    message["Subject"] = "Einladung für Zoë 🎉"
    message["From"] = "service@example.org"
    message.set_content(text)
    if html is not None:
        message.add_alternative(html, subtype="html")
    return message


def test_a_message_is_stored_for_its_address(mailbox: Mailbox) -> None:
    """Sender, subject and text are read back; other addresses have nothing."""
    send(mailbox, invitation(), "Ann@Example.com")

    (mail,) = mailbox.messages("ann@example.COM", patience=10)
    assert (mail.sender, mail.to) == ("service@example.org", ("Ann@Example.com",))
    assert mail.subject == "Einladung für Zoë 🎉"
    assert "https://example.org/i/1?a=b&c=d" in mail.text
    assert mailbox.messages("bob@example.com") == []


def test_old_messages_make_room_for_large_ones(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of all stored messages is limited."""
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 100_000)
    for number in range(9):
        send(mailbox, b"Subject: %d\r\n\r\n" % number + (b"x" * 900 + b"\r\n") * 33, "a@example.org")

    assert [mail.subject for mail in mailbox.messages("a@example.org")] == ["6", "7", "8"]


def test_a_header_that_would_take_long_to_read_is_shown_as_it_came() -> None:
    """A long subject of encoded words is parsed fast."""
    content = b"Subject: " + b"=?utf-8?q?a?=\r\n " * 20_000 + b"\r\n\r\ntext"

    mail = read_message("a@example.org", ("b@example.org",), content)

    assert (mail.subject, mail.text) == ("", content.decode())


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_encoded_texts_are_decoded(mailbox: Mailbox, encoding: str) -> None:
    """A link is found in any transfer encoding."""
    message = EmailMessage()
    message.set_content("Öffne https://example.org/" + "x" * 200 + "?a=b", cte=encoding)

    send(mailbox, message, "a@x.test")

    assert "https://example.org/" + "x" * 200 + "?a=b" in mailbox.messages("a@x.test", patience=10)[0].text


def test_all_texts_of_a_multipart_are_read(mailbox: Mailbox) -> None:
    """Plain text comes before HTML, and attachments that are no text are left out."""
    message = invitation("in words", '<a href="https://example.org/i">Join</a>')
    message.add_attachment(b"\0\1", maintype="image", subtype="png")

    send(mailbox, message, "a@x.test")

    text = mailbox.messages("a@x.test", patience=10)[0].text
    assert text.index("in words") < text.index("https://example.org/i")


def test_one_message_to_several_addresses_is_each_ones(mailbox: Mailbox) -> None:
    """Every recipient of the envelope has the message."""
    send(mailbox, invitation(), "a@x.test", "b@x.test")

    assert mailbox.messages("b@x.test", patience=10) == mailbox.messages("a@x.test")


def test_waiting_ends_when_a_message_arrives(mailbox: Mailbox) -> None:
    """A message that arrives during a wait is returned at once."""
    sender = threading.Timer(0.1, send, (mailbox, invitation(), "a@x.test"))
    sender.start()

    assert len(mailbox.messages("a@x.test", patience=30)) == 1
    sender.join()


def test_waiting_ends_when_time_is_over(mailbox: Mailbox) -> None:
    """Without a message in time the list is empty."""
    assert mailbox.messages("a@x.test", patience=0.05) == []


def test_a_huge_message_is_refused(mailbox: Mailbox) -> None:
    """A message beyond the limit is refused, and the next is accepted."""
    with pytest.raises(smtplib.SMTPException):
        send(mailbox, b"Subject: x\r\n\r\n" + (b"x" * 900 + b"\r\n") * (MAX_BYTES // 900 + 1), "a@x.test")
    send(mailbox, invitation(), "a@x.test")

    assert len(mailbox.messages("a@x.test", patience=10)) == 1


def test_many_conversations_are_refused(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each conversation may hold a message in memory; after some have ended, others may begin."""
    monkeypatch.setattr(module, "_MOST_CONVERSATIONS", 2)
    clients = [socket.create_connection((mailbox.host, mailbox.port), timeout=10) for _ in range(4)]
    greetings = [client.recv(100)[:3] for client in clients]
    for client in clients:
        client.close()

    assert greetings == [b"220", b"220", b"421", b"421"]
    for _ in range(100):
        with suppress(smtplib.SMTPException):
            send(mailbox, invitation(), "a@x.test")
            break
        time.sleep(0.05)
    assert len(mailbox.messages("a@x.test", patience=10)) == 1


def test_a_taken_port_is_a_sentence() -> None:
    """An unusable address is an error sentence."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(MailboxError, match=r"cannot listen on 127.0.0.1:"):
            Mailbox("127.0.0.1", taken.getsockname()[1]).start()


def test_closing_ends_open_conversations() -> None:
    """A connected client does not prevent closing."""
    mailbox = Mailbox().start()
    with socket.create_connection((mailbox.host, mailbox.port), timeout=10) as client:
        assert client.recv(100).startswith(b"220")
        mailbox.close()

        assert client.recv(100) == b""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"Subject: =?utf-8?b?!!!?=\r\n\r\nx",
        b"Content-Type: text/plain; charset=nonsense\r\n\r\nhttps://x/\xe4",
        b"Content-Type: multipart/mixed\r\n\r\nno boundary",
        b"Content-Transfer-Encoding: base64\r\n\r\n@@@",
        b"Subject: a\r\n b\x00\r\nTo: <<<>>>\r\n\r\n",
        b"Content-Type: text/plain; charset*=x''%ff\r\n\r\nx",
    ],
)
def test_odd_messages_are_read_as_they_are(content: bytes) -> None:
    """Any bytes are accepted as a message."""
    assert read_message("s", ("a@x",), content).to == ("a@x",)


def test_deeply_nested_messages_are_read() -> None:
    """A message of a thousand parts within parts is a message."""
    content = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(2000))

    assert read_message("s", ("a@x",), content).sender == "s"


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [b"", b"Subject: ", b"Content-Type: ", b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"]
    ),
)
def test_any_bytes_are_a_message(content: bytes, start: bytes) -> None:
    """Any bytes are parsed without an error."""
    read_message("s", ("a@x",), start + content)
