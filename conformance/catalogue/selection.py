"""Selection of requirements by class, id, operation or section."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from conformance.catalogue.catalogue import load_catalogue
from conformance.catalogue.entries import CLASSES
from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.catalogue.entries import Requirement


class SelectionError(ValueError):
    """A pattern matches no requirement; the message is a sentence that suggests another pattern."""


def choose(
    classes: Sequence[str] = (), only: Sequence[str] = (), skip: Sequence[str] = (), release: str | None = None
) -> tuple[str, ...]:
    """Return the ids of the chosen requirements, in the order of the catalogue.

    Args:
        classes: Conformance classes; empty for all.
        only: Ids and classes, with ``*`` and ``?``, operations and sections; empty for all.
        skip: The same for the requirements to exclude.
        release: The release of the catalogue to choose from; None for the newest.

    Raises:
        SelectionError: A class or a pattern matches no requirement, or none is left.
    """
    for name in classes:
        if name not in CLASSES:
            raise SelectionError(f"there is no class {name}{suggestion(name, CLASSES)}")
    kept, left_out = _matching("--only", only), _matching("--skip", skip)
    chosen = tuple(
        requirement.id
        for requirement in load_catalogue().of_release(release).values()
        if (not classes or requirement.conformance_class in classes)
        and (not only or requirement.id in kept)
        and requirement.id not in left_out
    )
    if not chosen:
        raise SelectionError("--class, --only, --skip and --catalogue together leave no requirement")
    return chosen


def _matching(option: str, patterns: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        matched = _matched(pattern)
        if not matched:
            raise SelectionError(f"{option} {pattern} matches no requirement{_suggestion(pattern)}")
        found |= matched
    return found


def _matched(pattern: str) -> set[str]:
    """Return the requirements whose id or class matches, and those of the operation or section of that name.

    Patterns do not match operations: ``archive*`` would otherwise select half the catalogue.
    """
    requirements = load_catalogue().requirements.values()
    patterned = {entry.id for entry in requirements if _matches(pattern, entry.id, entry.conformance_class)}
    return patterned | {entry.id for entry in requirements if pattern in _names(entry)}


def _matches(pattern: str, *names: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _names(entry: Requirement) -> tuple[str, ...]:
    """Return the names by which a requirement can be chosen."""
    return entry.id, entry.conformance_class, entry.section, *entry.operations


def _suggestion(pattern: str) -> str:
    if longer := _matched(f"{pattern}*"):
        return f"; did you mean '{pattern}*' ({len(longer)})?"
    requirements = load_catalogue().requirements.values()
    return suggestion(pattern, dict.fromkeys(name for entry in requirements for name in _names(entry)))
