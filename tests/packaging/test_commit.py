"""Commit of the suite in a checkout, in an archive, and inside other repositories."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import conformance.cli
from conformance import __version__

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    """Run git without the settings of its user."""
    settings = ["-c", "user.name=A name", "-c", "user.email=a@mail.test", "-c", "init.defaultBranch=main"]
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *settings, *words], check=True, capture_output=True, text=True, cwd=folder, env=environment, timeout=60
    )
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """Commit all files of a folder to a repository of its own, and return the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All files", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


def sources(folder: Path) -> Path:
    """Return a new folder with the files of the project that name the commit."""
    (folder / "conformance").mkdir(parents=True)
    for name in ("pyproject.toml", ".gitattributes", "conformance/commit.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "conformance" / "commit.txt").write_text("$Format:%H$\n")
    return folder


def found(folder: Path) -> str | None:
    """Return the commit that the package in a folder names."""
    commit: str | None = runpy.run_path(str(folder / "conformance" / "commit.py"))["commit"]()
    return commit


def test_a_checkout_names_its_commit_and_marks_changes(tmp_path: Path) -> None:
    """Changes of tracked files are marked; new files and renewed reports are not."""
    (sources(tmp_path) / "reports").mkdir()
    (tmp_path / "reports" / "report.json").touch()
    commit = committed(tmp_path)
    (tmp_path / "new.txt").touch()
    (tmp_path / "reports" / "report.json").unlink()
    assert found(tmp_path) == commit

    (tmp_path / "pyproject.toml").write_text((tmp_path / "pyproject.toml").read_text() + "# changed\n")
    assert found(tmp_path) == f"{commit}-dirty"


def test_a_clone_names_its_commit(tmp_path: Path) -> None:
    """Neither the branch that it follows nor a tag matters, and an empty repository has no commit."""
    commit = committed(sources(tmp_path / "first"))
    git(tmp_path / "first", "tag", "--annotate", "v1", "--message", "A release")
    git(tmp_path, "clone", "--quiet", "first", "second")
    assert found(tmp_path / "second") == commit

    shutil.rmtree(tmp_path / "second" / ".git")
    git(tmp_path / "second", "init", "--quiet")
    assert found(tmp_path / "second") is None


def test_an_archive_of_git_names_its_commit(tmp_path: Path) -> None:
    """So does the archive that GitHub gives to its actions."""
    commit = committed(sources(tmp_path / "checkout"))
    git(tmp_path / "checkout", "archive", "--output=../archive.tar", "HEAD")
    shutil.unpack_archive(tmp_path / "archive.tar", tmp_path / "unpacked", filter="data")

    assert found(tmp_path / "unpacked") == commit


@pytest.mark.parametrize("recorded", [COMMIT, f"{COMMIT}-dirty"])
def test_a_built_package_names_the_recorded_commit(tmp_path: Path, recorded: str) -> None:
    """The repository around it does not matter."""
    (sources(tmp_path) / "conformance" / "commit.txt").write_text(f"{recorded}\n")
    committed(tmp_path)

    assert found(tmp_path) == recorded


@pytest.mark.parametrize("project", [None, '[project]\nname = "another"\n'])
def test_a_package_in_the_root_of_another_repository_names_no_commit(tmp_path: Path, project: str | None) -> None:
    """``pip install --target`` puts the package there."""
    pyproject = sources(tmp_path) / "pyproject.toml"
    pyproject.unlink()
    if project:
        pyproject.write_text(project)
    committed(tmp_path)

    assert found(tmp_path) is None


@pytest.mark.parametrize("broken", [False, True])
def test_sources_in_a_folder_of_another_repository_name_no_commit(tmp_path: Path, *, broken: bool) -> None:
    """Git does not search the parents of the project's folder, also if its own repository is empty."""
    copied = sources(tmp_path / "vendored")
    committed(tmp_path)
    if broken:
        (copied / ".git").mkdir()

    assert found(copied) is None


def test_variables_of_a_git_hook_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook of another repository that calls the suite gets the suite's commit."""
    commit = committed(sources(tmp_path / "suite"))
    (tmp_path / "other").mkdir()
    committed(tmp_path / "other")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(tmp_path / "other" / ".git"))

    assert found(tmp_path / "suite") == commit


def test_a_checkout_without_git_names_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing program is no error."""
    committed(sources(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert found(tmp_path) is None


@pytest.mark.parametrize(("commit", "shown"), [(COMMIT, f", commit {COMMIT}"), (None, "")])
def test_the_version_is_shown_with_the_commit(monkeypatch: pytest.MonkeyPatch, commit: str | None, shown: str) -> None:
    """Without a known commit, the version stands alone."""
    monkeypatch.setattr(conformance.cli, "commit", lambda: commit)

    done = CliRunner().invoke(conformance.cli.main, ["--version"])

    assert (done.exit_code, done.output) == (0, f"conformance, version {__version__}{shown}\n")
