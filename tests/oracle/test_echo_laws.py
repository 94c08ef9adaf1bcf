"""What the answer to a change repeats of the request, and where it need not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from conformance.oracle import echo_laws
from conformance.oracle.outcomes import CantTell
from conformance.wire.exchange import Exchange
from conformance.wire.requests import JSON_HEADERS
from tests.conftest import make_exchange
from tests.oracle.pages import broken

Law = Callable[[Exchange], bool]

INVITED = {"email": "Some.One@example.org", "role": "admin"}

RIGHT: dict[str, tuple[Law, str, dict[str, Any] | None, dict[str, Any]]] = {
    "a renaming": (
        echo_laws.renaming_repeats_name,
        "updateCurrentOrganization",
        {"name": "Quarterly review"},
        {"name": "Quarterly review"},
    ),
    "the texts of a creation": (
        echo_laws.creation_repeats_texts,
        "createEngagement",
        {"name": "Quarterly review", "description": "0"},
        {"name": "Quarterly review", "description": "0"},
    ),
    "the status of a creation": (
        echo_laws.creation_is_active,
        "createEngagement",
        {"name": "Quarterly review"},
        {"status": "active"},
    ),
    "the identifier of an archive": (
        echo_laws.archiving_names_its_engagement,
        "archiveEngagement",
        None,
        {"id": "eng_1"},
    ),
    "the status of an archive": (
        echo_laws.archiving_tells_archived,
        "archiveEngagement",
        None,
        {"status": "archived"},
    ),
    "a role change": (
        echo_laws.role_change_repeats,
        "updateMemberRole",
        {"role": "admin"},
        {"id": "eng_1", "role": "admin"},
    ),
    "a removal": (
        echo_laws.removal_tells_who_was_removed,
        "removeMember",
        None,
        {"removed": True, "userId": "eng_1"},
    ),
    "an invitation": (echo_laws.invitation_repeats, "inviteMember", INVITED, {**INVITED}),
    "the status of an invitation": (echo_laws.invitation_is_pending, "inviteMember", INVITED, {"status": "pending"}),
}
EVERY = pytest.mark.parametrize(("law", "operation", "sent", "response"), RIGHT.values(), ids=RIGHT)
Sent = dict[str, Any] | None


def change(operation: str, sent: Sent, response: object, status: int = 200, number: int = 1) -> Exchange:
    """A change that carried this object, and was answered so."""
    made = make_exchange(operation, status, {"data": response}, number=number)
    if sent is None:
        return made
    return replace(made, request=replace(made.request, body=json.dumps(sent).encode(), headers=JSON_HEADERS))


@EVERY
def test_a_response_that_repeats_what_was_asked_for(
    law: Law, operation: str, sent: Sent, response: dict[str, Any]
) -> None:
    """The law applies, and holds."""
    assert law(change(operation, sent, response)) is True


@EVERY
def test_a_response_that_says_something_else(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """Each field by itself breaks the law, and is named."""
    for name, value in response.items():
        other = (not value) if isinstance(value, bool) else f"{value}x"
        made = change(operation, sent, {**response, name: other})

        said, _, _, pointer = broken(law, made)
        assert said.startswith(f"{name} is not ")
        assert pointer == f"/data/{name}"


@EVERY
def test_a_field_that_is_not_there_or_of_another_type(
    law: Law, operation: str, sent: Sent, response: dict[str, Any]
) -> None:
    """What the fields are is for other laws to say."""
    assert law(change(operation, sent, dict.fromkeys(response, 7))) is False
    assert law(change(operation, sent, {})) is False
    assert law(change(operation, sent, [])) is False


@EVERY
def test_a_refusal(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """What was refused repeats nothing."""
    assert law(change(operation, sent, dict.fromkeys(response, "other"), status=409)) is False


@EVERY
def test_another_operation(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The answers of other operations have other laws, those without an identifier too."""
    made = change("getEngagement", sent, dict.fromkeys(response, "other"))
    assert law(made) is False
    assert law(replace(made, request=replace(made.request, identifier=None))) is False


@EVERY
def test_a_request_beside_the_interface(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """What is asked for with another method or path is another matter."""
    made = change(operation, sent, dict.fromkeys(response, "other"))
    assert law(replace(made, request=replace(made.request, probe=("PUT", "/elsewhere")))) is False


@pytest.mark.parametrize(
    ("law", "operation", "sent", "response"),
    [
        # A service may tidy up, or refuse, what is no ordinary text.
        (echo_laws.renaming_repeats_name, "updateCurrentOrganization", {"name": "A  B"}, {"name": "A B"}),
        (echo_laws.creation_repeats_texts, "createEngagement", {"name": " Review "}, {"name": "Review"}),
        (echo_laws.creation_repeats_texts, "createEngagement", {"name": "R" * 300}, {"name": "R" * 255}),
        (echo_laws.creation_is_active, "createEngagement", {"name": "A", "status": "archived"}, {"status": "archived"}),
        # The letter case of roles is open, and what else is taken for one.
        (echo_laws.role_change_repeats, "updateMemberRole", {"role": "ADMIN"}, {"role": "admin"}),
        (echo_laws.role_change_repeats, "updateMemberRole", {}, {"role": "admin"}),
        (echo_laws.invitation_repeats, "inviteMember", {"email": INVITED["email"]}, {"role": "member"}),
        (echo_laws.invitation_repeats, "inviteMember", {**INVITED, "email": "Me <me@a.org>"}, {"email": "me@a.org"}),
        (echo_laws.invitation_repeats, "inviteMember", {**INVITED, "email": ["a@b.org"]}, {"email": "a@b.org"}),
    ],
)
def test_a_request_whose_response_is_open(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """Nothing follows from what a service makes of such a request."""
    assert law(change(operation, sent, response)) is False


def test_a_creation_with_both_texts_is_active() -> None:
    """A description says nothing of a status."""
    made = change("createEngagement", {"name": "A", "description": "B"}, {"status": "archived"})
    assert broken(echo_laws.creation_is_active, made)[3] == "/data/status"


def test_an_address_in_other_letters() -> None:
    """The letter case in which an address reads back is open."""
    assert echo_laws.invitation_repeats(change("inviteMember", INVITED, {"email": "some.one@EXAMPLE.ORG"})) is True


def lasting(created: object, expires: object) -> Exchange:
    """An invitation that says these times."""
    return change("inviteMember", INVITED, {"createdAt": created, "expiresAt": expires})


@pytest.mark.parametrize(
    "expires", ["2026-01-09T03:04:05.678Z", "2026-01-09T03:04:06.678Z", "2026-01-09T03:04:04.678Z"]
)
def test_an_invitation_of_seven_days(expires: str) -> None:
    """Seven days, and a second more or less."""
    assert echo_laws.invitation_expires_in_seven_days(lasting("2026-01-02T03:04:05.678Z", expires)) is True


@pytest.mark.parametrize(
    "expires", ["2026-01-09T03:04:06.679Z", "2026-01-09T03:04:04.677Z", "2026-01-02T03:04:05.678Z"]
)
def test_an_invitation_of_another_length(expires: str) -> None:
    """More than a second away from seven days."""
    made = lasting("2026-01-02T03:04:05.678Z", expires)

    said, expected, actual, pointer = broken(echo_laws.invitation_expires_in_seven_days, made)
    assert said == "the invitation does not expire seven days after its creation"
    assert (expected, pointer) == ("createdAt plus 7 days, within a second", "/data/expiresAt")
    assert actual.startswith("createdAt plus ")


@pytest.mark.parametrize(("created", "expires"), [(None, "2026-01-09T03:04:05.678Z"), ("2026-01-09T03:04:05.678Z", 7)])
def test_an_invitation_without_its_times(created: object, expires: object) -> None:
    """What the fields are is for other laws to say."""
    assert echo_laws.invitation_expires_in_seven_days(lasting(created, expires)) is False


def test_an_invitation_whose_times_nobody_can_read() -> None:
    """Of another form, nothing follows from them."""
    right = "2026-01-02T03:04:05.678Z"
    for made in (lasting("today", right), lasting(right, "next week")):
        with pytest.raises(CantTell) as raised:
            echo_laws.invitation_expires_in_seven_days(made)
        assert raised.value.exchanges == (made,)


# --- whose answers are open


def in_turn(*exchanges: Exchange) -> list[Exchange]:
    """These, numbered, a second after each other."""
    return [
        replace(exchange, number=number, started_at=exchange.started_at + timedelta(seconds=number))
        for number, exchange in enumerate(exchanges, 1)
    ]


ARCHIVE = change("archiveEngagement", None, {})
INVITATION = change("inviteMember", INVITED, {})


def test_one_thing_after_another() -> None:
    """Changes of one engagement in turn, and one archive of it: all are bound."""
    edit = change("updateEngagement", {"name": "A"}, {})
    assert echo_laws.open_responses(in_turn(edit, ARCHIVE, change("deleteEngagement", None, {}))) == frozenset()


@pytest.mark.parametrize("first", [ARCHIVE, change("unarchiveEngagement", None, {}), replace(ARCHIVE, received=None)])
def test_archiving_what_may_be_archived_already(first: Exchange) -> None:
    """What an archive answers after another one is open, and after an unarchive that may have done nothing."""
    assert echo_laws.open_responses(in_turn(first, ARCHIVE)) == {2}


def test_archiving_after_a_refused_archive() -> None:
    """A refused archive has done nothing."""
    assert echo_laws.open_responses(in_turn(change("archiveEngagement", None, {}, status=403), ARCHIVE)) == frozenset()


def test_archiving_another_engagement() -> None:
    """The archive of one engagement says nothing of another one."""
    other = replace(ARCHIVE, request=replace(ARCHIVE.request, identifier="eng_2"))
    assert echo_laws.open_responses(in_turn(ARCHIVE, other)) == frozenset()


def test_changes_at_once() -> None:
    """An answer may show what another request has done meanwhile."""
    first, second = change("updateMemberRole", {"role": "admin"}, {}), change("removeMember", None, {})
    refused = change("updateMemberRole", {"role": "owner"}, {}, status=403)
    at_once = [replace(first, number=1), replace(second, number=2), replace(refused, number=3)]

    assert echo_laws.open_responses(at_once) == {1, 2}


def test_renamings_at_once() -> None:
    """An organization has no identifier in its path; two renamings of it may meet, too."""
    renaming = change("updateCurrentOrganization", {"name": "Quarterly review"}, {})
    renaming = replace(renaming, request=replace(renaming.request, identifier=None))
    assert echo_laws.open_responses([renaming, replace(renaming, number=2)]) == {1, 2}
    assert echo_laws.open_responses(in_turn(renaming, renaming)) == frozenset()


def test_reading_while_something_changes() -> None:
    """What only reads changes no answer."""
    reading = change("getEngagement", None, {})
    assert echo_laws.open_responses([ARCHIVE, replace(reading, number=2)]) == frozenset()


def test_creations_at_once() -> None:
    """Creations are of engagements of their own."""
    creation = change("createEngagement", {"name": "A"}, {})
    without = replace(creation, request=replace(creation.request, identifier=None))
    assert echo_laws.open_responses([without, replace(without, number=2)]) == frozenset()


def test_inviting_again() -> None:
    """What becomes of an address that is invited already is open, in whatever letters."""
    again = change("inviteMember", {**INVITED, "email": INVITED["email"].upper()}, {})
    assert echo_laws.open_responses(in_turn(INVITATION, again)) == {2}


def test_inviting_after_a_refusal() -> None:
    """A refused invitation has invited nobody."""
    assert echo_laws.open_responses(in_turn(change("inviteMember", INVITED, {}, status=403), INVITATION)) == frozenset()


def test_inviting_a_member() -> None:
    """What becomes of the address of a member is open."""
    members = make_exchange("listMembers", 200, {"data": [{"email": "some.one@example.org"}, {"email": 7}], "meta": {}})
    assert echo_laws.open_responses(in_turn(members, INVITATION)) == {2}


def test_inviting_what_nobody_can_read() -> None:
    """An invitation without an address that is a text repeats none."""
    assert echo_laws.open_responses(in_turn(change("inviteMember", {"email": 7}, {}))) == {1}
