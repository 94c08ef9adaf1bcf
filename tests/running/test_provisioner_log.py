"""Log of the provisioner's stderr."""

from __future__ import annotations

import pytest

from conformance.running.provisioner_log import MAX_KEPT, ProvisionerLog
from conformance.wire.redaction import Redactor


def test_a_key_that_is_known_later_is_named() -> None:
    """A key that the program logs before it returns it is redacted, too."""
    redactor = Redactor()
    log = ProvisionerLog(redactor.text)
    log.take("made long-and-secret")
    redactor.add("organizations:read", "long-and-secret")

    assert log.text() == "made <organizations:read>\n"


@pytest.mark.parametrize("text", ["sk-live-0123456789", "eyJhbGciOiJIUzI1NiJ9.e30", "0a1b2c3d4e5f67890"])
def test_likely_keys_are_withheld(text: str) -> None:
    """A text that looks like a key is withheld, as the program may never return that key."""
    log = ProvisionerLog(str)
    log.take(f"made '{text}' at 2026-11-22T03:14:15.926Z for somebody")

    assert log.text() == "made '<withheld>' at 2026-11-22T03:14:15.926Z for somebody\n"


def test_control_characters_are_shown_as_text() -> None:
    """Control characters are shown as text, for terminals."""
    log = ProvisionerLog(str)
    log.take("\x1b[31mred")

    assert log.text() == "⟨U+001B⟩[31mred\n"


def test_only_so_much_is_kept() -> None:
    """The log of an endless output has a limit."""
    log = ProvisionerLog(str)
    for _ in range(MAX_KEPT):
        log.take("all is well")

    assert len(log.text()) < MAX_KEPT + 100
    assert log.text().endswith("more lines were left out)\n")
