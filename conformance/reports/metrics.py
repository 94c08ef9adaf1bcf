"""Rendering of metrics.prom: figures of a run in the text format of OpenMetrics.

Families are gauges and summaries only, which Prometheus' own text format writes alike: the textfile collector reads the
file, too.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final

from conformance.reports.pictures.latency import latencies
from conformance.reports.text import bounded, one_line
from conformance.reports.wording import VERDICTS, chosen, excuse, is_waived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reports.model import Report, Requirement
    from conformance.wire.exchange import Exchange

    Sample = tuple[str, dict[str, str], float]
    """The suffix of a name, labels and a value."""

_LIMIT: Final = 200
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\""})


def metrics_bytes(report: Report, exchanges: Sequence[Exchange]) -> bytes:
    """Return the content of metrics.prom; without exchanges there are no response times."""
    run, target = report["run"], report["target"]["name"]
    counts = Counter((entry["class"], _outcome(entry)) for entry in chosen(report))
    single = {
        "requests": ("Requests of the run.", run["requests"]),
        "seconds": ("Duration of the run.", run["seconds"]),
        "finished_timestamp_seconds": ("Time of its end.", datetime.fromisoformat(run["finished_at"]).timestamp()),
        "interrupted": ("1 if a signal ended the run.", run["interrupted"]),
        "records_left": ("Records that the run could not remove.", len(report.get("not_undone", []))),
    }
    about = {"effort": run["effort"], "mode": run["mode"], "version": report["suite"]["version"]}
    verdicts: list[Sample] = [("", {"verdict": name}, name == report["verdict"]) for name in VERDICTS]
    by_outcome = [("", {"class": name, "outcome": how}, count) for (name, how), count in sorted(counts.items())]
    lines = [
        *_family("conformance_run_info", "gauge", "Always 1, with facts about the run.", target, [("", about, 1)]),
        *_family("conformance_verdict", "gauge", "1 for the verdict, 0 for the others.", target, verdicts),
        *_family("conformance_requirements", "gauge", "Chosen requirements by outcome.", target, by_outcome),
        *(
            line
            for name, (text, value) in single.items()
            for line in _family(f"conformance_run_{name}", "gauge", text, target, [("", {}, value)])
        ),
        *_family("conformance_response_seconds", "summary", "Response times.", target, _times(exchanges)),
        "# EOF",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _outcome(requirement: Requirement) -> str:
    """Return the outcome, or ``waived`` or ``baseline`` for a failure that does not count."""
    if excuse(requirement) is None:
        return requirement["outcome"]
    return "waived" if is_waived(requirement) else "baseline"


def _times(exchanges: Iterable[Exchange]) -> Iterator[Sample]:
    for times in latencies(exchanges).operations:
        operation = {"operation": times.operation}
        for quantile, seconds in (("0.5", times.median), ("0.95", times.late), ("1", times.longest)):
            yield "", operation | {"quantile": quantile}, seconds
        yield "_count", operation, times.responses


def _family(name: str, kind: str, text: str, target: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a metric family."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    for suffix, labels, value in samples:
        shown = ",".join(f'{label}="{_shown(of_it)}"' for label, of_it in {"target": target, **labels}.items())
        yield f"{name}{suffix}{{{shown}}} {float(value):.15g}"


def _shown(text: str) -> str:
    return bounded(one_line(text[: 2 * _LIMIT]), _LIMIT).translate(_ESCAPES)
