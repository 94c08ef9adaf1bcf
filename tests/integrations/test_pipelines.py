"""CI files: their commands run, and their parts fit together."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import __version__
from conformance.running.embedded import EmbeddedService
from conformance.targets.loading import load_profile
from tests.conftest import serve_sandbox

ROOT = Path(__file__).parent.parent.parent
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CONFORMANCE_", "PYTHONDONTWRITE", "GITHUB"))
}
RELEASE = f"engagement-conformance=={__version__}"
OPTIONS = ("TARGET", "EFFORT", "MODE", "WAIVERS", "BASELINE", "CLASSES", "ONLY", "SKIP", "STRICT", "REPORT")


def documents(name: str) -> list[dict[str, Any]]:
    """Return the YAML documents of a file."""
    return list(yaml.safe_load_all((ROOT / name).read_text()))


def job(name: str) -> dict[str, Any]:
    """Return the Job of a manifest."""
    return next(document for document in documents(name) if document["kind"] == "Job")


def run_script(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the CI script with ``conformance`` from this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", str(ROOT / "integrations" / "ci-run.sh")],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=CLEAN | {"PATH": path} | variables,
        timeout=300,
    )


def test_the_script_runs_and_informs_the_pipeline(tmp_path: Path) -> None:
    """The script writes the summary and the verdict to the files of GitHub."""
    summary, output = tmp_path / "summary", tmp_path / "output"

    with closing(EmbeddedService()) as service:
        target = {"CONFORMANCE_BASE_URL": service.announced["base_url"]}
        target |= {"CONFORMANCE_API_KEY": service.announced["keys"]["api_key"]}
        done = run_script(tmp_path, GITHUB_STEP_SUMMARY=str(summary), GITHUB_OUTPUT=str(output), **target)

    assert done.returncode == 0, done.stdout + done.stderr
    assert output.read_text() == "verdict=conformant\n"
    assert "conformant" in summary.read_text()


def test_the_script_passes_the_exit_status_on(tmp_path: Path) -> None:
    """A wrong option fails the step."""
    target = {"CONFORMANCE_BASE_URL": "http://service.test", "CONFORMANCE_API_KEY": "a-key-that-nobody-may-see"}

    assert run_script(tmp_path, MODE="heroic", **target).returncode == 2
    assert run_script(tmp_path, WAIVERS="missing.yaml", **target).returncode == 2


STALE = '{"format": "conformance-report/1", "verdict": "conformant"}'


@pytest.mark.parametrize(
    ("variables", "status", "why"),
    [
        pytest.param({"MODE": "heroic"}, 2, "MODE is heroic: set it to read-only, default or disposable.", id="mode"),
        pytest.param({"STRICT": "perhaps"}, 2, "STRICT is perhaps: set it to true or false.", id="strict"),
        pytest.param({"EFFORT": "heroic"}, 2, "heroic", id="effort"),
        pytest.param(
            {"CONFORMANCE_BASE_URL": ""}, 2, "No target is named: set CONFORMANCE_BASE_URL or TARGET.", id="no target"
        ),
        pytest.param(
            {"CONFORMANCE_BASE_URL": "http://127.0.0.1:9"}, 3, "the connection was refused", id="nothing there"
        ),
    ],
)
def test_a_run_that_tests_nothing_publishes_no_earlier_report(
    tmp_path: Path, variables: dict[str, str], status: int, why: str
) -> None:
    """The earlier report is gone, there is no verdict, and the page of the run gives the reason."""
    folder = tmp_path / "conformance-report"
    folder.mkdir()
    (folder / "report.json").write_text(STALE)
    (folder / "summary.md").write_text("# Conformance: conformant")
    outputs = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    target = {"CONFORMANCE_BASE_URL": "http://service.test", "CONFORMANCE_API_KEY": "a-key-that-nobody-may-see"}

    done = run_script(tmp_path, **(outputs | target | variables))

    assert done.returncode == status, done.stdout + done.stderr
    assert why in done.stderr.splitlines()[-1]
    assert "conformant" not in (tmp_path / "output").read_text() if status == 3 else not (tmp_path / "output").exists()
    assert "Conformance: conformant" not in (tmp_path / "summary").read_text()
    assert status == 3 or why in (tmp_path / "summary").read_text()


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("true", 4),
        ("True", 4),
        ("TRUE", 4),
        ("1", 4),
        ("yes", 4),
        ("on", 4),
        ("NO", 0),
        ("false", 0),
        ("0", 0),
        ("", 0),
    ],
)
def test_the_usual_values_of_strict(sandbox: dict[str, str], tmp_path: Path, value: str, status: int) -> None:
    """An untested chosen requirement fails the step if it is strict."""
    target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}

    done = run_script(tmp_path, STRICT=value, ONLY="get-organization-succeeds invite-sends-mail", **target)

    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr.startswith("Exit 4: --strict, and ") or not status


def test_every_output_of_an_earlier_job_is_removed(tmp_path: Path) -> None:
    """Only the journal stays, for conformance cleanup. A report that no run wrote stays, and is not published."""
    folder, output = tmp_path / "conformance-report", tmp_path / "output"
    with serve_sandbox("--fault", "archived-edit-applied") as sandbox:
        target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}
        assert run_script(tmp_path, ONLY="archived-edit-changes-nothing", **target).returncode == 1
    assert (folder / "repeat-archived-edit-changes-nothing.sh").exists()

    assert run_script(tmp_path, EFFORT="heroic", **target).returncode == 2
    assert [path.name for path in folder.iterdir()] == ["journal.jsonl"]

    (folder / "journal.jsonl").unlink()
    (folder / "report.json").write_text('{"verdict": "conformant"}')
    assert run_script(tmp_path, GITHUB_OUTPUT=str(output), **target).returncode == 2
    assert (folder / "report.json").read_text() == '{"verdict": "conformant"}'
    assert not output.exists()


def test_the_page_of_the_run_says_why_a_step_failed(sandbox: dict[str, str], tmp_path: Path) -> None:
    """The reason is below the summary of the run."""
    target = {"CONFORMANCE_BASE_URL": sandbox["CONFORMANCE_BASE_URL"], "CONFORMANCE_API_KEY": "a-key-of-nobody"}

    assert run_script(tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "page"), **target).returncode == 3

    page = (tmp_path / "page").read_text()
    assert page.startswith("# Conformance: inconclusive")
    assert page.endswith("    Exit 3: The target could not be tested: the service refuses the main key with 401.\n")


@pytest.mark.parametrize("named", [{}, {"CONFORMANCE_BASE_URL": ""}, {"CONFORMANCE_BASE_URL": "", "TARGET": ""}])
def test_the_script_tests_nothing_without_a_target(tmp_path: Path, named: dict[str, str]) -> None:
    """Without a target, the script does not test the suite's own service."""
    done = run_script(tmp_path, CONFORMANCE_API_KEY="a-key-that-nobody-may-see", **named)

    assert done.returncode == 2
    assert "No target is named" in done.stderr


def test_the_action_passes_every_input_to_the_script() -> None:
    """The script gets every declared input."""
    action = documents("action.yml")[0]
    step = action["runs"]["steps"][-1]

    assert set(step["env"]) == {*OPTIONS, "CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY"}
    for name in action["inputs"].keys() - {"package"}:
        assert f"inputs.{name} " in str(step["env"])


def of_the_action() -> tuple[str, str]:
    """Return the default package of the action, and its command that installs it."""
    action = documents("action.yml")[0]
    step = action["runs"]["steps"][1]
    assert step["env"] == {"PACKAGE": "${{ inputs.package }}"}
    return action["inputs"]["package"]["default"], step["run"]


def of_gitlab() -> tuple[str, str]:
    """Return the same of the job of GitLab."""
    template = documents("integrations/gitlab/conformance.yml")[0][".conformance"]
    return template["variables"]["PACKAGE"], template["script"][0]


def of_the_container() -> tuple[str, str]:
    """Return the same of the container; its second stage installs only the wheels of the first."""
    first, second = (ROOT / "Containerfile").read_text().split("\n\nFROM ")
    found = re.search(r"\nARG PACKAGE=(.*)\nRUN (.*)$", first)
    assert found is not None
    assert "--no-index --find-links /wheels engagement-conformance" in second
    return found[1], found[2]


@pytest.mark.parametrize(
    ("installing", "source"), [(of_the_action, "/the action"), (of_gitlab, "."), (of_the_container, ".")]
)
def test_a_release_is_installed_in_place_of_the_source(
    tmp_path: Path, installing: Callable[[], tuple[str, str]], source: str
) -> None:
    """The commands give pip the release that the variable names, and the source by default."""
    for name in ("pip", "python"):
        (tmp_path / name).write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
        (tmp_path / name).chmod(0o755)
    default, command = installing()
    for package, installed in ((default, source), (RELEASE, RELEASE)):
        variables = {"PATH": str(tmp_path), "GITHUB_ACTION_PATH": "/the action", "PACKAGE": package}
        done = subprocess.run(
            ["/bin/sh", "-euc", command], check=True, capture_output=True, text=True, env=variables, timeout=60
        )

        assert done.stdout.splitlines()[-1] == installed


def test_examples_name_this_release() -> None:
    """Each release that a file or a page names is this version."""
    for name in ("action.yml", "Containerfile", "integrations/gitlab/conformance.yml", "docs/gates.md"):
        assert set(re.findall(r"engagement-conformance==[\w.]+", (ROOT / name).read_text())) == {RELEASE}


def test_the_workflow_uses_inputs_of_the_action() -> None:
    """The action has every input and output that the example uses."""
    action = documents("action.yml")[0]
    steps = documents("integrations/github/conformance.yml")[0]["jobs"]["conformance"]["steps"]
    used = next(step for step in steps if step.get("id") == "conformance")

    assert set(used["with"]) <= set(action["inputs"])
    assert "steps.conformance.outputs.verdict" in steps[-1]["env"]["VERDICT"]
    assert "verdict" in action["outputs"]


def test_gitlab_keeps_the_report() -> None:
    """The folder of the report is the artifact, and GitLab shows its JUnit file."""
    template = documents("integrations/gitlab/conformance.yml")[0][".conformance"]

    assert template["artifacts"]["paths"] == [f"{template['variables']['REPORT']}/"]
    assert template["artifacts"]["reports"]["junit"].startswith(template["variables"]["REPORT"])


@pytest.mark.parametrize("name", ["integrations/kubernetes/job.yaml", "integrations/kubernetes/fleet.yaml"])
def test_jobs_refer_to_existing_objects(name: str) -> None:
    """Secrets and config maps are in the same file, mounts are volumes, and the process has few rights."""
    known = {(document["kind"], document["metadata"]["name"]) for document in documents(name)}
    pod = job(name)["spec"]["template"]["spec"]
    container = pod["containers"][0]

    for source in container["envFrom"]:
        kind, reference = next(iter(source.items()))
        assert ({"secretRef": "Secret", "configMapRef": "ConfigMap"}[kind], reference["name"]) in known
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["securityContext"]["runAsNonRoot"]


def test_every_index_of_the_fleet_has_a_target(tmp_path: Path) -> None:
    """There is a valid target file for each completion, with a key from the secret."""
    parts = {document["kind"]: document for document in documents("integrations/kubernetes/fleet.yaml")}
    files = parts["ConfigMap"]["data"]

    assert sorted(files) == [f"target-{index}.yaml" for index in range(parts["Job"]["spec"]["completions"])]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        load_profile(tmp_path / name, parts["Secret"]["stringData"])


def test_the_fleet_command_is_the_suite() -> None:
    """Each index runs the suite with its target file."""
    line = job("integrations/kubernetes/fleet.yaml")["spec"]["template"]["spec"]["containers"][0]["args"][0]

    words = shlex.split(line)
    assert words[:3] == ["exec", "conformance", "run"]
    assert words[words.index("--target") + 1] == "/targets/target-$JOB_COMPLETION_INDEX.yaml"


def run_container(words: list[str], tmp_path: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a container's command with its mounts under a folder and a read-only home."""
    folder = tmp_path / "nowhere"
    folder.mkdir(mode=0o555)
    return subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)} | variables,
        timeout=300,
    )


def test_the_job_runs(sandbox: dict[str, str], tmp_path: Path) -> None:
    """With a filled Secret and ConfigMap, the container's command writes a report to the volume, twice in a row."""
    args = job("integrations/kubernetes/job.yaml")["spec"]["template"]["spec"]["containers"][0]["args"]
    names = [
        name
        for document in documents("integrations/kubernetes/job.yaml")
        for name in document.get("stringData", document.get("data", {}))
    ]
    words = ["conformance", *(word.replace("/reports", str(tmp_path)) for word in args), "--only", "get-*"]

    for _ in range(2):
        done = run_container(words, tmp_path, {name: sandbox[name] for name in names})
        (tmp_path / "nowhere").rmdir()

        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "latest" / "report.json").exists()


def test_an_index_of_the_fleet_runs(sandbox: dict[str, str], tmp_path: Path) -> None:
    """The second index uses the second target file and writes its report to its own folder."""
    parts = {document["kind"]: document for document in documents("integrations/kubernetes/fleet.yaml")}
    for name, text in parts["ConfigMap"]["data"].items():
        url = re.search(r"base_url: (\S+)", text)
        assert url is not None
        (tmp_path / name).write_text(text.replace(url[1], sandbox["CONFORMANCE_BASE_URL"]))
    pod = parts["Job"]["spec"]["template"]["spec"]["containers"][0]
    line = pod["args"][0].replace("/targets", str(tmp_path)).replace("/reports", str(tmp_path / "reports"))
    keys = dict.fromkeys(parts["Secret"]["stringData"], sandbox["CONFORMANCE_API_KEY"])

    done = run_container([*pod["command"], f"{line} --only 'get-*'"], tmp_path, keys | {"JOB_COMPLETION_INDEX": "1"})

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "reports" / "1" / "report.json").read_text())
    assert report["target"]["name"] == "us"
