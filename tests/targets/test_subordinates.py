"""Tests that identifiers in templates stay one path segment."""

from __future__ import annotations

import pytest

from conformance.targets import subordinates
from conformance.targets.profile import SubordinateTemplate

TEMPLATE = SubordinateTemplate(
    kind="task",
    create_method="POST",
    create_path="/api/v1/engagements/{engagementId}/tasks",
    create_body=None,
    read_path="/api/v1/engagements/{engagementId}/tasks/{id}",
)


@pytest.mark.parametrize(
    ("identifier", "segment"),
    [("eng_1", "eng_1"), ("a/b?c#d", "a%2Fb%3Fc%23d"), ("..", "%2E%2E"), ("\ud800", "%ED%A0%80"), ("é", "%C3%A9")],
)
def test_identifiers_stay_one_segment(identifier: str, segment: str) -> None:
    """Both ids are escaped."""
    made = subordinates.create_request(TEMPLATE, identifier)
    read = subordinates.read_request(TEMPLATE, identifier, identifier)

    assert made.probe == ("POST", f"/api/v1/engagements/{segment}/tasks")
    assert read.probe == ("GET", f"/api/v1/engagements/{segment}/tasks/{segment}")
