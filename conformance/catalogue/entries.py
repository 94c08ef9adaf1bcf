"""The kinds of entries that a catalogue holds."""

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
        "isolation": "Two organizations are kept apart",
        "cascade": "Subordinate records go with their engagement",
        "mail": "Invitations are sent",
        "throttling": "Beyond the rate limit",
    }
)
"""The conformance classes with their titles, in the order of reports."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that the interface states and a check judges.

    Attributes:
        id: Stable and readable; never given to another requirement.
        title: The statement in one sentence.
        section: The section of the interface text, by its number.
        of: The statements of that section that it comes from.
        conformance_class: One of ``CLASSES``.
        operations: The operationIds that it speaks of.
        needs: What a target must offer for it to be judged; see ``conformance.targets.capabilities``.
    """

    id: str
    title: str
    section: str
    of: tuple[str, ...]
    conformance_class: str
    operations: tuple[str, ...]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """Something that the interface leaves open: observed and never judged.

    Attributes:
        id: Stable and readable.
        question: What is observed, as a question.
        section: The section of the interface text, by its number.
        of: The statements of that section that it comes from.
        conformance_class: The class whose means it takes to observe it.
        operations: The operationIds that it speaks of.
        needs: What a target must offer for it to be observed.
    """

    id: str
    question: str
    section: str
    of: tuple[str, ...]
    conformance_class: str
    operations: tuple[str, ...]
    needs: tuple[str, ...]


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
    """A section of the interface: its statements in our words, by their ids."""

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
