"""The parts of a drawn fault."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS
from conformance.reference.faults import DRAWN
from conformance.reference.faults.operations import NAMES

from .circumstances import LISTS, SCOPED, permitted
from .contents import CONTENTS
from .effects import EFFECTS
from .statuses import STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .deviation import Deviation

_SUCCESS = 200
_OF_ITEMS = frozenset({"item-missing", "item-twice"})

DEVIATIONS: Final[Mapping[str, Deviation]] = MappingProxyType({**STATUSES, **EFFECTS, **CONTENTS})
"""The deviations, by their names in ids."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The names of a drawn fault's parts.

    Args:
        deviation: What the service does wrong.
        operation: The operationId.
        actor: The sender of the request.
        state: The state of the target, or of an item of a list.
        since: The event since which the fault shows, or the form of the requests in which it does.
    """

    deviation: str
    operation: str
    actor: str
    state: str
    since: str

    @property
    def id(self) -> str:
        """The id of the fault."""
        return DRAWN + ".".join((self.deviation, NAMES[self.operation], self.actor, self.state, self.since))

    @property
    def kind(self) -> Deviation:
        """The deviation."""
        return DEVIATIONS[self.deviation]

    @property
    def permitted(self) -> frozenset[int]:
        """The statuses that the interface permits, 200 for a success."""
        return permitted(self.operation, self.actor, self.state)

    @property
    def succeeds(self) -> bool:
        """Whether the fault affects requests that succeed, not those that must be refused."""
        return _SUCCESS in self.permitted

    @property
    def is_scope_missing(self) -> bool:
        """Whether the key lacks the permission of the operation."""
        return self.actor in SCOPED and not self.succeeds and OPERATIONS[self.operation].scope != SCOPED[self.actor]

    @property
    def of_items(self) -> bool:
        """Whether the state is that of an item of a list."""
        return self.operation in LISTS and (
            self.deviation in _OF_ITEMS or self.kind.family in {"field-missing", "field-wrong"})  # fmt: skip
