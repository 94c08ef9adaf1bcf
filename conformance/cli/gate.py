"""Gate of a run: waivers, baseline and ``--strict``, which decide the exit status."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from conformance.catalogue import load_catalogue
from conformance.cli.baseline import load_baseline, update_baseline
from conformance.cli.ending import ending
from conformance.exits import Exit
from conformance.reports.drift import compare, drift_text
from conformance.reports.wording import chosen
from conformance.verdicts.waivers import Waiver, load_waivers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.verdicts.results import CheckResult


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The conditions for exit status 0.

    Attributes:
        waivers: The file of waivers, or None.
        baseline: The report whose failures are not new, or None.
        updates: Whether the failures of this run become the baseline.
        strict: Whether a chosen requirement that is untested or undecided changes the status.
        fail_fast: Whether the first failure that is neither waived nor in the baseline ends the checks.
    """

    waivers: Path | None = None
    baseline: Path | None = None
    updates: bool = False
    strict: bool = False
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    """The same conditions, with the contents of the files.

    Attributes:
        waivers: The waivers.
        baseline: The report whose failures are not new, or None.
        strict: As for the options.
        fail_fast: As for the options.
        updated: The file that the report replaces; None if the baseline stays.
    """

    waivers: list[Waiver]
    baseline: Report | None
    strict: bool
    fail_fast: bool
    updated: Path | None

    @classmethod
    def read(cls, options: GateOptions) -> Self:
        """Return a gate with its files read.

        Raises:
            WaiverError: The waivers cannot be used.
            InvalidReport: The baseline is no report.
        """
        return cls(
            load_waivers(options.waivers) if options.waivers else [],
            load_baseline(options.baseline, updates=options.updates) if options.baseline else None,
            strict=options.strict,
            fail_fast=options.fail_fast,
            updated=options.baseline if options.updates else None,
        )

    @property
    def tolerated(self) -> frozenset[str]:
        """The requirements whose failures are not new: those that failed in the baseline, or all if it is updated."""
        if self.updated is not None:
            return frozenset(load_catalogue().requirements)
        entries = [] if self.baseline is None else self.baseline["requirements"]
        return frozenset(entry["id"] for entry in entries if entry["outcome"] == "failed")

    def expects(self, result: CheckResult) -> bool:
        """Whether the failure of a check is waived or not new."""
        today = datetime.now(UTC).date()
        waived = (waiver.waives(result.requirement, result.check, today) for waiver in self.waivers)
        return result.requirement in self.tolerated or any(waived)

    def despite_loss(self, status: Exit, results: Sequence[CheckResult]) -> Exit:
        """Return the exit status if the report lost its results by an error of the suite."""
        is_broken = any(result.outcome == "failed" and not self.expects(result) for result in results)
        return Exit.FAILED if status is Exit.UNTESTABLE and is_broken else status

    def drift(self, report: Report) -> str | None:
        """Return the changes since the baseline in what the run was to judge, as text; None without a baseline."""
        if self.baseline is None:
            return None
        drift = compare(self.baseline, report)
        names = {entry["id"] for entry in chosen(report)}
        other = tuple(change for change in drift.other if change.id in names)
        unmatched = drift.unmatched if len(names) == len(report["requirements"]) else ()
        return drift_text(replace(drift, other=other, unmatched=unmatched))

    def ending(self, report: Report, problems: list[str], reason: str | None) -> tuple[Exit, str]:
        """Return the exit status without a signal, and the reason; update the baseline if that is wanted."""
        status, why = ending(report, reason=reason, strict=self.strict, problems=problems)
        if self.updated is not None and status in {Exit.OK, Exit.UNDECIDED}:
            try:
                update_baseline(self.updated, self.baseline, report)
            except OSError as error:
                return Exit.UNTESTABLE, f"the baseline {self.updated} cannot be written: {error.strerror}"
        return status, why
