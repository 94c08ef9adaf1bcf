"""Choice of the target: the given service, and never the embedded one by mistake."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ENVIRONMENT

Conformance = Callable[..., Any]

SHORT = ("run", "--effort", "quick", "--quiet", "--only", "get-organization-succeeds")
CHECK = "conformance.checks.test_every_response::test_version_prefix_served"
KEY = "a-key-that-nobody-may-see"


@pytest.fixture(autouse=True)
def without_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the variable of the tests' own pipeline."""
    monkeypatch.delitem(ENVIRONMENT, "CI", raising=False)


@pytest.mark.parametrize(
    ("arguments", "variables", "refused"),
    [
        ((), {}, None),
        ((), {"CI": "false"}, None),
        ((), {"CI": ""}, None),
        ((), {"CONFORMANCE_SANDBOX_URL": "http://127.0.0.1:1"}, None),
        (("--embedded",), {"CONFORMANCE_BASE_URL": "", "CONFORMANCE_BASEURL": "x"}, None),
        ((), {"CI": "1"}, "although $CI is set"),
        ((), {"CONFORMANCE_API_KEY": ""}, "although $CONFORMANCE_API_KEY is set"),
        (("--api-key", KEY), {}, "although --api-key is set"),
        ((), {"CONFORMANCE_URL": "x"}, "is not a variable of this suite (did you mean CONFORMANCE_BASE_URL?)"),
        ((), {"CONFORMANCE_KEY": KEY}, "is not a variable of this suite (did you mean CONFORMANCE_API_KEY?)"),
        ((), {"CONFORMANCE_MASK_PEOPL": "1"}, "(did you mean CONFORMANCE_MASK_PEOPLE?)"),
        ((), {"conformance_base_url": "x"}, "is not a variable of this suite (did you mean CONFORMANCE_BASE_URL?)"),
        ((), {"CONFORMACE_BASE_URL": "x"}, "is not a variable of this suite (did you mean CONFORMANCE_BASE_URL?)"),
        ((), {"CONFORMANCE_ZZZ": "x"}, "CONFORMANCE_ZZZ is not a variable of this suite. Give --base-url"),
        (("--embedded", "--target", "t"), {}, "--embedded and --target exclude each other."),
    ],
)
def test_a_sign_of_a_forgotten_target_ends_the_run(
    conformance: Conformance, arguments: tuple[str, ...], variables: dict[str, str], refused: str | None
) -> None:
    """Each sign ends the run with 2 before anything is tested; nothing else does."""
    ended = conformance(*SHORT, *arguments, **variables)

    assert ended.status == (0 if refused is None else 2), ended.err
    assert refused is None or refused in ended.err.splitlines()[-1]
    assert KEY not in ended.out + ended.err
    assert ended.folder.exists() is (refused is None)


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        ((), {"CONFORMANCE_API_KEY": KEY}, "although $CONFORMANCE_API_KEY is set"),
        ((), {"CONFORMANCE_BASE_URL": ""}, "CONFORMANCE_BASE_URL is empty"),
        ((), {"CONFORMANCE_BASEURL": "x"}, "(did you mean CONFORMANCE_BASE_URL?)"),
        ((), {"CI": "true"}, "although $CI is set"),
        (("--read-only",), {}, "although --read-only is set"),
        (("--embedded", "--base-url", "http://x"), {}, "--embedded and --base-url exclude each other."),
        ((), {}, None),
        (("--embedded",), {"CI": "true", "CONFORMANCE_API_KEY": KEY}, None),
    ],
)
def test_pytest_refuses_the_same(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str], message: str | None
) -> None:
    """It is a usage error; pytest ignores a conformance.yaml in the current directory."""
    (tmp_path / "conformance.yaml").write_text("base_url: http://127.0.0.1:1\napi_key: a-key-of-nobody\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]
    done = subprocess.run(
        [*command, CHECK, *arguments],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT | variables, timeout=300,
    )  # fmt: skip

    assert done.returncode == (pytest.ExitCode.OK if message is None else pytest.ExitCode.USAGE_ERROR), done.stdout
    assert (message or "") in done.stderr
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "variables", "status"),
    [
        (("--embedded",), {}, 0),
        (("--base-url", "http://127.0.0.1:1"), {}, 3),
        (("--target", "other.yaml"), {}, 2),
        ((), {"CONFORMANCE_BASE_URL": "http://127.0.0.1:1"}, 3),
        ((), {"CONFORMANCE_BASE_URL": ""}, 2),
    ],
)
def test_a_named_target_has_priority_over_a_found_file(
    conformance: Conformance, tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str], status: int
) -> None:
    """A conformance.yaml is not read; an empty variable for the address is an error."""
    (tmp_path / "conformance.yaml").write_text("nonsense: 1\n")

    ended = conformance(*SHORT, *arguments, CONFORMANCE_API_KEY=KEY, **variables)

    assert ended.status == status, ended.err
    assert "Target file" not in ended.out
    assert "nonsense" not in ended.err
