"""Section 4, POST /api/v1/engagements: the new engagement exists, as it was sent, and is a separate one."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response, reads, shape
from conformance.oracle.outcomes import CantTell, Inapplicable
from conformance.scenarios.basics import FIELDS, expect_not_honoured, require_status
from conformance.scenarios.engagements.creating import creating, own_values_at_creation
from conformance.scenarios.lists.finding import expect_listed
from conformance.scenarios.text_rules import ensure_no_rule_for_engagements, ensure_no_rule_for_texts

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.engagements.creating import Creating, Creation


@requirement("create-engagement-succeeds")
def test_creating_succeeds(run: Run, creating: Creating) -> None:
    """A creation with a name, and one with a name and a description, succeed."""
    if creating.bare.response.refused_as_invalid:
        ensure_no_rule_for_engagements(run, creating.bare.sent["name"])
    for creation in creating.proper:
        ensure_no_rule_for_texts(run, creation.response)
        expect.success(creation.response)


@requirement("create-engagement-lasts")
def test_created_engagement_lasts(creating: Creating) -> None:
    """A created engagement can be read, and the read equals the response to its creation."""
    for creation in creating.proper:
        responded, after = read.data(creation.response), creation.after()
        if after.status == HTTPStatus.NOT_FOUND and responded["id"] in creating.found.ids:
            raise CantTell("the engagement is in the list, but cannot be read", after)
        expect.found(after, "the created engagement")
        now, exchanges = read.data(after), (creation.response, after)
        if now.get("id") != responded["id"]:
            raise CantTell("the read gave another engagement", after)

        alike = [
            field
            for field in FIELDS
            if all(read.is_field(field, engagement.get(field)) for engagement in (responded, now))
        ]
        alike = [field for field in alike if responded.get(field) == creation.sent.get(field, responded.get(field))]
        expect.unchanged("the created engagement", responded, now, alike, *exchanges)
        if len(alike) < len(FIELDS):
            raise CantTell("the response to the creation, or the read, lacks fields or has wrong ones", *exchanges)


@requirement("create-engagement-listed")
def test_created_engagement_is_listed(creating: Creating) -> None:
    """A created engagement is in the list."""
    for creation in creating.proper:
        read.success(creation.after())

    expect_listed("a created engagement", creating.found)


@requirement("create-engagement-own-values")
def test_own_values_are_not_honoured_at_creation(creating: Creating, own_values_at_creation: list[Creation]) -> None:
    """Identifier, status and times that are sent with a creation are ignored or refused."""
    require_status(creating.bare.after(), "active")

    for creation in own_values_at_creation:
        expect.status(creation.response, lambda status: status // 100 in {2, 4}, "any 2xx, or a refusal")
        if creation.response.succeeded:
            expect_not_honoured(creation.sent, creation.response)
            expect_not_honoured(creation.sent, creation.after())


@requirement("create-engagement-duplicate-name")
def test_duplicate_name_is_accepted_or_a_conflict(creating: Creating) -> None:
    """A second engagement with the same name is separate, or refused with 409."""
    first, second = read.success(creating.bare.response), creating.namesake

    expect.success_or_conflict(second)
    if second.succeeded:
        ids = [read.identifier(exchange) for exchange in (first, second)]
        expect.distinct_ids("two engagements with the same name", ids, first, second)


@requirement("create-engagement-duplicate-name")
def test_refused_duplicate_is_not_created(creating: Creating) -> None:
    """If a second engagement with the same name is refused, only one has that name."""
    if creating.namesake.status != HTTPStatus.CONFLICT:
        raise Inapplicable("a used name was not refused")
    first = read.identifier(creating.bare.response)
    pages = [page for scan in creating.found.reads for page in scan.pages]

    others = [
        item.get("id")
        for page in pages
        for item in read.items(page)
        if item.get("name") == creating.bare.sent["name"] and item.get("id") != first
    ]
    expect.holds(
        not others,
        "a used name was refused, but the engagement was created",
        creating.namesake,
        *pages,
        expected="one engagement with that name",
        actual=f"{1 + len(set(map(str, others)))} engagements",
        pointer="/data",
    )


def _identifier(seen: Creating) -> Described:
    response = seen.bare.response
    return shape(read.identifier(response)), response


def _description_never_given(seen: Creating) -> Described:
    response, after = seen.bare.response, seen.bare.after()
    stated, later = (reads(read.data(exchange), "description") for exchange in (response, after))
    words = stated if stated == later else f"{stated} in the response to the creation, {later} when read"
    return words, response, after


def _own_values(creation: Creation) -> Described:
    fields = ", ".join(name for name in creation.sent if name != "name")
    return f"{fields}: {describe_response(creation.response)}", creation.response


OBSERVATIONS: Final = (
    observing("create-status", creating, lambda seen: seen.bare.response),
    observing("identifier-shapes", creating, _identifier),
    observing("never-given-description", creating, _description_never_given),
    observing("duplicate-name", creating, lambda seen: seen.namesake),
    observing("fields-of-the-service", own_values_at_creation, lambda seen: list(map(_own_values, seen))),
)
