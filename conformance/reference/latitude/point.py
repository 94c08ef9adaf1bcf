"""Open point of the interface."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A question that the interface leaves open, and its possible values.

    Args:
        name: Its name on the command line.
        question: The open question.
        values: The values of the reference service; a number is an HTTP status. The first is the default.
    """

    name: str
    question: str
    values: tuple[str, ...]

    @property
    def default(self) -> str:
        """The choice of the reference service."""
        return self.values[0]
