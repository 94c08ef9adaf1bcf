"""Comparison of the layers in ARCHITECTURE.md with the imports of the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "conformance"
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def layers() -> list[str]:
    """Return the folders of the package in the order of ARCHITECTURE.md, the lowest first."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = page.partition("reads this list and checks it:")[2].partition("|")[0]
    return re.findall(r"\w+", drawing)


def imported(folder: str) -> set[str]:
    """Return the folders of the package that a folder imports, including imports for types."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (PACKAGE / folder).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [f"{node.module}.{name.name}" for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    names += [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    found = {name.split(".")[1] for name in names if name.startswith("conformance.")}
    return found & set(FOLDERS) - {folder}


def test_every_folder_has_a_place() -> None:
    """ARCHITECTURE.md names each folder of the package once."""
    assert sorted(layers()) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_layer_imports_only_from_layers_to_its_left(folder: str) -> None:
    """No folder imports from a folder to its right."""
    order = layers()

    assert imported(folder) <= set(order[: order.index(folder)])
