"""Deliberate deviations from the interface.

A fault is a row in a module of this package: an id, a title, a mutation of the service, and the requirements that it
breaks. The vocabulary of the rows is in ``operations``, ``mutations``, ``changes``, ``conditions`` and
``situations``. Faults are found by walking the package. Only the faults of ``drawn`` are not in it:
they are composed of circumstances and deviations when they are named.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from conformance.reference.service import Service

DRAWN: Final = "drawn-"
"""The beginning of the ids of faults that are built from their parts, by ``drawn``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A service that breaks the interface in one way.

    Args:
        id: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        breaks: The ids of the requirements that it breaks.
        service: The faulty service.
        module: The name of its module in this package; empty for a drawn one.
    """

    id: str
    title: str
    breaks: tuple[str, ...]
    service: type[Service]
    module: str = ""


@cache
def all_faults() -> Mapping[str, Fault]:
    """Find every fault of this package by its id, once.

    Raises:
        LookupError: Two faults have one id, or a fault lacks a title or what it breaks.
    """
    found: dict[str, Fault] = {}
    for module in pkgutil.iter_modules(__path__):
        for one in _declared_in(importlib.import_module(f"{__name__}.{module.name}")):
            if one.id in found:
                raise LookupError(f"The fault {one.id} is declared twice: in {found[one.id].module} and {module.name}.")
            if not one.title or not one.breaks:
                raise LookupError(f"The fault {one.id} has no title, or breaks no requirement.")
            found[one.id] = replace(one, module=module.name)
    return MappingProxyType(found)


def fault_by_id(identifier: str) -> Fault:
    """Find one fault, or build a drawn one.

    Raises:
        LookupError: There is none of this id.
    """
    if identifier.startswith(DRAWN):
        built: Fault = importlib.import_module(f"{__name__}.drawn").built(identifier)
        return built
    known = all_faults()
    if identifier not in known:
        hint = suggestion(identifier, known, "; list them with: conformance faults")
        raise LookupError(f"There is no fault {identifier!r}{hint}")
    return known[identifier]


def _declared_in(module: ModuleType) -> Iterator[Fault]:
    for value in vars(module).values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Fault):
                yield one
