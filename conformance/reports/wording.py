"""Wording that all files of a report share."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.catalogue import load_catalogue
from conformance.reports.curl import shell_word
from conformance.reports.outcome import of_requirements
from conformance.reports.text import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.reports.model import ConformanceClass, Failure, Mode, Outcome, Report, Requirement, Verdict

_T = TypeVar("_T")

OUTCOMES: Final[Mapping[Outcome, str]] = {
    "failed": "failed",
    "cantTell": "undecided",
    "untested": "not tested",
    "inapplicable": "not applicable",
    "passed": "passed",
}
"""Outcomes in words, the most serious first."""

OUTCOMES_AND_WAIVED: Final[Mapping[str, str]] = dict(OUTCOMES.items()) | {"waived": "waived"}
"""The same, and the word for a waived failure."""

ORDER: Final = ("passed", "failed", "waived", "cantTell", "untested", "inapplicable")
"""The order of outcomes in lists of their numbers."""

VERDICTS: Final[Mapping[Verdict, str]] = {
    "conformant": "Conformant",
    "non-conformant": "Not conformant",
    "inconclusive": "Inconclusive",
}

MODES: Final[Mapping[Mode, str]] = {
    "read-only": "read-only: nothing was changed",
    "default": "default: the run edited only what it created",
    "disposable": "disposable: the run also changed the organization and its members",
}

_MOST_NUMBERS: Final = 12

ALONE: Final = "The request alone may show something else now."
"""The note on a request for a resource that is gone."""

REPRODUCE: Final = "reproduce"
"""The folder of the files that reproduce failures, in the folder of a run."""

ENDED_EARLY: Final = "The run ended early: "
"""The beginning of the warning about a run that stopped sending."""

WITHOUT_CORE: Final = "the verdict is inconclusive, because not all of core was judged"
"""The reason for the verdict if only the choice of requirements prevents another one."""


def by_section(entries: Iterable[_T], number_of: Callable[[_T], str]) -> list[tuple[str, str, list[_T]]]:
    """Return entries by section of the interface: its number, its title, and its entries."""
    ordered = sorted(entries, key=lambda entry: int(number_of(entry)))
    sections = groupby(ordered, key=number_of)
    return [(number, section_title(number) or "Further", list(members)) for number, members in sections]


def section_title(number: str) -> str:
    """Return the title of a section of the interface; an empty text if the catalogue has no section of that number."""
    return next((section.title for section in load_catalogue().sections if section.number == number), "")


def chosen(report: Report) -> list[Requirement]:
    """Return the requirements that the run was asked to judge."""
    return [requirement for requirement in report["requirements"] if requirement.get("chosen", True)]


def of_chosen(report: Report) -> Report:
    """Return the report without the requirements that the run's options exclude, and without empty classes."""
    requirements = chosen(report)
    if len(requirements) == len(report["requirements"]):
        return report
    counts = Counter(requirement["class"] for requirement in requirements)
    classes = [_of_class(entry, requirements) for entry in report["classes"] if counts[entry["id"]]]
    return {**report, "requirements": requirements, "classes": classes}


def _of_class(entry: ConformanceClass, requirements: list[Requirement]) -> ConformanceClass:
    """Return a class with its outcome over the chosen requirements."""
    outcomes = [requirement["outcome"] for requirement in requirements if requirement["class"] == entry["id"]]
    if len(outcomes) == entry["requirements"]:
        return entry
    return {**entry, "requirements": len(outcomes), "outcome": of_requirements(outcomes).value}  # type: ignore[typeddict-item]  # one of four values


def tally(report: Report) -> Counter[str]:
    """Count the requirements by outcome; waived failures count as ``waived``, not as ``failed``."""
    return Counter(map(outcome_of, report["requirements"]))


def counts_of(requirements: Iterable[Requirement]) -> list[tuple[str, int]]:
    """Return the number of requirements by outcome, as for ``tally``, without outcomes that do not occur."""
    count = Counter(map(outcome_of, requirements))
    return [(outcome, count[outcome]) for outcome in ORDER if count[outcome]]


def failed_of(report: Report) -> list[Requirement]:
    """Return the failed requirements, waived ones included."""
    return [requirement for requirement in report["requirements"] if requirement["outcome"] == "failed"]


def causes_sentence(causes: Sequence[Sequence[Requirement]]) -> str | None:
    """Return how many causes the failed requirements probably have, as a sentence; None if they are not grouped.

    Args:
        causes: The failed requirements in groups, from ``by_cause``.
    """
    number = sum(map(len, causes))
    if number == len(causes):
        return None
    if len(causes) == 1:
        return f"The {number:,} failed requirements probably have the same cause."
    return f"The {number:,} failed requirements probably have {len(causes):,} causes. The most serious comes first."


def is_waived(requirement: Requirement) -> bool:
    """Whether the requirement failed and a waiver covers the failure."""
    return requirement["waived"] and requirement["outcome"] == "failed"


def outcome_of(requirement: Requirement) -> str:
    """Return a requirement's outcome, or ``waived`` for a waived failure."""
    return "waived" if is_waived(requirement) else requirement["outcome"]


def excuse(requirement: Requirement) -> str | None:
    """Return why a failure does not count for the exit status; None if it counts, or nothing failed."""
    if is_waived(requirement):
        return "waived"
    return "in the baseline" if requirement.get("known") else None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 requirement`` and ``1,200 requirements``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(text: str) -> str:
    """Return a time of a report for people, such as ``4 March 2026, 09:30:00 UTC``."""
    try:
        return datetime.fromisoformat(text).strftime("%-d %B %Y, %H:%M:%S UTC")
    except ValueError:
        return text


def milliseconds(text: str) -> int:
    """Return a time of a report in milliseconds of the epoch."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def outcome_word(requirement: Requirement) -> str:
    """Return the requirement's outcome in words."""
    return excuse(requirement) or OUTCOMES[requirement["outcome"]]


def verdict_sentence(report: Report) -> str:
    """Return the verdict and its reasons in one sentence, without any text of the target."""
    count = tally(report)
    if keeps_what_was_chosen(report):
        return f"No chosen requirement failed: {counted(count['passed'], 'requirement')} passed; {WITHOUT_CORE}."
    sentence = {
        "non-conformant": f"The service fails {count['failed']:,} of {_decided(count)} decided requirements",
        "conformant": f"The service passes {_all_but_waived(count)}",
        "inconclusive": f"The test is incomplete: {counted(count['passed'], 'requirement')} passed",
    }[report["verdict"]]
    return f"{sentence}{_reservations(report, count)}."


def keeps_what_was_chosen(report: Report) -> bool:
    """Whether only the choice of requirements prevents a verdict; the report is the result of ``of_chosen``."""
    count, run = tally(report), report["run"]
    is_open = run["interrupted"] or any(count[outcome] for outcome in ("failed", "waived", "cantTell", "untested"))
    return report["verdict"] == "inconclusive" and "selection" in run and count["passed"] > 0 and not is_open


def selection_sentence(report: Report) -> str | None:
    """Return how many requirements a run was asked to judge, and of which catalogue; None if all of the newest."""
    selection, release = report["run"].get("selection"), report["run"].get("catalogue")
    parts = [f"release {release} of the catalogue"] if release else []
    if selection is not None:
        parts.append(f"{selection['chosen']:,} of {counted(selection['of'], 'requirement')}, as chosen")
    return "; ".join(parts) or None


def _all_but_waived(count: Counter[str]) -> str:
    if count["waived"]:
        return f"{count['passed']:,} of {_decided(count)} decided requirements"
    return f"every decided requirement ({count['passed']:,})"


def _decided(count: Counter[str]) -> str:
    return f"{count['passed'] + count['failed'] + count['waived']:,}"


def _reservations(report: Report, count: Counter[str]) -> str:
    open_ends = [
        f"{count[key]:,} {word}"
        for key, word in (("waived", "failed but waived"), ("cantTell", "undecided"), ("untested", "not tested"))
        if count[key]
    ]
    interrupted = ["the run was interrupted"] if report["run"]["interrupted"] else []
    listed = ", ".join(open_ends + interrupted)
    return f"; {listed}" if listed else ""


def repeat_command(report: Report, requirement: Requirement) -> str | None:
    """Return the command line that repeats this requirement with the run's options and seed; None if pytest ran it."""
    words = report["run"].get("command")
    if not words:
        return None
    repeated = ["conformance", *_remaining(words), "--seed", str(report["run"]["seed"]), "--only", requirement["id"]]
    return " ".join(map(shell_word, repeated))


def explain_command(requirement: Requirement) -> str:
    """Return the command line that prints the requirement's page."""
    return f"conformance explain {shell_word(requirement['id'])}"


def reproductions(requirement: Requirement, failure: Failure) -> dict[str, str]:
    """Return the files that reproduce a failure, by their paths in the folder of a run: a script, and a pytest file."""
    place = next(place for place, other in enumerate(requirement["failures"], 1) if other is failure)
    name = f"{requirement['id']}{f'-{place}' if place > 1 else ''}"
    found = {f"{REPRODUCE}/{name}.sh": failure.get("script"), f"{REPRODUCE}/test_{name}.py": failure.get("test")}
    return {path: content for path, content in found.items() if content}


def repeating(requirement: Requirement, failure: Failure, folder: str | None = "") -> tuple[str | None, list[str]]:
    """Return why the failed request alone may not repeat a failure, or None, and the commands that repeat it.

    Args:
        requirement: The requirement.
        failure: The failure.
        folder: The folder of the report, with a trailing slash; None if its files could not be written.
    """
    gone, files = failure.get("gone"), {} if folder is None else reproductions(requirement, failure)
    commands = [f"{'sh' if path.endswith('.sh') else 'pytest'} {shell_word(f'{folder}{path}')}" for path in files]
    alone = [] if gone and files else list(filter(None, [failure["curl"]]))
    return gone and (gone if files else f"{gone} {ALONE}"), [*alone, *commands]


def repeating_lines(requirement: Requirement, failure: Failure, folder: str | None = "") -> list[str]:
    """Return the lines of ``repeating``."""
    gone, commands = repeating(requirement, failure, folder)
    return [*([gone] if gone else []), *commands]


def evidence(failure: Failure) -> list[str]:
    """Return a line each for the expected behaviour, the actual one and the exchanges."""
    return [
        f"expected: {excerpt(failure['expected'])}",
        f"actual: {excerpt(failure['actual'])}",
        f"exchanges: {numbers(failure['exchanges'])}",
    ]


def trace(requirement: Requirement) -> str:
    """Return the evidence of each failure, with the commands that repeat it."""
    return "\n\n".join(
        "\n".join([*evidence(failure), *map(excerpt, repeating_lines(requirement, failure))])
        for failure in requirement["failures"]
    )


_REPLACED: Final = ("--seed", "--challenge", "--only", "--skip", "--class", "--report")
"""Options of a run that the command for one requirement replaces or omits."""


def _remaining(words: list[str]) -> list[str]:
    """Return the words of a command line without the replaced options and their values."""
    kept: list[str] = []
    following = iter(words)
    for word in following:
        if word in _REPLACED:
            next(following, None)
        elif word.partition("=")[0] not in _REPLACED and word != "--quiet":
            kept.append(word)
    return kept


def numbers(exchanges: list[int]) -> str:
    """Return exchange numbers for a line of text, such as ``17, 18 and 40 more``."""
    shown = ", ".join(map(str, exchanges[:_MOST_NUMBERS]))
    left_out = len(exchanges) - _MOST_NUMBERS
    return f"{shown} and {left_out} more" if left_out > 0 else shown


def seconds_of(requirement: Requirement) -> float:
    """Return the seconds that the requirement's checks took, according to the report."""
    return sum(check["seconds"] for check in requirement.get("checks", []))


def gone_warnings(report: Report) -> list[str]:
    """Return a sentence if other users' engagements are gone; else an empty list."""
    gone = report.get("gone", [])
    if not gone:
        return []
    return [f"Engagements of other users that were there before the run are gone ({len(gone)}): {', '.join(gone)}."]


def coverage_sentence(report: Report) -> str:
    """Return how much the requests combined operations, keys and states, as a sentence; empty if it is unknown."""
    coverage = report.get("coverage", {})
    if not all(share["possible"] for share in coverage.values()) or coverage.keys() != {"pairs", "triples"}:
        return ""
    pairs, triples = (
        f"{share['reached'] / share['possible']:.0%}" for share in (coverage["pairs"], coverage["triples"])
    )
    return f"Covered: {pairs} of the pairs of operation, key and state of the target, {triples} of the combinations."


def lasting_sentence(number: int) -> str:
    """Return how many changes of a run stay because the interface cannot undo them."""
    what = "1 invitation or removal" if number == 1 else f"{number:,} invitations or removals"
    return f"{what} cannot be undone through the interface."


def basis_of(requirement: Requirement) -> str | None:
    """Return the statements of the interface that a failed requirement is based on, on one line; None if unknown."""
    statements = [text for text in requirement.get("statements", []) if text != requirement["title"]]
    return f"The interface: {' '.join(statements)}" if statements else None
