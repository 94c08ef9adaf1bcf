"""Renamings of the organization."""

from __future__ import annotations

import pytest

from conformance.scenarios.organization.name_changes import _rename_while_inviting
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun


@pytest.mark.parametrize("status", [200, 409, 422])
def test_an_invitation_comes_beside_a_renaming(status: int) -> None:
    """The organization is renamed and an address invited at once; a conflict of both is no refusal of the name."""
    statuses = iter([status, status, 200, 200])
    run = FakeRun(lambda sent: make_exchange(sent, next(statuses), {}))

    done = _rename_while_inviting(run, "ann@example.com")

    renamings = ["updateCurrentOrganization"] * (2 if status == 409 else 1)
    assert [sent.operation.id for sent in run.sent] == ["inviteMember", *renamings, "getCurrentOrganization"]
    assert (done.response.request, done.response.status) == (run.sent[1], 200 if status == 409 else status)
