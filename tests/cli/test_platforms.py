"""Systems that lack parts of POSIX."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEEDED = (
    "Exit 2: conformance needs Linux, or macOS with Python 3.13 or later; on Windows, use WSL or the container image.\n"
)


@pytest.mark.parametrize("lacking", ["sys.modules['fcntl'] = None", "del os.waitid"], ids=["Windows", "older macOS"])
def test_a_system_without_posix_is_refused_in_a_sentence(lacking: str) -> None:
    """The command says where it runs, and nothing else."""
    program = f"import os, sys; {lacking}; sys.argv = ['conformance', 'run', '--embedded']; "
    done = subprocess.run(
        [sys.executable, "-c", f"{program}from conformance.__main__ import main; main()"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (2, "", NEEDED)
