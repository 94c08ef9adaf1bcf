"""Progress in a pipe: no long silence, and whatever the run waits for is named."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from conformance.cli.progress import _Lines, waits_for


def run_that_waits(**more: Any) -> Any:
    """A run that waits for something."""
    return SimpleNamespace(
        profile=SimpleNamespace(name="staging", base_url="http://service.test"),
        options=SimpleNamespace(effort=SimpleNamespace(value="quick"), seed=1),
        mode=SimpleNamespace(value="default"),
        **({"wire": SimpleNamespace(sent=42, waits_until=None), "waits_for": None} | more),
    )


def test_a_silent_run_gives_a_sign_of_life() -> None:
    """Checks, requests that were sent by then, and what is waited for."""
    out = io.StringIO()
    run = run_that_waits(waits_for="waiting for the provisioner (read_mail)")

    with _Lines(run, Console(file=out, width=200), silence=0.01) as lines:
        lines.planned(431)
        until = time.monotonic() + 10
        while out.getvalue().count("0/431 checks, 42 requests") < 2 and time.monotonic() < until:
            time.sleep(0.01)

    signs = [line for line in out.getvalue().splitlines() if "0/431" in line]
    assert len(signs) >= 2
    assert all(line.endswith("; waiting for the provisioner (read_mail)") for line in signs)


def test_a_wait_for_the_rate_limit_says_until_when() -> None:
    """A short one is not worth saying."""
    now = datetime.now(UTC)
    long, short = now + timedelta(seconds=58), now + timedelta(seconds=1)

    told = waits_for(run_that_waits(wire=SimpleNamespace(sent=1, waits_until=long)))

    assert told is not None
    assert told.startswith(f"waiting for the rate limit until {long:%H:%M:%S} UTC (5")
    assert waits_for(run_that_waits(wire=SimpleNamespace(sent=1, waits_until=short))) is None
