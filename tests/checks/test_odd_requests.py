"""Odd requests that quick runs omit."""

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
    fault.id: fault
    for fault in (
        stumbling("role", "", "listMembers", lambda request: request.request.query_params.get("role") == ""),
        stumbling("page", "", "listMembers", lambda request: request.request.query_params.get("page") == ""),
        stumbling("twice", "", "listMembers", lambda request: len(request.request.query_params.getlist("page")) > 1),
        stumbling("mark", "", "createEngagement", lambda request: request.content.startswith(b"\xef\xbb\xbf")),
        stumbling("no number", "", "createEngagement", lambda request: b"NaN" in request.content),
        stumbling("lines", "", "updateEngagement", lambda request: "\n" in str(field(request, "description"))),
        stumbling("capital", "", "inviteMember", lambda request: field(request, "role") == "Admin"),
        stumbling("capitals", "", "updateMemberRole", lambda request: str(field(request, "role")).isupper()),
        stumbling("shape", "", "unarchiveEngagement", lambda request: not request.resource_id.startswith("eng_")),
        stumbling("letters", "", "updateEngagement", lambda request: not request.resource_id.isascii()),
        stumbling("body", "", "archiveEngagement", lambda request: "Content-Type" in request.request.headers),
        stumbling(
            "text", "", "updateEngagement", lambda request: _is_text(request.request.headers.get("Content-Type"))
        ),
        stumbling("nothing", "", "updateEngagement", lambda request: "Content-Type" not in request.request.headers),
    )
}


@pytest.mark.parametrize("fault", FAULTY)
def test_one_operation_that_stumbles(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run at standard effort finds a single operation that fails on an odd request."""
    monkeypatch.setattr(in_process, "fault_by_id", FAULTY.get)
    options = RunOptions(effort=Effort.STANDARD, seed=1, only=ONLY)

    trial = attempt(Task(Subject(fault, "fault", "It stumbles.", BREAKS), options, in_process=True))

    assert "no-server-error" in trial.reported


@pytest.mark.parametrize("mode", [Mode.READ_ONLY, Mode.DEFAULT])
def test_what_a_run_may_not_do_it_leaves(mode: Mode) -> None:
    """No odd request is sent that the mode forbids, and a correct service passes."""
    options = RunOptions(effort=Effort.STANDARD, seed=1, mode=mode, only=BREAKS)

    trial = attempt(Task(Subject("default", "latitude", "It is honest."), options, in_process=True))

    assert (trial.reported, trial.errors, trial.left) == ({}, (), ())
