"""The words that the style rule in CONTRIBUTING keeps out of names and docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "conformance").rglob("*.py"))
SOURCES = [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]

RIDDLES = frozenset(
    {
        *("aims", "batches", "belonging", "clearing", "company", "founding", "kept", "letters", "looks", "meddling"),
        *("notes", "odd_texts", "one", "pacing", "persistence", "repetitions", "restless", "salvage", "stock"),
        *("surroundings", "told", "troubles", "walking", "width", "words"),
    }
)
"""Names that say nothing to a reader who has not read the module."""

QUESTIONS = re.compile(r"(What|How|Who) ")


def test_no_module_has_a_name_that_is_a_riddle() -> None:
    """Modules have the field's terms as names."""
    assert [path.name for path in MODULES if path.stem in RIDDLES] == []


def test_no_class_or_function_has_a_name_that_is_a_riddle() -> None:
    """Neither have public classes and functions."""
    names = {
        node.name.lower()
        for path in MODULES
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    assert names & RIDDLES == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_docstring_begins_with_a_question(path: Path) -> None:
    """A module's docstring is a noun phrase, a function's a verb phrase."""
    documented = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef, ast.Module)
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, documented)]
    assert [text for node in nodes if QUESTIONS.match(text := ast.get_docstring(node) or "")] == []
