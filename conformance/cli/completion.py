"""Completion of ids in a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def complete_class(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the classes that begin with a text."""
    from conformance.catalogue import CLASSES

    return _beginning(incomplete, *CLASSES)


def complete_requirement(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of the requirements that begin with a text."""
    from conformance.catalogue import load_catalogue

    return _beginning(incomplete, *load_catalogue().requirements)


def complete_pattern(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return what ``--only`` takes and begins with a text: ids of requirements, classes and operations."""
    from conformance.catalogue import CLASSES, load_catalogue
    from conformance.interface.operations import OPERATIONS

    return _beginning(incomplete, *load_catalogue().requirements, *CLASSES, *OPERATIONS)


def complete_fault(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of the faults that begin with a text."""
    from conformance.reference.faults import all_faults

    return _beginning(incomplete, *all_faults())


def complete_latitude(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the choices of the reference service that begin with a text."""
    from conformance.reference.latitude import POINTS

    return _beginning(incomplete, *(f"{name}={value}" for name, point in POINTS.items() for value in point.values))


def _beginning(incomplete: str, *names: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
