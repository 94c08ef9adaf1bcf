"""Rendering of metrics.prom: figures of a run in the text format of OpenMetrics.

The families are gauges and a summary, which Prometheus' own text format writes alike.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final

from conformance.reports.pictures.latency import latencies
from conformance.reports.text import one_line_excerpt
from conformance.reports.wording import VERDICTS, chosen, excuse, is_waived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.reports.model import Report, Requirement
    from conformance.wire.exchange import Exchange

FAMILIES: Final = {
    "conformance_run_info": ("gauge", "1, with facts about the run."),
    "conformance_verdict": ("gauge", "1 for the verdict of the run, 0 for the others."),
    "conformance_requirements": ("gauge", "Chosen requirements by class and outcome."),
    "conformance_run_requests": ("gauge", "Requests of the run."),
    "conformance_run_seconds": ("gauge", "Duration of the run."),
    "conformance_run_finished_timestamp_seconds": ("gauge", "End of the run."),
    "conformance_run_interrupted": ("gauge", "1 if a signal ended the run."),
    "conformance_run_records_left": ("gauge", "Records that the run could not remove."),
    "conformance_response_seconds": ("summary", "Response times of an operation."),
}
"""The type and the description of each metric family."""
_COUNT: Final = "_count"
_VALUE: Final = r'"((?:[^"\\]|\\.)*+)"'
_SAMPLE: Final = re.compile(rf"(\w+\{{target={_VALUE}(?:,\w+={_VALUE})*+\}}) \d+(?:\.\d+)?(?:e[+-]\d+)?")
"""A sample: its series, with its name and its target."""
_LIMIT: Final = 200
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\""})


def metrics_bytes(report: Report, exchanges: Sequence[Exchange]) -> bytes:
    """Return the content of metrics.prom; without exchanges there are no response times."""
    target = report["target"]["name"]
    return _text(
        f"{name}{{{_labels({'target': target, **labels})}}} {float(value):.15g}"
        for name, labels, value in (*_of_report(report), *_times(exchanges))
    )


def merged_metrics(texts: Mapping[str, str]) -> bytes:
    """Return the samples of many runs in one text; each run may have samples of its own target only.

    Args:
        texts: The texts of metrics.prom by target.
    """
    lines: dict[str, str] = {}
    for target, text in texts.items():
        for found in map(_SAMPLE.fullmatch, text.split("\n")):
            if found is not None and found[2] == _shown(target):
                lines[found[1]] = found[0]
    return _text(lines.values())


def _of_report(report: Report) -> Iterator[tuple[str, dict[str, str], float]]:
    run, counts = report["run"], Counter((entry["class"], _outcome(entry)) for entry in chosen(report))
    about = {"effort": run["effort"], "mode": run["mode"], "version": report["suite"]["version"]}
    yield "conformance_run_info", about, 1
    for verdict in VERDICTS:
        yield "conformance_verdict", {"verdict": verdict}, verdict == report["verdict"]
    for (name, outcome), count in sorted(counts.items()):
        yield "conformance_requirements", {"class": name, "outcome": outcome}, count
    yield "conformance_run_requests", {}, run["requests"]
    yield "conformance_run_seconds", {}, run["seconds"]
    yield "conformance_run_finished_timestamp_seconds", {}, datetime.fromisoformat(run["finished_at"]).timestamp()
    yield "conformance_run_interrupted", {}, run["interrupted"]
    yield "conformance_run_records_left", {}, len(report.get("not_undone", []))


def _outcome(requirement: Requirement) -> str:
    """Return the outcome, or ``waived`` or ``baseline`` for a failure that does not count."""
    if excuse(requirement) is None:
        return requirement["outcome"]
    return "waived" if is_waived(requirement) else "baseline"


def _times(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, dict[str, str], float]]:
    family = "conformance_response_seconds"
    for times in latencies(exchanges).operations:
        operation = {"operation": times.operation}
        for quantile, seconds in (("0.5", times.median), ("0.95", times.late), ("1", times.longest)):
            yield family, operation | {"quantile": quantile}, seconds
        yield family + _COUNT, operation, times.responses


def _text(samples: Iterable[str]) -> bytes:
    """Return lines of samples by family, each below its description."""
    by_family: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for sample in samples:
        by_family.setdefault(sample.partition("{")[0].removesuffix(_COUNT), []).append(sample)
    lines = [
        line
        for name, (kind, description) in FAMILIES.items()
        for line in (f"# HELP {name} {description}", f"# TYPE {name} {kind}", *by_family[name])
        if by_family[name]
    ]
    return "".join(f"{line}\n" for line in (*lines, "# EOF")).encode()


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{label}="{_shown(text)}"' for label, text in labels.items())


def _shown(text: str) -> str:
    return one_line_excerpt(text, _LIMIT).translate(_ESCAPES)
