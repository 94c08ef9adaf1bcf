"""Stages of a run, which order the checks."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Stage(IntEnum):
    """The stages of a run in their order; within a stage, checks run in the order of their files.

    Attributes:
        FIRST: The first updates of a run, which an earlier update might disturb.
        PROBING: Checks that send what they judge; the default.
        LOOKING_BACK: Checks that judge the exchanges of others, and may add to them.
        WEIGHING: Checks that compare all responses of the run while its records can still be read again.
        CLEARING: The deletion of the run's engagements.
        LAWS: The laws of every response, including those of the deletion.
    """

    FIRST = -1
    PROBING = 0
    LOOKING_BACK = 1
    WEIGHING = 2
    CLEARING = 3
    LAWS = 4


JUDGING: Final = frozenset({Stage.WEIGHING, Stage.LAWS})
"""The stages of checks that judge the exchanges of others; if those are too few, they send some more."""
