"""Generator of the self-test pages: docs/selftest.json, the table in docs/selftest.md, docs/coverage.md.

Usage: python docs/selftest_pages.py [--add] [SELFTEST_JSON ...]

Writes docs/selftest.json from the selftest.json files of self-tests. If two of them tried the same subject, the first
gives the figures. The convictions of faults that did not meet the whole suite come from the earlier
docs/selftest.json. With ``--add`` the faults of these self-tests are added to the earlier docs/selftest.json, or
renewed there. Without arguments it only rewrites the pages.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

from conformance.catalogue import load_catalogue
from conformance.reference.faults import all_faults
from conformance.selftest.figures import GOOD, Figures, TrialState, precision, state_of
from conformance.selftest.results import rows
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Trial
from conformance.verdicts.session import checks_by_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
SUMMARY = ROOT / "docs" / "selftest.json"
COVERAGE = ROOT / "docs" / "coverage.md"
PAGE = ROOT / "docs" / "selftest.md"

FORMAT: Final = "conformance-selftest-summary/1"

BEGIN: Final = "<!-- selftest: made by `tox -e selftest` from docs/selftest.json -->"
END: Final = "<!-- /selftest -->"

Pair = tuple[str, str]
"""A requirement and a check that judges it."""


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selftests", nargs="*", type=Path, metavar="SELFTEST_JSON")
    parser.add_argument("--add", action="store_true", help="keep the other faults of docs/selftest.json")
    given = parser.parse_args()
    if given.selftests:
        documents = [json.loads(path.read_text("utf-8")) for path in given.selftests]
        if not any(trial["kind"] == "fault" for document in documents for trial in document["trials"]):
            parser.error("no fault was tried: give the selftest.json of a self-test with --faults")
        if broken := [trial["id"] for each in documents for trial in each["trials"] if trial["state"] == "broken"]:
            parser.error(f"the suite itself failed in {', '.join(broken)}: mend that, and repeat the self-test")
        earlier = read(SUMMARY)
        write(merged(earlier, documents) if given.add else summary(documents, earlier), SUMMARY)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read(SUMMARY)), "utf-8")
    COVERAGE.write_text("\n".join(coverage_lines(SUMMARY)) + "\n", "utf-8")


def summary(documents: Sequence[Mapping[str, Any]], earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the summary of self-tests with different subjects, or the same at different efforts.

    If two of them tried the same subject, both count for the convictions, and the first for the figures.

    Args:
        documents: The contents of their selftest.json files, at least one.
        earlier: An earlier summary, for the convictions of faults that did not meet the whole suite now.
    """
    trials: dict[tuple[str, str], Trial] = {}
    convicted: dict[str, dict[str, set[str]]] = {}
    for document in documents:
        for trial in map(trial_of, document["trials"]):
            trials.setdefault((trial.subject.kind, trial.subject.id), trial)
            if trial.subject.kind == "fault":
                found = convicted.setdefault(trial.subject.id, {})
                for requirement, checks in trial.detecting.items():
                    found.setdefault(requirement, set()).update(checks)
    figures = Figures()
    for key in sorted(trials):
        figures.add(trials[key])
    known: Mapping[str, Mapping[str, list[str]]] = {} if earlier is None else earlier["convictions"]
    for fault in known.keys() & convicted.keys():
        if not trials["fault", fault].whole:
            for requirement, checks in known[fault].items():
                convicted[fault].setdefault(requirement, set()).update(checks)
    return {
        "format": FORMAT,
        "suite": documents[0]["suite"],
        "runs": [document["run"] | {"suite_sha256": document["suite"].get("sha256")} for document in documents],
        "good": figures.good,
        "figures": figures.summary(),
        "bad": {trial.subject.id: state.value for trial in figures.trials if (state := state_of(trial)) not in GOOD},
        "convictions": {
            fault: {requirement: sorted(checks) for requirement, checks in sorted(found.items())}
            for fault, found in sorted(convicted.items())
        },
    }


def merged(earlier: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an earlier summary with the faults of further self-tests.

    Counts and shares of faults, bad trials and convictions are renewed; so are the figures of the requirements reported
    for a fault, if all met the whole suite. The median and the figures of conforming services stay as they were.

    Args:
        earlier: The earlier summary.
        documents: The contents of the further selftest.json files, at least one.
    """
    further = summary([{**document, "trials": _faults_of(document)} for document in documents], earlier)
    convicted = earlier["convictions"] | further["convictions"]
    bad = {name: state for name, state in earlier["bad"].items() if name not in further["convictions"]} | further["bad"]
    states = Counter(bad[name] for name in convicted if name in bad)
    unnamed = states[TrialState.SURVIVED] + states[TrialState.MISNAMED] + states[TrialState.BROKEN]
    figures = {
        **earlier["figures"],
        "faults": len(convicted),
        "killed": len(convicted) - unnamed,
        **{state.value: states[state] for state in (TrialState.SURVIVED, TrialState.MISNAMED, TrialState.BROKEN)},
        "named_share": round(1 - unnamed / len(convicted), 4),
    }
    if earlier["figures"]["focused"] == further["figures"]["focused"] == 0:
        figures |= _of_reported(convicted)
    runs = [*earlier["runs"], *further["runs"]]
    parts = {"runs": runs, "good": not bad, "figures": figures, "bad": bad}
    return {**earlier, **parts, "convictions": dict(sorted(convicted.items()))}


def _of_reported(convicted: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """Return the figures of the requirements reported for faults that all met the whole suite."""
    faults = all_faults()
    numbers = [len(reported) for reported in convicted.values()]
    shares = [precision(faults[name].breaks, reported) for name, reported in convicted.items()]
    means = {"reported_mean": mean(numbers), "precision_mean": mean(shares)}
    return {"reported_most": max(numbers), **{name: round(value, 3) for name, value in means.items()}}


def _faults_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [trial for trial in document["trials"] if trial["kind"] == "fault"]


def trial_of(entry: Mapping[str, Any]) -> Trial:
    """Return a trial from its entry in selftest.json."""
    return Trial(
        subject=Subject(entry["id"], entry["kind"], entry["title"], tuple(entry["breaks"]), entry["choices"]),
        errors=tuple(entry["errors"]),
        left=tuple(entry["left"]),
        **{
            name: entry[name]
            for name in (
                *("reported", "detecting", "undecided", "passed", "requests"),
                *("found_after", "seconds", "alone", "whole"),
            )
        },
    )


def write(content: Mapping[str, Any], path: Path) -> None:
    """Write a summary, with a line for each fault."""
    path.write_text("".join(_lines(content)), "utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read a summary.

    Raises:
        ValueError: The file is no summary.
    """
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is no summary of a self-test.")
    return content


def table(content: Mapping[str, Any]) -> list[str]:
    """Return the lines of a Markdown table of the figures, with a sentence about the trials."""
    tried, known = content["figures"]["faults"], len(all_faults())
    tried_faults = f"All {known} faults" if tried == known else f"{tried} of {known} faults"
    return [
        f"{tried_faults} were tried, {_runs(content)}.",
        "",
        "| Figure | Value |",
        "|---|---|",
        *(f"| {label} | {value} |" for label, value in rows(content)),
    ]


def _runs(content: Mapping[str, Any]) -> str:
    """Return the number of self-tests behind the figures, and whether all tested the same suite."""
    runs = content["runs"]
    suites = {run.get("suite_sha256") for run in runs}
    if len(runs) == 1:
        return "in one self-test"
    same = len(suites) == 1 and None not in suites
    return f"in {len(runs)} self-tests, {'all of this suite' if same else 'not all of the same state of the suite'}"


def with_table(page: str, content: Mapping[str, Any]) -> str:
    """Return a page with a new table between its two marks.

    Raises:
        ValueError: The page does not have each mark exactly once.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest:
        raise ValueError(f"The page must have the marks {BEGIN} and {END} exactly once.")
    return "\n".join((f"{before}{BEGIN}", "", *table(content), "", f"{END}{after}"))


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    *others, last = content.items()
    yield "{\n"
    for name, value in others:
        yield f" {json.dumps(name)}: {json.dumps(value)},\n"
    yield f" {json.dumps(last[0])}: {{\n"
    yield ",\n".join(_members(last[1].items()))
    yield "\n }\n}\n"


def _members(items: Iterable[tuple[str, object]]) -> Iterator[str]:
    return (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in items)


def judging() -> dict[str, list[str]]:
    """Return the checks of every requirement, named as in results."""
    known = load_catalogue().requirements
    found = checks_by_entry()
    return {name: [check.replace(".py::", "::") for check in found.get(name, ())] for name in known}


def convictions(content: Mapping[str, Mapping[str, Mapping[str, list[str]]]]) -> Counter[Pair]:
    """Return the number of faulty services that each check reported for each requirement.

    Args:
        content: A summary of a self-test.
    """
    return Counter(
        (requirement, check)
        for found in content["convictions"].values()
        for requirement, checks in found.items()
        for check in checks
    )


def coverage_lines(selftest: Path) -> Iterator[str]:
    """Return the lines of docs/coverage.md.

    Args:
        selftest: The summary of a self-test.

    Raises:
        ValueError: The file is no such summary.
    """
    catalogue, checks, breaking, convicted = load_catalogue(), judging(), _breaking(), convictions(read(selftest))
    yield "# Coverage"
    yield ""
    yield (
        "Each requirement with the checks that judge it, the number of faulty services that each check reported for "
        "it, and the faults that break it, in bold those made for it. "
        "Made by `tox -e coverage-table`; a test fails when it is stale."
    )
    for section in catalogue.sections:
        entries = [entry for entry in catalogue.requirements.values() if entry.section == section.number]
        if entries:
            yield from (
                "",
                f"## {section.number}. {section.title}",
                "",
                "| Requirement | Checks | Faults |",
                "|---|---|---|",
            )
        for entry in entries:
            judged = "<br>".join(f"`{check}` ({convicted[entry.id, check]})" for check in checks[entry.id])
            yield f"| **{entry.id}** | {judged} | {', '.join(breaking[entry.id])} |"


def _breaking() -> dict[str, list[str]]:
    """Return the faults of each requirement, those made for it first."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    beside: defaultdict[str, list[str]] = defaultdict(list)
    for identifier, fault in sorted(all_faults().items()):
        named[fault.breaks[0]].append(f"**{identifier}**")
        for requirement in fault.breaks[1:]:
            beside[requirement].append(identifier)
    return defaultdict(list, {name: named[name] + beside[name] for name in {*named, *beside}})


if __name__ == "__main__":
    main()
