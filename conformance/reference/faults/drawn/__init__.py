"""Drawn faults, composed of a deviation, an operation, a sender, a state of the target, and the event since when.

Their parts make their ids, from which they are built: ``drawn-DEVIATION.OPERATION.SENDER.STATE.EVENT``. Only what the
interface forbids is a fault. They are not in the list of all faults; a self-test draws some of them by a seed.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.reference.faults import DRAWN
from conformance.reference.faults import operations as op
from conformance.reference.faults.mutations import fault
from conformance.reference.faults.operations import NAMES

from .circumstances import ACTORS, INVALID, LISTS, SINCE, states_of, with_article
from .parts import DEVIATIONS, Parts
from .rules import broken, is_fault
from .service import mutation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.faults import Fault

_DRAWS = 10_000
_PLAIN = 0.5
"""The probability with which a drawn fault leaves the sender, the state or the event open."""

_PHRASES: Final = MappingProxyType({
    op.GET_ORGANIZATION: "A read of the {0}organization", op.RENAME: "A renaming of the {0}organization",
    op.LIST_MEMBERS: "The list of members", op.INVITE: "An invitation to the {0}organization",
    op.ROLE: "A role change of {1}", op.REMOVE: "A removal of {1}",
    op.LIST: "The list of engagements", op.CREATE: "A creation in the {0}organization",
    op.READ: "A read of {2}",
    op.EDIT: "An edit of {2}", op.DELETE: "A deletion of {2}",
    op.ARCHIVE: "An archive of {2}", op.UNARCHIVE: "An unarchive of {2}",
})  # fmt: skip


def built(identifier: str) -> Fault:
    """Build a drawn fault from its id.

    Raises:
        LookupError: The id has unknown parts, or the interface permits what they say.
    """
    operations = {name: operation for operation, name in NAMES.items()}
    names = identifier.removeprefix(DRAWN).split(".")
    if len(names) == len(Parts.__slots__) and names[1] in operations:
        parts = Parts(names[0], operations[names[1]], *names[2:])
        if is_fault(parts):
            return fault(identifier, _title(parts), mutation(parts), *broken(parts))
    raise LookupError(f"There is no fault {identifier!r}. Draw some with: conformance selftest --drawn 10")


def drawn(number: int, seed: int) -> list[str]:
    """Draw faults, evenly over the families of deviations, and return their ids; fewer if there are no more.

    Args:
        number: The number of faults.
        seed: The seed of the draw; the faults of a smaller number are the first ones of a greater number.
    """
    generator = random.Random(seed)  # noqa: S311 - reproducible on purpose
    families = defaultdict(list)
    for name, deviation in DEVIATIONS.items():
        families[deviation.family].append(name)
    turns = deque(generator.sample(sorted(families), len(families)))
    found: dict[str, None] = {}
    while len(found) < number and turns:
        family = turns.popleft()
        if (identifier := _one_of(families[family], generator, found)) is not None:
            found[identifier] = None
            turns.append(family)
    return list(found)


def _one_of(deviations: list[str], generator: random.Random, known: Mapping[str, None]) -> str | None:
    """Draw a fault of a family that is not known yet; None if many draws find none."""
    for _ in range(_DRAWS):
        deviation = generator.choice(deviations)
        operation = generator.choice(sorted(DEVIATIONS[deviation].breaks))

        def part(names: Mapping[str, object], plain: str) -> str:
            return plain if generator.random() < _PLAIN else generator.choice(sorted(names))

        actor, state = part(ACTORS, "any"), part(states_of(operation), "any")
        parts = Parts(deviation, operation, actor, state, part(SINCE, "start"))
        if is_fault(parts) and parts.id not in known:
            return parts.id
    return None


def _title(parts: Parts) -> str:
    state, words = states_of(parts.operation)[parts.state], _PHRASES[parts.operation]
    words = words.format(state, with_article(f"{state}member"), with_article(f"{state}engagement"))
    of_item = f" with {with_article(f'{state}item')}" if parts.operation in LISTS and state else ""
    invalid = ", with an invalid body," if parts.state == INVALID else ""
    subject = f"{words}{of_item}{ACTORS[parts.actor]}{invalid}"
    return f"{subject} {parts.kind.words}{SINCE[parts.since].words}."
