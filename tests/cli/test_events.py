"""Events of a run, as lines of JSON."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cli import events
from conformance.cli.events import STDOUT, EventLog
from conformance.cli.progress import _Silent
from conformance.reports.outcome import Outcome
from conformance.verdicts.results import CheckResult, Failure
from conformance.wire.redaction import Redactor
from tests.conftest import serve_sandbox

Conformance = Callable[..., Any]
SECRET = "sk-secret-0123456789"


def read(text: str) -> list[dict[str, Any]]:
    """Return the events, each of which has a time in UTC."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all(datetime.fromisoformat(event.pop("time")).tzinfo for event in found)
    return found


def test_a_run_writes_its_events_to_a_file(conformance: Conformance, tmp_path: Path) -> None:
    """Each chosen requirement is decided once, as in the report."""
    arguments = ("--embedded", "--effort", "quick", "--only", "get-*", "--only", "mail", "--events", "events.ndjson")
    ended = conformance("run", *arguments)
    report = ended.report

    first, *between, last = read((tmp_path / "events.ndjson").read_text("utf-8"))

    assert first == {
        "event": "started",
        "format": "conformance-events/1",
        "target": "reference",
        "base_url": report["target"]["base_url"],
        "mode": "disposable",
        "effort": "quick",
        "seed": report["run"]["seed"],
        "report": str(ended.folder),
    }
    decided = {event["requirement"]: event["outcome"] for event in between if event["event"] == "decided"}
    assert decided == {entry["id"]: entry["outcome"] for entry in report["requirements"] if entry.get("chosen", True)}
    assert Counter(event["event"] for event in between) == {
        "decided": len(decided),
        "progress": len(between) - len(decided),
    }
    requests = report["run"]["requests"]
    about = {"verdict": report["verdict"], "requests": requests, "report": str(ended.folder)}
    assert last == {"event": "finished", "status": 0, "reason": None, **about}
    assert not (ended.folder / "events.ndjson").exists()


def test_standard_output_has_only_events(conformance: Conformance) -> None:
    """Everything else goes to stderr, a failure has its message, and no event has the key."""
    with serve_sandbox("--fault", "archived-edit-applied") as sandbox:
        target = {name: sandbox[name] for name in ("CONFORMANCE_BASE_URL", "CONFORMANCE_API_KEY")}
        ended = conformance("run", "--effort", "quick", "--only", "archived-edit-*", "--events", "-", **target)

    *_, last = found = read(ended.out)
    entry = next(entry for entry in ended.report["requirements"] if entry["outcome"] == "failed")
    (failed,) = [event for event in found if event.get("outcome") == "failed"]
    assert failed["requirement"] == entry["id"]
    assert failed["message"] == entry["failures"][0]["message"]
    assert failed["exchanges"] == entry["failures"][0]["exchanges"]
    assert (last["event"], last["status"], last["verdict"]) == ("finished", 1, "non-conformant")
    assert ended.err.splitlines()[-1] == f"Exit 1: {last['reason']}"
    assert "is NOT conformant" in ended.err
    assert target["CONFORMANCE_API_KEY"] not in ended.out


def test_a_run_that_does_not_begin_is_finished(conformance: Conformance, tmp_path: Path) -> None:
    """The only event has the status and the reason."""
    target = {"CONFORMANCE_BASE_URL": "http://127.0.0.1:9", "CONFORMANCE_API_KEY": SECRET}
    ended = conformance("run", "--waivers", "none.yaml", "--events", "events.ndjson", **target)

    (only,) = read((tmp_path / "events.ndjson").read_text("utf-8"))

    about = {"verdict": None, "requests": 0, "report": None}
    assert only == {"event": "finished", "status": 2, "reason": only["reason"], **about}
    assert ended.err.splitlines()[-1] == f"Exit 2: {only['reason']}"


@pytest.mark.parametrize(("file", "status"), [("none/events.ndjson", 2), ("/dev/full", 0)])
def test_a_file_that_cannot_be_written(conformance: Conformance, file: str, status: int) -> None:
    """A wrong path is refused before anything is sent, and a full disk changes nothing."""
    ended = conformance("run", "--embedded", "--only", "get-organization-succeeds", "--events", file)

    assert ended.status == status, ended.err
    assert status == 0 or "none/events.ndjson cannot be written: No such file or directory" in ended.err


def result(requirement: str, outcome: Outcome, text: str) -> CheckResult:
    """Return the result of a check."""
    failure = Failure("check", text, "this", "that", None, ()) if outcome is Outcome.FAILED else None
    return CheckResult("check", requirement, outcome, None if failure else text, failure, (), 0.1)


def session() -> Any:
    """Return the session of a run."""
    redactor = Redactor()
    redactor.add("api_key", SECRET)
    options = SimpleNamespace(effort=SimpleNamespace(value="quick"), seed=1)
    profile = SimpleNamespace(name="::a ##[b] ###", base_url="http://service.test")
    mode, wire = SimpleNamespace(value="default"), SimpleNamespace(sent=42)
    run = SimpleNamespace(profile=profile, options=options, mode=mode, wire=wire, waiting=None)
    return SimpleNamespace(run=run, redactor=redactor, folder=Path("report"))


def test_a_requirement_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is at its first failure, or after its last check; texts are redacted and no command of a pipeline."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with EventLog(STDOUT) as log, log.follow(session(), _Silent()) as shown:
        print("another output")  # noqa: T201 - which is not an event
        shown.planned(["one", "two", "one", "two"])
        shown.ended(result("one", Outcome.FAILED, f"it said {SECRET}\n::x"))
        shown.ended(result("two", Outcome.PASSED, ""))
        shown.ended(result("one", Outcome.FAILED, "again"))
        shown.ended(result("two", Outcome.CANT_TELL, "unclear"))

    started, *rest = read(out.getvalue())

    assert started["target"] == "::a ##[b] ###"
    assert not re.search(r"^\s*::|##", out.getvalue(), re.MULTILINE)
    assert [event for event in rest if event["event"] == "decided"] == [
        {
            "event": "decided",
            "requirement": "one",
            "outcome": "failed",
            "message": "it said <api_key> ::x",
            "exchanges": [],
        },
        {"event": "decided", "requirement": "two", "outcome": "cantTell", "message": "unclear", "exchanges": []},
    ]
    assert sys.stdout is out


def test_progress_is_written_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event has the requests and the checks so far."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(events, "_EVERY", 0.01)
    with EventLog(STDOUT) as log, log.follow(session(), _Silent()) as shown:
        shown.planned(["one", "two"])
        shown.ended(result("one", Outcome.PASSED, ""))
        until = time.monotonic() + 10
        while out.getvalue().count('"checks": 1') < 2 and time.monotonic() < until:
            time.sleep(0.01)

    progress = [event for event in read(out.getvalue()) if event["event"] == "progress"]

    assert {"event": "progress", "requests": 42, "checks": 0, "of": 2, "waiting": None} in progress
    assert progress.count({"event": "progress", "requests": 42, "checks": 1, "of": 2, "waiting": None}) >= 2


def test_nothing_is_written_without_a_file() -> None:
    """The display is the given one."""
    shown = _Silent()

    with EventLog(None) as log:
        assert log.follow(session(), shown) is shown
