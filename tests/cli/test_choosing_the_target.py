"""Which service a run tests: the one that is named, and never the embedded one by mistake."""

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
KEY = "a-key-that-nobody-may-see"
ADD = "no service is named: add --base-url or CONFORMANCE_BASE_URL, or --target, or --embedded"
MEANT = f"CONFORMANCE_BASE_URL?), but {ADD}"


@pytest.fixture(autouse=True)
def without_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own pipeline says nothing here."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delitem(ENVIRONMENT, "CI", raising=False)


@pytest.mark.parametrize(
    ("words", "variables", "status", "last"),
    [
        ((), {}, 0, "keeps what was judged"),
        ((), {"CI": "false"}, 0, "keeps what was judged"),
        ((), {"CI": ""}, 0, "keeps what was judged"),
        (("--embedded",), {"CI": "true"}, 0, "keeps what was judged"),
        (("--embedded", "--strict"), {}, 0, "keeps what was judged"),
        (("--embedded",), {"CONFORMANCE_API_KEY": KEY}, 0, "keeps what was judged"),
        (("--embedded",), {"CONFORMANCE_BASE_URL": "http://127.0.0.1:1"}, 0, "keeps what was judged"),
        (("--embedded",), {"CONFORMANCE_BASE_URL": ""}, 0, "keeps what was judged"),
        ((), {"CONFORMANCE_SANDBOX_URL": "http://127.0.0.1:1"}, 0, "keeps what was judged"),
        ((), {"CI": "true"}, 2, f"Exit 2: the variable CI is set, but {ADD}"),
        ((), {"CI": "1"}, 2, f"Exit 2: the variable CI is set, but {ADD}"),
        (("--strict",), {}, 2, f"Exit 2: --strict is given, but {ADD}"),
        (("--read-only",), {}, 2, f"Exit 2: --read-only is given, but {ADD}"),
        (("--disposable",), {}, 2, f"Exit 2: --disposable is given, but {ADD}"),
        (("--waivers", "w.yaml"), {}, 2, f"Exit 2: --waivers w.yaml is given, but {ADD}"),
        (("--baseline", "b.json"), {}, 2, f"Exit 2: --baseline b.json is given, but {ADD}"),
        (("--wait", "5"), {}, 2, f"Exit 2: --wait is given, but {ADD}"),
        (("--api-key", KEY), {}, 2, f"Exit 2: --api-key is given, but {ADD}"),
        ((), {"CONFORMANCE_API_KEY": KEY}, 2, f"Exit 2: CONFORMANCE_API_KEY is set, but {ADD}"),
        ((), {"CONFORMANCE_API_KEY": ""}, 2, f"Exit 2: CONFORMANCE_API_KEY is set, but {ADD}"),
        ((), {"CONFORMANCE_BASE_URL": ""}, 2, "Exit 2: CONFORMANCE_BASE_URL is empty"),
        ((), {"CONFORMANCE_BASEURL": "x"}, 2, f"Exit 2: CONFORMANCE_BASEURL is set (did you mean {MEANT}"),
        ((), {"CONFORMANCE_URL": "x"}, 2, f"Exit 2: CONFORMANCE_URL is set (did you mean {MEANT}"),
        ((), {"conformance_base_url": "x"}, 2, f"Exit 2: conformance_base_url is set (did you mean {MEANT}"),
        ((), {"CONFORMACE_BASE_URL": "x"}, 2, f"Exit 2: CONFORMACE_BASE_URL is set (did you mean {MEANT}"),
        ((), {"CONFORMANCE_APIKEY": KEY}, 2, "Exit 2: CONFORMANCE_APIKEY is set (did you mean CONFORMANCE_API_KEY?)"),
        ((), {"CONFORMANCE_ZZZ": "x"}, 2, "Exit 2: CONFORMANCE_ZZZ is set, which the suite does not know, but no"),
        (("--embedded", "--base-url", "http://x"), {}, 2, "Exit 2: --embedded and --base-url exclude each other."),
        (("--embedded", "--target", "t"), {}, 2, "Exit 2: --embedded and --target exclude each other."),
    ],
)
def test_the_embedded_service_is_never_tested_by_mistake(
    conformance: Conformance, words: tuple[str, ...], variables: dict[str, str], status: int, last: str
) -> None:
    """What shows that a service was meant ends the run with 2 and says what to add, unless --embedded is given."""
    ended = conformance(*SHORT, *words, **variables)

    assert ended.status == status, ended.err
    assert last in (ended.out + ended.err).splitlines()[-1]
    assert KEY not in ended.out + ended.err
    if status:
        assert not ended.folder.exists()


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        ((), {"CONFORMANCE_API_KEY": KEY}, f"CONFORMANCE_API_KEY is set, but {ADD}"),
        ((), {"CONFORMANCE_BASE_URL": ""}, "CONFORMANCE_BASE_URL is empty"),
        ((), {"CONFORMANCE_BASEURL": "x"}, f"did you mean {MEANT}"),
        ((), {"CI": "true"}, f"the variable CI is set, but {ADD}"),
        (("--read-only",), {}, f"--read-only is given, but {ADD}"),
        (("--embedded", "--base-url", "http://x"), {}, "--embedded and --base-url exclude each other."),
        ((), {}, None),
        (("--embedded",), {"CI": "true", "CONFORMANCE_API_KEY": KEY}, None),
    ],
)
def test_nor_by_pytest(tmp_path: Path, words: tuple[str, ...], variables: dict[str, str], said: str | None) -> None:
    """The plugin refuses the same, as a usage error; a conformance.yaml is nothing to it."""
    (tmp_path / "conformance.yaml").write_text("base_url: http://127.0.0.1:1\napi_key: a-key-of-nobody\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]
    done = subprocess.run(
        [*command, "conformance.checks.test_s9_versioning", *words],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT | variables, timeout=300,
    )  # fmt: skip

    assert done.returncode == (pytest.ExitCode.OK if said is None else pytest.ExitCode.USAGE_ERROR), done.stdout
    assert (said or "") in done.stderr
    assert KEY not in done.stdout + done.stderr


FOUND = "The target is the one of conformance.yaml, found in the current directory.\n"


def test_a_target_file_of_the_current_directory_serves(
    conformance: Conformance, sandbox: dict[str, str], tmp_path: Path
) -> None:
    """The first line names it, and neither starts it a program nor lets it the organization be changed."""
    (tmp_path / "conformance.yaml").write_text(
        f"base_url: {sandbox['CONFORMANCE_BASE_URL']}\napi_key: ${{CONFORMANCE_API_KEY}}\ndisposable: true\n"
        "require: [core]\nprovisioner: {command: [touch, started]}\n"
    )

    ended = conformance(*SHORT, CONFORMANCE_API_KEY=sandbox["CONFORMANCE_API_KEY"])

    assert ended.status == 0, ended.err
    assert ended.out.startswith(FOUND)
    assert ended.report["run"]["mode"] == "default"
    assert not (tmp_path / "started").exists()
    assert [line.partition(" of ")[0] for line in ended.report["run"]["warnings"] if "--target" in line] == [
        "disposable",
        "provisioner",
    ]


@pytest.mark.parametrize("words", [("--embedded",), ("--base-url", "http://127.0.0.1:1"), ("--target", "other.yaml")])
def test_what_is_named_comes_first(conformance: Conformance, tmp_path: Path, words: tuple[str, ...]) -> None:
    """A conformance.yaml is not read where the command line names a target."""
    (tmp_path / "conformance.yaml").write_text("nonsense: 1\n")

    ended = conformance(*SHORT, *words, CONFORMANCE_API_KEY=KEY)

    assert FOUND not in ended.out
    assert "nonsense" not in ended.err


def test_a_variable_comes_before_it(conformance: Conformance, tmp_path: Path) -> None:
    """CONFORMANCE_BASE_URL names a target, and an empty one is an error."""
    (tmp_path / "conformance.yaml").write_text("nonsense: 1\n")

    named = conformance(*SHORT, CONFORMANCE_BASE_URL="http://127.0.0.1:1", CONFORMANCE_API_KEY=KEY)
    empty = conformance(*SHORT, CONFORMANCE_BASE_URL="", CONFORMANCE_API_KEY=KEY)

    assert (named.status, empty.status) == (3, 2)
    assert "CONFORMANCE_BASE_URL is empty" in empty.err


def test_what_is_wrong_with_it_is_told(conformance: Conformance, tmp_path: Path) -> None:
    """A class that is none is an error of its line, with what may be meant."""
    (tmp_path / "conformance.yaml").write_text(
        "base_url: http://127.0.0.1:1\napi_key: a-key-of-nobody\nrequire: [core, trottling]\n"
    )

    ended = conformance(*SHORT)

    assert ended.status == 2
    assert ended.out == FOUND
    assert "conformance.yaml, line 3: require[1] must be one of core, " in ended.err
    assert ended.err.endswith("(did you mean throttling?).\n")
