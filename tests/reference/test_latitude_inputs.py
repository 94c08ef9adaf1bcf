"""Visibility of every choice at the open points of requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.reference.latitude.inputs import INPUT_POINTS
from tests.reference.probes import (
    ENGAGEMENTS,
    GUEST,
    MEMBERS,
    Probe,
    created,
    edited,
    expect_every_value_to_show,
    invited,
    listed,
    raw,
)

if TYPE_CHECKING:
    from conformance.reference.latitude.point import Point
    from tests.reference.conftest import Visitor


def edited_with_nothing(visitor: Visitor) -> object:
    """Return whether an edit without fields moves updatedAt."""
    before = visitor.engagement()
    path = visitor.at(before["id"])
    assert visitor.patch(path, {}).is_success
    return visitor.get(path).json()["data"]["updatedAt"] > before["updatedAt"]


def described_with_null(visitor: Visitor) -> object:
    """Return the status of an edit with null for the description, and the description afterwards."""
    path = visitor.at(visitor.engagement(description="It is there.")["id"])
    status = visitor.patch(path, {"description": None}).status_code
    return status, visitor.get(path).json()["data"]["description"]


def kept(name: str) -> Probe:
    """Return a probe for the name that a creation stores."""
    return lambda visitor: visitor.engagement(name)["name"]


def body_limit(visitor: Visitor) -> object:
    """Return the statuses of bodies of 100 kB, 2 MB and 10 MB."""
    return [visitor.post(ENGAGEMENTS, {"name": "x" * size}).status_code for size in (100_000, 2_000_000, 10_000_000)]


PROBES: dict[str, Probe] = {
    "malformed_body": raw(b"{"),
    "unparsable_body": lambda visitor: [
        visitor.send("POST", ENGAGEMENTS, content=body, key="nobodys").status_code for body in (b"{", b"{}")
    ],
    "body_not_object": raw(b"[]"),
    "missing_field": raw(b"{}"),
    "wrong_type": created({"name": 1}),
    "bad_choice": listed("status=nonsense"),
    "bad_email": invited({**GUEST, "email": "nobody"}),
    "bad_integer": listed("page=abc"),
    "page_below_one": listed("page=0"),
    "per_page_below_one": listed("perPage=0"),
    "per_page_above_maximum": listed("perPage=101"),
    "page_past_end": listed("page=2"),
    "odd_integer": lambda visitor: [listed(f"page={text}")(visitor)[0] for text in ("01", "1.0", "%2B1")],
    "empty_parameter": listed("status="),
    "repeated_parameter": listed("page=1&page=2"),
    "unknown_parameter": listed("colour=red", MEMBERS),
    "choice_case": listed("order=DESC"),
    "more_sorts": listed("sort=status"),
    "role_owner": lambda visitor: (
        visitor.patch(visitor.at(visitor.member("member")["id"], MEMBERS), {"role": "owner"}).status_code
    ),
    "unarchive_request": lambda visitor: visitor.post(f"{visitor.archived()}/unarchive").status_code,
    "unknown_field": created({"name": "n", "colour": "red"}),
    "read_only_field": created({"name": "n", "status": "archived"}),
    "repeated_field": raw(b'{"name": "a", "name": "b"}'),
    "empty_patch": edited({}),
    "empty_patch_time": edited_with_nothing,
    "null_name": edited({"name": None}),
    "null_description": described_with_null,
    "empty_name": created({"name": ""}),
    "blank_name": created({"name": "  "}),
    "long_name": created({"name": "x" * 5000}),
    "name_limit": lambda visitor: [created({"name": "x" * length})(visitor) for length in (30, 31)],
    "description_least": lambda visitor: [
        created({"name": "n", "description": "x" * length})(visitor) for length in (9, 10, 20)
    ],
    "description_signs": created({"name": "n", "description": "A full stop."}),
    "description_limit": lambda visitor: [
        created({"name": "n", "description": "x" * length})(visitor) for length in (30, 31)
    ],
    "long_description": created({"name": "n", "description": "x" * 20_000}),
    "odd_name": created({"name": "a\nb"}),
    "odd_text": lambda visitor: [
        created({"name": "n", "description": text})(visitor) for text in ("a b", "<b>", "\u00e9")
    ],
    "lone_surrogate": raw(b'{"name": "\\ud800"}'),
    "blanks": kept("  a  b  "),
    "normalization": kept("e\u0301"),
    "email_case": invited(GUEST),
    "body_limit": body_limit,
    "wrong_content_type": raw(b'{"name": "n"}', {"Content-Type": "text/plain"}),
    "missing_content_type": raw(b'{"name": "n"}', {}),
    "malformed_identifier": lambda visitor: visitor.get(f"{ENGAGEMENTS}/nonsense").status_code,
}


@pytest.mark.parametrize("point", INPUT_POINTS, ids=lambda point: point.name)
def test_every_value_shows(visit: Callable[..., Visitor], point: Point) -> None:
    """No two values of a point give the same result."""
    expect_every_value_to_show(visit, point, PROBES[point.name])
