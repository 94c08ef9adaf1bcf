"""Runs that are ended from outside."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hostile.running import Started, adopt_orphans, children, strays
from tests.hostile.target import HostileTarget, hostile

PATIENCE = 180.0


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait for something; whether it came to be."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


WHOLE = 360
"""Requests that an undisturbed quick run sends, or a few less; a moment is a number of requests, not a time."""


@dataclass(frozen=True)
class Moment:
    """When a run is ended.

    Attributes:
        requests: After how many requests.
        seconds: And how long after that.
    """

    requests: int
    seconds: float

    @classmethod
    def of(cls, *what: object) -> Moment:
        """A random moment: mostly amid the requests, and one time in five while it undoes, reports and ends."""
        chance = random.Random(":".join(map(str, what)))
        if chance.random() < 0.2:
            return cls(WHOLE, chance.uniform(0, 2.5))
        return cls(chance.randint(0, WHOLE), chance.uniform(0, 0.05))

    def wait(self, started: Started, target: HostileTarget) -> None:
        """Wait for it, or for the end of the run."""
        until(lambda: started.process.poll() is not None or target.turns >= self.requests)
        until(lambda: started.process.poll() is not None, self.seconds)


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
    known = [pid for pid, _ in children()]
    yield
    assert strays(*known) == []
