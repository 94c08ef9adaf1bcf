"""Drawing of the engagement state machine: positions of its arrows, and the transitions of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.reports.pictures.transitions import Transition, Way

_ARROWS: Final[Mapping[Way, tuple[str, int, int, str]]] = {
    ("none", "create", "active"): ("M40,120 H182", 112, 109, "middle"),
    ("active", "edit", "active"): ("M228,95 C208,32 302,32 284,90", 255, 38, "middle"),
    ("active", "archive", "archived"): ("M320,108 H512", 418, 98, "middle"),
    ("archived", "unarchive", "active"): ("M520,134 H328", 418, 152, "middle"),
    ("active", "delete", "removed"): ("M255,145 C255,220 310,255 400,255", 262, 222, "end"),
    ("archived", "delete", "removed"): ("M585,145 C585,220 530,255 442,255", 580, 222, "start"),
    ("archived", "archive", "archived"): ("M650,108 C715,95 715,148 656,133", 706, 125, "start"),
    ("archived", "edit", "archived"): ("M558,95 C538,32 632,32 614,90", 585, 38, "middle"),
}
"""The path of each arrow, and the position of its label."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A transition with its position in the drawing of 840 by 300."""

    transition: Transition
    path: str
    x: int
    y: int
    anchor: str


def arrows(found: Iterable[Transition]) -> list[Arrow]:
    """Return the arrows of a drawing; transitions outside the interface are drawn only if they occurred."""
    return [
        Arrow(transition, *_ARROWS[transition.way])
        for transition in found
        if transition.way in _ARROWS and (transition.exchanges or transition.kind != "foreign")
    ]
