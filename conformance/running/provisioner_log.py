"""What the provisioner writes to its stderr, kept for whoever has to find out why it did not do its work."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Final

from conformance.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_KEPT: Final = 2**18
"""Characters that are kept; a program that talks without end fills neither memory nor disk."""


_WORD: Final = re.compile(r"[A-Za-z0-9_~+/=.\-]{12,}")
_LETTER_AND_DIGIT: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])")
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}")


class ProvisionerLog:
    """Lines from a thread of their own, without secrets.

    Args:
        redact: Takes the secrets out of a text, as far as they are known by then.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._kept = 0
        self._left_out = 0

    def take(self, line: str) -> None:
        """Keep a line, or count it where there is no more room."""
        with self._lock:
            if self._kept + len(line) > MAX_KEPT:
                self._left_out += 1
                return
            self._kept += len(line) + 1
            self._lines.append(line)

    def text(self) -> str:
        """All lines that were kept, without the secrets that are known by now and without what looks like another.

        A program may tell a key before it hands it over, or one that it never does.
        """
        with self._lock:
            note = [f"({self._left_out} more lines were left out)"] if self._left_out else []
            lines = [visible(_WORD.sub(_shown, self._redact(line))) for line in self._lines] + note
        return "".join(f"{line}\n" for line in lines)


def _shown(word: re.Match[str]) -> str:
    """A long word, unless it looks like a key: letters and digits mixed, and no time."""
    if _LETTER_AND_DIGIT.match(word[0]) and not _TIME.match(word[0]):
        return "<withheld>"
    return word[0]
