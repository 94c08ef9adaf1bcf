"""Invitation mail over SMTP."""

from __future__ import annotations

import logging
import smtplib
from concurrent.futures import ThreadPoolExecutor
from email import policy
from email.message import EmailMessage

_log = logging.getLogger(__name__)

SENDER = "invitations@reference.example"
_TIMEOUT = 10.0


def invitation_mail(recipient: str, organization: str, link: str, form: str = "text") -> EmailMessage:
    """Return the mail of an invitation.

    Args:
        recipient: The invited address.
        organization: The name of the organization.
        link: The http(s) URL that accepts the invitation.
        form: A value of the open point ``mail_form``.
    """
    message = EmailMessage(policy.SMTP)
    message["From"] = SENDER
    message["To"] = recipient
    message["Subject"] = " ".join(f"Invitation to join {organization}".split())
    text = f"You are invited to join {organization}.\n\nAccept the invitation here, within 7 days:\n{link}\n"
    html = f'<p>You are invited.</p><p><a href="{link}">Accept the invitation</a> within 7 days.</p>\n'
    if form == "html":
        message.set_content(html, subtype="html")
    else:
        message.set_content(text, cte="base64" if form == "base64" else None)
    if form == "both":
        message.add_alternative(html, subtype="html")
    return message


def text_of(message: EmailMessage) -> str:
    """Return the plain text of a message, or its HTML if it has no plain text."""
    body = message.get_body(("plain", "html"))
    return str(body.get_content()) if body else ""


class Postman:
    """Sends messages to a mail server.

    Args:
        server: Host and port of the server; None sends no mail.
    """

    def __init__(self, server: tuple[str, int] | None = None) -> None:
        self._server = server
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mail") if server else None

    def send(self, message: EmailMessage) -> None:
        """Send a message in the background; log a failure, since the invitation is valid without its mail."""
        if self._thread:
            self._thread.submit(self._deliver, message)

    def close(self) -> None:
        """Wait until all messages are sent."""
        if self._thread:
            self._thread.shutdown()

    def _deliver(self, message: EmailMessage) -> None:
        if self._server is None:
            return
        try:
            with smtplib.SMTP(*self._server, timeout=_TIMEOUT) as connection:
                connection.send_message(message)
        except (OSError, smtplib.SMTPException, UnicodeError) as problem:
            _log.warning("The mail server did not accept an invitation: %s", problem)
