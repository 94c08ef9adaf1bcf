"""Organizations in the ledger: permitted courses break no rule, and each fault breaks its own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.oracle.ledger.organization import OF_UPDATES
from conformance.wire import requests
from tests.oracle.ledger.people import READER, STRANGER, UNKNOWN, WRITER, Course

Step = Callable[[Course], object]

ODD = "cf-x \u00df <b>a</b>"
CLAIMS: dict[str, Any] = {"slug": "own", "plan": "free", "memberCount": 77, "settings": {"ssoEnabled": True}}


def changed(**fields: object) -> Step:
    """Return a step in which the organization changes by itself."""
    return lambda course: course.organization.update(fields)


def update(status: int | None = 200, **body: Any) -> Step:
    """Return an update; its name is set unless it is refused."""
    return lambda course: course.update(status, **body)


PERMITTED: dict[str, tuple[Step, ...]] = {
    "renamed": (
        update(name="cf-one"),
        Course.read,
        update(name=ODD, key=WRITER),
        lambda course: course.read(key=READER),
        Course.read,
        update(name="cf-one"),
        Course.read,
    ),
    "refused": (
        update(422, name=""),
        update(401, name="cf-one", key=UNKNOWN),
        update(403, name="cf-one", key=READER),
        Course.read,
    ),
    "other-fields-ignored": (update(name="cf-one", **CLAIMS), Course.read, update(**CLAIMS), Course.read),
    "lost-and-done": (update(None, name="cf-one"), changed(name="cf-one"), Course.read, Course.read),
    "lost-and-done-later": (update(None, name="cf-one"), Course.read, changed(name="cf-one"), Course.read),
    "blanks-merged": (update(name="cf  one"), changed(name="cf one"), Course.read),
    "empty-name-ignored": (lambda course: course.update(name="", takes=False), Course.read),
    "others-rename": (changed(name="Others"), Course.read, Course.read, changed(name="Acme Ltd"), Course.read),
    "others-restore-a-name-of-the-run": (
        update(name="cf-one"),
        Course.read,
        changed(name="Others"),
        Course.read,
        update(name="cf-two"),
        changed(name="cf-one"),
        Course.read,
        Course.read,
        changed(name="Acme Ltd"),
        Course.read,
    ),
    "others-change-it-beside-a-refusal": (
        update(403, name="cf-one", key=READER),
        changed(plan="free", settings={"ssoEnabled": True}),
        Course.read,
    ),
    "others-set-the-plan": (
        changed(plan="free", settings={"ssoEnabled": True}, memberCount=9),
        Course.read,
        Course.read,
    ),
    "another-organization": (
        lambda course: course.send(requests.get_organization(), 200, {"id": "other", "name": "Other"}, key=STRANGER),
        update(name="cf-one"),
        Course.read,
        lambda course: course.send(requests.get_organization(), 200, {"id": "other", "name": "Other"}, key=STRANGER),
        lambda course: course.send(
            requests.update_organization({}), 200, {"id": "other", "name": "Other"}, key=STRANGER
        ),
    ),
    "unreadable": (lambda course: course.send(requests.get_organization(), 200, []), Course.read),
}
"""Courses of a service that keeps the interface, or that others explain."""


@pytest.mark.parametrize("name", PERMITTED)
def test_permitted_courses_break_nothing(name: str) -> None:
    """No rule is broken if the requests, in some order, or others explain what is seen."""
    course = Course()
    course.read()
    course.read(key=READER)
    for step in PERMITTED[name]:
        step(course)

    assert course.findings() == []


FORMER_NAME = (
    update(name="cf-one"),
    Course.read,
    update(name="cf-two"),
    Course.read,
    changed(name="cf-one"),
    Course.read,
)
"""A course in which the organization gets its former name without a request."""
TAKES, TEXT, ONLY = (f"update-organization-{rule}" for rule in ("takes-effect", "keeps-text", "only-name"))
REST, ANSWERS = "update-organization-keeps-the-rest", "update-organization-answers-new-name"
NOTHING = "update-organization-refused-changes-nothing"
FAULTS: dict[str, tuple[str, tuple[Step, ...]]] = {
    "not-kept": (TAKES, (update(name="cf-one", takes=False, shown={"name": "cf-one"}), Course.read)),
    "not-kept-for-a-scoped-key": (
        TAKES,
        (update(name="cf-one", takes=False, shown={"name": "cf-one"}, key=WRITER), Course.read),
    ),
    "old-for-another-key": (
        TAKES,
        (update(name="cf-one"), Course.read, changed(name="Acme"), lambda course: course.read(key=READER)),
    ),
    "former-name-of-the-run": (TAKES, (*FORMER_NAME, changed(name="cf-two"), Course.read)),
    "garbled": (TEXT, (update(name=ODD), changed(name="cf-x ss a"), Course.read)),
    "refused-and-done": (NOTHING, (update(422, name=5), changed(name="5"), Course.read)),
    "refused-and-emptied": (NOTHING, (update(422, name=""), changed(name=""), Course.read)),
    "forbidden-and-done": (
        "scope-refused-changes-nothing",
        (update(403, name="cf-one", key=READER), changed(name="cf-one"), Course.read),
    ),
    "unauthorized-and-done": (
        "unauthenticated-changes-nothing",
        (update(401, name="cf-one", key=UNKNOWN), changed(name="cf-one"), Course.read),
    ),
    "plan-changed": (REST, (update(name="cf-one"), changed(plan="free"), Course.read)),
    "created-now": (REST, (changed(createdAt="now"), Course.read)),
    "plan-taken": (ONLY, (update(name="cf-one", plan="free"), changed(plan="free"), Course.read)),
    "setting-taken-beside": (
        ONLY,
        (update(name="cf-one", ssoEnabled=True), changed(settings={"ssoEnabled": True}), Course.read),
    ),
    "count-taken": (ONLY, (update(memberCount=77), changed(memberCount=77), Course.read)),
    "id-taken": (ONLY, (update(id="mine"), changed(id="mine"), Course.read)),
    "name-changed-by-other-fields": (ONLY, (update(plan="free"), changed(name="free"), Course.read)),
    "name-lost-beside-others": (ONLY, (update(name="cf-one", plan="free", takes=False), Course.read)),
    "old-name-in-response": (ANSWERS, (update(name="cf-one", shown={"name": "Acme"}), Course.read)),
    "garbled-in-response": (ANSWERS, (update(name=ODD, shown={"name": "cf-x"}), Course.read)),
    "other-slug-in-response": (ANSWERS, (update(name="cf-one", shown={"slug": "acme-2"}), Course.read)),
    "sent-slug-in-response": (ONLY, (update(slug="mine", shown={"slug": "mine"}), Course.read)),
    "not-kept-in-another-organization": (
        TAKES,
        (
            lambda course: course.send(requests.get_organization(), 200, {"id": "o", "name": "Other"}, key=STRANGER),
            lambda course: course.send(requests.update_organization({"name": "cf-one"}), 200, {}, key=STRANGER),
            lambda course: course.send(requests.get_organization(), 200, {"id": "o", "name": "Other"}, key=STRANGER),
        ),
    ),
    "another-organization": ("key-stays-with-organization", (changed(id="other"), Course.read)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_breaks_its_own_rule(name: str) -> None:
    """A response that no request explains breaks one requirement; other users may be the cause of most."""
    rule, steps = FAULTS[name]
    course = Course()
    course.read()
    course.read(key=READER)
    for step in steps:
        step(course)

    assert course.broken() == [rule]
    assert all(finding.unconfirmed for finding in course.findings()) == (
        rule in OF_UPDATES and name not in {"id-taken", "former-name-of-the-run"}
    )


def test_others_may_restore_a_former_name() -> None:
    """A former name that stays until the next renaming is requested again before it counts."""
    course = Course()
    for step in (Course.read, *FORMER_NAME, update(name="cf-three"), Course.read):
        step(course)

    assert [finding.unconfirmed for finding in course.findings()] == [True]


def test_evidence_of_a_right_course() -> None:
    """A right course supports the rules that it could have broken."""
    course = Course()
    for step in (Course.read, *PERMITTED["renamed"], *PERMITTED["refused"], *PERMITTED["other-fields-ignored"]):
        step(course)

    assert course.kept() >= {
        TAKES,
        TEXT,
        ONLY,
        REST,
        ANSWERS,
        NOTHING,
        "key-stays-with-organization",
        "scope-refused-changes-nothing",
        "unauthenticated-changes-nothing",
    }
