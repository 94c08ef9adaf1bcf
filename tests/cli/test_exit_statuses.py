"""Exit statuses of ``conformance run``."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.cli.costs import REQUESTS
from tests.conftest import serve_sandbox

KEY = {"CONFORMANCE_API_KEY": "a-key-that-nobody-may-see"}

Conformance = Callable[..., Any]
Responses = Callable[..., tuple[int, dict[str, str], bytes]]


def test_a_service_that_keeps_everything_gives_0(whole_run: Path) -> None:
    """The embedded service is conformant in every class; a quick run costs at most 1,300 requests, as doctor says."""
    report = json.loads((whole_run / "report.json").read_text())

    assert report["verdict"] == "conformant"
    assert {entry["outcome"] for entry in report["classes"]} == {"passed"}
    assert report["run"]["requests"] <= 1_300
    assert report["run"]["requests"] == pytest.approx(REQUESTS["quick"][-1], rel=0.1)
    observed = {entry["id"] for entry in report["observations"]}
    # Quick runs leave OPTIONS out, and a list during a write is up to chance.
    assert set(load_catalogue().open_points) - observed <= {"options-requests", "lists-under-writes"}


def test_a_strict_gateway_refuses_no_generated_request(conformance: Conformance) -> None:
    """At deep effort, too, targets and headers stay within what servers in front of a service accept."""
    only = ("--only", "*-refuses-invalid", "--only", "list-*-succeeds")
    with serve_sandbox("--latitude", "gateway=strict") as sandbox:
        target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}
        ended = conformance("run", "--effort", "deep", "--seed", "1", *only, **target)

    assert (ended.status, ended.err) == (0, ""), ended.out
    assert [ended.outcome(f"list-{name}-refuses-invalid") for name in ("engagements", "members")] == ["passed"] * 2
    assert ended.report["run"]["requests"] > 500


def test_a_service_that_says_nothing_useful_gives_1(
    conformance: Conformance, small_service: Any, responding: Responses
) -> None:
    """A service that responds to everything with an empty resource is not conformant."""
    with small_service(lambda method, path: responding(200, {"data": {}})) as service:
        ended = conformance("run", "--effort", "quick", "--base-url", service.base_url, **KEY)

    assert ended.status == 1, ended.out + ended.err
    assert ended.report["verdict"] == "non-conformant"
    assert ended.outcome("get-organization-fields") == "failed"
    assert ended.outcome("key-missing-refused") == "failed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base-url", "ftp://service.test", "--api-key", "a-key"], "base_url"),
        (["--base-url", "http://service.test"], "CONFORMANCE_API_KEY"),
        (["--target", "missing.yaml"], "missing.yaml"),
        (["--read-only", "--disposable"], "exclude each other"),
        (["--effort", "heroic"], "heroic"),
        (["--embedded", "--waivers", "missing.yaml"], "missing.yaml"),
        (["--embedded", "--baseline", "missing.json"], "missing.json"),
    ],
)
def test_a_wrong_command_line_gives_2(conformance: Conformance, arguments: list[str], message: str) -> None:
    """A sentence on stderr says what is wrong; no report is written."""
    ended = conformance("run", *arguments)

    assert ended.status == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert not (ended.folder / "report.json").exists()


def test_an_empty_address_gives_2(conformance: Conformance) -> None:
    """An unset variable of a pipeline must not start a test of the embedded service."""
    ended = conformance("run", CONFORMANCE_BASE_URL="", **KEY)

    assert ended.status == 2
    assert "CONFORMANCE_BASE_URL is empty" in ended.err
    assert not (ended.folder / "report.json").exists()


@pytest.mark.parametrize("command", [["doctor"], ["cleanup", "."], ["run"]])
def test_a_key_on_the_command_line_is_warned_of(conformance: Conformance, command: list[str]) -> None:
    """Each command warns of it."""
    ended = conformance(*command, "--base-url", "ftp://service.test", "--api-key", "a-key-that-nobody-may-see")

    assert "other users of this machine can read --api-key" in ended.err
    assert "a-key-that-nobody-may-see" not in ended.err


def test_a_key_of_another_organization_gives_2(
    conformance: Conformance, small_service: Any, responding: Responses, tmp_path: Path
) -> None:
    """Nothing is sent to an organization other than that of the target file."""
    target = tmp_path / "target.yaml"
    with small_service(lambda method, path: responding(200, {"data": {"id": "org_2"}})) as service:
        target.write_text(f"base_url: {service.base_url}\napi_key: ${{CONFORMANCE_API_KEY}}\norganization: org_1\n")
        ended = conformance("run", "--target", str(target), **KEY)

    assert ended.status == 2
    assert "org_1" in ended.err
    assert service.asked == ["GET /api/v1/organizations/current"]


def test_a_refused_connection_gives_3(conformance: Conformance) -> None:
    """A refused connection is reported in a sentence, and the report is written."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ended = conformance("run", "--base-url", f"http://127.0.0.1:{unused.getsockname()[1]}", **KEY)

    assert ended.status == 3
    assert "could not be tested" in ended.err
    assert ended.report["verdict"] == "inconclusive"
    assert (ended.folder / "report.html").exists()


def test_a_refused_key_gives_3(conformance: Conformance, small_service: Any, responding: Responses) -> None:
    """With a main key that gets a valid 401 nothing is tested."""
    refusal = {"error": {"code": "UNAUTHORIZED", "message": "no", "statusCode": 401}}
    with small_service(lambda method, path: responding(401, refusal)) as service:
        ended = conformance("run", "--base-url", service.base_url, **KEY)

    assert ended.status == 3, ended.out
    assert "refuses the main key" in ended.err


def test_a_refused_key_with_a_broken_response_gives_1(
    conformance: Conformance, small_service: Any, responding: Responses
) -> None:
    """A law that the only response breaks fails, although the target could not be tested."""
    with small_service(lambda method, path: responding(401, {"message": "no"})) as service:
        ended = conformance("run", "--base-url", service.base_url, **KEY)

    assert ended.status == 1
    assert ended.outcome("error-envelope") == "failed"


def test_a_budget_that_is_too_small_gives_3(conformance: Conformance) -> None:
    """A run without a decided requirement is no test."""
    ended = conformance("run", "--max-requests", "1", "--only", "archive-sets-status")

    assert ended.status == 3


def test_nothing_to_judge_gives_0(conformance: Conformance) -> None:
    """If no response was of the chosen kind, nothing failed."""
    ended = conformance("run", "--effort", "quick", "--only", "error-code-403")

    assert ended.status == 0
    assert ended.outcome("error-code-403") == "inapplicable"


def test_no_key_is_in_any_output(conformance: Conformance, small_service: Any, responding: Responses) -> None:
    """The key is replaced by its name, also in responses that contain it."""
    with small_service(lambda method, path: responding(200, {"data": {"id": KEY["CONFORMANCE_API_KEY"]}})) as service:
        ended = conformance("run", "--effort", "quick", "--base-url", service.base_url, **KEY)

    texts = [ended.out, ended.err, *(path.read_text() for path in ended.folder.rglob("*") if path.is_file())]
    assert not any(KEY["CONFORMANCE_API_KEY"] in text for text in texts)
    assert any("<api_key>" in text for text in texts)


def test_an_output_that_lacks_characters_costs_no_verdict(conformance: Conformance) -> None:
    """A log may have an encoding other than UTF-8."""
    ended = conformance("run", "--only", "get-organization-succeeds", PYTHONIOENCODING="ascii")

    assert "Traceback" not in ended.err
    assert (ended.status, ended.outcome("get-organization-succeeds")) == (0, "passed")
    assert " - " in ended.out


def list_requirements(load: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``conformance requirements`` with a Python expression that loads the catalogue."""
    program = (
        "import sys; from conformance.catalogue.catalogue import build_catalogue;"
        "from conformance.cli import requirements; from conformance.__main__ import main;"
        f"requirements.load_catalogue = lambda: {load};"
        "sys.argv = ['conformance', 'requirements']; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=folder, timeout=60
    )


def test_an_error_of_the_catalogue_is_named(tmp_path: Path) -> None:
    """The message of a malformed entry, which contains nothing of a run, reaches the author of the entry."""
    empty: dict[str, list[object]] = {"requirements": [], "open_points": [], "out_of_reach": []}
    section = {**empty, "section": "1", "title": "Basics", "statements": {"uncited": "A sentence."}}

    ended = list_requirements(f"build_catalogue([{section}])", tmp_path)

    assert ended.returncode == 3
    assert "the statement 'uncited' has no entry: an error of this suite" in ended.stderr


def test_an_error_of_the_suite_gives_3_and_no_secret(tmp_path: Path) -> None:
    """It must not look like a failed requirement, and its message may contain a secret."""
    ended = list_requirements("{}['a-key-that-nobody-may-see']", tmp_path)

    assert ended.returncode == 3
    first, *places = ended.stderr.splitlines()
    assert first == "Unexpected KeyError: an error of this suite, not of the target."
    assert any("requirements.py:" in place for place in places)
    assert "nobody-may-see" not in ended.stderr + ended.stdout
