"""Tests of the session of a run against a service in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession, SandboxPeer
from conformance.selftest.subjects import latitudes
from conformance.targets.capabilities import MissingMeans
from conformance.targets.provisioner import Provisioner
from conformance.targets.rpc import ProvisionerError, UnansweredCall
from conformance.wire import requests


class LatePeer(SandboxPeer):
    """A provisioner that creates members, and responds too late."""

    late: Sequence[UnansweredCall] = ()

    def request(self, method: str, params: Mapping[str, object]) -> object:
        """Call a method, and raise if it creates a member."""
        result = super().request(method, params)
        if method == "create_member":
            self.late = [*self.late, UnansweredCall(method, params, {"result": result})]
            raise ProvisionerError("The provisioner did not respond.")
        return result

    def close(self, _: float) -> Sequence[UnansweredCall]:
        """Return the calls that created members."""
        return self.late


class LateSession(HostedSession):
    """A run with such a provisioner."""

    def _provisioned(self, is_over: Callable[[], bool]) -> Provisioner:
        return Provisioner(LatePeer(self._service.app.sandbox))


def test_members_that_came_too_late_are_removed() -> None:
    """Undoing removes what the provisioner created after a check had given up."""
    with LateSession(latitudes("default")[0], RunOptions(effort=Effort.QUICK), in_process=True) as session:
        run = session.run
        before = run.send(requests.list_members()).response.body
        for _ in range(2):
            with pytest.raises(MissingMeans, match="did not respond"):
                run.fixtures.member("admin")
        assert run.send(requests.list_members()).response.body != before

        undone = session.undo()

        assert (undone.undone, undone.left) == (2, [])
        assert run.send(requests.list_members()).response.body == before
