"""Wrong service clocks: if Date shows the error, no requirement fails because of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import pytest

from conformance.reference.application import create_app
from tests.fakes.command_line import start, target_file
from tests.fakes.target import HostileTarget, hostile

PATIENCE: Final = 200.0
DAY: Final = 86_400.0


@pytest.mark.parametrize(
    ("after", "by"),
    [
        pytest.param(0, -DAY, id="a-day-behind"),
        pytest.param(0, 3652 * DAY, id="ten-years-ahead"),
        pytest.param(0, -3652 * DAY, id="ten-years-behind"),
        pytest.param(100, -DAY, id="set-back-a-day"),
        pytest.param(100, -3652 * DAY, id="set-back-ten-years"),
        pytest.param(100, 3652 * DAY, id="set-ahead-ten-years"),
    ],
)
def test_a_service_s_clock_fails_nothing(after: int, by: float, tmp_path: Path) -> None:
    """A clock that is wrong from the first or the hundredth request fails no requirement."""
    served: list[HostileTarget] = []

    def clock() -> float:
        return time.time() + (by if served and served[0].turns > after else 0)

    with hostile(honest=create_app(clock=clock)) as target:
        served.append(target)
        path = target_file(tmp_path, target.url, timeout=10)
        words = ["run", "--target", str(path), "--effort", "quick", "--seed", "1"]
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    assert ended.outcomes("failed") == []
