"""Deliberate deviations from the interface, one small override each.

A fault is a subclass of the service under the decorator ``fault``, in any module of this package; it is found by
walking the package. Faults that differ only in a name are made by a function and kept in a tuple at module level.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from conformance.reference.service import Service


@dataclass(frozen=True, slots=True)
class Fault:
    """A service that breaks the interface in one way.

    Args:
        id: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        breaks: The ids of the requirements that it breaks.
        service: The faulty service.
    """

    id: str
    title: str
    breaks: tuple[str, ...]
    service: type[Service]


def fault(identifier: str, *breaks: str) -> Callable[[type[Service]], Fault]:
    """Declare a subclass of the service as a fault; its docstring is the title.

    Args:
        identifier: How it is named on the command line.
        breaks: The ids of the requirements that it breaks.
    """

    def declare(service: type[Service]) -> Fault:
        return Fault(identifier, (service.__doc__ or "").strip(), breaks, service)

    return declare


@cache
def all_faults() -> Mapping[str, Fault]:
    """Find every fault of this package by its id, once.

    Raises:
        ValueError: Two faults have one id, or a fault lacks a title or what it breaks.
    """
    found: dict[str, Fault] = {}
    for module in pkgutil.iter_modules(__path__):
        for one in _declared_in(importlib.import_module(f"{__name__}.{module.name}")):
            if one.id in found or not one.title or not one.breaks:
                raise ValueError(f"The fault {one.id!r} is declared twice, or has no title, or breaks nothing.")
            found[one.id] = one
    return MappingProxyType(found)


def fault_by_id(identifier: str) -> Fault:
    """Find one fault.

    Raises:
        LookupError: There is none of this id.
    """
    known = all_faults()
    if identifier not in known:
        near = get_close_matches(identifier, known, n=3, cutoff=0.6)
        hint = f"Did you mean {' or '.join(near)}?" if near else "List them with: conformance faults"
        raise LookupError(f"There is no fault {identifier!r}. {hint}")
    return known[identifier]


def _declared_in(module: ModuleType) -> Iterator[Fault]:
    for value in vars(module).values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Fault):
                yield one
