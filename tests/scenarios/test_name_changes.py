"""Renamings of the organization."""

from __future__ import annotations

from conformance.scenarios.organization.name_changes import _rename_while_inviting
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun


def test_an_invitation_comes_beside_a_renaming() -> None:
    """The organization is renamed and an address invited at once; the read comes afterwards."""
    run = FakeRun(lambda sent: make_exchange(sent, 200, {}))
    run.send_permitted = run.send_all
    run.address = "{}@example.com".format

    done = _rename_while_inviting(run)

    assert [sent.operation.id for sent in run.sent] == [
        "inviteMember", "updateCurrentOrganization", "getCurrentOrganization"
    ]  # fmt: skip
    assert done.response.request == run.sent[1]
