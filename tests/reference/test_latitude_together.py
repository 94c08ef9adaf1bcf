"""Choices at several open points together."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from conformance.reference.latitude import POINTS
from conformance.reference.refusal import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
ORGANIZATION = "/api/v1/organizations/current"
MEMBERS = f"{ORGANIZATION}/members"


def chosen(seed: int) -> dict[str, str]:
    """Draw a value for every point, except slow responses and incompatible values."""
    lot = random.Random(seed)
    choices = {name: lot.choice(point.values) for name, point in POINTS.items()}
    excluded = choices["gateway"] == "strict" and choices["identifier_shape"] == "reserved"
    return {**choices, "pace": "prompt"} | ({"gateway": "nothing"} if excluded else {})


@pytest.mark.parametrize("seed", range(60))
def test_any_choices_go_together(visit: Callable[..., Visitor], seed: int) -> None:
    """With all choices, an engagement can be created, changed and deleted without an unexpected error."""
    visitor = visit(**chosen(seed))
    body = {"name": "one", "description": "Described in plain words"}
    path = visitor.at(visitor.engagement(**body)["id"])
    user = visitor.at(visitor.member("member")["id"], MEMBERS)
    requests = [
        ("GET", ORGANIZATION, None),
        ("PATCH", ORGANIZATION, {"name": "new"}),
        ("GET", f"{MEMBERS}?perPage=2&role=owner", None),
        ("POST", f"{MEMBERS}/invite", {"email": "guest@example.com", "role": "admin"}),
        ("PATCH", user, {"role": "admin"}),
        ("DELETE", user, None),
        ("GET", f"{ENGAGEMENTS}?sort=name&order=asc&status=active", None),
        ("PATCH", path, {"name": "two"}),
        ("POST", f"{path}/archive", None),
        ("GET", path, None),
    ]

    for method, where, content in requests:
        response = visitor.send(method, where, content)
        if where.startswith(f"{ENGAGEMENTS}?") and chosen(seed)["list_scope"] == "engagements:list":
            assert response.status_code == 403
            continue
        assert response.is_success, (where, response.text)
        assert "data" in response.json()

    assert visitor.get(path).json()["data"]["status"] == "archived"
    for method, where, content in [("PATCH", path, {"name": "three"}), ("POST", ENGAGEMENTS, {}), ("PUT", path, None)]:
        refused = visitor.send(method, where, content)
        error = refused.json()["error"]
        assert (error["statusCode"], error["code"]) == (refused.status_code, CODES[refused.status_code])
    assert visitor.post(f"{path}/unarchive").status_code in {200, 201, 202, 400, 403, 409, 415, 422}
    assert visitor.delete(path).json()["data"]["deleted"] is True
    assert visitor.get(path).status_code == 404
