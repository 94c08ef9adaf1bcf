"""Invalid requests without a valid key."""

from __future__ import annotations

import json

import pytest

from conformance.scenarios.access.every_operation import OperationInputs
from conformance.scenarios.access.unauthenticated import _invalid

INPUTS = OperationInputs(
    engagement="e", user="u", role="admin", address="a@example.com", name="name", description="description"
)


@pytest.mark.parametrize("operation", ["createEngagement", "updateEngagement"])
def test_no_text_of_an_engagement_is_valid(operation: str) -> None:
    """A service that validates any field before the key refuses the request as invalid."""
    (body,) = [json.loads(sent.body or b"") for sent in _invalid(INPUTS) if sent.operation.id == operation]

    assert not isinstance(body.get("name"), str)
    assert not isinstance(body["description"], str)
