"""What a report says in words, the same in every file of a run."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from conformance.reports.curl import shell_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reports.model import ConformanceClass, Failure, Mode, Outcome, Report, Requirement, Verdict

OUTCOMES: Final[Mapping[Outcome, str]] = {
    "failed": "failed",
    "cantTell": "undecided",
    "untested": "not tested",
    "inapplicable": "not applicable",
    "passed": "passed",
}
"""Outcomes in words, the gravest first."""

VERDICTS: Final[Mapping[Verdict, str]] = {
    "conformant": "Conformant",
    "non-conformant": "Not conformant",
    "inconclusive": "Inconclusive",
}

MODES: Final[Mapping[Mode, str]] = {
    "read-only": "read-only: nothing was changed",
    "default": "default: the run edited only what it created",
    "disposable": "disposable: the organization itself and its members were edited too",
}

ALONE: Final = "The request alone may show something else now."
"""What is said of a request that names what is gone."""

SCRIPT: Final = "repeat-"
"""How the names of scripts begin that lead to a failure."""

ENDED_EARLY: Final = "The run ended early: "
"""The beginning of the warning that says why a run sent nothing more."""

WITHOUT_CORE: Final = "the verdict is inconclusive, because core was not judged as a whole"
"""Why there is no other verdict, if only what was chosen is the reason."""

SECTIONS: Final[Mapping[str, str]] = {
    "1": "General conventions",
    "2": "Resources and fields",
    "3": "States and transitions",
    "4": "Endpoints",
    "5": "Authentication",
    "6": "Events",
    "7": "Errors",
    "8": "Limits",
    "9": "Versioning",
}


_OF_CLASSES: Final[tuple[Literal["failed", "cantTell", "untested", "passed"], ...]] = (
    "failed", "cantTell", "untested", "passed",
)  # fmt: skip
"""The outcomes of a class, the gravest first."""


def chosen(report: Report) -> list[Requirement]:
    """The requirements that the run was about."""
    return [requirement for requirement in report["requirements"] if requirement.get("chosen", True)]


def of_chosen(report: Report) -> Report:
    """The report without the requirements that the options of the run leave out, and without classes of no other."""
    requirements = chosen(report)
    if len(requirements) == len(report["requirements"]):
        return report
    counts = Counter(requirement["class"] for requirement in requirements)
    classes = [_of_class(entry, requirements) for entry in report["classes"] if counts[entry["id"]]]
    return {**report, "requirements": requirements, "classes": classes}


def _of_class(entry: ConformanceClass, requirements: list[Requirement]) -> ConformanceClass:
    """A class of which only some requirements were chosen."""
    outcomes = [requirement["outcome"] for requirement in requirements if requirement["class"] == entry["id"]]
    if len(outcomes) == entry["requirements"]:
        return entry
    gravest = next((outcome for outcome in _OF_CLASSES if outcome in outcomes), _OF_CLASSES[2])
    return {**entry, "requirements": len(outcomes), "outcome": gravest}


def tally(report: Report) -> Counter[str]:
    """How many requirements have each outcome; waived failures count as ``waived``, not as ``failed``."""
    return Counter("waived" if is_waived(one) else one["outcome"] for one in report["requirements"])


def is_waived(requirement: Requirement) -> bool:
    """Whether the requirement failed and somebody answers for that."""
    return requirement["waived"] and requirement["outcome"] == "failed"


def excuse(requirement: Requirement) -> str | None:
    """Why a failure does not count for the exit status, in a word; None if it counts, or nothing failed."""
    if is_waived(requirement):
        return "waived"
    return "in the baseline" if requirement.get("known") else None


def counted(number: int, noun: str) -> str:
    """Such as ``1 requirement`` and ``1,200 requirements``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(text: str) -> str:
    """A time of a report for people, such as ``4 March 2026, 09:30:00 UTC``."""
    try:
        return datetime.fromisoformat(text).strftime("%-d %B %Y, %H:%M:%S UTC")
    except ValueError:
        return text


def outcome_word(requirement: Requirement) -> str:
    """The requirement's outcome in words."""
    return excuse(requirement) or OUTCOMES[requirement["outcome"]]


def verdict_sentence(report: Report) -> str:
    """The verdict and what it rests on, in one sentence that names nothing of the target's."""
    count = tally(report)
    if keeps_what_was_chosen(report):
        return f"What was judged holds: {counted(count['passed'], 'requirement')}; {WITHOUT_CORE}."
    sentence = {
        "non-conformant": f"The service breaks {count['failed']:,} of the {_decided(count)} requirements decided",
        "conformant": f"The service keeps {_all_but_waived(count)}",
        "inconclusive": f"Not everything could be decided: {counted(count['passed'], 'requirement')} held",
    }[report["verdict"]]
    return f"{sentence}{_reservations(report, count)}."


def keeps_what_was_chosen(report: Report) -> bool:
    """Whether only the choice of what to judge keeps a run from a verdict; the report is that of what was chosen."""
    count, run = tally(report), report["run"]
    is_open = run["interrupted"] or any(count[one] for one in ("failed", "waived", "cantTell", "untested"))
    return report["verdict"] == "inconclusive" and "selection" in run and count["passed"] > 0 and not is_open


def selection_sentence(report: Report) -> str | None:
    """How much a run was asked to judge; None where that is everything."""
    selection = report["run"].get("selection")
    return (
        None
        if selection is None
        else f"{selection['chosen']:,} of {counted(selection['of'], 'requirement')}, as chosen"
    )


def _all_but_waived(count: Counter[str]) -> str:
    if count["waived"]:
        return f"{count['passed']:,} of the {_decided(count)} requirements decided"
    return f"every requirement decided, {count['passed']:,} in all"


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


def repeat_command(report: Report, requirement: Requirement, failure: Failure | None = None) -> str:
    """The command line that repeats this one requirement, with the run's seed, effort and mode."""
    given = None if failure is None else failure.get("repeat")
    if given:
        return given
    run = report["run"]
    if words := run.get("command"):
        repeated = ["conformance", *_kept(words), "--seed", str(run["seed"]), "--only", requirement["id"]]
        return " ".join(map(shell_word, repeated))
    target = (
        f"--base-url {shell_word(report['target']['base_url'])}"
        if requirement["class"] == "core"
        else "--target target.yaml"
    )
    mode = "" if run["mode"] == "default" else f" --{run['mode']}"
    only = shell_word(requirement["id"])
    return f"conformance run {target}{mode} --effort {run['effort']} --seed {run['seed']} --only {only}"


def script_name(requirement: Requirement, failure: Failure) -> str | None:
    """The file of the script that leads to a failure, in the folder of the report; None where there is none."""
    if not failure.get("script"):
        return None
    place = next(place for place, one in enumerate(requirement["failures"], 1) if one is failure)
    return f"{SCRIPT}{requirement['id']}{f'-{place}' if place > 1 else ''}.sh"


def again(requirement: Requirement, failure: Failure, folder: str = "") -> list[str]:
    """What repeats a failure, and before it what keeps the request that showed it from showing it again.

    Args:
        requirement: The requirement.
        failure: The failure.
        folder: The folder of the report, with a slash at its end.
    """
    gone, script = failure.get("gone"), script_name(requirement, failure)
    if script is not None:
        return [*([gone] if gone else []), f"sh {shell_word(folder + script)}"]
    return [line for line in (gone and f"{gone} {ALONE}", failure["curl"]) if line]


_REPLACED: Final = ("--seed", "--only", "--skip", "--class", "--report")
"""Options of a run that a command which repeats one requirement gives itself, or needs not."""


def _kept(words: list[str]) -> list[str]:
    """The words of a command line without the options that are replaced, and their values."""
    kept: list[str] = []
    following = iter(words)
    for word in following:
        if word in _REPLACED:
            next(following, None)
        elif word.partition("=")[0] not in _REPLACED and word != "--quiet":
            kept.append(word)
    return kept


def numbers(exchanges: list[int], limit: int = 12) -> str:
    """Exchange numbers for a line of text, such as ``17, 18 and 40 more``."""
    shown = ", ".join(map(str, exchanges[:limit]))
    left_out = len(exchanges) - limit
    return f"{shown} and {left_out} more" if left_out > 0 else shown


def seconds_of(requirement: Requirement) -> float:
    """The time that the requirement's checks took, as far as the report tells."""
    return sum(check["seconds"] for check in requirement.get("checks", []))


def losses(report: Report) -> list[str]:
    """The first line of a report, if other users' engagements are gone; none otherwise."""
    gone = report.get("gone", [])
    if not gone:
        return []
    return [f"Engagements of other users that were there before the run are gone ({len(gone)}): {', '.join(gone)}."]


def lasting_sentence(number: int) -> str:
    """How many changes of a run stay, since the interface has no way of undoing them."""
    what = "1 invitation or removal" if number == 1 else f"{number:,} invitations or removals"
    return f"{what} cannot be undone through the interface."
