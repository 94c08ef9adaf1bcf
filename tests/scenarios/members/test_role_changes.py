"""Changes of roles, with an invitation between a change and the lists after it."""

from __future__ import annotations

from conformance.running.options import Effort, RunOptions
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, attempt


def test_an_invitation_that_resets_roles_is_found() -> None:
    """The lists after the invitation of an unknown address show the role from before the change."""
    options = RunOptions(effort=Effort.QUICK, seed=1, only=("role-changes-both-ways",))

    trial = attempt(Task(Subject("invitation-resets-roles", "fault", "It resets roles."), options, in_process=True))

    assert trial.reported.keys() == {"role-changes-both-ways"}
