"""What the provisioner writes to its stderr, kept for whoever has to find out why it did not do its work."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from conformance.reports.text import visible
from conformance.targets.secret import without_likely_keys

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_KEPT: Final = 2**18
"""Characters that are kept; a program that talks without end fills neither memory nor disk."""


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
            lines = [visible(without_likely_keys(self._redact(line))) for line in self._lines] + note
        return "".join(f"{line}\n" for line in lines)
