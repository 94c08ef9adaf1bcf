"""Odd requests that quick runs omit."""

from __future__ import annotations

import pytest

from conformance.reference.faults.mutations import crash, fault
from conformance.reference.faults.situations import Situation
from conformance.running.options import Effort, RunOptions
from conformance.scenarios import last_look
from conformance.selftest import in_process
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, attempt
from conformance.targets.profile import Mode

BREAKS = ("no-server-error",)
ONLY = ("no-server-error", "update-role-*")


def _header(at: Situation, name: str) -> str | None:
    return at.context.request.headers.get(name)


FAULTY = {
    name: fault(name, "It fails on an odd request.", crash(operation, when), *BREAKS)
    for name, operation, when in (
        ("role", "listMembers", lambda at: at.query.get("role") not in {None, "admin", "member", "owner"}),
        ("twice", "*", lambda at: any(len(at.query.getlist(name)) > 1 for name in at.query)),
        ("array", "*", lambda at: any(name.endswith("]") for name in at.query)),
        ("mark", "createEngagement", lambda at: at.context.content.startswith(b"\xef\xbb\xbf")),
        ("no number", "createEngagement", lambda at: b"NaN" in at.context.content),
        ("lines", "updateEngagement", lambda at: "\n" in str(at.field("description"))),
        ("capital", "inviteMember", lambda at: at.field("role") == "Admin"),
        ("capitals", "updateMemberRole", lambda at: str(at.field("role")).isupper()),
        ("shape", "unarchiveEngagement", lambda at: not at.context.resource_id.startswith("eng_")),
        ("letters", "getEngagement", lambda at: not at.context.resource_id.isprintable()),
        ("body", "archiveEngagement", lambda at: _header(at, "Content-Type") is not None),
        ("text", "updateEngagement", lambda at: (_header(at, "Content-Type") or "").startswith("text/")),
        ("nothing", "updateEngagement", lambda at: _header(at, "Content-Type") is None),
        ("page", "*", lambda at: (_header(at, "Accept") or "").startswith("text/html")),
        ("accepting nothing", "*", lambda at: _header(at, "Accept") is None),
        ("language", "*", lambda at: _header(at, "Accept-Language") is not None),
        ("no character", "*", lambda at: b"\\udc00" in at.context.content and "odd" in str(at.field("name"))),
    )
}


@pytest.fixture(autouse=True)
def _no_pause_before_the_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """These services do nothing later than in their responses."""
    monkeypatch.setattr(last_look, "_LATE", {Effort.STANDARD: 0.0})


@pytest.mark.parametrize("name", FAULTY)
def test_an_operation_that_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run at standard effort finds a single operation that fails on an odd request."""
    monkeypatch.setattr(in_process, "fault_by_id", FAULTY.get)
    options = RunOptions(effort=Effort.STANDARD, seed=1, only=ONLY)

    trial = attempt(Task(Subject(name, "fault", "It fails on an odd request.", BREAKS), options, in_process=True))

    assert "no-server-error" in trial.reported


@pytest.mark.parametrize("mode", [Mode.READ_ONLY, Mode.DEFAULT])
def test_a_run_sends_no_forbidden_request(mode: Mode) -> None:
    """No odd request is sent that the mode forbids, and a correct service passes."""
    options = RunOptions(effort=Effort.STANDARD, seed=1, mode=mode, only=BREAKS)

    trial = attempt(Task(Subject("default", "latitude", "It is honest."), options, in_process=True))

    assert (trial.reported, trial.errors, trial.left) == ({}, (), ())
