"""Default folder of the outputs."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import default_folder

if TYPE_CHECKING:
    from datetime import tzinfo

UNREACHABLE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("name", "arguments", "folder"),
    [
        ("name: My target, the second\n", ("--target", "t.yaml"), r"My-target-the-second"),
        ("", ("--target", "t.yaml"), r"127\.0\.0\.1-1"),
        ("", ("--base-url", UNREACHABLE), r"127\.0\.0\.1-1"),
    ],
)
def test_it_has_the_name_of_the_target_and_the_time(
    tmp_path: Path, name: str, arguments: tuple[str, ...], folder: str
) -> None:
    """Folders of a target's runs sort by time."""
    target = tmp_path / "t.yaml"
    target.write_text(f"{name}base_url: {UNREACHABLE}\napi_key: ${{CONFORMANCE_API_KEY}}\n")
    target.chmod(0o600)
    environment = {"CONFORMANCE_API_KEY": "key-of-nobody-at-all"}

    ended = subprocess.run(
        [sys.executable, "-m", "conformance", "run", *arguments, "--quiet"],
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


class OneSecond(datetime):
    """A clock with a fixed time."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> OneSecond:
        """Return the fixed time."""
        return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)


def test_runs_of_one_second_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run does not write into the folder of the first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(default_folder, "datetime", OneSecond)

    folders = [default_folder.default_folder("acme") for _ in range(3)]

    assert [folder.name for folder in folders] == [
        "acme-20260102T030405Z",
        "acme-20260102T030405Z-2",
        "acme-20260102T030405Z-3",
    ]
    assert all(folder.is_dir() for folder in folders)


def test_a_folder_that_cannot_be_made_is_named_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run reports later why it cannot write there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").write_text("a file")

    assert default_folder.default_folder("acme").name.startswith("acme-")
