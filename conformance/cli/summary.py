"""Summary of a run on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.cli.text import open_console, plain
from conformance.reports.causes import by_cause
from conformance.reports.wording import (
    ENDED_EARLY,
    OUTCOMES,
    WITHOUT_CORE,
    basis_of,
    causes_sentence,
    counted,
    coverage_sentence,
    excuse,
    explain_command,
    failed_of,
    gone_warnings,
    is_waived,
    keeps_what_was_chosen,
    lasting_sentence,
    of_chosen,
    repeating_lines,
    section_title,
    selection_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from conformance.reports.model import ConformanceClass, Failure, Report, Requirement
    from conformance.wire.exchange import Exchange

_WIDE: Final = 80
"""Columns from which the table is shown in full."""

_STYLES: Final = {
    "passed": "green",
    "failed": "bold red",
    "cantTell": "yellow",
    "inapplicable": "dim",
    "untested": "dim",
}
_VERDICTS: Final = {
    "conformant": ("bold green", "is conformant: no tested requirement failed."),
    "non-conformant": ("bold red", "is NOT conformant:"),
    "inconclusive": ("bold yellow", "could not be judged in full: the verdict is inconclusive."),
}
_WAIVED: Final = {
    "conformant": "is conformant except for waived failures.",
    "inconclusive": "fails only waived requirements, and could not be judged in full: inconclusive.",
}
_MOST_REASONS: Final = 8
_MOST_LEFT: Final = 3


def print_summary(
    report: Report,
    folder: Path | None,
    exchanges: Sequence[Exchange],
    *,
    quiet: bool,
    is_tested: bool,
) -> None:
    """Print the results of a run.

    Args:
        report: The finished run.
        folder: The folder of its outputs; None if they could not be written.
        exchanges: The exchanges of the run, for the causes of failures.
        quiet: Whether to print only the failures, the warnings and the verdict.
        is_tested: Whether the target could be tested; if not, there is nothing to count.
    """
    console, report = open_console(), of_chosen(report)
    failed = failed_of(report)
    for warning in gone_warnings(report):
        console.print(plain(f"! {warning}", "bold red"))
    if not quiet and is_tested:
        _print_table(console, report)
    _print_failures(console, by_cause(failed, exchanges), folder)
    if not quiet and is_tested:
        _print_undecided(console, report["requirements"])
        _print_locked(console, report)
    _print_warnings(console, report, quiet=quiet, is_tested=is_tested)
    if is_tested or failed:
        _print_verdict(console, report, failed)
    if not quiet:
        run = report["run"]
        console.print(plain(f"{run['requests']} requests in {run['seconds']:.1f} s, seed {run['seed']}.", "dim"))
        if is_tested and (sentence := coverage_sentence(report)):
            console.print(plain(sentence, "dim"))
    if folder is not None and (failed or not quiet):
        console.print(plain(f"Report: {folder / 'report.html'}", "dim"), soft_wrap=True)


def _print_table(console: Console, report: Report) -> None:
    """Print the outcomes by class and by section; a narrow window gets the classes alone."""
    wide = console.width >= _WIDE
    none = "-" if console.options.ascii_only else "·"
    table = Table(box=None, pad_edge=False, padding=(0, 2 if wide else 1, 0, 0), header_style="dim")
    for heading in ("class or section", "outcome") if wide else ("class",):
        table.add_column(heading, no_wrap=True)
    for outcome, heading in OUTCOMES.items():
        table.add_column("n/a" if outcome == "inapplicable" else heading, justify="right")
    for entry in report["classes"]:
        members = [requirement for requirement in report["requirements"] if requirement["class"] == entry["id"]]
        style = _STYLES[entry["outcome"]]
        word = [Text(OUTCOMES[entry["outcome"]], style)] if wide else []
        table.add_row(Text(entry["id"], "" if wide else style), *word, *_counts(members, none))
    if wide:
        table.add_row()
    for section in sorted({entry["section"] for entry in report["requirements"]}, key=int) if wide else ():
        members = [entry for entry in report["requirements"] if entry["section"] == section]
        table.add_row(Text(f"{section} {section_title(section)}", "dim"), "", *_counts(members, none))
    console.print(table)
    if judged := selection_sentence(report):
        console.print(plain(f"Judged: {judged}", "dim"))
    console.print()


def _counts(members: Sequence[Requirement], none: str) -> list[Text]:
    counts: Counter[str] = Counter(requirement["outcome"] for requirement in members)
    return [Text(str(counts[outcome] or none), _STYLES[outcome] if counts[outcome] else "dim") for outcome in OUTCOMES]


def _print_failures(console: Console, causes: Sequence[Sequence[Requirement]], folder: Path | None) -> None:
    """Print the probable cause of each group of failed requirements, and the ids of the others."""
    if sentence := causes_sentence(causes):
        console.print(plain(f"{sentence}\n", "bold"))
    for first, *others in causes:
        _print_failure(console, first, folder)
        _print_consequences(console, others)


def _print_failure(console: Console, requirement: Requirement, folder: Path | None) -> None:
    console.print(
        plain(f"✗ {requirement['id']} (section {requirement['section']}, {_operations(requirement)})", "bold red")
    )
    _print_indented(console, plain(requirement["title"], "bold"), 2)
    if basis := basis_of(requirement):
        _print_indented(console, plain(basis), 2)
    if excused := excuse(requirement):
        _print_indented(console, plain(requirement["reason"] or f"This failure is {excused}.", "yellow"), 2)
    for failure in requirement["failures"]:
        _print_facts(console, failure)
        for line in repeating_lines(requirement, failure, None if folder is None else f"{folder}/"):
            console.print(plain(f"    {line}", "dim", limit=1000), soft_wrap=True)
    console.print(plain(f"  {explain_command(requirement)}", "dim"), soft_wrap=True)
    console.print()


def _print_consequences(console: Console, requirements: Sequence[Requirement]) -> None:
    """Print the ids of the requirements that probably failed of the same cause."""
    if not requirements:
        return
    listed = ", ".join(entry["id"] for entry in requirements)
    _print_indented(console, plain(f"✗ Probably of the same cause ({len(requirements)}): {listed}", "red"), 2)
    for entry in requirements:
        if excused := excuse(entry):
            reason = entry["reason"] or f"This failure is {excused}."
            _print_indented(console, plain(f"{entry['id']}: {reason}", "yellow"), 4)
    console.print()


def _print_facts(console: Console, failure: Failure) -> None:
    place = f" at {failure['pointer']}" if failure.get("pointer") else ""
    _print_indented(console, plain(failure["message"] + place), 2)
    facts = [("expected", plain(failure["expected"])), ("actual", plain(failure["actual"]))]
    if failure["exchanges"]:
        numbers = ", ".join(map(str, failure["exchanges"]))
        facts.append(("exchanges", plain(f"{numbers} of exchanges.har", "dim")))
    _print_pairs(console, facts, 4)


def _print_indented(console: Console, text: Text, columns: int) -> None:
    """Print text indented by a number of columns."""
    console.print(Padding(text, (0, 0, 0, columns), expand=False))


def _print_pairs(console: Console, pairs: Sequence[tuple[str, Text]], columns: int) -> None:
    """Print names and texts in two columns, with long texts wrapped in theirs."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(Text(name, text.style), text)
    console.print(Padding(grid, (0, 0, 0, columns), expand=False))


def _operations(requirement: Requirement) -> str:
    operations = requirement["operations"]
    return ", ".join(operations) if len(operations) <= 3 else f"{len(operations)} operations"  # noqa: PLR2004 - fits a line


def _print_undecided(console: Console, requirements: Sequence[Requirement]) -> None:
    undecided = [entry for entry in requirements if entry["outcome"] == "cantTell"]
    if not undecided:
        return
    console.print(plain(f"Undecided ({len(undecided)}):", "yellow"))
    for entry in undecided[:_MOST_REASONS]:
        _print_indented(console, plain(f"{entry['id']}: {entry['reason'] or ''}"), 2)
    if len(undecided) > _MOST_REASONS:
        console.print(plain(f"  and {len(undecided) - _MOST_REASONS} more; see the report"))
    console.print()


def _print_locked(console: Console, report: Report) -> None:
    locked = [entry for entry in report["classes"] if entry.get("unlock")]
    if not locked:
        return
    console.print(
        plain("Not tested. Entries of the target file that would unlock more (for all, run conformance doctor):", "dim")
    )
    _print_pairs(console, [(entry["id"], plain(_unlocking(entry), "dim")) for entry in locked], 2)
    console.print()


def _unlocking(entry: ConformanceClass) -> str:
    """Return the first line that unlocks more of a class, and the number of the others."""
    first, *others = entry["unlock"]
    return f"{first} (and {len(others)} more)" if others else first


def _print_warnings(console: Console, report: Report, *, quiet: bool, is_tested: bool) -> None:
    for line in report["run"].get("warnings", []):
        if is_tested or not line.startswith(ENDED_EARLY):  # the last line says it
            console.print(plain(f"! {line}", "yellow"))
    if (lasting := report.get("lasting", [])) and not quiet:
        console.print(plain(lasting_sentence(len(lasting)), "dim"))
    left = report.get("not_undone", [])
    if left:
        console.print(plain(f"Not undone ({len(left)}):", "yellow"))
    for line in left[:_MOST_LEFT]:
        console.print(plain(f"  {line}", "yellow"))
    if len(left) > _MOST_LEFT:
        console.print(plain(f"  and {len(left) - _MOST_LEFT} more; see the report", "yellow"))


def _besides(failed: Sequence[Requirement]) -> str:
    """Return the numbers of waived and known failures, as a clause."""
    counts = Counter(reason for requirement in failed if (reason := excuse(requirement)) is not None)
    parts = [f"{'all' if number == len(failed) else f'{number} of them'} {reason}" for reason, number in counts.items()]
    return f", {' and '.join(parts)}" if parts else ""


def _print_verdict(console: Console, report: Report, failed: Sequence[Requirement]) -> None:
    style, sentence = _VERDICTS[report["verdict"]]
    waived = sum(map(is_waived, failed))
    if report["verdict"] == "non-conformant":
        besides = _besides(failed)
        sentence += f" {counted(len(failed), 'requirement')} broken{besides}."
    elif waived:
        sentence = _WAIVED[report["verdict"]]
    elif keeps_what_was_chosen(report):
        sentence = f"meets every judged requirement; {WITHOUT_CORE}."
    console.print(plain(f"{report['target']['name']} {sentence}", style))
