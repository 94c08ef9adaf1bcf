"""Runs that signals end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.command_line import Started, no_process_stays
from tests.fakes.target import HostileTarget, hostile

PATIENCE = 180.0


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait for a condition; return whether it became true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


WHOLE = 360
"""Approximate number of requests of an undisturbed quick run; moments are numbers of requests, not times."""


@dataclass(frozen=True)
class Moment:
    """The moment at which a run is ended.

    Attributes:
        requests: The number of requests before it.
        seconds: The delay after these requests.
    """

    requests: int
    seconds: float

    @classmethod
    def of(cls, *what: object) -> Moment:
        """Return a random moment: mostly between requests, and in one of five cases during undoing and reporting."""
        chance = random.Random(":".join(map(str, what)))
        if chance.random() < 0.2:
            return cls(WHOLE, chance.uniform(0, 2.5))
        return cls(chance.randint(0, WHOLE), chance.uniform(0, 0.05))

    def wait(self, started: Started, target: HostileTarget) -> None:
        """Wait for the moment or for the end of the run."""
        until(lambda: started.process.poll() is not None or target.turns >= self.requests)
        until(lambda: started.process.poll() is not None, self.seconds)


def under_way(started: Started, requests: int = 1) -> None:
    """Wait until a run has begun its journal, after which it may change data."""
    journal = started.folder / "journal.jsonl"
    assert until(lambda: started.process.poll() is not None or (journal.exists() and journal.stat().st_size > 0))


@pytest.fixture
def target() -> Iterator[HostileTarget]:
    """The reference service with a populated organization."""
    with hostile() as served:
        yield served


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path: Path) -> Iterator[None]:
    """No process of a run outlives it."""
    with no_process_stays():
        yield
