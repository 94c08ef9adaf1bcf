from __future__ import annotations

import pytest

from conformance.running.provisioner_log import MAX_KEPT, ProvisionerLog
from conformance.wire.redaction import Redactor


def test_a_key_that_is_known_later_is_named() -> None:
    """A program may tell of a key before it hands it over."""
    redactor = Redactor()
    log = ProvisionerLog(redactor.text)
    log.take("made long-and-secret")
    redactor.add("organizations:read", "long-and-secret")

    assert log.text() == "made <organizations:read>\n"


@pytest.mark.parametrize("word", ["sk-live-0123456789", "eyJhbGciOiJIUzI1NiJ9.e30", "0a1b2c3d4e5f67890"])
def test_what_looks_like_a_key_is_withheld(word: str) -> None:
    """Nobody knows the keys that were made and never handed over."""
    log = ProvisionerLog(str)
    log.take(f"made '{word}' at 2026-11-22T03:14:15.926Z for somebody")

    assert log.text() == "made '<withheld>' at 2026-11-22T03:14:15.926Z for somebody\n"


def test_what_would_act_is_shown() -> None:
    """The log is read in terminals."""
    log = ProvisionerLog(str)
    log.take("\x1b[31mred")

    assert log.text() == "⟨U+001B⟩[31mred\n"


def test_only_so_much_is_kept() -> None:
    """A program that talks without end fills neither memory nor disk."""
    log = ProvisionerLog(str)
    for _ in range(MAX_KEPT):
        log.take("all is well")

    assert len(log.text()) < MAX_KEPT + 100
    assert log.text().endswith("more lines were left out)\n")
