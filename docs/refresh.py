"""Generator of docs/requirements.md and of the requirement ids in openapi.yaml, from the catalogue."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue import RELEASES, Catalogue, load_catalogue
from conformance.interface.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.catalogue import Requirement

ROOT = Path(__file__).parent.parent
WIDTH = 120
LIST = r"x-requirements:\s+\[[^\]]*\]"


def main() -> None:
    """Update both files."""
    catalogue = load_catalogue()
    (ROOT / "docs" / "requirements.md").write_text("\n".join(requirement_lines(catalogue)) + "\n", "utf-8")
    document = ROOT / "openapi.yaml"
    document.write_text(with_requirements(document.read_text("utf-8"), catalogue), "utf-8")


def requirement_lines(catalogue: Catalogue) -> Iterator[str]:
    """Return the lines of the catalogue as a Markdown document."""
    yield "# Requirements"
    yield ""
    yield (
        "Made by `python docs/refresh.py`; a test fails when it is stale. Each requirement is in the "
        f"catalogue from release {RELEASES[0]} on, unless a later release follows its class."
    )
    for section in catalogue.sections:
        yield from ("", f"## {section.number}. {section.title}")
        judged = [entry for entry in catalogue.requirements.values() if entry.section == section.number]
        observed = [entry for entry in catalogue.open_points.values() if entry.section == section.number]
        beyond = [entry for entry in catalogue.out_of_reach.values() if entry.section == section.number]
        yield from _rows(("Requirement", "Class"), [(f"**{e.id}**<br>{e.title}", _class(e)) for e in judged])
        yield from _rows(
            ("Open point", "Class"), [(f"**{e.id}**<br>{e.question}", e.conformance_class) for e in observed]
        )
        yield from _rows(("Out of reach", "Why"), [(e.title, e.reason) for e in beyond])


def _class(entry: Requirement) -> str:
    return entry.conformance_class + ("" if entry.since == RELEASES[0] else f", since {entry.since}")


def _rows(headings: tuple[str, str], rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return the lines of a Markdown table; none without rows."""
    if rows:
        yield from ("", f"| {headings[0]} | {headings[1]} |", "|---|---|")
        yield from (f"| {first} | {second} |" for first, second in rows)


def with_requirements(text: str, catalogue: Catalogue) -> str:
    """Return the document with the catalogue's requirement ids; those of all operations are at its root."""
    entries = catalogue.requirements.values()
    general = [entry.id for entry in entries if len(entry.operations) == len(OPERATIONS)]
    text = re.sub(rf"(?m)^{LIST}", lambda _: _written(general, ""), text)
    for operation in OPERATIONS:
        own = [entry.id for entry in entries if operation in entry.operations and entry.id not in general]
        written = _written(own, " " * 6)
        place = rf"(?s)(\n {{6}}operationId: {operation}\n.*?){LIST}"
        text = re.sub(place, rf"\g<1>{written}", text, count=1)  # ids have no backslash
    return text


def _written(ids: list[str], indent: str) -> str:
    """Return a list in YAML, wrapped at the longest line."""
    inside = f"{indent}  "
    lines = textwrap.wrap(f"[{', '.join(ids)}]", WIDTH - len(inside), break_on_hyphens=False)
    return "x-requirements:\n" + "\n".join(f"{inside}{line}" for line in lines)


if __name__ == "__main__":
    main()
