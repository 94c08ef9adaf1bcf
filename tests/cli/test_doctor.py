"""``conformance doctor``: its output, and that it only reads."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KEY = {"CONFORMANCE_API_KEY": "a-key-that-nobody-may-see"}
CLASSES = ("core", "organization", "permissions", "membership", "isolation", "cascade", "mail", "throttling")

Conformance = Callable[..., Any]
Responses = Callable[..., tuple[int, dict[str, str], bytes]]


def judged(out: str) -> dict[str, tuple[int, int]]:
    """Return for each class the number of requirements that a run would judge, and of all."""
    return {
        name: (int(unlocked), int(total))
        for name, unlocked, total in re.findall(r"^(\w+) +(\d+) of (\d+)", out, re.MULTILINE)
    }


def write_target(folder: Path, text: str) -> str:
    """Write a target file that only its owner may read."""
    file = folder / "target.yaml"
    file.touch(0o600)
    file.write_text("base_url: ${CONFORMANCE_BASE_URL}\napi_key: ${CONFORMANCE_API_KEY}\n" + text)
    return str(file)


def test_a_key_alone_unlocks_core(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """The output fits a screen: access, classes, missing entries and cost."""
    ended = conformance("doctor", **sandbox)

    assert ended.status == 0, ended.out + ended.err
    assert "Reachable: 200" in ended.out
    assert "Rate limit: 100000 requests per window" in ended.out
    assert re.search(r"api_key .* yes +- +yes", ended.out)
    assert [name for name, (unlocked, total) in judged(ended.out).items() if unlocked == total] == ["core"]
    assert "disposable: true (or --disposable)" in ended.out
    assert re.search(r"deep +\d+ +\d+ s", ended.out)
    assert len(ended.out.splitlines()) < 50


def test_a_full_target_file_unlocks_everything(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """With the full example nothing is left to unlock."""
    full = Path(__file__).parents[2] / "examples" / "full.yaml"

    ended = conformance("doctor", "--target", str(full), **sandbox)

    assert {name for name, (unlocked, total) in judged(ended.out).items() if unlocked == total} == set(CLASSES)
    assert "To unlock more" not in ended.out


def test_wrong_keys_are_reported(conformance: Conformance, sandbox: dict[str, str], tmp_path: Path) -> None:
    """Each problem is a sentence that names the entry; the exit status is 1."""
    target = write_target(
        tmp_path,
        """
organization: org_none
keys:
  organizations:read: ${KEY_ENGAGEMENTS_READ}
  organizations:write: not-a-key-at-all
  engagements:read: ${KEY_ORGANIZATIONS_READ}
  engagements:write: ${KEY_OTHER}
members: [{user_id: u_none}]
provisioner: {command: [no-such-program]}
""",
    )

    ended = conformance("doctor", "--target", target, **sandbox)

    problems = [line for line in ended.out.splitlines() if line.startswith("! ")]
    assert ended.status == 1
    for begin in (
        "! organization: The organization must be org_none",
        "! organizations:read: the key cannot read the organization",
        "! organizations:write: the service refuses this key with 401",
        "! engagements:read: the key can also read the organization",
        "! engagements:write: the key belongs to another organization",
        "! members: the organization has no member u_none",
        "! provisioner: the program does not exist",
    ):
        assert any(line.startswith(begin) for line in problems), begin
    assert not any(key in ended.out for name, key in sandbox.items() if name.startswith(("KEY_", "CONFORMANCE_API")))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        pytest.param(["nosuch.py"], "ended by itself with status 2", id="no such script"),
        pytest.param(["-c", "import sys; sys.stdin.read()"], "did not respond", id="hanging"),
        pytest.param(["-c", "while True: pass"], "did not respond", id="never reads and never ends"),
    ],
)
def test_a_silent_provisioner_is_reported(
    conformance: Conformance, sandbox: dict[str, str], tmp_path: Path, program: list[str], why: str
) -> None:
    """A program that exists but gives no response is a problem, and unlocks nothing; the rest is still printed."""
    command = json.dumps([sys.executable, *program])
    target = write_target(tmp_path, f"provisioner: {{command: {command}, timeout: 1}}\n")

    began = time.monotonic()
    ended = conformance("doctor", "--target", target, **sandbox)

    assert time.monotonic() - began < 30
    assert (ended.status, ended.err) == (1, "")
    (problem,) = [line for line in ended.out.splitlines() if line.startswith("! ")]
    assert problem.startswith("! The provisioner ")
    assert why in problem
    assert [name for name, (unlocked, total) in judged(ended.out).items() if unlocked == total] == ["core"]
    assert re.search(r"deep +\d+ +\d+ s", ended.out)


def test_right_keys_give_no_warning(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """Single-permission keys with the right permissions give no problem."""
    scoped = Path(__file__).parents[2] / "examples" / "scoped-keys.yaml"

    ended = conformance("doctor", "--target", str(scoped), **sandbox)

    assert ended.status == 0
    assert not any(line.startswith("! ") for line in ended.out.splitlines())
    assert re.search(r"other_organization +\S+ +yes +- +yes", ended.out)


def test_it_only_reads(conformance: Conformance, small_service: Any, responding: Responses, tmp_path: Path) -> None:
    """It sends only GET requests, with any target file."""
    target = write_target(
        tmp_path, "disposable: true\nkeys: {engagements:write: k-1, throttled: k-2}\nmembers: [{user_id: u}]\n"
    )

    with small_service(lambda method, path: responding(200, {"data": {}})) as service:
        ended = conformance("doctor", "--target", target, CONFORMANCE_BASE_URL=service.base_url, **KEY)

    assert ended.status in {0, 1}
    assert service.asked
    assert {line.partition(" ")[0] for line in service.asked} == {"GET"}


def test_unlocked_requirements_cost_more_requests(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """A read-only run takes the fewest requests, a run with everything unlocked the most."""
    examples = Path(__file__).parents[2] / "examples"
    costs = [
        {
            effort: int(requests)
            for effort, requests in re.findall(r"^(\w+) +(\d+) +\d+ (?:s|min)", ended.out, re.MULTILINE)
        }
        for ended in (
            conformance("doctor", "--read-only", **sandbox),
            conformance("doctor", **sandbox),
            conformance("doctor", "--target", str(examples / "scoped-keys.yaml"), **sandbox),
            conformance("doctor", "--target", str(examples / "full.yaml"), **sandbox),
        )
    ]

    for effort in ("quick", "standard", "deep"):
        of_effort = [cost[effort] for cost in costs]
        assert of_effort == sorted(set(of_effort)), effort


def test_a_low_limit_is_reckoned_with(conformance: Conformance, small_service: Any, responding: Responses) -> None:
    """If the rate limit makes a run wait, the cost says so."""
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "59"}

    with small_service(lambda method, path: responding(200, {"data": {}}, **headers)) as service:
        ended = conformance("doctor", "--base-url", service.base_url, **KEY)

    assert re.search(r"quick .* at least \d+ \w+ of waiting for the rate limit", ended.out)


@pytest.mark.parametrize("arguments", [[], ["--read-only"], ["--disposable"]])
def test_a_dead_host_gives_3(conformance: Conformance, arguments: list[str]) -> None:
    """A refused connection gives a sentence on stderr."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ended = conformance("doctor", "--base-url", f"http://127.0.0.1:{unused.getsockname()[1]}", *arguments, **KEY)

    assert ended.status == 3
    assert ended.err.startswith("The target could not be tested: ")
    assert "Traceback" not in ended.err


def test_a_refused_main_key_gives_3(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """With a wrong key nothing can be tested."""
    ended = conformance("doctor", **sandbox | KEY)

    assert ended.status == 3
    assert "refuses the main key with 401" in ended.err


def test_modes_exclude_each_other(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """Both modes together are a usage error."""
    assert conformance("doctor", "--read-only", "--disposable", **sandbox).status == 2
