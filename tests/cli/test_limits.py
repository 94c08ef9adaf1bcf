"""Limits of response times in the target file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Conformance = Callable[..., Any]


@pytest.mark.parametrize(
    ("limits", "arguments", "status", "reason"),
    [
        ("{p95_ms: 60000}", (), 0, ""),
        ("{p50_ms: 0.001, p99_ms: 60000}", (), 4, "Exit 4: limits.p50_ms is 0.001, and "),
        ("{p95_ms: 0.001}", ("--strict", "--class", "mail"), 4, "; limits.p95_ms is 0.001, and "),
    ],
)
def test_a_limit_that_is_not_kept_changes_the_status_alone(
    conformance: Conformance,
    sandbox: dict[str, str],
    tmp_path: Path,
    limits: str,
    arguments: tuple[str, ...],
    status: int,
    reason: str,
) -> None:
    """The report has what was measured; the outcomes stay."""
    file = tmp_path / "target.yaml"
    file.write_text(f"base_url: ${{CONFORMANCE_BASE_URL}}\napi_key: ${{CONFORMANCE_API_KEY}}\nlimits: {limits}\n")
    chosen = arguments or ("--only", "get-organization-succeeds")

    ended = conformance("run", "--target", str(file), "--effort", "quick", *chosen, **sandbox)

    assert ended.status == status, ended.err
    assert reason in (ended.err or "\n").splitlines()[-1]
    assert ended.report["verdict"] == "inconclusive"
    for limit in ended.report["limits"]:
        assert limit["kept"] is (limit["limit"] == 60000)
        assert 0 < limit["measured"] < 60000
    broken = [warning for warning in ended.report["run"]["warnings"] if warning.startswith("A limit was not met")]
    assert len(broken) == (status == 4)
