"""The faults respond, and embedded runs end, as they did before the code was reorganized."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.faults import all_faults
from tests.safety_net import net

RESPONSES: Any = net.frozen(net.RESPONSES)
RUNS: Any = net.frozen(net.RUNS)


def test_every_fault_has_a_digest() -> None:
    """A new fault is added by writing the net again."""
    assert sorted(RESPONSES) == sorted(all_faults())


@pytest.mark.parametrize("fault", sorted(RESPONSES))
def test_a_fault_responds_as_before(fault: str) -> None:
    """In every life, apart from the texts of refusals."""
    assert net.digest_of_responses(fault) == RESPONSES[fault]


@pytest.mark.parametrize("service", RUNS)
def test_a_run_ends_as_before(service: str) -> None:
    """With the same outcomes and observed values, and as many requests within 2 %."""
    before, now = RUNS[service], net.run_against(service)

    assert now["outcomes"] == before["outcomes"]
    assert now["observed"] == before["observed"]
    assert abs(now["requests"] - before["requests"]) <= before["requests"] * 0.02
