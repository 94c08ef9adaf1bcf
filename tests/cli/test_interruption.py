"""Signal handlers of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import conformance

_PROGRAM = """
import os, sys
from conformance.cli.interruption import Interruption

with Interruption() as interruption, interruption.raising():
    exec("os.kill(os.getpid(), {number:d})")
    sys.exit("the signal did not end the block")
sys.exit(7)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_inside_generated_code_keeps_the_exit_status(number: signal.Signals, tmp_path: Path) -> None:
    """A program run as ``python -m`` ends with its own status if the signal interrupted an ``exec`` of text."""
    (tmp_path / "interrupted.py").write_text(_PROGRAM.format(number=number), "utf-8")
    package = Path(conformance.__file__).parents[1]

    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(package)}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (7, b"")
