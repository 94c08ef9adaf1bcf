"""Members and invitations in the ledger: permitted courses break no rule, and each fault breaks its own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.oracle.ledger.ledger import ORGANIZATION_RULES
from conformance.wire import requests
from tests.oracle.failures import Described, described
from tests.oracle.ledger.people import READER, STRANGER, UNKNOWN, WRITER, Course, person

Step = Callable[[Course], object]


def test_every_rule_is_a_requirement() -> None:
    """The ledger reports only ids of the catalogue."""
    assert set(ORGANIZATION_RULES) <= load_catalogue().requirements.keys()
    assert len(set(ORGANIZATION_RULES)) == len(ORGANIZATION_RULES)


def set_role(user_id: str, role: str) -> Step:
    """Return a step in which a member's role changes by itself."""
    return lambda course: course.members[user_id].update(role=role)


def vanish(user_id: str) -> Step:
    """Return a step in which a member disappears by itself."""
    return lambda course: course.members.pop(user_id)


PERMITTED: dict[str, tuple[Step, ...]] = {
    "roles-and-removal": (
        lambda course: course.change("u1", "member"),
        Course.listed,
        lambda course: course.listed(role="member"),
        lambda course: course.change("u1", "admin", key=WRITER),
        lambda course: course.listed(key=READER),
        lambda course: course.remove("u1"),
        Course.listed,
        lambda course: course.listed(role="admin", key=READER),
        lambda course: course.remove("u1", 404),
        lambda course: course.change("u1", "member", 404),
        lambda course: course.change("u1", "member", 403, key=READER),
    ),
    "refused": (
        lambda course: course.change("u1", "owner", 422),
        lambda course: course.change("u1", "member", 401, key=UNKNOWN),
        lambda course: course.change("u1", "member", 404, key=STRANGER),
        lambda course: course.remove("u1", 403, key=READER),
        lambda course: course.change("u1", "member", 429),
        Course.listed,
    ),
    "same-role-refused": (lambda course: course.change("u1", "admin", 409), Course.listed),
    "same-role-refused-after-upper-case": (
        lambda course: course.change("u1", "member"),
        Course.listed,
        lambda course: course.change("u1", "ADMIN"),
        set_role("u1", "admin"),
        lambda course: course.change("u1", "admin", 409),
        Course.listed,
    ),
    "lost-and-done": (
        lambda course: course.change("u1", "member", None),
        set_role("u1", "member"),
        Course.listed,
        Course.listed,
        lambda course: course.remove("u2", None),
        Course.listed,
        vanish("u2"),
        Course.listed,
        lambda course: course.remove("u2", 404),
    ),
    "lost-and-not-done": (lambda course: course.change("u1", "member", None), Course.listed),
    "capitals-accepted": (
        lambda course: course.send(requests.update_member_role("u1", {"role": "MEMBER"}), 200, {}),
        set_role("u1", "member"),
        Course.listed,
    ),
    "another-organization-succeeds": (
        lambda course: course.change("u1", "member", 200, key=STRANGER),
        set_role("u1", "admin"),
        Course.listed,
    ),
    "overlapping-changes": (
        lambda course: course.change("u1", "member", at=50, seconds=5),
        lambda course: course.change("u1", "admin", at=52, seconds=5),
        set_role("u1", "member"),
        lambda course: course.listed(at=60),
        lambda course: course.listed(at=61),
    ),
    "refused-beside-another-change": (
        lambda course: course.change("u2", "admin", at=50, seconds=5),
        lambda course: course.change("u1", "member", 409, at=52),
        lambda course: course.listed(at=60),
    ),
    "list-during-a-change": (
        lambda course: course.change("u1", "member", at=50, seconds=5),
        set_role("u1", "admin"),
        lambda course: course.listed(at=51),
        set_role("u1", "member"),
        lambda course: course.listed(at=52),
        lambda course: course.listed(at=60),
    ),
    "list-torn-by-a-removal": (
        lambda course: course.listed(at=51, seconds=3),
        lambda course: course.remove("u1", at=52),
        lambda course: course.listed(at=60),
    ),
    "others-change-others": (
        set_role("u0", "admin"),
        Course.listed,
        vanish("u0"),
        Course.listed,
        lambda course: course.members.update(u9=person("u9", "member")),
        Course.listed,
    ),
    "member-of-the-run-invited": (
        lambda course: course.invite("U1@x.test"),
        Course.listed,
        lambda course: course.invite("new@x.test"),
        Course.listed,
    ),
    "provisioner-makes-a-member-late": (
        lambda course: course.invite("u3@x.test"),
        Course.listed,
    ),
    "others-key-lists-others": (
        lambda course: course.send(
            requests.list_members(),
            200,
            [person("u1", "owner")],
            key=STRANGER,
            meta={"total": 1, "page": 1, "perPage": 20, "totalPages": 1},
        ),
    ),
    "small-pages": (
        lambda course: course.send(
            requests.list_members(perPage=1),
            200,
            [person("u0", "owner")],
            meta={"total": 4, "page": 1, "perPage": 1, "totalPages": 4},
        ),
    ),
    "removed-key-is-used": (
        lambda course: course.remove("u2"),
        lambda course: course.change("u1", "member", 401, key=WRITER),
        Course.listed,
    ),
}
"""Courses of a service that keeps the interface, or that faults of others' requirements explain."""


@pytest.mark.parametrize("name", PERMITTED)
def test_permitted_courses_break_nothing(name: str) -> None:
    """No rule is broken if the requests, in some order, or others explain what is seen."""
    course = Course()
    course.listed()
    for step in PERMITTED[name]:
        step(course)

    assert course.findings() == []


FAULTS: dict[str, tuple[str, tuple[Step, ...]]] = {
    "not-kept": (
        "role-changes-both-ways",
        (lambda c: c.change("u1", "member"), set_role("u1", "admin"), Course.listed),
    ),
    "undone-for-another-key": (
        "role-changes-both-ways",
        (lambda c: c.change("u1", "member"), set_role("u1", "admin"), lambda c: c.listed(key=READER)),
    ),
    "one-of-two-lost": (
        "role-changes-both-ways",
        (
            lambda c: c.change("u1", "member", at=50, seconds=2),
            lambda c: c.change("u2", "admin", at=51, seconds=2),
            set_role("u2", "member"),
            lambda c: c.listed(at=60),
        ),
    ),
    "refused-and-done": (
        "update-role-refused-changes-nothing",
        (
            lambda c: c.send(requests.update_member_role("u1", {"role": "member", "odd": 1}), 422),
            set_role("u1", "member"),
            Course.listed,
        ),
    ),
    "forbidden-and-done": (
        "scope-refused-changes-nothing",
        (lambda c: c.change("u1", "member", 403, key=READER), set_role("u1", "member"), Course.listed),
    ),
    "unauthorized-and-removed": (
        "unauthenticated-changes-nothing",
        (lambda c: c.remove("u1", 401, key=UNKNOWN), vanish("u1"), Course.listed),
    ),
    "stranger-removes": (
        "isolation-untouched",
        (lambda c: c.remove("u1", 404, key=STRANGER), vanish("u1"), Course.listed),
    ),
    "throttled-and-done": (
        "throttled-changes-nothing",
        (lambda c: c.change("u1", "member", 429), set_role("u1", "member"), Course.listed),
    ),
    "owner-accepted": ("no-owner-through-role-change", (lambda c: c.change("u1", "owner"),)),
    "owner-404": ("no-owner-through-role-change", (lambda c: c.change("u1", "owner", 404),)),
    "owner-though-refused": (
        "no-owner-through-role-change",
        (
            lambda c: c.change("u1", "owner", 422),
            set_role("u1", "owner"),
            lambda c: c.change("u1", "member", 403),
            Course.listed,
        ),
    ),
    "change-fails": ("update-role-succeeds", (lambda c: c.change("u1", "member", 403),)),
    "change-fails-beside-another": (
        "update-role-succeeds",
        (
            lambda c: c.change("u2", "admin", at=50, seconds=5),
            lambda c: c.change("u1", "member", 403, at=52),
        ),
    ),
    "unknown-role-refused-and-done": (
        "update-role-refused-changes-nothing",
        (lambda c: c.change("u1", "chief", 422), set_role("u1", "chief"), Course.listed),
    ),
    "owner-lost": (
        "update-role-keeps-the-rest",
        (lambda c: c.change("u1", "member"), set_role("u0", "member"), Course.listed),
    ),
    "removal-fails": ("remove-member-succeeds", (lambda c: c.remove("u1", 409),)),
    "removed-and-listed": (
        "removed-member-unlisted",
        (lambda c: c.remove("u1"), lambda c: c.members.update(u1=person("u1", "admin")), Course.listed),
    ),
    "removed-and-listed-by-role-for-another": (
        "removed-member-unlisted",
        (
            lambda c: c.remove("u1"),
            Course.listed,
            lambda c: c.members.update(u1=person("u1", "admin")),
            lambda c: c.listed(role="admin", key=READER),
        ),
    ),
    "removed-twice": ("removed-member-not-removable", (lambda c: c.remove("u1"), lambda c: c.remove("u1", key=WRITER))),
    "removed-and-changed": (
        "removed-member-role-unchangeable",
        (lambda c: c.remove("u1"), lambda c: c.change("u1", "member", 403)),
    ),
    "removal-takes-another": ("removal-spares-other-members", (lambda c: c.remove("u1"), vanish("u2"), Course.listed)),
    "change-changes-another": (
        "update-role-keeps-the-rest",
        (lambda c: c.change("u1", "member"), set_role("u2", "admin"), Course.listed),
    ),
    "change-renames": (
        "update-role-keeps-the-rest",
        (lambda c: c.change("u1", "member"), lambda c: c.members["u1"].update(name="Another"), Course.listed),
    ),
    "invited-is-member": (
        "invite-adds-no-member",
        (
            lambda c: c.invite("New@x.test", key=WRITER),
            Course.listed,
            lambda c: c.members.update(u9={**person("u9", "member"), "email": "new@x.test"}),
            lambda c: c.listed(key=READER),
        ),
    ),
    "invited-in-other-letters-is-another-member": (
        "invite-adds-no-member",
        (
            Course.listed,
            lambda c: c.invite("U1@x.test"),
            lambda c: c.members.update(u9={**person("u9", "member"), "email": "U1@x.test"}),
            Course.listed,
        ),
    ),
    "old-role-comes-back-after-an-invitation": (
        "role-changes-both-ways",
        (
            Course.listed,
            lambda c: c.change("u1", "member"),
            Course.listed,
            lambda c: c.invite("new@x.test"),
            set_role("u1", "admin"),
            Course.listed,
        ),
    ),
    "invitation-changes-a-role": (
        "invite-adds-no-member",
        (lambda c: c.invite("new@x.test"), set_role("u2", "admin"), Course.listed),
    ),
    "lost-under-its-role": ("list-members-role-filter", (lambda c: c.listed(role="admin", lacks="u1"),)),
    "other-role-listed": (
        "list-members-role-filter",
        (
            lambda c: c.send(
                requests.list_members(role="member"),
                200,
                [person("u1", "admin")],
                meta={"total": 3, "page": 1, "perPage": 20, "totalPages": 1},
                key=READER,
            ),
        ),
    ),
    "uncounted": (
        "list-members-total",
        (
            lambda c: c.send(
                requests.list_members(perPage=1),
                200,
                [person("u0", "owner")],
                meta={"total": 2, "page": 1, "perPage": 1, "totalPages": 2},
            ),
        ),
    ),
    "lost": ("list-members-pages-partition", (lambda c: c.listed(lacks="u2"),)),
    "lost-beside-a-newcomer": (
        "list-members-pages-partition",
        (
            lambda c: [c.members.pop(user_id) for user_id in ("u1", "u2", "u3")],
            lambda c: c.members.update(u9=person("u9", "member")),
            Course.listed,
        ),
    ),
    "masked": (
        "member-email-is-address",
        (lambda c: c.members["u2"].update(email="u***@x.test"), lambda c: c.listed(key=READER)),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_breaks_its_own_rule(name: str) -> None:
    """A response that no request explains breaks one requirement."""
    rule, steps = FAULTS[name]
    course = Course()
    course.listed()
    for step in steps:
        step(course)

    assert course.broken() == [rule]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("removed-and-listed", ("a removed member is listed", "no removed member", "u1", "/data/3")),
        ("lost", ("a member is missing from the list", "every member", "u2 missing", "/data")),
        ("change-renames", ("name of a member has changed", '"U1"', '"Another"', "/data/1/name")),
        ("owner-lost", ("no member is an owner any more", "an owner, as before", "none", "/data")),
    ],
)
def test_the_texts_of_a_finding(name: str, words: Described) -> None:
    """They show what was expected, what was found, and its place."""
    course = Course()
    course.listed()
    for step in FAULTS[name][1]:
        step(course)

    assert [described(finding.as_fault()) for finding in course.findings()] == [words]


def test_a_missing_member_is_looked_for_again() -> None:
    """Others may have torn a list: what is missing or uncounted is unconfirmed, a wrong role is not."""
    course = Course()
    course.listed()
    course.listed(lacks="u2")
    course.members["u1"]["role"] = "member"
    course.listed()

    assert [finding.unconfirmed for finding in course.findings()] == [True, False]


def test_evidence_of_a_right_course() -> None:
    """A right course supports the rules that it could have broken."""
    course = Course()
    steps: tuple[Any, ...] = (Course.listed, *PERMITTED["roles-and-removal"], *PERMITTED["member-of-the-run-invited"])
    for step in steps:
        step(course)

    assert course.kept() >= {
        "role-changes-both-ways",
        "update-role-keeps-the-rest",
        "update-role-succeeds",
        "remove-member-succeeds",
        "removed-member-unlisted",
        "removal-spares-other-members",
        "removed-member-not-removable",
        "removed-member-role-unchangeable",
        "invite-adds-no-member",
        "list-members-role-filter",
        "list-members-total",
    }


@pytest.mark.parametrize(("status", "rules"), [(403, ["scope-allows-remove-member"]), (401, []), (200, [])])
def test_a_permission_is_enough_for_every_member(status: int, rules: list[str]) -> None:
    """A key with the permission alone may remove a member of any role; it may be new to the service."""
    course = Course()
    course.listed()
    course.remove("u1", status, key=WRITER)

    assert course.broken() == rules
