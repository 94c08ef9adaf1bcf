"""Log of the provisioner's stderr, for its operator."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from conformance.reports.text import visible
from conformance.targets.secret import without_likely_keys

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_KEPT: Final = 2**18
"""Characters that are kept, so that an endless output fills neither memory nor disk."""


class ProvisionerLog:
    """Redacted log, filled by a separate thread.

    Args:
        redact: Redacts the secrets known so far.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._kept = 0
        self._left_out = 0

    def take(self, line: str) -> None:
        """Keep a line, or count it if the log is full."""
        with self._lock:
            if self._kept + len(line) > MAX_KEPT:
                self._left_out += 1
                return
            self._kept += len(line) + 1
            self._lines.append(line)

    def text(self) -> str:
        """Return the kept lines without the secrets known by now and without texts that look like keys.

        A program may log a key before it returns it, or a key that it never returns.
        """
        with self._lock:
            note = [f"({self._left_out} more lines were left out)"] if self._left_out else []
            lines = [visible(without_likely_keys(self._redact(line))) for line in self._lines] + note
        return "".join(f"{line}\n" for line in lines)
