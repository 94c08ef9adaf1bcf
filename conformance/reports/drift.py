"""Changes between two runs: outcomes of requirements, and behaviour at open points."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from conformance.reports.markdown import inline
from conformance.reports.text import json_document, one_line_excerpt
from conformance.reports.wording import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reports.model import Report, Requirement

_LIMIT = 300


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """A requirement whose outcome changed; ``waived`` for a waived failure, None if a run does not know it."""

    id: str
    title: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class ObservationChange:
    """An open point at which the behaviour changed; None if a run did not observe it."""

    id: str
    question: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Drift:
    """The changes from an old run to a new one.

    Attributes:
        regressions: Requirements that fail now and did not fail before, unless waived.
        mended: Requirements that failed before and pass now.
        other: All other changes of outcomes.
        observations: Open points at which the two runs observed different behaviour.
        unmatched: Open points that only one of the runs observed.
    """

    regressions: tuple[OutcomeChange, ...]
    mended: tuple[OutcomeChange, ...]
    other: tuple[OutcomeChange, ...]
    observations: tuple[ObservationChange, ...]
    unmatched: tuple[ObservationChange, ...]

    @property
    def drifted(self) -> bool:
        """Whether the behaviour at an open point changed."""
        return bool(self.observations)


def compare(old: Report, new: Report) -> Drift:
    """Return the changes from the old run to the new one, in the order of the new run's report."""
    changes = list(_outcomes(old, new))
    regressions = tuple(change for change in changes if change.new == "failed")
    mended = tuple(change for change in changes if change.old in {"failed", "waived"} and change.new == "passed")
    observations = list(_observations(old, new))
    return Drift(
        regressions=regressions,
        mended=mended,
        other=tuple(change for change in changes if change not in regressions and change not in mended),
        observations=tuple(change for change in observations if None not in {change.old, change.new}),
        unmatched=tuple(change for change in observations if None in {change.old, change.new}),
    )


def _outcomes(old: Report, new: Report) -> Iterator[OutcomeChange]:
    before = {requirement["id"]: requirement for requirement in old["requirements"]}
    after = {requirement["id"]: requirement for requirement in new["requirements"]}
    for identifier in [*after, *(name for name in before if name not in after)]:
        was, now = _outcome(before.get(identifier)), _outcome(after.get(identifier))
        if was != now:
            yield OutcomeChange(identifier, (after.get(identifier) or before[identifier])["title"], was, now)


def _outcome(requirement: Requirement | None) -> str | None:
    return None if requirement is None else outcome_of(requirement)


def _observations(old: Report, new: Report) -> Iterator[ObservationChange]:
    before = {observation["id"]: observation for observation in old["observations"]}
    after = {observation["id"]: observation for observation in new["observations"]}
    for identifier in [*after, *(name for name in before if name not in after)]:
        was = before[identifier]["observed"] if identifier in before else None
        now = after[identifier]["observed"] if identifier in after else None
        if was != now:
            yield ObservationChange(identifier, (after.get(identifier) or before[identifier])["question"], was, now)


_HEADINGS = (
    ("regressions", "Regressions"),
    ("mended", "Fixed"),
    ("other", "Other changes of outcome"),
    ("observations", "Behaviour drift"),
    ("unmatched", "Observed in one run only"),
)


def _parts(drift: Drift) -> Iterator[tuple[str, Sequence[OutcomeChange | ObservationChange]]]:
    for name, heading in _HEADINGS:
        if getattr(drift, name):
            yield heading, getattr(drift, name)


def drift_json(drift: Drift) -> bytes:
    """Return the changes as a JSON object with the attributes of ``Drift``."""
    return json_document(asdict(drift))


def drift_text(drift: Drift) -> str:
    """Return the changes as plain text for a terminal."""
    blocks = []
    for heading, changes in _parts(drift):
        blocks.append("\n".join([f"{heading} ({len(changes)})", *map(_text_lines, changes)]))
    return "\n\n".join(blocks or ["No difference."]) + "\n"


def drift_markdown(drift: Drift) -> str:
    """Return the changes as Markdown."""
    blocks = ["# Changes between two runs"]
    for heading, changes in _parts(drift):
        head = (f"## {heading}\n", "| Id | About | Before | Now |", "| --- | --- | --- | --- |")
        blocks.append("\n".join([*head, *map(_row, changes)]))
    if len(blocks) == 1:
        blocks.append("No difference.")
    return "\n\n".join(blocks) + "\n"


def _text_lines(change: OutcomeChange | ObservationChange) -> str:
    return f"  {_plain(change.id)}: {_plain(change.old)} -> {_plain(change.new)}\n    {_plain(_subject(change))}"


def _row(change: OutcomeChange | ObservationChange) -> str:
    return f"| {inline(change.id)} | {inline(_subject(change))} | {_cell(change.old)} | {_cell(change.new)} |"


def _subject(change: OutcomeChange | ObservationChange) -> str:
    return change.title if isinstance(change, OutcomeChange) else change.question


def _plain(text: str | None) -> str:
    return "absent" if text is None else one_line_excerpt(text, _LIMIT)


def _cell(text: str | None) -> str:
    return "absent" if text is None else inline(text)
