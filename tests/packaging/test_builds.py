"""Wheel and sdist: the same bytes from each build, complete, and with the commit."""

from __future__ import annotations

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance import __version__
from conformance.commit import commit
from conformance.suite import suite_sha256

ROOT = Path(__file__).parents[2]
SDIST = f"engagement_conformance-{__version__}.tar.gz"
WHEEL = f"engagement_conformance-{__version__}-py3-none-any.whl"

pytestmark = pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed")


def build(folder: Path, output: Path, *, umask: int = 0o022, epoch: str = "") -> dict[str, str]:
    """Build the sdist and the wheel of a folder, and return their digests by name."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(output)],
        check=True, capture_output=True, cwd=folder, umask=umask, timeout=300,
        env={"PATH": os.environ["PATH"]} | ({"SOURCE_DATE_EPOCH": epoch} if epoch else {}),
    )  # fmt: skip
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in output.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build this checkout."""
    output = tmp_path_factory.mktemp("built")
    build(ROOT, output)
    return output


@pytest.mark.parametrize("epoch", ["", "1795651200"])
def test_each_build_has_the_same_bytes(tmp_path: Path, epoch: str) -> None:
    """Neither the folder, the umask, file times nor ignored files matter, nor a build from the sdist."""
    first = build(ROOT, tmp_path / "first", epoch=epoch)
    shutil.unpack_archive(tmp_path / "first" / SDIST, tmp_path / "another folder", filter="data")
    copied = tmp_path / "another folder" / SDIST.removesuffix(".tar.gz")
    for ignored in ("conformance/__pycache__/commit.pyc", "reports/run/report.json", "tests/secret.pem"):
        (copied / ignored).parent.mkdir(parents=True, exist_ok=True)
        (copied / ignored).touch()
    for path in copied.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
        os.utime(path, (1e9, 1e9))

    assert build(copied, tmp_path / "second", umask=0o077, epoch=epoch) == first
    assert set(first) == {SDIST, WHEEL}


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="there is no repository")
def test_the_sdist_has_every_tracked_file(built: Path) -> None:
    """Only sample reports are left out, and nothing is added that git ignores."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    with tarfile.open(built / SDIST) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {name for name in listed.stdout.splitlines() if not name.startswith("reports/")} <= names
    assert not [name for name in names if name.startswith((".git/", ".tox/", "reports/")) or "__pycache__" in name]


def test_the_wheel_is_the_same_suite(built: Path, tmp_path: Path) -> None:
    """A wheel has the digest of its checkout, so that both verify the same certificates, and names the same commit."""
    shutil.unpack_archive(built / WHEEL, tmp_path, "zip")

    assert runpy.run_path(str(tmp_path / "conformance" / "suite.py"))["suite_sha256"]() == suite_sha256()
    assert runpy.run_path(str(tmp_path / "conformance" / "commit.py"))["commit"]() == commit()
