"""Factories of text faults: the service stores other text than was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

_WHERE: Final = {
    "create": ("check_creation", "a new engagement", "create-engagement-keeps-text"),
    "edit": ("check_edit", "an edited engagement", "update-engagement-keeps-text"),
    "rename": ("check_organization_update", "the organization", "update-organization-keeps-text"),
}
"""The part of the service that reads a request, what it is about, and the requirement on its text."""


def spoiling(where: str, field: str, way: str, says: str, spoil: Callable[[str], str | None], *first: str) -> Fault:
    """A service that keeps something else than the text that was sent.

    Args:
        where: ``create``, ``edit`` or ``rename``.
        field: ``name`` or ``description``.
        way: The end of the fault's id.
        says: What becomes of the text, as a clause.
        spoil: What is kept of it.
        first: Requirements that it breaks before that on the text.
    """
    check, words, requirement = _WHERE[where]
    honest = getattr(Service, check)

    def checked(self: Service, context: RequestContext) -> dict[str, Any]:
        values: dict[str, Any] = honest(self, context)
        return {**values, field: spoil(values[field])} if values.get(field) else values

    title = f"The {field} of {words} {says}."
    return made(f"text-{where}-{field}-{way}", title, *first, requirement, **{check: checked})
