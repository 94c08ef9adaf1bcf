"""Examples by the thousand, of which an ordinary run tries a sample that the commit draws."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

ALL = "all"


def sample(name: str, total: int, count: int) -> list[int]:
    """The numbers of the examples to try, in order.

    Args:
        name: An environment variable: ``all`` for all of them, or the numbers of some, separated by commas.
        total: How many examples there are.
        count: How many are tried if the variable is not set.
    """
    given = os.environ.get(name, "")
    if given == ALL:
        return list(range(total))
    if given:
        return [int(number) for number in given.split(",")]
    return sorted(random.Random(f"{name} {_commit()}").sample(range(total), count))


def _commit() -> str:
    """The commit of the checkout, so that each tries other examples; nothing outside of one."""
    root = Path(__file__).parent.parent
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()
