"""Prism, which returns the document's examples: valid under its schemas, but not conformant."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "openapi.yaml"
PRISM = "@stoplight/prism-cli@5"
PATIENCE = 120
"""Timeout for the start of npx and Prism, in seconds."""
BROKEN = {
    "create-engagement-answers-what-was-sent",
    "create-engagement-lasts",
    "engagement-ids-distinct",
    "get-unknown-engagement",
}
"""Requirements that a stateless service breaks."""


@pytest.fixture
def prism(tmp_path: Path) -> Iterator[str]:
    """The base URL of Prism, which responds with the document's examples and schemas."""
    if shutil.which("npx") is None:
        pytest.skip("npx is not here, so Prism cannot be started")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = ["npx", "--yes", PRISM, "mock", str(DOCUMENT), "--port", str(port)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        # Without a response of npm's registry, npx retries for many minutes.
        giving_up = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        giving_up.start()
        said = []
        for line in process.stdout:
            said.append(line)
            if "listening" in line:
                break
        else:
            giving_up.cancel()
            pytest.skip(f"Prism did not start, perhaps because npm's registry is not reachable: {''.join(said)[-200:]}")
        giving_up.cancel()
        yield f"http://127.0.0.1:{port}"
        os.killpg(process.pid, signal.SIGKILL)


def test_prism_is_not_conformant(prism: str, tmp_path: Path) -> None:
    """The suite judges behaviour beyond the schemas of the document."""
    only = [word for name in sorted(BROKEN) for word in ("--only", name)]
    command = [sys.executable, "-m", "conformance", "run", "--effort", "quick", "--quiet", *only]

    done = subprocess.run(
        [*command, "--base-url", prism, "--report", str(tmp_path / "report")],
        check=False, capture_output=True, text=True, env=os.environ | {"CONFORMANCE_API_KEY": "any-key-does"},
        timeout=300,
    )  # fmt: skip

    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["verdict"] == "non-conformant"
    assert {requirement["id"] for requirement in report["requirements"] if requirement["outcome"] == "failed"} == BROKEN
