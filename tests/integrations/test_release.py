"""Release: the workflow's scripts run, its parts fit the project, and the bill of materials is whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import __version__

ROOT = Path(__file__).parents[2]
JOBS: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("CONFORMANCE_", "GIT"))} | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "PYTHONPATH": str(ROOT),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "CI": "true",
}
needs_git = pytest.mark.skipif(not all(map(shutil.which, ("git", "ssh-keygen"))), reason="git or ssh-keygen is missing")


def step(job: str, name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script in a folder as GitHub does, with a quick run in place of a standard one."""
    (script,) = (step["run"] for step in JOBS[job]["steps"] if step.get("name") == name)
    script = script.replace("run --embedded", "run --embedded --effort quick")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = CLEAN | {"RUNNER_TEMP": str(folder.parent)} | variables
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def git(folder: Path, *words: str) -> None:
    """Run a git command."""
    subprocess.run(["git", *words], cwd=folder, env=CLEAN, check=True, capture_output=True)


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    """A clone of a repository with signed tags of this version and of another, and an unsigned one."""
    origin = tmp_path / "origin"
    origin.mkdir()
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "maintainer", "-f", str(tmp_path / "key")]
    subprocess.run(key, check=True)
    git(origin, "init", "-q")
    for setting in (
        "user.name=M", "user.email=m@example.com", "gpg.format=ssh", f"user.signingKey={tmp_path / 'key.pub'}",
    ):  # fmt: skip
        git(origin, "config", *setting.split("=", 1))
    git(origin, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(origin, "tag", "-s", f"v{__version__}", "-m", "Notes")
    git(origin, "tag", "-s", "v0.0.1", "-m", "Notes")
    git(origin, "tag", "-a", "unsigned", "-m", "Notes")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    return tmp_path / "clone"


@needs_git
@pytest.mark.parametrize(
    ("tag", "signer", "status", "words"),
    [
        (f"v{__version__}", "m@example.com", 0, 'Good "git" signature'),
        ("unsigned", "m@example.com", 1, "no signature found"),
        ("v0.0.1", "m@example.com", 1, f"The tag is v0.0.1, and the version is {__version__}."),
        (f"v{__version__}", None, 1, "signature"),
    ],
    ids=["signed", "unsigned", "of another version", "of a stranger"],
)
def test_only_a_signed_tag_of_this_version_is_released(
    tagged: Path, tag: str, signer: str | None, status: int, words: str
) -> None:
    """The first job fails for any other tag."""
    signers = f"{signer} {(tagged.parent / 'key.pub').read_text()}" if signer else ""
    done = step("tag", "Verify the tag", tagged, TAG=tag, SIGNERS=signers)

    assert (done.returncode, words in done.stdout + done.stderr) == (status, True), done.stdout + done.stderr


def test_the_wheel_is_certified_by_a_run_with_its_digest(tmp_path: Path) -> None:
    """The certificate names the wheel's digest, and the private key is gone."""
    folder = tmp_path / "checkout"
    (folder / "dist").mkdir(parents=True)
    (folder / "dist" / "suite.whl").write_bytes(b"a wheel")
    digest = hashlib.sha256(b"a wheel").hexdigest()
    conformance = [sys.executable, "-m", "conformance"]
    subprocess.run([*conformance, "keygen", str(tmp_path / "made.pem")], check=True, env=CLEAN)
    keys = {"KEY": (tmp_path / "made.pem").read_text(), "PUBLIC_KEY": (tmp_path / "made.pem.pub").read_text()}
    done = step("build", "Certify", folder, **keys)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"sha256:{digest}" in (folder / "build/certified/certificate.html").read_text("utf-8")
    assert (folder / "build/certified.tar.gz").is_file()
    assert not (tmp_path / "key.pem").exists()


def test_each_supported_python_is_tested() -> None:
    """The workflow, tox and the package name the same versions."""
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    (section,) = re.findall(r"\[testenv:py{(.*)}\]", (ROOT / "tox.ini").read_text("utf-8"))

    assert classified == JOBS["test"]["strategy"]["matrix"]["python"]
    assert [name.replace(".", "") for name in classified] == section.split(",")


def test_nothing_is_published_before_everything_before_it_succeeded() -> None:
    """Each job needs the one before it, and only publishing has the environment that the index trusts."""
    needs = {name: job.get("needs") for name, job in JOBS.items()}

    assert needs == {
        "tag": None, "test": "tag", "build": "test", "publish": "build", "image": "build", "page": ["publish", "image"],
    }  # fmt: skip
    assert [name for name, job in JOBS.items() if "environment" in job] == ["publish"]
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}


def test_the_bill_of_materials_lists_each_dependency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the version of the suite, and all packages that it requires; no path of the machine."""
    pytest.importorskip("cyclonedx_py", reason="cyclonedx-bom is not installed: tox -e release uses it")
    output = tmp_path / "sbom.json"
    module = runpy.run_path(str(ROOT / ".ci" / "sbom.py"))
    monkeypatch.setenv("PATH", CLEAN["PATH"])
    module["write"](Path(sys.prefix), "1.2.3", output)
    bill = json.loads(output.read_text("utf-8"))
    required = {re.split(r"[<>=]", line)[0] for line in PROJECT["project"]["dependencies"]}

    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", "1.2.3")
    assert required <= {component["name"].lower() for component in bill["components"]}
    assert str(ROOT) not in output.read_text("utf-8")
