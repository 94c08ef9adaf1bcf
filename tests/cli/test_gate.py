"""Gate of a pipeline: chosen requirements, required classes, strict mode and budgets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import load_catalogue

Conformance = Callable[..., Any]

KEY = {"CONFORMANCE_API_KEY": "a-key-that-nobody-may-see"}
ONE = ("--embedded", "--effort", "quick", "--only", "get-organization-succeeds")
REMEDY = "Give --base-url URL or --target FILE, or --embedded to test the embedded reference service."


@pytest.mark.parametrize(
    ("arguments", "environment", "why"),
    [
        pytest.param([], KEY, "although $CONFORMANCE_API_KEY is set", id="key"),
        pytest.param([], KEY | {"CONFORMANCE_BASE_URL": ""}, "CONFORMANCE_BASE_URL is empty", id="empty-address"),
        pytest.param(
            [], {"CONFORMANCE_BASEURL": "https://a.test"}, "(did you mean CONFORMANCE_BASE_URL?)", id="misspelt-address"
        ),
        pytest.param([], {"CONFORMANCE_APIKEY": "x"}, "(did you mean CONFORMANCE_API_KEY?)", id="misspelt-key"),
        pytest.param([], {"CI": "true"}, "although $CI is set", id="CI"),
        pytest.param(["--strict"], {}, "although --strict is set", id="strict"),
        pytest.param(["--read-only"], {}, "although --read-only is set", id="read-only"),
        pytest.param(["--disposable"], {}, "although --disposable is set", id="disposable"),
        pytest.param(["--waivers", "w.yaml"], {}, "although --waivers is set", id="waivers"),
        pytest.param(["--baseline", "b.json"], {"CI": "1"}, "although --baseline and $CI are set", id="baseline"),
        pytest.param(["--wait", "3"], {}, "although --wait is set", id="connection-option"),
    ],
)
def test_the_embedded_service_is_never_tested_by_mistake(
    conformance: Conformance, arguments: list[str], environment: dict[str, str], why: str
) -> None:
    """Without a target, each sign of another service is a usage error that says what to add."""
    ended = conformance("run", *arguments, **environment)

    assert ended.status == 2
    last = ended.err.splitlines()[-1]
    assert last.startswith("Exit 2: ")
    assert why in last
    assert last.endswith(REMEDY)
    assert not (ended.folder / "report.json").exists()


@pytest.mark.parametrize(
    "environment",
    [{}, {"CI": "true"}, KEY, {"CONFORMANCE_BASE_URL": "https://a.test"}],
    ids=["", "CI", "key", "address"],
)
def test_embedded_means_the_embedded_service(conformance: Conformance, environment: dict[str, str]) -> None:
    """With the option, the environment has no effect."""
    ended = conformance("run", *ONE, "--strict", **environment)

    assert ended.status == 0, ended.err
    assert ended.report["target"]["name"] == "reference"
    assert ended.err == ""


def test_embedded_and_an_address_exclude_each_other(conformance: Conformance) -> None:
    """The options contradict each other."""
    ended = conformance("run", *ONE, "--base-url", "https://a.test")

    assert (ended.status, ended.err.splitlines()[-1]) == (2, "Exit 2: --embedded and --base-url exclude each other.")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--only", "zzz*"], "--only zzz* matches no requirement"),
        (["--only", "archive"], "--only archive matches no requirement; did you mean 'archive*' (16)?"),
        (["--only", "Core"], "--only Core matches no requirement; did you mean core"),
        (["--only", "archiveEngagment"], "did you mean archiveEngagement"),
        (["--skip", "get-organisation-succeeds"], "did you mean get-organization-succeeds"),
        (["--class", "cor"], "there is no class cor; did you mean core?"),
        (["--class", "mail", "--only", "core"], "together leave no requirement"),
    ],
)
def test_a_choice_of_nothing_is_a_usage_error(conformance: Conformance, arguments: list[str], why: str) -> None:
    """It ends the run before anything is sent, with a suggestion if there is one."""
    ended = conformance("run", "--base-url", "http://127.0.0.1:9", *arguments, **KEY)

    assert ended.status == 2
    assert why in ended.err.splitlines()[-1]
    assert not (ended.folder / "report.json").exists()


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (["--class", "mail"], lambda entry: entry.conformance_class == "mail"),
        (["--only", "9"], lambda entry: entry.section == "9"),
        (["--only", "archive*"], lambda entry: entry.id.startswith("archive")),
        (["--only", "removeMember", "--skip", "core"], lambda entry: entry.conformance_class != "core"),
        (["--only", "mail", "--only", "9"], lambda entry: entry.conformance_class == "mail" or entry.section == "9"),
    ],
)
def test_requirements_are_chosen_by_class_operation_and_section(
    conformance: Conformance, arguments: list[str], chosen: Callable[[Any], bool]
) -> None:
    """Only they are judged; the summary and the JUnit file contain no other."""
    ended = conformance("run", "--embedded", "--effort", "quick", *arguments)

    assert ended.status == 0, ended.err
    entries = load_catalogue().requirements
    found = {entry["id"] for entry in ended.report["requirements"] if entry.get("chosen", True)}
    assert found
    assert all(chosen(entries[name]) for name in found)
    assert {entry["outcome"] for entry in ended.report["requirements"] if entry["id"] not in found} == {"untested"}
    cases = re.findall(r'<testcase name="([^"]+)"', (ended.folder / "junit.xml").read_text())
    assert set(cases) == found
    classes = {entries[name].conformance_class for name in found}
    shown = {line.split()[0] for line in ended.out.splitlines() if line}
    assert shown & {entry["id"] for entry in ended.report["classes"]} == classes


def test_strict_counts_what_was_chosen(conformance: Conformance) -> None:
    """A passed chosen requirement suffices; otherwise the last line counts what was not tested."""
    assert conformance("run", *ONE, "--strict").status == 0

    ended = conformance(
        "run", "--embedded", "--strict", "--read-only", "--effort", "quick", "--class", "mail", "--quiet"
    )

    assert ended.status == 4
    assert ended.err.splitlines()[-1] == "Exit 4: --strict, and 2 requirements not tested (mail 2)."


def test_a_target_file_requires_classes(conformance: Conformance, sandbox: dict[str, str], tmp_path: Path) -> None:
    """Its classes apply unless the command line names others; an unknown class is reported with its line."""
    target = tmp_path / "target.yaml"
    text = "base_url: {CONFORMANCE_BASE_URL}\napi_key: ${{CONFORMANCE_API_KEY}}\nrequire: [{classes}]\n"
    key = {"CONFORMANCE_API_KEY": sandbox["CONFORMANCE_API_KEY"]}
    arguments = ("run", "--target", str(target), "--effort", "quick")

    target.write_text(text.format(**sandbox, classes="organization"))
    ended = conformance(*arguments, **key)
    assert {entry["class"] for entry in ended.report["requirements"] if entry.get("chosen", True)} == {"organization"}

    target.write_text(text.format(**sandbox, classes="organisation"))
    ended = conformance(*arguments, **key)
    last = "Exit 2: target.yaml, line 3: require[0] must be a class; did you mean organization?"
    assert (ended.status, ended.err.splitlines()[-1]) == (2, last)


def test_a_target_file_is_found(conformance: Conformance, sandbox: dict[str, str], tmp_path: Path) -> None:
    """conformance.yaml is used without --target, but starts no program and makes no organization disposable."""
    started = tmp_path / "started"
    (tmp_path / "conformance.yaml").write_text(
        f"base_url: {sandbox['CONFORMANCE_BASE_URL']}\napi_key: ${{CONFORMANCE_API_KEY}}\ndisposable: true\n"
        f"provisioner: {{command: [touch, {started}]}}\n"
    )
    arguments = ("run", "--effort", "quick", "--only", "create-engagement-succeeds", "--only", "invite-succeeds")

    ended = conformance(*arguments, CONFORMANCE_API_KEY=sandbox["CONFORMANCE_API_KEY"])

    assert ended.status == 0, ended.err
    where = f"requests go to {sandbox['CONFORMANCE_BASE_URL']}"
    assert ended.out.splitlines()[0] == f"Target file: conformance.yaml; {where}"
    assert ended.report["run"]["mode"] == "default"
    assert ended.outcome("invite-succeeds") == "untested"
    assert not started.exists()
    unused = [line for line in ended.report["run"]["warnings"] if "was not used: it counts only if --target" in line]
    assert len(unused) == 2
    assert conformance(*arguments, "--embedded").report["target"]["name"] == "reference"


@pytest.mark.parametrize(
    ("base_url", "message"),
    [
        ("http://somebody:password@127.0.0.1:9/", "; requests go to http://127.0.0.1:9"),
        ("${ELSEWHERE}", "; requests go to http://127.0.0.1:7"),
        ("", ""),
    ],
)
def test_a_target_file_that_is_found_says_where_requests_go(
    conformance: Conformance, tmp_path: Path, base_url: str, message: str
) -> None:
    """It prints the address before sending, with variables resolved and without the password."""
    (tmp_path / "conformance.yaml").write_text(f"base_url: {base_url}\napi_key: ${{A_KEY}}\n")

    ended = conformance("doctor", A_KEY="a-key-of-nobody-1", ELSEWHERE="http://127.0.0.1:7")

    assert ended.out.splitlines()[0] == f"Target file: conformance.yaml{message}"
    assert ended.status == (3 if message else 2)
    assert "password" not in ended.out + ended.err


@pytest.mark.parametrize("entry", ["api_key: {file: ../token}", "api_key: k-1\nkeys: {throttled: {file: ../token}}"])
def test_a_target_file_that_is_found_reads_no_file_outside_its_folder(
    conformance: Conformance, tmp_path: Path, entry: str
) -> None:
    """A file of the user's, such as a token, does not go to the address of another project's target file."""
    (tmp_path.parent / "token").write_text("a-token-of-the-user-1")
    (tmp_path / "conformance.yaml").write_text(f"base_url: http://127.0.0.1:9\n{entry}\n")

    ended = conformance("doctor", "--timeout", "1")
    named = conformance("doctor", "--timeout", "1", "--target", "conformance.yaml")

    assert ended.status == 2
    assert "must be in the folder of the target file" in ended.err
    assert "must be in the folder of the target file" not in named.err


def test_the_current_folder_has_no_code_of_the_suite(conformance: Conformance, tmp_path: Path) -> None:
    """A module in the current folder is not imported, although the embedded service imports one of its name."""
    (tmp_path / "starlette.py").write_text("raise SystemExit('imported')\n")

    ended = conformance("run", "--embedded", "--effort", "quick", "--only", "invite-succeeds")

    assert (ended.status, ended.outcome("invite-succeeds")) == (0, "passed")


@pytest.mark.parametrize("most", [1, 30, 80, 200])
def test_the_budget_bounds_every_request(conformance: Conformance, most: int) -> None:
    """The budget includes undoing; the run reserves requests for it and leaves nothing."""
    ended = conformance("run", "--embedded", "--effort", "quick", "--seed", "1", "--max-requests", str(most))

    assert ended.report["run"]["requests"] <= most
    assert ended.report["not_undone"] == []
    assert f"the budget of {most} requests is used up" in " ".join(ended.report["run"]["warnings"])


@pytest.mark.parametrize("most", [80, 200])
def test_a_budget_in_the_default_mode_leaves_no_invitation(
    conformance: Conformance, sandbox: dict[str, str], most: int
) -> None:
    """The default mode makes no invitations, so none is listed when the budget is used up."""
    target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}
    ended = conformance("run", "--effort", "quick", "--seed", "1", "--max-requests", str(most), **target)

    assert ended.report["run"]["requests"] <= most
    assert (ended.report["not_undone"], ended.report["lasting"]) == ([], [])
    assert "cannot be undone" not in ended.out
    assert f"the budget of {most} requests is used up" in " ".join(ended.report["run"]["warnings"])


@pytest.mark.parametrize("most", [6, 8])
def test_an_invitation_beyond_the_budget_is_not_listed(conformance: Conformance, most: int) -> None:
    """Only invitations that were sent are listed as changes that cannot be undone."""
    arguments = ("--effort", "quick", "--seed", "1", "--only", "invite-succeeds", "--max-requests", str(most))
    ended = conformance("run", "--embedded", *arguments)

    entries = json.loads((ended.folder / "exchanges.har").read_text())["log"]["entries"]
    sent = [
        json.loads(entry["request"]["postData"]["text"])["email"]
        for entry in entries
        if entry["request"]["method"] == "POST" and entry["response"]["status"] < 300
    ]
    assert sent
    assert f"the budget of {most} requests is used up" in " ".join(ended.report["run"]["warnings"])
    assert [line.partition(";")[0] for line in ended.report["lasting"]] == [f"{email} was invited" for email in sent]


HANGING = "import sys\nfor line in sys.stdin:\n    open(sys.argv[1], 'a').write(line)\n"
DYING = "import sys\nopen(sys.argv[1], 'a').write(sys.stdin.readline())\nsys.exit(3)\n"


@pytest.mark.parametrize(
    ("program", "problem"),
    [(HANGING, "did not respond to create_member within 1 s"), (DYING, "ended by itself with status 3")],
    ids=["hanging", "dying"],
)
def test_a_provisioner_without_a_response_is_called_twice_at_most(
    conformance: Conformance, sandbox: dict[str, str], tmp_path: Path, program: str, problem: str
) -> None:
    """A run waits for at most two calls: its requirements stay untested with the true reason, the others pass."""
    calls, script, target = tmp_path / "calls", tmp_path / "program.py", tmp_path / "target.yaml"
    script.write_text(program)
    target.write_text(
        f"base_url: {sandbox['CONFORMANCE_BASE_URL']}\napi_key: ${{CONFORMANCE_API_KEY}}\ndisposable: true\n"
        f"provisioner: {{command: [{sys.executable}, {script}, {calls}], timeout: 1}}\n"
    )

    ended = conformance(
        "run", "--target", str(target), "--effort", "quick", "--quiet", "--only", "membership",
        "--only", "archive-engagement-succeeds",
        CONFORMANCE_API_KEY=sandbox["CONFORMANCE_API_KEY"],
    )  # fmt: skip

    assert len(calls.read_text().splitlines()) <= 2
    reasons = {entry["reason"] for entry in ended.report["requirements"] if entry["id"].startswith("update-role-")}
    assert ended.outcome("update-role-succeeds") == "untested"
    assert any(problem in reason for reason in reasons), reasons
    assert ended.outcome("archive-engagement-succeeds") == "passed"
    assert problem in ended.err + ended.out
