"""Sample values, which must be what their table states."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from conformance.oracle.effects import must_read_back_exactly
from conformance.scenarios import samples
from conformance.wire import requests
from conformance.wire.gateways import ensure_short

KEPT = [*samples.ALONE, *samples.AT_THE_END, samples.joined(samples.SCRIPTS, samples.SYNTAX, samples.ADDRESSES)]


@pytest.mark.parametrize("text", KEPT)
def test_a_text_to_keep_gives_no_reason_to_change_it(text: str) -> None:
    """A service that accepts it must return it exactly."""
    assert must_read_back_exactly(text)


@pytest.mark.parametrize("text", samples.BROKEN)
def test_a_broken_text_need_not_be_kept(text: str) -> None:
    """It has characters that the interface does not promise to keep."""
    assert not must_read_back_exactly(text)


@pytest.mark.parametrize("table", [samples.ALONE, samples.AT_THE_END, samples.BROKEN, samples.PARAMETERS])
def test_no_value_is_sent_twice(table: tuple[str, ...]) -> None:
    """A table has each value once."""
    assert len(set(table)) == len(table)


@pytest.mark.parametrize("ask", [requests.get_engagement, lambda value: requests.list_engagements(page=value)])
def test_gateways_let_odd_targets_pass(ask: Callable[[str], requests.Request]) -> None:
    """Odd identifiers and parameters are short enough, and have a URL."""
    for value in (*samples.IDENTIFIERS, *samples.PARAMETERS):
        ensure_short(ask(value).path.encode("ascii"), ())


@pytest.mark.parametrize("length", [5, 255, 1_001])
def test_a_counted_text_has_its_length(length: int) -> None:
    """No part of it equals another part at the same distance, so that a cut or a repetition shows."""
    assert len(samples.counted(length)) == length


def test_an_order_of_the_seed_has_every_value() -> None:
    """The same seed gives the same order."""
    one, same, other = (samples.shuffled(samples.ALONE, Random(seed)) for seed in (1, 1, 2))

    assert one == same != other
    assert sorted(one) == sorted(samples.ALONE)
