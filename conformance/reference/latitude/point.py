"""One open point of the interface."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A question that the interface does not answer, and the answers that an implementation may give.

    Args:
        name: How it is named on the command line.
        question: What is open.
        values: Every answer the reference service can give; a number is an HTTP status. The first is the default.
    """

    name: str
    question: str
    values: tuple[str, ...]

    @property
    def default(self) -> str:
        """The choice of the reference service."""
        return self.values[0]
