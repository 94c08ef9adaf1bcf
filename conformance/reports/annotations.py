"""Rendering of GitHub annotations: workflow commands that mark failures on the page of a pipeline's run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reports.text import one_line_excerpt
from conformance.reports.wording import chosen, counted, excuse, explain_command, of_chosen, verdict_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reports.model import Report, Requirement

_MOST: Final = 10
"""Annotations of one level that GitHub shows of a step."""
_LIMIT: Final = 1_000
_IN_MESSAGES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def annotations_bytes(report: Report) -> bytes:
    """Return the workflow commands of a run: errors for failures that count, warnings for undecided requirements.

    GitHub shows ten annotations of a level; the tenth says how many more there are.
    """
    failed = [entry for entry in chosen(report) if entry["outcome"] == "failed" and excuse(entry) is None]
    undecided = [entry for entry in chosen(report) if entry["outcome"] == "cantTell"]
    lines = [
        *_commands("error", failed, "failed"),
        *_commands("warning", undecided, "undecided"),
        _command("notice", "Conformance", verdict_sentence(of_chosen(report))),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _commands(level: str, requirements: Sequence[Requirement], state: str) -> Iterator[str]:
    shown = requirements if len(requirements) <= _MOST else requirements[: _MOST - 1]
    for requirement in shown:
        yield _command(level, requirement["id"], "\n".join(_lines(requirement)))
    if left := len(requirements) - len(shown):
        yield _command(level, "Conformance", f"{counted(left, 'more requirement')} {state}: see report.html.")


def _lines(requirement: Requirement) -> list[str]:
    if not requirement["failures"]:
        return [_shown(requirement["reason"] or requirement["title"])]
    failure = requirement["failures"][0]
    return [
        _shown(failure["message"]),
        f"Expected: {_shown(failure['expected'])}",
        f"Actual: {_shown(failure['actual'])}",
        _shown(explain_command(requirement)),
    ]


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_shown(title).translate(_IN_PROPERTIES)}::{message.translate(_IN_MESSAGES)}"


def _shown(text: str) -> str:
    return one_line_excerpt(text, _LIMIT)
