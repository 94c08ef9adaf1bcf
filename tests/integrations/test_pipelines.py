"""CI files: their commands run, and their parts fit together."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import __version__
from conformance.reports.metrics import FAMILIES
from conformance.reports.model import load_report
from conformance.reports.wording import OUTCOMES, VERDICTS
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
INPUTS = (
    "TARGET", "EFFORT", "MODE", "WAIVERS", "BASELINE", "CLASSES", "ONLY", "SKIP", "STRICT", "OPTIONS", "ANNOTATIONS",
    "REPORT",
)  # fmt: skip
Command = tuple[list[str], dict[str, str]]
FLEET = "integrations/kubernetes/fleet.yaml"


def documents(name: str) -> list[dict[str, Any]]:
    """Return the YAML documents of a file."""
    return list(yaml.safe_load_all((ROOT / name).read_text()))


def pods(name: str) -> dict[str, dict[str, Any]]:
    """Return the pods of the jobs and deployments of a manifest, by name."""
    found = {document["metadata"]["name"]: document["spec"] for document in documents(name) if "spec" in document}
    specs = {name: spec.get("jobTemplate", {"spec": spec})["spec"] for name, spec in found.items()}
    return {name: spec["template"]["spec"] for name, spec in specs.items() if "template" in spec}


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


@pytest.mark.parametrize("planted", ["report.json", "summary.md"])
def test_a_killed_run_publishes_no_file_that_was_there_before(tmp_path: Path, planted: str) -> None:
    """A file of the repository is no verdict, also if the run ends before it can refuse the folder."""
    folder, programs = tmp_path / "conformance-report", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (folder / planted).write_text('{"verdict": "conformant\\nother=injected"}')
    (programs / "conformance").write_text("#!/bin/sh\nkill -9 $$\n")
    (programs / "conformance").chmod(0o755)
    outputs = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"

    done = run_script(tmp_path, PATH=path, CONFORMANCE_BASE_URL="http://service.test", **outputs)

    assert done.returncode != 0
    assert not (tmp_path / "output").exists()
    assert "conformant" not in (tmp_path / "summary").read_text()
    assert (folder / planted).exists()


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
    assert (folder / "reproduce/archived-edit-changes-nothing.sh").exists()

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

    assert set(step["env"]) == {*INPUTS, "CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY"}
    for name in action["inputs"].keys() - {"package"}:
        assert f"inputs.{name} " in str(step["env"])


STUB = """#!/bin/sh
# python -m venv DIR; all other commands are written down
case "${{2-}}" in
venv)
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    cp "$0" "$3/bin/pip"
    ln -s {conformance} "$3/bin/conformance"
    ;;
*) for word; do echo "$word"; done >>{log} ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An empty checkout of another project, beside a stand-in for python, whose environments have the suite."""
    bin_, conformance = tmp_path / "bin", Path(sys.executable).with_name("conformance")
    for folder in (bin_, tmp_path / "temporary", tmp_path / "checkout"):
        folder.mkdir()
    (bin_ / "python").write_text(STUB.format(conformance=conformance, log=tmp_path / "installed"))
    (bin_ / "python").chmod(0o755)
    return tmp_path / "checkout"


def execute(checkout: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Execute the script of a step in the checkout."""
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        cwd=checkout,
        env=CLEAN | {"PATH": f"{checkout.parent / 'bin'}{os.pathsep}{os.environ['PATH']}", "CI": "true"} | variables,
        timeout=300,
    )


def installed(checkout: Path) -> str:
    """Return the last package that pip was given."""
    return (checkout.parent / "installed").read_text().splitlines()[-1]


def filled(text: str, values: dict[str, str]) -> str:
    """Return a text with the values of its expressions, each of which must have one."""
    return re.sub(r"\$(?:\{\{|\[\[) *(.*?) *(?:\}\}|\]\])", lambda match: values[match[1]], text)


def act(checkout: Path, given: dict[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Execute the steps of the action with these inputs, as GitHub does; return the last one or the one that fails."""
    action = documents("action.yml")[0]
    inputs = {name: each["default"] for name, each in action["inputs"].items()} | given
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values["steps.python.outputs.python-path"] = str(checkout.parent / "bin" / "python")
    runner = {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(checkout.parent / "temporary")} | variables
    for step in (step for step in action["runs"]["steps"] if "run" in step):
        environment = {name: filled(value, values) for name, value in step["env"].items()}
        done = execute(checkout, step["run"], **runner, **environment)
        if done.returncode:
            break
    return done


def test_the_workflow_tests_another_project(checkout: Path) -> None:
    """In an empty checkout, the workflow's inputs lead to annotations, a summary, a verdict, and the report."""
    (workflow,) = documents("integrations/github/conformance.yml")
    steps = {step.get("id", step.get("uses", "last")): step for step in workflow["jobs"]["conformance"]["steps"]}
    files = {name: str(checkout.parent / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    with serve_sandbox("--fault", "archived-edit-applied") as sandbox:
        values = {
            "github.event.deployment_status.environment_url || vars.CONFORMANCE_BASE_URL": sandbox[
                "CONFORMANCE_BASE_URL"
            ],
            "secrets.CONFORMANCE_API_KEY": sandbox["CONFORMANCE_API_KEY"],
        }
        given = {name: filled(value, values) for name, value in steps["conformance"]["with"].items()}
        done = act(checkout, given | {"options": "--only archived-edit-*"}, **files)

    assert done.returncode == 1, done.stdout + done.stderr
    assert installed(checkout) == str(ROOT)
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotations[0].startswith("::error title=archived-edit-changes-nothing::")
    assert annotations[-1].startswith("::notice title=Conformance::The service fails 1 of ")
    assert (checkout.parent / "GITHUB_STEP_SUMMARY").read_text().startswith("# Conformance: not conformant")
    (output,) = (checkout.parent / "GITHUB_OUTPUT").read_text().splitlines()
    folder = checkout / steps["actions/upload-artifact@v4"]["with"]["path"]
    assert load_report(folder / "report.json")["verdict"] == output.removeprefix("verdict=")
    assert sandbox["CONFORMANCE_API_KEY"] not in done.stdout + done.stderr


def test_the_workflow_runs_after_successful_deployments() -> None:
    """It uses the action alone, with inputs and outputs that the action has."""
    (workflow,) = documents("integrations/github/conformance.yml")
    job = workflow["jobs"]["conformance"]
    used = next(step for step in job["steps"] if step.get("id") == "conformance")
    action = documents("action.yml")[0]

    assert "github.event.deployment_status.state == 'success'" in job["if"]
    assert re.fullmatch(rf"OWNER/engagement-conformance@v{re.escape(__version__)}", used["uses"])
    assert set(used["with"]) <= set(action["inputs"])
    assert job["steps"][-1]["env"] == {"VERDICT": "${{ steps.conformance.outputs.verdict }}"}
    assert set(action["outputs"]) == {"verdict"}


@pytest.mark.parametrize(
    ("given", "status", "annotations"),
    [
        ({"mode": "heroic 100%"}, 2, ["::error title=Conformance::Exit 2: MODE is heroic 100%25: set it to "]),
        ({"annotations": "perhaps"}, 2, []),
        ({"options": "--seed x"}, 2, ["::error title=Conformance::Exit 2: Invalid value for '--seed': "]),
        ({}, 3, ["::error title=Conformance::Exit 3: The target could not be tested: "]),
        ({"annotations": "no"}, 3, []),
    ],
)
def test_a_step_that_tests_nothing_has_one_annotation(
    checkout: Path, given: dict[str, str], status: int, annotations: list[str]
) -> None:
    """It gives the reason."""
    done = act(checkout, {"base-url": "http://127.0.0.1:9", "api-key": "a-key-that-nobody-may-see"} | given)

    found = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert done.returncode == status, done.stdout + done.stderr
    assert [line[: len(start)] for line, start in zip(found, annotations, strict=True)] == annotations


def gitlab(**given: str) -> dict[str, Any]:
    """Return the job that GitLab makes of the component and these inputs."""
    header, _ = documents("templates/conformance.yml")
    inputs = {name: each["default"] for name, each in header["spec"]["inputs"].items()} | given
    text = (ROOT / "templates/conformance.yml").read_text().partition("\n---\n")[2]
    return dict(yaml.safe_load(filled(text, {f"inputs.{name}": value for name, value in inputs.items()})))


def test_the_component_tests_another_project(checkout: Path, sandbox: dict[str, str]) -> None:
    """Its script runs in an empty checkout, and GitLab keeps the report and shows its JUnit file and metrics."""
    ((name, job),) = gitlab(options="--effort quick --only get-*", job="contract", stage="verify").items()
    target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}

    done = execute(checkout, "\n".join(job["script"]), **job["variables"], **target)

    assert (name, job["stage"], installed(checkout)) == ("contract", "verify", RELEASE)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = job["artifacts"]["paths"]
    assert (checkout / folder / "report.json").is_file()
    for path in job["artifacts"]["reports"].values():
        assert path.startswith(folder)
        assert (checkout / path).is_file()


def test_the_component_needs_a_target(checkout: Path) -> None:
    """Without variables it fails instead of testing the suite's own service."""
    job = gitlab()["conformance"]

    assert execute(checkout, "\n".join(job["script"]), **job["variables"]).returncode == 2


def test_the_azure_steps_test_another_project(checkout: Path, sandbox: dict[str, str]) -> None:
    """The script uploads the summary, and the later steps publish files that the run wrote."""
    (template,) = documents("integrations/azure/conformance.yml")
    parameters = {f"parameters.{each['name']}": each["default"] for each in template["parameters"]}
    staging = checkout.parent / "staging"
    agent = {"BUILD_ARTIFACTSTAGINGDIRECTORY": str(staging), "AGENT_TEMPDIRECTORY": str(checkout.parent / "temporary")}
    _, step, results, artifact = template["steps"]
    values = {"python.pythonLocation": str(checkout.parent)} | sandbox
    environment = {
        name: re.sub(r"\$\((.*?)\)", lambda match: values[match[1]], filled(value, parameters))
        for name, value in step["env"].items()
    }

    chosen = {"parameters.options": "--effort quick --only get-*"}
    done = execute(checkout, filled(step["bash"], parameters | chosen), **agent, **environment)

    assert done.returncode == 0, done.stdout + done.stderr
    assert installed(checkout) == RELEASE
    assert done.stdout.splitlines()[-1] == f"##vso[task.uploadsummary]{staging}/conformance-report/summary.md"
    for published in (results["inputs"]["testResultsFiles"], artifact["publish"]):
        assert Path(published.replace("$(Build.ArtifactStagingDirectory)", str(staging))).exists()
        assert "succeeded" in artifact["condition"]


def test_the_jenkins_pipeline_tests_another_project(checkout: Path, sandbox: dict[str, str]) -> None:
    """Its shell step runs in an empty workspace, and the files that it publishes are there."""
    text = (ROOT / "integrations/jenkins/Jenkinsfile").read_text()
    script = re.search(r"sh '''\n(.*?)'''", text, re.DOTALL)
    folder = re.search(r'REPORT = "(.*?)"', text)
    assert script is not None
    assert folder is not None
    report = folder[1].replace("${env.BUILD_NUMBER}", "7")
    variables = {"WORKSPACE_TMP": str(checkout.parent / "temporary"), "PACKAGE": RELEASE, "REPORT": report}
    target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}

    done = execute(checkout, script[1].replace("--effort quick", "--effort quick --only get-*"), **variables, **target)

    assert done.returncode == 0, done.stdout + done.stderr
    assert installed(checkout) == RELEASE
    published = re.findall(r'(?:testResults|artifacts): "(.*?)"', text)
    assert len(published) == 2
    assert all((checkout / path.replace("${env.REPORT}", report)).exists() for path in published)


def test_a_release_is_installed_in_place_of_the_source(checkout: Path) -> None:
    """The action gives pip the release that the input names."""
    target = {"base-url": "http://127.0.0.1:9", "api-key": "a-key-that-nobody-may-see"}

    assert act(checkout, target | {"package": RELEASE}).returncode == 3

    assert installed(checkout) == RELEASE


@pytest.mark.parametrize("package", ["", RELEASE])
def test_the_container_has_the_package_and_the_sandbox(checkout: Path, package: str) -> None:
    """The first stage makes wheels of a package, by default of the source with its extra; the second installs all."""
    first, second = (ROOT / "Containerfile").read_text().split("\n\nFROM ")
    found = re.search(r"\nARG PACKAGE=(.*)\nRUN pip (.*)$", first)
    assert found is not None
    stub = checkout.parent / "bin" / "python"

    done = execute(checkout, f"{stub} {found[2]}", PACKAGE=package or found[1])

    assert done.returncode == 0, done.stderr
    assert installed(checkout) == (package or ".[sandbox]")
    assert "sandbox" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert "--no-index /wheels/*.whl" in second


def test_examples_name_this_release() -> None:
    """Each release that a file or a page names is this version."""
    names = ("action.yml", "Containerfile", "templates/conformance.yml", "docs/gates.md")
    for path in (
        *map(ROOT.joinpath, names),
        ROOT / "integrations/azure/conformance.yml",
        ROOT / "integrations/jenkins/Jenkinsfile",
    ):
        found = re.findall(r"engagement-conformance(?:\[\w+\])?(?:==|@v|/conformance@v)([\w.]+)", path.read_text())
        assert set(found) == {__version__}, path


@pytest.mark.parametrize("name", ["integrations/kubernetes/job.yaml", FLEET])
def test_pods_refer_to_existing_objects(name: str) -> None:
    """Secrets, config maps and claims are in the same file, mounts are volumes, and the process has few rights."""
    known = {(document["kind"], document["metadata"]["name"]) for document in documents(name)}
    kinds = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
    for pod in pods(name).values():
        (container,) = pod["containers"]
        for kind, reference in (next(iter(source.items())) for source in container.get("envFrom", [])):
            assert (kinds[kind], reference["name"]) in known
        for volume in pod["volumes"]:
            claim, files = volume.get("persistentVolumeClaim"), volume.get("configMap")
            assert claim is None or ("PersistentVolumeClaim", claim["claimName"]) in known
            assert files is None or ("ConfigMap", files["name"]) in known
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert pod["securityContext"]["runAsNonRoot"]


def test_the_service_of_the_fleet_has_a_server() -> None:
    """Its selector and its port are those of the deployment."""
    parts = {document["kind"]: document for document in documents(FLEET)}
    template = parts["Deployment"]["spec"]["template"]

    assert parts["Deployment"]["spec"]["selector"]["matchLabels"] == parts["Service"]["spec"]["selector"]
    assert template["metadata"]["labels"] == parts["Service"]["spec"]["selector"]
    (container,) = template["spec"]["containers"]
    assert [port["containerPort"] for port in container["ports"]] == [parts["Service"]["spec"]["ports"][0]["port"]]
    assert str(container["ports"][0]["containerPort"]) in container["command"]


def test_every_index_of_the_fleet_has_a_target(tmp_path: Path) -> None:
    """There is a valid target file for each completion, with a key from the secret."""
    secret, config, _, fleet, *_ = documents(FLEET)

    indexes = range(fleet["spec"]["jobTemplate"]["spec"]["completions"])
    assert sorted(config["data"]) == [f"target-{index}.yaml" for index in indexes]
    for name, text in config["data"].items():
        (tmp_path / name).write_text(text)
        load_profile(tmp_path / name, secret["stringData"])


def run_container(words: list[str], folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a container's command in a working directory, with a home that does not exist."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: CLEAN[name] for name in ("PYTHONPATH",) if name in CLEAN}
    return subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=inherited | {"PATH": path, "HOME": "/nowhere", "CI": "true"} | variables,
        timeout=300,
    )


def test_the_job_runs(sandbox: dict[str, str], tmp_path: Path) -> None:
    """With a filled Secret and ConfigMap, the container's command writes a report to the volume, twice in a row."""
    (pod,) = pods("integrations/kubernetes/job.yaml").values()
    names = [
        name
        for document in documents("integrations/kubernetes/job.yaml")
        for name in document.get("stringData", document.get("data", {}))
    ]
    args = [word.replace("/reports", str(tmp_path / "reports")) for word in pod["containers"][0]["args"]]
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir(mode=0o555)

    for _ in range(2):
        done = run_container(
            ["conformance", *args, "--only", "get-*"], nowhere, {name: sandbox[name] for name in names}
        )

        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "reports" / "latest" / "report.json").exists()


def commands_of_kubernetes(root: Path) -> tuple[list[Command], list[str]]:
    """Return the commands of the indexes with their variables, and that of the site; mounts are below the folder."""
    fleet, site = (pods(FLEET)[name]["containers"][0] for name in ("conformance-fleet", "conformance-site"))
    assert fleet["workingDir"] == "/"
    for name, text in documents(FLEET)[1]["data"].items():
        (root / "targets" / name).write_text(text)
    (line,), (collecting,) = fleet["args"], site["args"]
    assert line.startswith("exec ")
    runs = [
        (
            [*fleet["command"], f"{line} --only 'get-*'".replace("/targets", str(root / "targets"))],
            {"JOB_COMPLETION_INDEX": index},
        )
        for index in ("0", "1")
    ]
    return runs, [*site["command"], collecting.replace("/reports", str(root / "reports"))]


def commands_of_compose(root: Path) -> tuple[list[Command], list[str]]:
    """Return the same of the compose file, whose target files are beside it."""
    (compose,) = documents("integrations/compose/compose.yaml")
    site = compose["services"].pop("site")
    fleet = [service for service in compose["services"].values() if "env_file" in service]
    for file in (ROOT / "integrations/compose/targets").iterdir():
        (root / "targets" / file.name).write_bytes(file.read_bytes())
    runs: list[Command] = []
    for service in fleet:
        assert service["working_dir"] == "/"
        assert service["volumes"] == ["./targets:/targets:ro", "reports:/reports"]
        words = [word.replace("/targets", str(root / "targets")) for word in service["command"]]
        runs.append((["conformance", *words, "--only", "get-*"], {}))
    return runs, [*site["entrypoint"], site["command"][0].replace("/reports", str(root / "reports"))]


@pytest.mark.parametrize("commands", [commands_of_kubernetes, commands_of_compose])
def test_a_fleet_makes_one_site(
    sandbox: dict[str, str],
    tmp_path: Path,
    commands: Callable[[Path], tuple[list[Command], list[str]]],
) -> None:
    """Each target gets a run in a folder of its own, and the site has both, with their metrics."""
    (tmp_path / "targets").mkdir()
    runs, site = commands(tmp_path)
    keys = dict.fromkeys(("KEY_EU", "KEY_US"), sandbox["CONFORMANCE_API_KEY"])
    for file in (tmp_path / "targets").iterdir():
        file.write_text(re.sub("base_url: .*", f"base_url: {sandbox['CONFORMANCE_BASE_URL']}", file.read_text()))

    for words, variables in runs:
        done = run_container(words, tmp_path, keys | variables)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run_container(site, tmp_path, {})

    assert done.stdout == f"2 runs: {tmp_path / 'reports' / 'site' / 'index.html'}\n", done.stderr
    metrics = (tmp_path / "reports" / "site" / "metrics.prom").read_text()
    assert set(re.findall(r'_verdict\{target="(\w+)"', metrics)) == {"eu", "us"}


def test_alerts_are_on_metrics_of_a_run(whole_run: Path) -> None:
    """Each metric, and each label with its value, is in metrics.prom; messages name labels that the metric has."""
    text = (whole_run / "metrics.prom").read_text()
    (rules,) = documents("integrations/prometheus/rules.yaml")
    for rule in rules["groups"][0]["rules"]:
        (metric,) = re.findall(r"conformance_\w+", rule["expr"])
        assert metric in FAMILIES
        samples = re.findall(rf"^{metric}\{{(.*)\}} ", text, re.MULTILINE)
        for label, value in re.findall(r'(\w+)="(.*?)"', rule["expr"]):
            assert any(f'{label}="' in sample for sample in samples)
            assert value in {*VERDICTS, *OUTCOMES, "0.95"}
        for label in re.findall(r"\$labels\.(\w+)", str(rule["annotations"])):
            assert any(f'{label}="' in sample for sample in samples)
