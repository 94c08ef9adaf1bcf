"""The folder of a run: checked at the start, searched for secrets, and written atomically."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, cast
from xml.etree import ElementTree as ET

import pytest

from conformance.reports import atomic_files
from conformance.reports.atomic_files import place
from conformance.reports.folder import ERRORS, OUTPUTS, FolderError, ensure_free, remove_outputs, write_all
from conformance.reports.har_reading import InvalidRecording, read_har
from conformance.reports.model import InvalidReport, load_report
from conformance.targets.journal import Journal
from conformance.targets.journal_file import JOURNAL
from conformance.targets.names import RunNames
from conformance.wire.exchange import Response
from conformance.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reports.model import Failure, Report
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
    "report.sarif",
    "metrics.prom",
}


LATE = "Zq8-rT5mW2xK-9vB"


def knowing(*secrets: str) -> Redactor:
    """Return a redactor that knows these keys."""
    redactor = Redactor()
    for secret in secrets:
        redactor.add("late_key", secret)
    return redactor


def test_every_output_is_written(run: Run, tmp_path: Path) -> None:
    """All outputs and no other files exist, readable by others as the umask allows."""
    found = write_all(*run, tmp_path / "new" / "folder", knowing())

    written = list((tmp_path / "new" / "folder").iterdir())
    assert found == {}
    assert {path.name for path in written} == FILES
    assert load_report(tmp_path / "new" / "folder" / "report.json")["verdict"] == run[0]["verdict"]
    assert len(read_har(tmp_path / "new" / "folder" / "exchanges.har")) == len(run[1])
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 & ~atomic_files._umask() for path in written)


def test_a_run_writes_no_file_of_another_name(run: Run, tmp_path: Path) -> None:
    """The list of outputs, by which earlier outputs are removed, is complete."""
    write_all(*run, tmp_path, knowing(), [b"{}\n"], "said")

    assert {path.name for path in tmp_path.iterdir()} == {*OUTPUTS} - {ERRORS}


def test_a_secret_that_becomes_known_late_is_in_no_output(failing: Run, tmp_path: Path) -> None:
    """A key that was recorded before it became known is redacted at the end, and the recording is readable."""
    report, exchanges = failing
    secret = "late-key-0123456789"
    body = f'{{"error": {{"message": "not {secret}"}}}}'.encode()
    request = replace(exchanges[0].sent_request, url=f"{exchanges[0].sent_request.url}?key={secret}", body=body)
    response = Response(401, (("X-Key", secret),), body)
    exchanges[0] = replace(exchanges[0], sent_request=request, received=response)
    exchanges[1] = replace(exchanges[1], received=None, error=f"it said {secret}")

    found = write_all(report, exchanges, tmp_path, knowing(secret))

    assert found == {}
    assert not [path for path in tmp_path.iterdir() if secret in path.read_text("utf-8")]
    again, lost = read_har(tmp_path / "exchanges.har")[:2]
    assert again.sent_request.url.endswith("?key=<late_key>")
    assert again.response.body == again.sent_request.body == b'{"error": {"message": "not <late_key>"}}'
    assert again.response.header("X-Key") == "<late_key>"
    assert lost.error == "it said <late_key>"


def test_a_recording_with_a_header_that_was_not_sent_is_refused(run: Run, tmp_path: Path) -> None:
    """A request cannot have been sent without a header that it was meant to have."""
    write_all(*run, tmp_path, knowing())
    path = tmp_path / "exchanges.har"
    recorded = json.loads(path.read_text("utf-8"))
    recorded["log"]["entries"][0]["_call"]["headers"] = ["X-Absent"]
    path.write_text(json.dumps(recorded), "utf-8")

    with pytest.raises(InvalidRecording):
        read_har(path)


def test_a_header_may_be_left_out_on_purpose(run: Run, tmp_path: Path) -> None:
    """A recording can be read in which a request lacks a header that other requests have."""
    exchanges = list(run[1])
    request = replace(exchanges[0].request, headers=(("Content-Type", ""),))
    shown = tuple(header for header in exchanges[0].sent_request.headers if header[0].lower() != "content-type")
    sent = replace(exchanges[0].sent_request, headers=shown)
    exchanges[0] = replace(exchanges[0], request=request, sent_request=sent)
    write_all(run[0], exchanges, tmp_path, knowing())

    assert read_har(tmp_path / "exchanges.har")[0].request.headers == (("Content-Type", ""),)


@pytest.mark.parametrize("name", sorted(FILES - {"exchanges.har", "badge.svg"}))
def test_a_secret_in_a_rendered_output_is_taken_out(failing: Run, tmp_path: Path, name: str) -> None:
    """The secret is redacted in the file that shows it, other files are unchanged, and all are well-formed."""
    report, exchanges = failing
    secret = "late-key-0123456789"
    report["target"]["name"] = f"the target {secret}"

    found = write_all(report, exchanges, tmp_path, knowing(secret))

    text = (tmp_path / name).read_text("utf-8")
    assert found[name] == {"late_key"}
    assert secret not in text
    assert "late_key" in text
    if name.endswith((".json", ".jsonld", ".sarif")):
        json.loads(text)
    elif name.endswith((".xml", ".svg")):
        ET.fromstring(text)  # noqa: S314 - the suite's own text


def test_a_report_that_lost_a_secret_is_a_report(failing: Run, tmp_path: Path) -> None:
    """Only strings are redacted, so that the report stays valid and its recording readable."""
    report, exchanges = failing
    report["target"]["name"] = "late-key-0123456789"

    write_all(report, exchanges, tmp_path, knowing("late-key-0123456789"))

    assert load_report(tmp_path / "report.json")["target"]["name"] == "<late_key>"
    assert len(read_har(tmp_path / "exchanges.har")) == len(exchanges)


def test_numbers_and_names_of_members_are_no_find(run: Run, tmp_path: Path) -> None:
    """Text of the suite that equals a secret is kept and not reported."""
    secrets = str(run[1][0].started_at.year) + "-0", "_head_seconds", "conformance_verdict"
    report, exchanges = run
    exchanges[0] = replace(exchanges[0], head_seconds=123456.789012)

    found = write_all(report, exchanges, tmp_path, knowing("123456.789012", *secrets))

    assert found == {}
    assert '"_head_seconds": 123456.789012' in (tmp_path / "exchanges.har").read_text("utf-8")


def test_the_bytes_searched_are_the_bytes_written(
    failing: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search covers every byte that is written."""
    searched = bytearray()
    redactor = knowing()

    def find(data: bytes) -> list[str]:
        searched.extend(data)
        return []

    monkeypatch.setattr(redactor, "find", find)

    write_all(*failing, tmp_path, redactor)

    written = list(tmp_path.iterdir())
    assert all(path.read_bytes() in searched for path in written if path.suffix != ".md")  # searched unescaped


def test_a_secret_in_the_journal_is_taken_out(passing: Run, tmp_path: Path) -> None:
    """The journal, which other modules write during the run, is searched too."""
    (tmp_path / JOURNAL).write_bytes(b'{"key": "sk-secret-123", "entry": 1}\n{"entry": 2}\n')

    found = write_all(*passing, tmp_path, knowing("sk-secret-123"))

    assert found == {JOURNAL: {"late_key"}}
    assert (tmp_path / JOURNAL).read_bytes() == b'{"key": "<late_key>", "entry": 1}\n{"entry": 2}\n'


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_file_that_no_run_wrote_stays(name: str, tmp_path: Path) -> None:
    """A folder with foreign files is refused and left unchanged."""
    (tmp_path / name).write_text('{"format": "of others"}')

    with pytest.raises(FolderError, match=f"holds {re.escape(name)}, which no run wrote: name another folder"):
        ensure_free(tmp_path)

    assert (tmp_path / name).read_text() == '{"format": "of others"}'


@pytest.mark.parametrize("name", ["certificate.dsse.json", "certificate.html"])
def test_a_certificate_stays(run: Run, name: str, tmp_path: Path) -> None:
    """A folder with a certificate is refused."""
    write_all(*run, tmp_path, knowing())
    (tmp_path / name).write_text("signed")

    with pytest.raises(FolderError, match=f"holds a certificate, {re.escape(name)}: name another folder"):
        ensure_free(tmp_path)


@pytest.mark.parametrize("kind", ["folder", "dangling link", "pipe"])
def test_folders_pipes_and_links_are_foreign(run: Run, kind: str, tmp_path: Path) -> None:
    """A folder, pipe or link is foreign, even beside a report, and a pipe is not read."""
    write_all(*run, tmp_path, knowing())
    path = tmp_path / ("report.json" if kind == "pipe" else "errors.log")
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "nowhere")

    with pytest.raises(FolderError, match="which no run wrote"):
        ensure_free(tmp_path)


def test_a_link_to_another_folder_stays(run: Run, tmp_path: Path) -> None:
    """The files that reproduce failures are neither written nor removed behind a link."""
    write_all(*run, tmp_path / "run", knowing())
    (tmp_path / "scripts").mkdir()
    (tmp_path / "run" / "reproduce").symlink_to(tmp_path / "scripts")

    with pytest.raises(FolderError, match="reproduce is a symbolic link: name another folder"):
        ensure_free(tmp_path / "run")


def test_outputs_of_an_earlier_run_are_removed(run: Run, tmp_path: Path) -> None:
    """All outputs and nothing else are removed; of a link, only the link."""
    write_all(*run, tmp_path / "run", knowing(), [b"{}\n"], "said")
    folder = tmp_path / "run"
    (tmp_path / "elsewhere.html").write_text("elsewhere")
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(tmp_path / "elsewhere.html")
    for name in ("notes.txt", JOURNAL, ERRORS):
        (folder / name).write_text("of an earlier run")

    ensure_free(folder)
    remove_outputs(folder)

    assert {path.name for path in folder.iterdir()} == {"notes.txt", JOURNAL}
    assert (tmp_path / "elsewhere.html").read_text() == "elsewhere"


def test_reproductions_of_an_earlier_run_are_removed(run: Run, tmp_path: Path) -> None:
    """Only those of requirements are removed, and only if the folder contains a report of a run."""
    own = {"json-media-type.sh", "error-code-404.sh", "json-media-type-12.sh", "test_json-media-type-2.py"}
    other = {"backup.sh", ".sh", "json-media-type-x.sh", "json-media-type.sh.txt", "test_x.py"}
    (tmp_path / "reproduce").mkdir()
    for name in own | other:
        (tmp_path / "reproduce" / name).write_text("#!/bin/sh\n")
    with pytest.raises(FolderError, match=r"holds reproduce/error-code-404\.sh, which no run wrote"):
        ensure_free(tmp_path)
    write_all(*run, tmp_path, knowing())

    ensure_free(tmp_path)
    remove_outputs(tmp_path)

    assert {path.name for path in (tmp_path / "reproduce").iterdir()} == other
    for name in other:
        (tmp_path / "reproduce" / name).unlink()
    remove_outputs(tmp_path)
    assert not list(tmp_path.iterdir())


def test_reproductions_are_written_and_searched(failing: Run, tmp_path: Path) -> None:
    """Each file is named after its requirement and the number of the failure."""
    report, exchanges = failing
    failed = next(requirement for requirement in report["requirements"] if requirement["failures"])
    files = [{"script": f"#!/bin/sh\n# {n} {LATE}\n", "test": f"# {n} {LATE}\n"} for n in (1, 2)]
    failed["failures"] = [cast("Failure", {**failed["failures"][0], **made}) for made in files]

    found = write_all(report, exchanges, tmp_path, knowing(LATE))

    name = failed["id"]
    assert (tmp_path / f"reproduce/{name}.sh").read_text() == "#!/bin/sh\n# 1 <late_key>\n"
    assert (tmp_path / f"reproduce/{name}-2.sh").read_text() == "#!/bin/sh\n# 2 <late_key>\n"
    assert (tmp_path / f"reproduce/test_{name}-2.py").read_text() == "# 2 <late_key>\n"
    assert {f"reproduce/{name}.sh", f"reproduce/test_{name}-2.py"} <= found.keys()


def test_outputs_beside_a_journal_are_a_runs(run: Run, tmp_path: Path) -> None:
    """The remains of a run that was killed while it wrote its outputs count as outputs."""
    (tmp_path / "junit.xml").write_text("half of a run")
    Journal.open(tmp_path, RunNames("cf-abcdefg2-"), "http://service", "main-key-0001").close()

    ensure_free(tmp_path)


def test_a_file_that_cannot_be_removed_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is a sentence with the reason of the system."""

    def refuse(path: Path, *, missing_ok: bool) -> None:
        raise PermissionError(1, f"Operation not permitted, {missing_ok}", str(path))

    monkeypatch.setattr("pathlib.Path.unlink", refuse)

    with pytest.raises(FolderError, match=r"report.json cannot be removed: Operation not permitted"):
        remove_outputs(tmp_path)


def test_an_invalid_report_writes_nothing(passing: Run, tmp_path: Path) -> None:
    """A report that breaks the schema is refused before any file is written."""
    del passing[0]["run"]["seed"]  # type: ignore[misc]

    with pytest.raises(InvalidReport):
        write_all(*passing, tmp_path, knowing())

    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_what_stood_there(tmp_path: Path) -> None:
    """If a file cannot be written, no file is replaced and no temporary file is left."""
    (tmp_path / "a").write_text("before")

    def full() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        place({tmp_path / "a": lambda: [b"after"], tmp_path / "b": full})

    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_files_reach_the_disk_before_they_are_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power cut, the file is the old or the new one, never a part."""
    events: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: events.append("fsync"))
    replaced = os.replace

    def replace(source: Path, destination: Path) -> None:
        events.append("replace")
        replaced(source, destination)

    monkeypatch.setattr("os.replace", replace)

    place({tmp_path / "a": lambda: [b"x"], tmp_path / "b": lambda: [b"y"]})

    assert events == ["fsync", "fsync", "replace", "replace", "fsync"]
