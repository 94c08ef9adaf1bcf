"""Generator of docs/requirements.md and of the requirement ids in openapi.yaml, from the catalogue."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from conformance.catalogue import Catalogue, load_catalogue
from conformance.cli.requirements import markdown_lines
from conformance.operations import OPERATIONS

ROOT = Path(__file__).parent.parent
WIDTH = 120
LIST = r"x-requirements:\s+\[[^\]]*\]"


def main() -> None:
    """Update both files."""
    catalogue = load_catalogue()
    (ROOT / "docs" / "requirements.md").write_text("\n".join(markdown_lines(catalogue)) + "\n", "utf-8")
    document = ROOT / "openapi.yaml"
    document.write_text(with_requirements(document.read_text("utf-8"), catalogue), "utf-8")


def with_requirements(text: str, catalogue: Catalogue) -> str:
    """Return the document with the catalogue's requirement ids; those of all operations are at its root."""
    entries = catalogue.requirements.values()
    general = [entry.id for entry in entries if len(entry.operations) == len(OPERATIONS)]
    text = re.sub(rf"(?m)^{LIST}", lambda _: _written(general, ""), text)
    for operation in OPERATIONS:
        own = [entry.id for entry in entries if operation in entry.operations and entry.id not in general]
        written = _written(own, " " * 6)
        place = rf"(?s)(\n {{6}}operationId: {operation}\n.*?){LIST}"
        text = re.sub(place, lambda match, written=written: match[1] + written, text, count=1)
    return text


def _written(ids: list[str], indent: str) -> str:
    """Return a list in YAML, wrapped at the longest line."""
    inside = f"{indent}  "
    lines = textwrap.wrap(f"[{', '.join(ids)}]", WIDTH - len(inside), break_on_hyphens=False)
    return "x-requirements:\n" + "\n".join(f"{inside}{line}" for line in lines)


if __name__ == "__main__":
    main()
