"""``conformance run --list``, ``--rate`` and ``--color``, and the warning about plain HTTP."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import KEY, Responder, Service

Conformance = Callable[..., Any]
Serve = Callable[[Responder], AbstractContextManager[Service]]

QUICK = ("--effort", "quick", "--seed", "3")
NOT_FOUND = {"error": {"code": "NOT_FOUND", "message": "There is none."}}


def listed(out: str) -> list[str]:
    """Return the ids that ``--list`` printed."""
    return re.findall(r"^(?:core|permissions) +(\S+)$", out, re.MULTILINE)


def test_a_list_has_the_requirements_and_requests_of_the_run(conformance: Conformance) -> None:
    """The number of requests is that of a run with the same options and seed."""
    chosen = (*QUICK, "--only", "archive*", "--embedded")
    planned = conformance("run", "--list", *chosen)
    assert not planned.folder.exists()
    done = conformance("run", *chosen)

    judged = [entry["id"] for entry in done.report["requirements"] if entry["outcome"] == "passed"]
    assert planned.status == 0
    assert sorted(listed(planned.out)) == sorted(judged)
    found = re.search(r"about (\d+) requests, undoing included; none was sent", planned.out)
    assert found is not None
    assert abs(int(found[1]) - done.report["run"]["requests"]) <= 5


@pytest.mark.parametrize(
    ("arguments", "judged", "left"),
    [
        (("--only", "archive-sets-status", "--only", "permissions"), ["archive-sets-status"], "permissions 23"),
        (("--only", "archive-sets-status", "--read-only"), [], "(core 1) untested"),
    ],
)
def test_a_list_names_what_the_target_does_not_allow(
    conformance: Conformance,
    small_service: Serve,
    arguments: tuple[str, ...],
    judged: list[str],
    left: str,
) -> None:
    """No request reaches the target, and what it lacks is counted."""
    with small_service(lambda _method, _path: (404, {}, b"")) as service:
        ended = conformance(
            "run", "--list", *QUICK, *arguments, "--base-url", service.base_url, CONFORMANCE_API_KEY=KEY
        )

    assert ended.status == 0, ended.err
    assert listed(ended.out) == judged
    assert left in ended.out
    assert service.asked == []
    assert KEY not in ended.out + ended.err


@pytest.mark.parametrize("arguments", [("--only", "nosuch"), ("--target", "absent.yaml")])
def test_a_list_of_nothing_is_a_usage_error(conformance: Conformance, arguments: tuple[str, ...]) -> None:
    """As for the run."""
    assert conformance("run", "--list", *arguments).status == 2


@pytest.mark.parametrize("source", ["option", "variable", "file"])
def test_the_rate_bounds_the_requests_of_a_second(
    conformance: Conformance, small_service: Serve, responding: Callable[..., Any], tmp_path: Path, source: str
) -> None:
    """No two requests are closer than the interval."""
    times: list[float] = []

    def responder(_method: str, _path: str) -> Any:
        times.append(time.monotonic())
        return responding(404, NOT_FOUND)

    with small_service(responder) as service:
        file = tmp_path / "target.yaml"
        line = "rate: 10" if source == "file" else "rate: 0.001"
        file.write_text(f"base_url: {service.base_url}\napi_key: {KEY}\n{line}\n")
        given = ("--rate", "10") if source == "option" else ()
        variable = {} if source == "file" else {"CONFORMANCE_RATE": "10" if source == "variable" else "0.001"}
        conformance("run", *QUICK, "--only", "get-*", "--read-only", "--target", str(file), *given, **variable)

    assert len(times) > 5
    # Requests leave at intervals of 0.1 s; arrivals vary, but 5 intervals together hardly.
    assert times[-1] - times[0] >= 0.1 * (len(times) - 1) - 0.5


@pytest.mark.parametrize(
    ("arguments", "variables", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colors_are_those_of_the_option(
    conformance: Conformance,
    small_service: Serve,
    arguments: tuple[str, ...],
    variables: dict[str, str],
    *,
    colored: bool,
) -> None:
    """Without it, a pipe gets none unless the usual variable says so."""
    with small_service(lambda _method, _path: (404, {}, b"")) as service:
        ended = conformance("doctor", "--base-url", service.base_url, *arguments, CONFORMANCE_API_KEY=KEY, **variables)

    assert ("\x1b[" in ended.out) is colored


def test_a_key_over_plain_http_is_warned_of_before_it_is_sent(conformance: Conformance, small_service: Serve) -> None:
    """Loopback is no network."""
    away = conformance("run", *QUICK, "--base-url", "http://service.invalid", CONFORMANCE_API_KEY=KEY)
    with small_service(lambda _method, _path: (404, {}, b"")) as service:
        local = conformance("run", *QUICK, "--only", "get-*", "--base-url", service.base_url, CONFORMANCE_API_KEY=KEY)

    assert away.err.splitlines()[0] == "Warning: base_url: http sends the keys unencrypted over the network."
    assert "unencrypted" not in local.err
