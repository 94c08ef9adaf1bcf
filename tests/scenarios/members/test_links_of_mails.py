"""Links in e-mails of many templates."""

from __future__ import annotations

import pytest

from conformance.scenarios.members.mail import holds_link


@pytest.mark.parametrize(
    "text",
    [
        "Accept here: https://service.test/accept?t=1",
        "HTTP://SERVICE.TEST/",
        '<a href="https://service.test/accept">Accept</a>',
        '<a href="https:&#x2F;&#x2F;service.test&#x2F;accept?t&#x3D;1">Accept</a>',
        '<a href="https&#58;//service.test/accept">Accept</a>',
    ],
)
def test_links_are_seen(text: str) -> None:
    """A link is found in plain text, in HTML, and with escaped characters."""
    assert holds_link(text)


@pytest.mark.parametrize(
    "text", ["", "service.test/accept", "https://", "mailto:a@example.com", "ftp://service.test/a"]
)
def test_other_texts_are_no_links(text: str) -> None:
    """A scheme without a host, or another scheme than http and https, is no link."""
    assert not holds_link(text)
