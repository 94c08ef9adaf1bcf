"""When in a run a check has its turn."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Stage(IntEnum):
    """The stages of a run in their order; within one, checks run in the order of their files.

    Attributes:
        FIRST: The first updates of a run: an earlier one might have reset what these are to show.
        PROBING: Checks that send what they judge; those that name no stage.
        LOOKING_BACK: Checks that judge what others have sent, and may add to it.
        WEIGHING: Checks that compare all answers of the run while what it has made can still be asked for again.
        CLEARING: The deletion of all that the run has made.
        LAWS: What holds for every single answer, those of the clearing among them.
    """

    FIRST = -1
    PROBING = 0
    LOOKING_BACK = 1
    WEIGHING = 2
    CLEARING = 3
    LAWS = 4


JUDGING: Final = frozenset({Stage.WEIGHING, Stage.LAWS})
"""The stages of the checks that judge what others have sent; where that is too little they send a little more."""
