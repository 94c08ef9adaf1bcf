"""Odd requests that only runs send that are not quick."""

from __future__ import annotations

import pytest

from conformance.reference.faults.making import stumbling
from conformance.reference.faults.sending import field
from conformance.running.options import Effort, Mode, RunOptions
from conformance.selftest import in_process
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, attempt

BREAKS = ("no-server-error",)
ONLY = ("no-server-error", "update-role-*")


def _is_text(content_type: str | None) -> bool:
    return content_type is not None and content_type.startswith("text/")


FAULTY = {
    one.id: one
    for one in (
        stumbling("role", "", "listMembers", lambda call: call.request.query_params.get("role") == ""),
        stumbling("page", "", "listMembers", lambda call: call.request.query_params.get("page") == ""),
        stumbling("twice", "", "listMembers", lambda call: len(call.request.query_params.getlist("page")) > 1),
        stumbling("mark", "", "createEngagement", lambda call: call.content.startswith(b"\xef\xbb\xbf")),
        stumbling("no number", "", "createEngagement", lambda call: b"NaN" in call.content),
        stumbling("lines", "", "updateEngagement", lambda call: "\n" in str(field(call, "description"))),
        stumbling("capital", "", "inviteMember", lambda call: field(call, "role") == "Admin"),
        stumbling("capitals", "", "updateMemberRole", lambda call: str(field(call, "role")).isupper()),
        stumbling("shape", "", "unarchiveEngagement", lambda call: not call.resource_id.startswith("eng_")),
        stumbling("letters", "", "updateEngagement", lambda call: not call.resource_id.isascii()),
        stumbling("body", "", "archiveEngagement", lambda call: "Content-Type" in call.request.headers),
        stumbling("text", "", "updateEngagement", lambda call: _is_text(call.request.headers.get("Content-Type"))),
        stumbling("nothing", "", "updateEngagement", lambda call: "Content-Type" not in call.request.headers),
    )
}


@pytest.mark.parametrize("fault", FAULTY)
def test_one_operation_that_stumbles(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run at standard effort finds what one operation alone stumbles over."""
    monkeypatch.setattr(in_process, "fault_by_id", FAULTY.get)
    options = RunOptions(effort=Effort.STANDARD, seed=1, only=ONLY)

    trial = attempt(Task(Subject(fault, "fault", "It stumbles.", BREAKS), options, in_process=True))

    assert "no-server-error" in trial.reported


@pytest.mark.parametrize("mode", [Mode.READ_ONLY, Mode.DEFAULT])
def test_what_a_run_may_not_do_it_leaves(mode: Mode) -> None:
    """No odd request is sent that the mode forbids, and none is a fault of an honest service."""
    options = RunOptions(effort=Effort.STANDARD, seed=1, mode=mode, only=BREAKS)

    trial = attempt(Task(Subject("default", "latitude", "It is honest."), options, in_process=True))

    assert (trial.reported, trial.errors, trial.left) == ({}, (), ())
