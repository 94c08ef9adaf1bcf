"""Rendering of summary.md: the run on one page for a pipeline's step summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reports.causes import by_cause
from conformance.reports.pictures.latency import duration, latencies
from conformance.reports.text import COMMAND, excerpt, one_line, one_line_excerpt
from conformance.reports.wording import (
    MODES,
    OUTCOMES,
    VERDICTS,
    basis_of,
    causes_sentence,
    counted,
    excuse,
    explain_command,
    failed_of,
    gone_warnings,
    lasting_sentence,
    numbers,
    of_chosen,
    repeat_command,
    repeating,
    selection_sentence,
    tally,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reports.model import ConformanceClass, Failure, Report, Requirement
    from conformance.wire.exchange import Exchange

_MOST_FAILURES: Final = 50
_LIMIT: Final = 500
_MOST_LINES: Final = 2
"""Lines that unlock a class; report.html has all lines."""
_CODE_LIMIT: Final = 4_000
_MARKS: Final = {"passed": "✅", "failed": "❌", "cantTell": "❔", "untested": "⚪", "inapplicable": "⚪"}
_ENTITIES: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_ACTIVE: Final = re.compile(
    r"[\\`*_\[\]|~@$<>&#]"  # marks, links, cells, mentions, formulas, markup
    r"|:(?=//|[\w+-]*:)"  # addresses and :emoji:
    r"|(?<=\b[wW]{3})\."  # addresses without a scheme
    r"|^[-+=]"  # lists and headings at the beginning of a line
)
"""Characters that have a meaning in Markdown, each where it has one."""
_NUMBERED: Final = re.compile(r"^(\d+)([.)])(?=\s|$)")


def inline(text: str) -> str:
    """Return text of unknown origin as one line of Markdown without active formatting, links, mentions or markup."""
    shown = one_line_excerpt(text, _LIMIT) if len(text) > _LIMIT else one_line(text)
    shown = _ACTIVE.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), shown)
    return _NUMBERED.sub(r"\1\\\2", shown)


def fenced(text: str) -> str:
    """Return shell commands with text of unknown origin as a code block that the text cannot close."""
    shown = COMMAND.sub(r"\g<blank>\\\g<first>", excerpt(text, _CODE_LIMIT))
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{shown}\n{fence}"


def markdown_bytes(report: Report, exchanges: Sequence[Exchange] = ()) -> bytes:
    """Return the content of summary.md, bounded to fit into a step summary of 1 MiB.

    Args:
        report: The finished run.
        exchanges: Its exchanges, for the causes of failures and the response times.
    """
    return ("\n".join(_lines(of_chosen(report), exchanges)).rstrip() + "\n").encode()


def _lines(report: Report, exchanges: Sequence[Exchange]) -> Iterator[str]:
    for warning in gone_warnings(report):
        yield f"⚠️ **{inline(warning)}**"
        yield ""
    yield f"# Conformance: {VERDICTS[report['verdict']].lower()}"
    yield ""
    yield f"**{inline(verdict_sentence(report))}**"
    yield ""
    yield from _facts(report)
    yield from _classes(report["classes"])
    yield from _failures(report, exchanges)
    yield from _undecided(report)
    yield from _times(exchanges)


def _facts(report: Report) -> Iterator[str]:
    run, suite = report["run"], report["suite"]
    yield f"- Target: {inline(report['target']['name'])} ({inline(report['target']['base_url'])})"
    yield f"- Mode: {inline(MODES[run['mode']])}"
    if judged := selection_sentence(report):
        yield f"- Judged: {inline(judged)}"
    yield f"- Run: {run['requests']:,} requests in {run['seconds']:.1f} s, effort {run['effort']}, seed {run['seed']}"
    yield f"- Suite: {inline(suite['name'])} {inline(suite['version'])}"
    for warning in run.get("warnings", []):
        yield f"- ⚠️ {inline(warning)}"
    for left in report.get("not_undone", []):
        yield f"- ⚠️ Not undone: {inline(left)}"
    if lasting := report.get("lasting", []):
        yield f"- {lasting_sentence(len(lasting))}"
    yield ""
    if command := report.get("cleanup"):
        yield from ("To undo what the run has left:", "", fenced(command), "")


def _classes(classes: list[ConformanceClass]) -> Iterator[str]:
    yield from _table(
        ("Class", "Outcome", "Requirements", "To test the rest"),
        (
            (
                inline(entry["title"]),
                f"{_MARKS[entry['outcome']]} {OUTCOMES[entry['outcome']]}",
                str(entry["requirements"]),
                _unlock(entry.get("unlock", [])),
            )
            for entry in classes
        ),
    )


def _unlock(lines: list[str]) -> str:
    shown = "; ".join(inline(line) for line in lines[:_MOST_LINES])
    left_out = len(lines) - _MOST_LINES
    return f"{shown}; and {left_out} more" if left_out > 0 else shown


def _failures(report: Report, exchanges: Sequence[Exchange]) -> Iterator[str]:
    causes = by_cause(failed_of(report), exchanges)
    if not causes:
        return
    yield "## Failed requirements"
    yield ""
    if sentence := causes_sentence(causes):
        yield from (sentence, "")
    for first, *others in causes[:_MOST_FAILURES]:
        yield from _failed(report, first)
        if others:
            number = counted(len(others), "more failed requirement")
            yield from (f"<details><summary>{number}, probably of the same cause</summary>", "")
            for other in others[:_MOST_FAILURES]:
                yield f"- {_title(other)}, {inline(other['id'])}: {inline(other['failures'][0]['message'])}"
            yield from _left_out(len(others) - _MOST_FAILURES)
            yield from ("", "</details>", "")
    yield from _left_out(sum(map(len, causes[_MOST_FAILURES:])))


def _left_out(number: int) -> Iterator[str]:
    if number > 0:
        yield from ("", f"{counted(number, 'more failed requirement')} in report.html.", "")


def _title(requirement: Requirement) -> str:
    excused = excuse(requirement)
    return f"{inline(requirement['title'])}{f' ({excused})' if excused else ''}"


def _failed(report: Report, requirement: Requirement) -> Iterator[str]:
    yield f"### {_title(requirement)}"
    yield ""
    for text in (basis_of(requirement), requirement["reason"]):
        if text:
            yield from (inline(text), "")
    yield f"Section {requirement['section']}, {inline(requirement['id'])}: {inline(explain_command(requirement))}"
    yield ""
    for failure in requirement["failures"][:3]:
        yield from _failure(requirement, failure)
    if command := repeat_command(report, requirement):
        yield from ("Repeat it:", "", fenced(command), "")


def _failure(requirement: Requirement, failure: Failure) -> Iterator[str]:
    yield f"- {inline(failure['message'])}"
    yield f"  - Expected: {inline(failure['expected'])}"
    yield f"  - Actual: {inline(failure['actual'])}"
    yield f"  - Exchanges: {numbers(failure['exchanges'])}"
    yield ""
    gone, commands = repeating(requirement, failure)
    if gone:
        yield from (inline(gone), "")
    if commands:
        yield from (fenced("\n".join(commands)), "")


def _undecided(report: Report) -> Iterator[str]:
    undecided = [requirement for requirement in report["requirements"] if requirement["outcome"] == "cantTell"]
    if undecided:
        yield f"<details><summary>{tally(report)['cantTell']} undecided</summary>"
        yield ""
        yield from _table(("Requirement", "Why"), map(_reason, undecided[: 2 * _MOST_FAILURES]))
        yield "</details>"


def _times(exchanges: Sequence[Exchange]) -> Iterator[str]:
    operations = latencies(exchanges).operations
    if operations:
        yield "<details><summary>Response times</summary>"
        yield ""
        yield from _table(
            ("Operation", "Responses", "Median", "95 %", "Longest"),
            (
                (
                    latency.operation,
                    f"{latency.responses:,}",
                    *map(duration, (latency.median, latency.late, latency.longest)),
                )
                for latency in operations
            ),
        )
        yield "</details>"


def _reason(requirement: Requirement) -> tuple[str, str]:
    return inline(requirement["title"]), inline(requirement["reason"] or "")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
