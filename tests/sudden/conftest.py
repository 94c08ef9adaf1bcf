"""Runs that are ended from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hostile.running import Started, adopt_orphans, strays
from tests.hostile.target import HostileTarget, hostile

PATIENCE = 60.0


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait for something; whether it came to be."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def under_way(started: Started, requests: int = 1) -> None:
    """Wait until a run has begun its journal, from when on it may change something."""
    journal = started.folder / "journal.jsonl"
    assert until(lambda: started.process.poll() is not None or (journal.exists() and journal.stat().st_size > 0))


@pytest.fixture
def target() -> Iterator[HostileTarget]:
    """The reference service, whose organization holds something before the run."""
    with hostile() as served:
        yield served


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path: Path) -> Iterator[None]:
    """No program that a run started outlives it."""
    adopt_orphans()
    yield
    assert strays() == []
