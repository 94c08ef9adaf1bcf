"""Stages of a run, which order the checks."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Stage(IntEnum):
    """The stages of a run in their order; within a stage, checks run in the order of their files.

    Attributes:
        FIRST: The first updates of a run, which an earlier update might disturb.
        SCENARIOS: Checks that send what they judge; the default.
        AFTER_SCENARIOS: Checks that judge the exchanges of others, and may add to them.
        WHOLE_RUN: Checks that compare all responses of the run while its records can still be read again.
        CLEANUP: The deletion of the run's engagements.
        EVERY_RESPONSE: The laws of every response, including those of the deletion.
    """

    FIRST = -1
    SCENARIOS = 0
    AFTER_SCENARIOS = 1
    WHOLE_RUN = 2
    CLEANUP = 3
    EVERY_RESPONSE = 4


JUDGING: Final = frozenset({Stage.WHOLE_RUN, Stage.EVERY_RESPONSE})
"""The stages of checks that judge the exchanges of others; if those are too few, they send some more."""
