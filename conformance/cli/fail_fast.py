"""``--fail-fast``: the end of the checks at the first new failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reports.outcome import Outcome
from conformance.wire.run_limits import StopCause

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.verdicts.results import CheckListener, CheckResult


class FailFast:
    """A wrapper of a judge's progress that ends the checks at the first failure that is not known.

    Args:
        progress: The progress display.
        is_known: Returns whether a failure is waived or in the baseline.

    Attributes:
        failed: The requirement whose failure ended the checks; None before.
    """

    def __init__(self, progress: CheckListener, is_known: Callable[[CheckResult], bool]) -> None:
        self.failed: str | None = None
        self.planned = progress.planned
        self.began = progress.began
        self._ended = progress.ended
        self._is_known = is_known
        self._end: Callable[[str], object] | None = None

    def ends(self, end: Callable[[str], object]) -> None:
        """Set the function that such a failure calls with its reason, a clause; without it the run goes on."""
        self._end = end

    def ended(self, result: CheckResult) -> None:
        """End the checks if this result is a new failure."""
        self._ended(result)
        if self._end is None or self.failed is not None or result.outcome is not Outcome.FAILED:
            return
        if not self._is_known(result):
            self.failed = result.requirement
            self._end(f"{StopCause.FAIL_FAST}and {self.failed} failed")
