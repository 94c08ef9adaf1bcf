"""Expected engagements of a list, by the exchanges of the run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from conformance.scenarios.lists.paged import named_in
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from conformance.running.run import Run


def test_only_engagements_of_the_run_are_expected() -> None:
    """Engagements of another key, and records that a target file makes below an engagement, are not expected."""
    made = [make_exchange("createEngagement", 201, {"data": {"id": name}}) for name in ("own", "other", "record")]
    made[1] = replace(
        made[1], request=made[1].request.with_key(Credential.bearer("other_organization", "key-of-others"))
    )
    made[2] = replace(made[2], request=made[2].request.as_probe("POST", "/api/v1/engagements/own/tasks"))
    run = cast("Run", SimpleNamespace(wire=SimpleNamespace(exchanges=made)))

    assert named_in(run, "createEngagement") == {"own"}
