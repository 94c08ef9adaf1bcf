"""Findings of the ledger: for each requirement, supporting evidence and breaches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle.outcomes import NonConformity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.wire.exchange import Exchange

EVIDENCE: Final = 25
"""The number of exchanges kept as evidence for each requirement."""

OF_KEYS: Final = (
    "unauthenticated-changes-nothing",
    "scope-refused-changes-nothing",
    "isolation-untouched",
    "throttled-changes-nothing",
)
"""Requirements that requests which are refused for their key change nothing."""

OF_REFUSALS: Final = frozenset({*OF_KEYS, "removed-member-loses-engagements"})
"""The same for requests about engagements."""

_OF_READS: Final = OF_REFUSALS | frozenset(
    {
        "create-engagement-lasts",
        "create-engagement-keeps-text",
        "update-engagement-takes-effect",
        "update-engagement-keeps-text",
        "update-engagement-keeps-the-rest",
        "update-engagement-in-parallel",
        "update-engagement-spares-others",
        "update-engagement-refused-changes-nothing",
        "archive-sets-status",
        "archive-keeps-content",
        "archive-spares-others",
        "archived-edit-refused",
        "archived-edit-changes-nothing",
        "archived-again-stays-archived",
        "updated-at-never-goes-back",
        "created-at-never-changes",
    }
)
"""Requirements that reads break; lists, which are judged by what reads showed, then look wrong too."""

_OF_LISTS: Final = frozenset(
    {"list-engagements-as-read", "update-engagement-spares-others", "archive-spares-others", "delete-spares-others"}
)
"""Requirements that an engagement breaks if a list shows it otherwise than it was read."""

_IN_DOUBT: Final = _OF_READS | _OF_LISTS | {"new-engagement-active"}
"""Requirements that an engagement may break if a list shows an impossible value."""

_NOT_THERE: Final = OF_REFUSALS | {"create-engagement-lasts", "delete-spares-others"}
"""Requirements whose breach explains any 404 of an engagement."""

_OF_DELETED: Final = frozenset({"deleted-unreadable", "delete-effective-at-once"})
"""Requirements that a service breaks which still shows a deleted engagement."""

EXPLAINED_BY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "create-engagement-listed": _OF_READS | _NOT_THERE,
        "create-engagement-counted": _OF_READS,
        "update-engagement-succeeds": _NOT_THERE,
        "archive-engagement-succeeds": _NOT_THERE,
        "delete-engagement-succeeds": _NOT_THERE,
        "update-engagement-keeps-the-rest": frozenset({"update-engagement-takes-effect"}),
        "update-engagement-in-parallel": frozenset({"update-engagement-takes-effect"}),
        "archived-edit-refused": frozenset({"archive-sets-status", "delete-spares-others"}),
        "archive-effective-at-once": frozenset({"archive-sets-status", "archived-edit-refused"}),
        "archived-edit-changes-nothing": frozenset({"archive-sets-status", "archived-edit-refused"}),
        "archived-again-stays-archived": frozenset({"archive-sets-status"}),
        "archived-listed": _OF_READS | _NOT_THERE | {"create-engagement-listed"},
        "unarchived-editable": frozenset({"update-engagement-succeeds"}),
        "unarchived-archivable": frozenset({"archive-engagement-succeeds"}),
        "unarchive-served": _NOT_THERE,
        "archived-deletable": _NOT_THERE | {"delete-engagement-succeeds"},
        "delete-effective-at-once": frozenset({"deleted-unreadable"}),
        "deleted-unlisted": _OF_DELETED,
        "deleted-uneditable": _OF_DELETED,
        "deleted-undeletable": _OF_DELETED,
        "deleted-unarchivable": _OF_DELETED,
        "deleted-not-unarchived": _OF_DELETED,
        "list-engagements-as-read": _OF_READS,
        "list-engagements-total": _OF_READS | _NOT_THERE | {"create-engagement-listed", "archived-listed"},
        "list-engagements-filter-counts": _OF_READS
        | _NOT_THERE
        | {"list-engagements-total", "list-engagements-status-filter", "create-engagement-listed", "archived-listed"},
        "list-engagements-status-filter": _OF_READS | _NOT_THERE | {"create-engagement-listed", "archived-listed"},
        "list-engagements-pages-partition": _OF_READS
        | _NOT_THERE
        | {"create-engagement-listed", "archived-listed", "list-engagements-status-filter"}
        | {"sort-by-name", "sort-with-filter"},
        "sort-by-name": frozenset({"list-engagements-as-read"}),
        "sort-with-filter": frozenset({"sort-by-name", "list-engagements-as-read"}),
        "list-members-total": frozenset({"removal-spares-other-members"}),
        "list-members-pages-partition": frozenset({"removal-spares-other-members"}),
        "list-members-role-filter": frozenset(
            {"list-members-total", "list-members-pages-partition", "removal-spares-other-members"}
        ),
        "removed-member-unlisted": frozenset({"invite-adds-no-member"}),
        "update-organization-only-name": frozenset(
            {"update-organization-takes-effect", "update-organization-keeps-the-rest"}
        ),
    }
)
"""For a requirement, those whose breach explains an apparent breach of it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A response that contradicts the ledger.

    Attributes:
        requirement: The requirement that it breaks.
        exchange: The contradicting response.
        because: The earlier writes and reads that it contradicts.
        message: The breach, as a clause.
        expected: The possible values, in words.
        actual: The actual value.
        pointer: The place in the body, if there is one.
        identifier: The engagement's id.
        of_list: Whether a list shows it, and not a read.
        unconfirmed: Whether other users might have caused it, so that it must be re-checked.
        other_candidates: The number of other requirements that could be the broken one.
        absent: The engagement that is missing from a page by the sort order; another page may hold it.
        unlisted: Existing engagements that a list should show and does not; a read shows whether they are gone.
    """

    requirement: str
    exchange: Exchange
    because: tuple[Exchange, ...]
    message: str
    expected: str
    actual: str
    pointer: str | None = None
    identifier: str | None = None
    of_list: bool = False
    unconfirmed: bool = False
    other_candidates: int = 0
    absent: str | None = None
    unlisted: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Whether a breach of another requirement would show the same."""
        return self.other_candidates > 0

    def as_fault(self, *, context: str = "", steps: Sequence[Exchange] = ()) -> NonConformity:
        """Return the finding as the failure of a check.

        Args:
            context: Text about how it came about, appended to the message.
            steps: The exchanges that the text describes, cited beside the finding's own.
        """
        cited = sorted({*self.because, *steps, self.exchange}, key=lambda exchange: exchange.number)
        return NonConformity(
            self.message + context, *cited, expected=self.expected, actual=self.actual, pointer=self.pointer
        )


@dataclass(slots=True)
class Findings:
    """The findings so far.

    Attributes:
        broken: In the order of finding.
        kept: For each requirement, responses that could have broken it and did not.
    """

    broken: list[Finding] = field(default_factory=list)
    kept: dict[str, list[Exchange]] = field(default_factory=dict)

    def keep(self, requirement: str, *exchanges: Exchange) -> None:
        """Record evidence that a requirement held."""
        if self.lacks(requirement):
            self.kept.setdefault(requirement, []).extend(exchanges)

    def lacks(self, requirement: str) -> bool:
        """Whether more evidence for a requirement is wanted."""
        return len(self.kept.get(requirement, ())) < EVIDENCE

    def resolve(self, place: int, requirement: str) -> None:
        """Attribute an ambiguous finding to one requirement.

        Args:
            place: The index of the finding in ``broken``.
            requirement: The requirement.
        """
        self.broken[place] = replace(self.broken[place], requirement=requirement, other_candidates=0)

    def of(self, requirement: str) -> list[Finding]:
        """Return the breaches of a requirement that no read of the same engagement and no clearer finding explains."""
        return [
            finding
            for finding in self.broken
            if finding.requirement == requirement
            and not (self._is_explained_in_list(finding) if finding.of_list else self._is_less_clear(finding))
        ]

    def _is_explained_in_list(self, finding: Finding) -> bool:
        """Whether a read, or a list that leaves fewer causes, shows what a finding of a list shows."""
        if any(other.identifier == finding.identifier for other in self.broken if not other.of_list):
            return True
        of_lists = [other for other in self.broken if other.of_list and other.requirement in _IN_DOUBT]
        least = min((other.other_candidates for other in of_lists), default=0)
        shown_by_read = finding.requirement not in _OF_LISTS and any(map(_is_of_read, self.broken))
        return finding.other_candidates > (0 if shown_by_read else least)

    def _is_less_clear(self, finding: Finding) -> bool:
        """Whether a finding of a read is ambiguous although another one is not."""
        return finding.ambiguous and any(_is_of_read(other) and not other.ambiguous for other in self.broken)

    def explained(self, requirement: str) -> Finding | None:
        """Return a breach of another requirement that explains apparent breaches of this one."""
        roots = EXPLAINED_BY.get(requirement, frozenset())
        standing = {root for root in {finding.requirement for finding in self.broken} & roots if self.of(root)}
        return next((finding for finding in self.broken if finding.requirement in standing), None)


def _is_of_read(finding: Finding) -> bool:
    """Whether a read shows the breach, so that ambiguous findings of lists add nothing."""
    return finding.requirement in _OF_READS and not finding.of_list
