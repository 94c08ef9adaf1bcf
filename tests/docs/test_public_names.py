"""Search for public functions and classes that only their own module uses."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("conformance", "tests", "benchmarks", "docs")
UNREGISTERING = {"cache", "contextmanager", "dataclass"}
"""Decorators that do not register what they decorate; others may, for example as a command, a fixture or a check."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def referenced(module: ast.Module) -> set[str]:
    """Return the names that a module imports, takes from an object or has as a text."""
    nodes = list(ast.walk(module))
    names = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names | {part for node in nodes if isinstance(node, ast.Constant) for part in str(node.value).split(".")}


def annotated(module: ast.Module) -> set[str]:
    """Return the names in the annotations of a module: callers get objects of its classes without naming them."""
    nodes = list(ast.walk(module))
    found = [node.returns for node in nodes if isinstance(node, ast.FunctionDef)]
    found += [node.annotation for node in nodes if isinstance(node, ast.arg | ast.AnnAssign)]
    return {name.id for node in found if node for name in ast.walk(node) if isinstance(name, ast.Name)}


def is_public(definition: Definition) -> bool:
    """Whether a definition is public, and neither a decorator nor pytest registers it."""
    decorators = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in definition.decorator_list}
    return decorators <= UNREGISTERING and not definition.name.startswith(("_", "test_", "pytest_"))


def test_a_name_that_only_its_module_uses_is_private() -> None:
    """A function or class that no other module uses begins with an underscore, unless it starts a command."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    modules = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    users = Counter(name for module in modules.values() for name in referenced(module))
    commands = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = []
    for path, module in modules.items():
        public = {each.name for each in module.body if isinstance(each, Definition) and is_public(each)}
        if path.is_relative_to(ROOT / "conformance"):
            own, known = referenced(module), annotated(module)
            unused = {name for name in public - known if users[name] == (name in own) and f":{name}" not in commands}
            found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(unused)]

    assert found == []
