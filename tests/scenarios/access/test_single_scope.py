"""Requests that keys with few permissions may send."""

from __future__ import annotations

import json

import pytest

from conformance.running.options import Mode
from conformance.scenarios.access.every_operation import OperationInputs
from conformance.scenarios.access.single_scope import _rest
from tests.fakes.runs import FakeRun

INPUTS = OperationInputs("e", "u", "admin", None, "a@example.com", "name", "description")


@pytest.mark.parametrize(
    ("scope", "fields"), [("engagements:write", {"name", "description"}), ("two permissions", {"name"})]
)
def test_both_forms_of_a_creation_are_permitted(scope: str, fields: set[str]) -> None:
    """A key with a single permission creates with a description, one with two without."""
    creation = dict(_rest(FakeRun(mode=Mode.DISPOSABLE), scope, INPUTS))["createEngagement"]

    assert json.loads(creation.body or b"").keys() == fields
