"""Shared fixtures of the certificate tests: signed runs of the embedded service."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.keys import make_keys, public_path, read_private_key, read_public_key
from conformance.certificate.signing import sign
from tests.conftest import RecordedRun, serve_sandbox

BUILD = "sha256:" + "ab" * 32


def conformance(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command of the suite."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("CONFORMANCE_")},
    )


def key_pair(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """Return the file of a new private key with its public key beside it."""
    path = tmp_path_factory.mktemp("keys") / name
    make_keys(path)
    return path


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key with its public key beside it."""
    return key_pair(tmp_path_factory, "signer")


@pytest.fixture(scope="session")
def private_key(key_file: Path) -> Ed25519PrivateKey:
    """The key that signs."""
    return read_private_key(key_file)


@pytest.fixture(scope="session")
def public_key(key_file: Path) -> Ed25519PublicKey:
    """The trusted key."""
    return read_public_key(public_path(key_file))


@pytest.fixture(scope="session")
def small_run(recorded_run: RecordedRun) -> Path:
    """The folder of an inconclusive run of a few checks."""
    return recorded_run("--only", "archive-*")


@pytest.fixture(scope="session")
def signed_run(whole_run: Path, private_key: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The conformant run with its certificate."""
    folder = Path(shutil.copytree(whole_run, tmp_path_factory.mktemp("signed") / "run"))
    sign(folder, private_key, build=BUILD)
    return folder


@pytest.fixture(scope="session")
def small_signed(small_run: Path, private_key: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run, signed although it is inconclusive."""
    folder = Path(shutil.copytree(small_run, tmp_path_factory.mktemp("small-signed") / "run"))
    sign(folder, private_key, anyway=True)
    return folder


@pytest.fixture(scope="session")
def broken_signed(private_key: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of a service that edits archived engagements, signed although it is not conformant."""
    folder = tmp_path_factory.mktemp("broken-signed") / "run"
    with serve_sandbox("--fault", "archived-edit-applied") as sandbox:
        done = conformance(
            "run", "--base-url", sandbox["CONFORMANCE_BASE_URL"], "--api-key", sandbox["CONFORMANCE_API_KEY"],
            "--effort", "quick", "--quiet", "--only", "archived-edit-changes-nothing", "--report", folder,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    sign(folder, private_key, anyway=True)
    return folder


@pytest.fixture
def small(small_signed: Path, tmp_path: Path) -> Path:
    """A copy of the small signed run, to be changed."""
    return Path(shutil.copytree(small_signed, tmp_path / "run"))
