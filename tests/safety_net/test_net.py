"""Embedded runs end as they did before the code was reorganized."""

from __future__ import annotations

from typing import Any

import pytest

from tests.safety_net import net

RUNS: Any = net.frozen(net.RUNS)


@pytest.mark.parametrize("service", RUNS)
def test_a_run_ends_as_before(service: str) -> None:
    """With the same outcomes and observed values, and as many requests within 2 %."""
    before, now = RUNS[service], net.run_against(service)

    assert now["outcomes"] == before["outcomes"]
    assert now["observed"] == before["observed"]
    assert abs(now["requests"] - before["requests"]) <= before["requests"] * 0.02
