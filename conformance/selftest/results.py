"""Outputs of a self-test: selftest.json, selftest.md and selftest.html."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance import __version__
from conformance.reports.templating import environment
from conformance.selftest.figures import GOOD, Figures, precision, state_of
from conformance.suite import suite_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.selftest.trial import Trial

FORMAT: Final = "conformance-selftest/1"

_ROWS: Final = (
    ("Faults", "faults"),
    ("Found, and the named requirement reported", "killed"),
    ("Not found", "survived"),
    ("Found, but the named requirement not reported", "misnamed"),
    ("Trials in which the suite itself failed", "broken"),
    ("Faults that met only the checks of what they break", "focused"),
    ("Faults that were repeated alone; only the repetition counts", "repeated"),
    ("Share of faults whose named requirement was reported", "named_share"),
    ("Requirements reported for a fault, on average", "reported_mean"),
    ("Requirements reported for a fault, at most", "reported_most"),
    ("Share of reported requirements that the fault breaks, on average", "precision_mean"),
    ("Requests sent until the first failure, median", "found_after_median"),
    ("Drawn faults", "drawn"),
    ("Drawn faults found", "drawn_found"),
    ("Share of drawn faults found", "drawn_share"),
    ("Conforming services that differ at one open point", "latitudes"),
    ("Conforming services that choose at all open points", "combinations"),
    ("Share of all pairs of choices that these services cover", "pairs_share"),
    ("False alarms", "false_alarms"),
    ("Conforming services with avoidable undecided requirements", "undecided"),
)
_OF_FAULTS: Final = frozenset({"faults", "killed", "survived", "misnamed", "focused", "repeated", "named_share"})
_OF_CONFORMING: Final = frozenset({"latitudes", "combinations", "pairs_share", "false_alarms", "undecided"})
_SHARES: Final = frozenset({"named_share", "drawn_share", "precision_mean", "pairs_share"})


def document(figures: Figures, run: dict[str, Any]) -> dict[str, Any]:
    """Return the content of selftest.json.

    Args:
        figures: All trials.
        run: Time and options of the self-test; an interrupted one is never good.
    """
    trials = sorted(figures.trials, key=lambda trial: (trial.subject.kind, trial.subject.id))
    return {
        "format": FORMAT,
        "suite": {"version": __version__, "sha256": suite_sha256()},
        "run": run,
        "good": figures.good and not run["interrupted"],
        "figures": figures.summary(),
        "overlooked": figures.overlooked(),
        "avoidable": figures.avoidable(),
        "trials": [_entry(trial) for trial in trials],
        "requirements": figures.coverage(),
    }


def write(content: dict[str, Any], folder: Path) -> None:
    """Write the three files.

    Args:
        content: From ``document``.
        folder: The folder; created if needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / "selftest.json").write_text(f"{text}\n", "utf-8", "backslashreplace")
    (folder / "selftest.md").write_text(markdown(content), "utf-8", "backslashreplace")
    (folder / "selftest.html").write_text(html(content), "utf-8", "backslashreplace")


def rows(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the figures as labels and values, without those that are None or of a kind that was not tried."""
    figures = content["figures"]
    untried = frozenset() if figures["faults"] else _OF_FAULTS
    untried |= frozenset() if figures["latitudes"] or figures["combinations"] else _OF_CONFORMING
    found = {label: (name, figures.get(name)) for label, name in _ROWS if name not in untried}
    return [
        (label, f"{value:.1%}" if name in _SHARES else f"{value:g}")
        for label, (name, value) in found.items()
        if value is not None
    ]


def markdown(content: dict[str, Any]) -> str:
    """Return the content of selftest.md: the figures and the trials with an unwanted state."""
    lines = ["| Figure | Value |", "|---|---|", *(f"| {label} | {value} |" for label, value in rows(content))]
    if content["overlooked"]:
        lines += ["", "Drawn faults that were not found:", "", *(f"- `{name}`" for name in content["overlooked"])]
    if content["avoidable"]:
        lines += ["", "Avoidable undecided requirements:", "", *(f"- {line}" for line in avoidable_lines(content))]
    for entry in bad(content):
        reported = ", ".join(entry["reported"]) or "nothing"
        expected = f"; required: {entry['breaks'][0]}" if entry["breaks"] else ""
        lines += ["", f"- **{entry['id']}** ({entry['state']}): {entry['title']} Reported: {reported}{expected}."]
    return "\n".join(lines) + "\n"


def html(content: dict[str, Any]) -> str:
    """Return the content of selftest.html: the figures and every trial."""
    template = environment("conformance.selftest").get_template("selftest.html.j2")
    return template.render(**content, rows=rows(content), bad=bad(content))


def avoidable_lines(content: Mapping[str, Any]) -> list[str]:
    """Return a line for each avoidable undecided requirement: the service, the requirement and the reason."""
    return [
        f"{service}: {requirement}: {reason}"
        for service, undecided in content["avoidable"].items()
        for requirement, reason in undecided.items()
    ]


def bad(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of the trials with an unwanted state."""
    return [entry for entry in content["trials"] if entry["state"] not in GOOD]


def _entry(trial: Trial) -> dict[str, Any]:
    subject = trial.subject
    return {
        "id": subject.id,
        "kind": subject.kind,
        "title": subject.title,
        "choices": dict(subject.choices),
        "state": state_of(trial).value,
        "breaks": list(subject.breaks),
        "reported": trial.reported,
        "detecting": trial.detecting,
        "undecided": trial.undecided,
        "passed": trial.passed,
        "precision": round(precision(subject.breaks, trial.reported), 4) if subject.breaks and trial.whole else None,
        "found_after": trial.found_after,
        "requests": trial.requests,
        "seconds": trial.seconds,
        "errors": list(trial.errors),
        "left": list(trial.left),
        "alone": trial.alone,
        "whole": trial.whole,
    }
