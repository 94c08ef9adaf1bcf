"""Fixtures: wires and a clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.wire import escapes
from tests.fakes.wires import Fixtures, WoundClock


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Clear the cache of escapes before each test."""
    escapes._meaning.cache_clear()


@pytest.fixture
def make() -> Iterator[Fixtures]:
    """Servers and wires that are closed after the test."""
    fixtures = Fixtures()
    yield fixtures
    for opened in reversed(fixtures.opened):
        opened.close()


@pytest.fixture
def clock() -> WoundClock:
    """A clock whose waits take no time."""
    return WoundClock()
