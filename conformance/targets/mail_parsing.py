"""Parser of e-mails in any transfer encoding (RFC 2045)."""

from __future__ import annotations

import base64
import re
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.policy import default
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from email.message import EmailMessage

_LONGEST_HEADER: Final = 1 << 14
"""The most characters of a header; the standard parser takes more than linear time."""

_AS_SENT: Final = re.compile(
    r"\A(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:MIME-Version|Content-Type|Content-Transfer-Encoding):",
    re.IGNORECASE,
)
"""The beginning of an encoded message: headers that include one of its encoding."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{18,}={0,2}")
"""An encoded body, without line ends."""


def subject_and_text(content: bytes) -> tuple[str, str]:
    """Return subject and text of a message, plain text first; a text that is no message is returned unchanged.

    Args:
        content: The message as it was sent, headers included.
    """
    try:
        message: EmailMessage = message_from_bytes(content, policy=default)
        _ensure_short_headers(message)
        parts = [part for part in message.walk() if part.get_content_maintype() == "text"]
        parts.sort(key=lambda part: part.get_content_subtype() != "plain")
        return str(message.get("Subject", "")), "\n".join(_text(part) for part in parts)
    except (HeaderParseError, MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # The standard parser raises all of these on texts that are no messages.
        return "", content.decode("utf-8", "replace")


def decoded(text: str) -> str:
    """Return a readable text: a program may return a whole message, or its encoded body."""
    if _AS_SENT.match(text):
        return subject_and_text(text.encode("utf-8", "replace"))[1] or text
    lines = "".join(text.splitlines())
    if _BASE64.fullmatch(lines):
        try:
            return base64.b64decode(lines, validate=True).decode("utf-8")
        except ValueError:  # it only looks so
            return text
    return text


def _ensure_short_headers(message: EmailMessage) -> None:
    if any(len(str(value)) > _LONGEST_HEADER for part in message.walk() for _, value in part.raw_items()):
        raise ValueError("a header is too long")


def _text(part: Any) -> str:  # noqa: ANN401 - EmailMessage does not type payloads
    payload = part.get_payload(decode=True) or b""
    try:
        return str(payload.decode(part.get_content_charset("utf-8"), "replace"))
    except LookupError:
        return str(payload.decode("utf-8", "replace"))
