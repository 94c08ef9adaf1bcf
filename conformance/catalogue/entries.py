"""Kinds of entries in a catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "core": "Reading, engagements, errors, authentication, paging and rate-limit headers",
        "organization": "Renaming the organization, inviting, the owner's role",
        "permissions": "Keys with a single permission",
        "membership": "Changing roles and removing members",
        "isolation": "Isolation of two organizations",
        "cascade": "Deletion of subordinate records with their engagement",
        "mail": "E-mails of invitations",
        "throttling": "Requests beyond the rate limit",
    }
)
"""The conformance classes with their titles, in the order of reports."""

RELEASES: Final = ("1.0",)
"""The releases of the catalogue, the oldest first: the minor releases of the suite, with the next one last."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A statement of the interface that a check judges.

    Attributes:
        id: Stable and readable; never given to another requirement.
        title: The statement in one sentence.
        section: The section of the interface text, by its number.
        of: The statements of that section on which it is based.
        conformance_class: One of ``CLASSES``.
        operations: The operationIds that it is about.
        needs: The means that a target must provide to judge it; see ``conformance.targets.capabilities``.
        since: The first of the ``RELEASES`` that has it.
    """

    id: str
    title: str
    section: str
    of: tuple[str, ...]
    conformance_class: str
    operations: tuple[str, ...]
    needs: tuple[str, ...]
    since: str


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """A question that the interface leaves open: observed, never judged.

    Attributes:
        id: Stable and readable.
        question: The question that the observation answers.
        section: The section of the interface text, by its number.
        of: The statements of that section on which it is based.
        conformance_class: The class whose means are needed to observe it.
        operations: The operationIds that it is about.
        needs: The means that a target must provide to observe it.
        varies: Whether two runs of one service may observe different things, by chance or by what others do.
    """

    id: str
    question: str
    section: str
    of: tuple[str, ...]
    conformance_class: str
    operations: tuple[str, ...]
    needs: tuple[str, ...]
    varies: bool = False


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A statement that no run can judge, with the reason."""

    id: str
    title: str
    section: str
    of: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the interface: its statements, reworded, by their ids."""

    number: str
    title: str
    statements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every section and entry, in the order of the interface."""

    sections: tuple[Section, ...]
    requirements: Mapping[str, Requirement]
    open_points: Mapping[str, OpenPoint]
    out_of_reach: Mapping[str, OutOfReach]

    def of_release(self, release: str | None) -> dict[str, Requirement]:
        """Return the requirements of one of the ``RELEASES``, by their ids; None for the newest."""
        releases = RELEASES if release is None else RELEASES[: RELEASES.index(release) + 1]
        return {name: entry for name, entry in self.requirements.items() if entry.since in releases}

    def statements_of(self, requirement: Requirement) -> dict[str, str]:
        """Return the statements of the interface, by their ids, on which a requirement is based."""
        texts = {name: text for section in self.sections for name, text in section.statements.items()}
        return {name: texts[name] for name in requirement.of}
