"""Strict loading of the catalogue: an unknown member, operation, class or statement is an error."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import yaml

from conformance.catalogue.entries import CLASSES, RELEASES, Catalogue, OpenPoint, OutOfReach, Requirement, Section
from conformance.interface.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPERATIONS_BY_WORD: Final[Mapping[str, tuple[str, ...]]] = {
    "all": tuple(OPERATIONS),
    "lists": tuple(name for name, operation in OPERATIONS.items() if operation.response == "list"),
    "resources": tuple(name for name, operation in OPERATIONS.items() if operation.response == "resource"),
}


class CatalogueError(ValueError):
    """The catalogue contradicts itself or its format."""


@cache
def load_catalogue() -> Catalogue:
    """Return the catalogue of the package.

    Raises:
        CatalogueError: An entry is malformed, an id occurs twice, or a statement has no entry.
    """
    folder = resources.files("conformance.catalogue") / "data"
    texts = sorted(file.name for file in folder.iterdir() if file.name.endswith(".yaml"))
    return build_catalogue([yaml.load((folder / name).read_text("utf-8"), _LOADER) for name in texts])  # noqa: S506 - a safe loader


def build_catalogue(documents: Iterable[Mapping[str, Any]]) -> Catalogue:
    """Return a catalogue from documents, one for each section.

    Raises:
        CatalogueError: See ``load_catalogue``.
    """
    documents = list(documents)
    sections = [_section(document) for document in documents]
    _refuse_duplicates([statement for section in sections for statement in section.statements])
    requirements: list[Requirement] = []
    open_points: list[OpenPoint] = []
    out_of_reach: list[OutOfReach] = []
    for document, section in zip(documents, sections, strict=True):
        requirements += [Requirement(**_required(entry, section)) for entry in document["requirements"]]
        open_points += [_open_point(entry, section) for entry in document["open_points"]]
        out_of_reach += [OutOfReach(**_unreachable(entry, section)) for entry in document["out_of_reach"]]
    entries: list[Requirement | OpenPoint | OutOfReach] = [*requirements, *open_points, *out_of_reach]
    _refuse_duplicates([entry.id for entry in entries])
    _compare_statements(sections, entries)
    return Catalogue(
        tuple(sections),
        MappingProxyType({entry.id: entry for entry in requirements}),
        MappingProxyType({entry.id: entry for entry in open_points}),
        MappingProxyType({entry.id: entry for entry in out_of_reach}),
    )


def _section(document: Mapping[str, Any]) -> Section:
    _refuse_members(document, {"section", "title", "statements", "requirements", "open_points", "out_of_reach"})
    return Section(document["section"], document["title"], MappingProxyType(dict(document["statements"])))


def _required(entry: Mapping[str, Any], section: Section) -> dict[str, Any]:
    if entry.get("since") not in RELEASES:
        raise CatalogueError(f"{entry['id']}: since is not one of the releases {', '.join(RELEASES)}")
    judged = {name: value for name, value in entry.items() if name != "since"}
    return {**_judged(judged, section, "title"), "since": entry["since"]}


def _open_point(entry: Mapping[str, Any], section: Section) -> OpenPoint:
    others = {name: value for name, value in entry.items() if name != "varies"}
    return OpenPoint(**_judged(others, section, "question"), varies=entry.get("varies", False))


def _judged(entry: Mapping[str, Any], section: Section, text: str) -> dict[str, Any]:
    _refuse_members(entry, {"id", text, "of", "class", "operations", "needs"})
    conformance_class = entry.get("class", "core")
    if conformance_class not in CLASSES:
        raise CatalogueError(f"{entry['id']}: there is no class {conformance_class!r}")
    return {
        "id": entry["id"],
        text: entry[text],
        "section": section.number,
        "of": (entry["of"],) if isinstance(entry["of"], str) else tuple(entry["of"]),
        "conformance_class": conformance_class,
        "operations": _operations(entry),
        "needs": tuple(entry.get("needs", ())),
    }


def _unreachable(entry: Mapping[str, Any], section: Section) -> dict[str, Any]:
    _refuse_members(entry, {"id", "title", "of", "reason"})
    return {
        "id": entry["id"],
        "title": entry["title"],
        "section": section.number,
        "of": (entry["of"],) if isinstance(entry["of"], str) else tuple(entry["of"]),
        "reason": entry["reason"],
    }


def _operations(entry: Mapping[str, Any]) -> tuple[str, ...]:
    named = entry["operations"]
    if isinstance(named, str):
        named = _OPERATIONS_BY_WORD.get(named, (named,))
    if unknown := [name for name in named if name not in OPERATIONS]:
        raise CatalogueError(f"{entry['id']}: there is no operation {unknown[0]!r}")
    return tuple(named)


def _refuse_members(entry: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(entry) - known):
        raise CatalogueError(f"{entry.get('id', entry.get('section'))}: unknown member {unknown[0]!r}")


def _refuse_duplicates(ids: Iterable[str]) -> None:
    if repeated := [name for name, times in Counter(ids).items() if times > 1]:
        raise CatalogueError(f"{repeated[0]} is the id of two entries")


def _compare_statements(sections: Iterable[Section], entries: Iterable[Requirement | OpenPoint | OutOfReach]) -> None:
    statements = {statement for section in sections for statement in section.statements}
    cited = {statement: entry for entry in entries for statement in entry.of}
    if unknown := sorted(set(cited) - statements):
        raise CatalogueError(f"{cited[unknown[0]].id}: there is no statement {unknown[0]!r}")
    if uncovered := sorted(statements - set(cited)):
        raise CatalogueError(f"the statement {uncovered[0]!r} has no entry")
