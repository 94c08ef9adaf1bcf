"""Where the outputs go when nobody names a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

UNREACHABLE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("name", "words", "folder"),
    [
        ("name: My target, the second\n", ("--target", "t.yaml"), r"My-target-the-second"),
        ("", ("--target", "t.yaml"), r"127\.0\.0\.1-1"),
        ("", ("--base-url", UNREACHABLE), r"127\.0\.0\.1-1"),
    ],
)
def test_it_has_the_name_of_the_target_and_the_time(
    tmp_path: Path, name: str, words: tuple[str, ...], folder: str
) -> None:
    """Runs of one target stand beside each other, in the order of their times."""
    target = tmp_path / "t.yaml"
    target.write_text(f"{name}base_url: {UNREACHABLE}\napi_key: ${{CONFORMANCE_API_KEY}}\n")
    target.chmod(0o600)
    environment = {"CONFORMANCE_API_KEY": "key-of-nobody-at-all"}

    ended = subprocess.run(
        [sys.executable, "-m", "conformance", "run", *words, "--quiet"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert ended.returncode == 3, ended.stderr
    (made,) = (tmp_path / "reports").iterdir()
    assert re.fullmatch(rf"{folder}-[0-9]{{8}}T[0-9]{{6}}Z", made.name)
    assert (made / "report.json").exists()
