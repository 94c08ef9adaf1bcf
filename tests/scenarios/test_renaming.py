"""Names of organizations that a service would not restore unchanged."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

from conformance.oracle.outcomes import CantTell
from conformance.reference.application import Application, create_app
from conformance.reference.store import Store
from conformance.running.options import Effort, RunOptions
from conformance.scenarios import last_look
from conformance.scenarios.renaming import restored_name
from conformance.selftest import in_process
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, attempt
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

STATUSES = {200: True, 403: True, 409: False, 422: False, 500: False, 501: False}
"""Whether a run renames after this response to an update with the present name."""
ODD = "Acme  Security Lab "


@pytest.mark.parametrize("only", ["update-organization-*", "scope-*", "removed-*", "isolation-*"])
@pytest.mark.parametrize("blanks", ["merged", "trimmed"])
def test_a_name_that_might_change_is_left_alone(only: str, blanks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The organization has the same name before and after a run."""
    called: list[str] = []

    class Watched(Store):
        def close(self) -> None:
            called.extend(self.organization(identifier).name for identifier in self.organization_ids())
            super().close()

    def oddly_named(**given: Any) -> Application:
        app = create_app(store=Watched(), **given)
        for identifier in app.service.store.organization_ids():
            app.service.store.rename_organization(identifier, ODD, app.service.now())
        return app

    monkeypatch.setattr(in_process, "create_app", oddly_named)
    monkeypatch.setattr(last_look, "_LATE", {Effort.STANDARD: 0.0})
    options = RunOptions(effort=Effort.STANDARD, seed=1, only=(only,))
    subject = Subject(f"blanks={blanks}", "latitude", "It is called oddly.", choices={"blanks": blanks})

    trial = attempt(Task(subject, options, in_process=True))

    assert (trial.reported, trial.left) == ({}, ())
    assert {name for name in called if not name.startswith("Provisioned ")} == {ODD}


@pytest.mark.parametrize(("status", "renames"), STATUSES.items())
def test_nothing_is_renamed_that_cannot_be_restored(status: int, *, renames: bool) -> None:
    """A service that refuses the present name, as another organization has it, or fails at it, would not restore it."""
    run = FakeRun(lambda sent: make_exchange(sent, status, {}))

    with nullcontext() if renames else pytest.raises(CantTell), restored_name(run, "Acme"):
        run.send(requests.update_organization({"name": "Another"}))

    names = [json.loads(sent.body)["name"] if sent.body else "read" for sent in run.sent]
    assert names == ["Acme", *["Another", "read", "Acme"] * renames]


def test_another_organization_is_restored_with_its_own_key() -> None:
    """The update with the present name, the last read and the restoration have the organization's key."""
    run = FakeRun(lambda sent: make_exchange(sent, 200, {}))

    with restored_name(run, "Acme", Credential.bearer("other_organization", "k")):
        pass

    assert [sent.key_name for sent in run.sent] == ["other_organization"] * 3
