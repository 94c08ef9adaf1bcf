"""Folder for the outputs of a run without ``--report``."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path


def default_folder(target: str) -> Path:
    """Create and return a new folder for the outputs of a run without ``--report``."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", target).strip("-.") or "target"
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    endings = chain([""], (f"-{number}" for number in count(2)))
    return next(folder for ending in endings if _is_created(folder := Path("reports") / f"{name}-{time}{ending}"))


def _is_created(folder: Path) -> bool:
    """Create a folder; return whether no other run of the same second has it."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError:  # writing the first file into it reports the error
        return True
    return True
