"""Commit that the suite's files come from."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

RECORDED: Final = "commit.txt"
"""A file of the package: ``git archive`` and the build hook write the commit into it."""

_STATUS: Final = ("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", ":!reports")
_OUTPUT: Final = re.compile(r"# branch\.oid ([0-9a-f]{40})\n(?:# .*\n)*((?s:.*))")


@cache
def commit() -> str | None:
    """Return the commit of the suite's files in hexadecimal, or None if it is unknown.

    In a checkout, git names the commit, with ``-dirty`` if tracked files outside ``reports/`` have changed since. Only
    the project's own repository is asked: an installed package may be inside another one.
    """
    package = Path(__file__).parent
    root = package.parent
    try:
        recorded = (package / RECORDED).read_text("ascii").strip()
        if not recorded.startswith("$"):
            return recorded
        if 'name = "engagement-conformance"' not in (root / "pyproject.toml").read_text("utf-8"):
            return None
        found = subprocess.run(
            ["git", "--no-optional-locks", f"--git-dir={root / '.git'}", f"--work-tree={root}", *_STATUS],  # noqa: S607 - git is on the PATH
            cwd=root, check=False, capture_output=True, text=True, timeout=10,
            env={"PATH": os.environ.get("PATH", os.defpath)},  # neither keys nor the variables of a git hook
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if output := _OUTPUT.fullmatch(found.stdout):
        return output[1] + ("-dirty" if output[2] else "")
    return None
