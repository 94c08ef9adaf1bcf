"""The folder of a run: searched before it is written, whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from conformance.reports import placing
from conformance.reports.folder import JOURNAL, SecretFound, write_all
from conformance.reports.har_reading import read_har
from conformance.reports.model import InvalidReport, load_report
from conformance.reports.placing import place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Run = tuple[Report, list[Exchange]]

FILES = {
    "report.json",
    "report.html",
    "junit.xml",
    "exchanges.har",
    "summary.md",
    "earl.jsonld",
    "ctrf.json",
    "badge.svg",
}


def _nothing(_: bytes) -> list[str]:
    return []


def test_every_output_is_written(run: Run, tmp_path: Path) -> None:
    """All files are there, readable by others as the mask allows, and nothing else is."""
    written = write_all(*run, tmp_path / "new" / "folder", _nothing)

    assert {path.name for path in written} == {path.name for path in (tmp_path / "new" / "folder").iterdir()} == FILES
    assert load_report(tmp_path / "new" / "folder" / "report.json")["verdict"] == run[0]["verdict"]
    assert len(read_har(tmp_path / "new" / "folder" / "exchanges.har")) == len(run[1])
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 & ~placing._umask() for path in written)


def test_nothing_of_an_earlier_run_stays(run: Run, tmp_path: Path) -> None:
    """What that had and this one lacks goes, such as its certificate; what else lies there stays."""
    for name in ("provisioner.log", "provisioned.jsonl", "certificate.dsse.json", "certificate.html", "notes.txt"):
        (tmp_path / name).write_text("of an earlier run")

    write_all(*run, tmp_path, _nothing)
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"notes.txt"}
    write_all(*run, tmp_path, _nothing, log="of this run")
    assert (tmp_path / "provisioner.log").read_text() == "of this run"


def test_the_bytes_searched_are_the_bytes_written(failing: Run, tmp_path: Path) -> None:
    """Nothing reaches a file that the search did not see."""
    searched = bytearray()

    def scan(data: bytes) -> list[str]:
        searched.extend(data)
        return []

    written = write_all(*failing, tmp_path, scan)

    assert sum(path.stat().st_size for path in written) == len(searched)
    assert all(path.read_bytes() in searched for path in written)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_secret_in_any_output_stops_all_of_them(failing: Run, tmp_path: Path, name: str) -> None:
    """Whichever file would tell it, nothing is written and what stood there stays."""
    (tmp_path / "report.json").write_text("before")
    write_all(*failing, tmp_path / "clean", _nothing)
    content = (tmp_path / "clean" / name).read_bytes()
    part = content[len(content) // 2 :][:40]

    with pytest.raises(SecretFound) as caught:
        write_all(*failing, tmp_path, lambda data: ["api_key"] if part in data else [])

    assert caught.value.names == ("api_key",)
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "clean"}
    assert (tmp_path / "report.json").read_text() == "before"


def test_a_secret_in_the_journal_is_found_too(passing: Run, tmp_path: Path) -> None:
    """The journal is written during the run, by others; it belongs to the folder."""
    (tmp_path / JOURNAL).write_bytes(b'{"key": "sk-secret"}\n')

    with pytest.raises(SecretFound) as caught:
        write_all(*passing, tmp_path, lambda data: ["api_key"] if b"sk-secret" in data else [])

    assert caught.value.file == JOURNAL
    assert [path.name for path in tmp_path.iterdir()] == [JOURNAL]


def test_an_invalid_report_writes_nothing(passing: Run, tmp_path: Path) -> None:
    """The schema is kept by everything that is written."""
    del passing[0]["run"]["seed"]  # type: ignore[misc]

    with pytest.raises(InvalidReport):
        write_all(*passing, tmp_path, _nothing)

    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_what_stood_there(tmp_path: Path) -> None:
    """When one file cannot be written, no file is replaced and no remains are left."""
    (tmp_path / "a").write_text("before")

    def full() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        place({tmp_path / "a": lambda: [b"after"], tmp_path / "b": full})

    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_files_reach_the_disk_before_they_are_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut leaves the old file or the new one, never half of one."""
    events: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: events.append("fsync"))
    replaced = os.replace

    def replace(source: Path, destination: Path) -> None:
        events.append("replace")
        replaced(source, destination)

    monkeypatch.setattr("os.replace", replace)

    place({tmp_path / "a": lambda: [b"x"], tmp_path / "b": lambda: [b"y"]})

    assert events == ["fsync", "fsync", "replace", "replace", "fsync"]
