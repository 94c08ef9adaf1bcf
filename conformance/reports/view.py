"""Data of report.html: a run arranged for its template."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from conformance.interface.operations import OPERATIONS
from conformance.reports.causes import by_cause
from conformance.reports.pictures.course import courses
from conformance.reports.pictures.latency import duration, latencies
from conformance.reports.pictures.machine import arrows
from conformance.reports.pictures.transitions import transitions
from conformance.reports.wording import (
    MODES,
    OUTCOMES_AND_WAIVED,
    VERDICTS,
    by_section,
    causes_sentence,
    counted,
    counts_of,
    explain_command,
    failed_of,
    gone_warnings,
    is_waived,
    moment,
    outcome_of,
    repeat_command,
    repeating,
    reproductions,
    section_title,
    selection_sentence,
    tally,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.reports.model import ConformanceClass, Failure, Report, Requirement
    from conformance.wire.exchange import Exchange

MOST_SHOWN: Final = 200
"""Most exchanges that are shown in full; further cited ones are only in the table of all."""
_INLINE: Final = 5
"""Most exchanges that are shown within a failure."""
MOST_CITED: Final = 24
"""Most numbers of exchanges in a list."""
_FEW: Final = 8
"""Most numbers of exchanges in a list of examples."""
_MOST_FAILURES: Final = 8
"""Most failures of a requirement that are shown."""
_MOST_COLUMNS: Final = 8
"""Most columns of a census or a journal."""
_MOST_ROWS: Final = 500
"""Most rows of a census or a journal."""

MARKS: Final = {"passed": "✓", "failed": "✗", "cantTell": "?", "untested": "·", "inapplicable": "∅", "waived": "!"}
_BAR: Final = 120
_INTERRUPTED: Final = "The run was interrupted. This report has the results up to then."


@dataclass(frozen=True, slots=True)
class _Cited:
    """Numbers of exchanges to list, the number of omitted ones, and the exchanges to show inline."""

    numbers: list[int]
    left_out: int
    inline: list[Exchange]


def view(report: Report, exchanges: Sequence[Exchange]) -> dict[str, Any]:
    """Return the names that the template uses."""
    by_number = {exchange.number: exchange for exchange in exchanges}
    shown = _shown_in_full(report, by_number)
    causes = by_cause(failed_of(report), exchanges)
    return {
        "report": report,
        "verdict": VERDICTS[report["verdict"]],
        "sentence": verdict_sentence(report),
        "facts": _facts(report),
        "alerts": _alerts(report),
        "count": tally(report),
        "classes": [_class(report, entry) for entry in report["classes"]],
        "failures": [[_failed(report, requirement, by_number) for requirement in cause] for cause in causes],
        "causes": causes_sentence(causes),
        "undecided": [requirement for requirement in report["requirements"] if requirement["outcome"] == "cantTell"],
        "untested": _untested(report),
        "sections": by_section(report["requirements"], lambda requirement: requirement["section"]),
        "observations": [
            (observation, _cited(observation["exchanges"], by_number)) for observation in report["observations"]
        ],
        "census": _table(report.get("census")),
        "journal": _table(report.get("journal")),
        "evidence": [by_number[number] for number in sorted(shown)],
        "shown": shown,
        "recorded": by_number.keys(),
        "exchanges": [_row(exchange) for exchange in exchanges],
        **_pictures(exchanges),
        "marks": MARKS,
        "words": OUTCOMES_AND_WAIVED,
        "mark_of": outcome_of,
        "path_of": _path_of,
        "counted": counted,
        "operation_count": len(OPERATIONS),
    }


def _facts(report: Report) -> list[tuple[str, str]]:
    run, suite, target = report["run"], report["suite"], report["target"]
    return [
        ("Target", target["name"]),
        ("Address", target["base_url"]),
        ("Mode", MODES[run["mode"]]),
        *([("Judged", judged)] if (judged := selection_sentence(report)) else []),
        ("Run", f"{moment(run['started_at'])}, {run['seconds']:,.1f}\u00a0s"),
        ("Requests", f"{run['requests']:,}" + (f" by {counted(run['workers'], 'worker')}" if "workers" in run else "")),
        ("Effort and seed", f"{run['effort']}, {run['seed']}"),
        *([("Challenge", run["challenge"])] if "challenge" in run else []),
        ("Suite", f"{suite['name']} {suite['version']}"),
        *([("Commit of the suite", suite["commit"])] if "commit" in suite else []),
        ("OpenAPI digest", f"sha256:{suite['openapi_sha256']}"),
    ]


def _alerts(report: Report) -> list[str]:
    interrupted = [_INTERRUPTED] if report["run"]["interrupted"] else []
    left = [f"Not undone: {change}" for change in report.get("not_undone", [])]
    return [*gone_warnings(report), *interrupted, *left, *report["run"].get("warnings", [])]


def _class(report: Report, entry: ConformanceClass) -> dict[str, Any]:
    members = [requirement for requirement in report["requirements"] if requirement["class"] == entry["id"]]
    counts = counts_of(members)
    return {
        "data": entry,
        "unlock": entry.get("unlock", []),
        "counts": counts,
        "bar": bar(counts, len(members)),
    }


def bar(counts: Iterable[tuple[str, int]], total: int) -> list[tuple[str, float, float]]:
    """Return the segments of a bar that is 120 units wide, as outcome, start and width."""
    segments, start = [], 0.0
    for outcome, number in counts:
        width = _BAR * number / total if total else 0
        if width:
            segments.append((outcome, round(start, 2), round(width, 2)))
        start += width
    return segments


def _pictures(exchanges: Sequence[Exchange]) -> dict[str, Any]:
    found = transitions(exchanges)
    drawn, left_out = courses(exchanges)
    return {
        "arrows": arrows(found),
        "transitions": [(transition, _few(transition.exchanges)) for transition in found],
        "latency": latencies(exchanges),
        "courses": drawn,
        "courses_left_out": left_out,
        "duration": duration,
    }


def _few(numbers: list[int]) -> _Cited:
    return _Cited(numbers[:_FEW], max(0, len(numbers) - _FEW), [])


def _failed(report: Report, requirement: Requirement, by_number: Mapping[int, Exchange]) -> dict[str, Any]:
    failures = requirement["failures"][:_MOST_FAILURES]
    return {
        "requirement": requirement,
        "waived": is_waived(requirement),
        "section": section_title(requirement["section"]),
        "failures": [_failure(requirement, failure, by_number) for failure in failures],
        "left_out": len(requirement["failures"]) - len(failures),
        "repeat": repeat_command(report, requirement),
        "explain": explain_command(requirement),
    }


def _failure(requirement: Requirement, failure: Failure, by_number: Mapping[int, Exchange]) -> dict[str, Any]:
    gone, commands = repeating(requirement, failure)
    return {
        "data": failure,
        "pointer": failure.get("pointer"),
        "cited": _cited(failure["exchanges"], by_number),
        "gone": gone,
        "commands": "\n".join(commands),
        "files": reproductions(requirement, failure),
    }


def _cited(numbers: list[int], by_number: Mapping[int, Exchange]) -> _Cited:
    known = [by_number[number] for number in numbers if number in by_number]
    # The last exchange shows the fault.
    inline = known if len(known) <= _INLINE else [*known[: _INLINE - 1], known[-1]]
    return _Cited(numbers[:MOST_CITED], max(0, len(numbers) - MOST_CITED), inline)


def _untested(report: Report) -> list[tuple[str, list[Requirement]]]:
    """Return the untested requirements by reason."""
    by_reason: dict[str, list[Requirement]] = {}
    for requirement in report["requirements"]:
        if requirement["outcome"] == "untested":
            by_reason.setdefault(requirement["reason"] or "no reason was recorded", []).append(requirement)
    return list(by_reason.items())


def _shown_in_full(report: Report, by_number: Mapping[int, Exchange]) -> set[int]:
    """Return the cited exchanges to show in full: the first ones of each failure and observation take precedence."""
    cited = [failure["exchanges"] for requirement in report["requirements"] for failure in requirement["failures"]]
    cited += [observation["exchanges"] for observation in report["observations"]]
    first = [number for numbers in cited for number in numbers[:_INLINE]]
    further = [number for numbers in cited for number in numbers[_INLINE:]]
    ordered = dict.fromkeys(number for number in (*first, *further) if number in by_number)
    return set(list(ordered)[:MOST_SHOWN])


def _row(exchange: Exchange) -> tuple[int, str, str, str, str, str]:
    return (
        exchange.number,
        exchange.sent_request.method,
        _path_of(exchange),
        exchange.status_text,
        f"{exchange.seconds * 1000:,.0f} ms",
        exchange.check,
    )


def _path_of(exchange: Exchange) -> str:
    """Return the path of a request with its query."""
    try:
        parts = urlsplit(exchange.sent_request.url)
    except ValueError:
        return exchange.sent_request.url
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _table(value: object) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return a record of any shape as a table: column headings, and rows of a name and cells."""
    single = [] if value is None else [("", value)]
    named = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else single
    records: list[tuple[str, Any]] = [(str(name), member) for name, member in named]
    if not records or not all(isinstance(member, dict) and len(member) <= _MOST_COLUMNS for _, member in records):
        return [""], [
            (name, [member if isinstance(member, str) else _json(member)]) for name, member in records[:_MOST_ROWS]
        ]
    heads = list(dict.fromkeys(str(head) for _, member in records for head in member))[:_MOST_COLUMNS]
    return heads, [(name, [_cell(member.get(head)) for head in heads]) for name, member in records[:_MOST_ROWS]]


def _cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
