"""Comparison of the layers in ARCHITECTURE.md with the imports of the package."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "conformance"
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def layers() -> list[str]:
    """Return the folders of the package in the order of ARCHITECTURE.md, the lowest first."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = page.partition("reads this list and checks it:")[2].partition("|")[0]
    return re.findall(r"\w+", drawing)


@cache
def imports(module: str) -> set[str]:
    """Return the other modules of the package that a module imports, including imports for types."""
    nodes = list(ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))))
    found = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            wholes = [f"{base}.{name.name}" for name in node.names]
            found |= {whole if whole in MODULES else base for whole in wholes}
    return (found & MODULES.keys()) - {module}


def within(module: str, depth: int) -> str:
    """Return the part of the package with a module, for example its layer at depth 2."""
    return ".".join(module.split(".")[:depth])


def test_every_folder_has_a_place() -> None:
    """ARCHITECTURE.md names each folder of the package once."""
    assert sorted(layers()) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_layer_imports_only_from_layers_to_its_left(folder: str) -> None:
    """No folder imports from a folder to its right."""
    order = layers()
    imported = {
        within(name, 2)
        for module in MODULES
        if within(module, 2) == f"conformance.{folder}"
        for name in imports(module)
    }

    assert imported.isdisjoint(f"conformance.{later}" for later in order[order.index(folder) + 1 :])


def test_no_modules_import_each_other() -> None:
    """No module imports itself through others, not even for types."""
    TopologicalSorter({module: imports(module) for module in MODULES}).prepare()  # or it raises a CycleError


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_parts_of_a_layer_import_each_other(folder: str) -> None:
    """No folder of a layer imports itself through others of the layer, or through modules beside them."""
    parts: defaultdict[str, set[str]] = defaultdict(set)
    inside = [module for module in MODULES if module.startswith(f"conformance.{folder}.")]
    for module in inside:
        parts[within(module, 3)] |= {within(name, 3) for name in imports(module).intersection(inside)}

    TopologicalSorter({part: imported - {part} for part, imported in parts.items()}).prepare()


@pytest.mark.parametrize("folder", FOLDERS)
def test_tests_mirror_the_folders_of_a_layer(folder: str) -> None:
    """The tests of a layer have no folder that the layer does not have."""
    tests = (path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests" / folder).rglob("*.py"))

    assert {path for path in tests if not (PACKAGE / path).is_dir()} == set()
