"""Laws of responses to changes: fields that repeat the request, and exceptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from conformance.oracle.laws import echoes as echo_laws
from conformance.oracle.outcomes import CantTell
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import broken

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
        echo_laws.archiving_repeats_id,
        "archiveEngagement",
        None,
        {"id": "eng_1"},
    ),
    "the status of an archive": (
        echo_laws.archiving_states_archived,
        "archiveEngagement",
        None,
        {"status": "archived"},
    ),
    "a role change": (
        echo_laws.role_change_repeats_role,
        "updateMemberRole",
        {"role": "admin"},
        {"id": "eng_1", "role": "admin"},
    ),
    "a removal": (
        echo_laws.removal_repeats_id,
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
    """Return a change with this object and this response."""
    return make_exchange(operation, status, {"data": response}, sent=... if sent is None else sent, number=number)


@EVERY
def test_a_response_that_repeats_the_request(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The law applies and holds."""
    assert law(change(operation, sent, response)) is True


@EVERY
def test_a_response_with_another_value(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """Each wrong field alone breaks the law, and the failure names it."""
    for name, value in response.items():
        other = (not value) if isinstance(value, bool) else f"{value}x"
        made = change(operation, sent, {**response, name: other})

        said, _, _, pointer = broken(law, made)
        assert said.startswith(f"{name} is not ")
        assert pointer == f"/data/{name}"


@EVERY
def test_an_absent_field_or_one_of_another_type(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """Other laws judge the presence and type of fields."""
    assert law(change(operation, sent, dict.fromkeys(response, 7))) is False
    assert law(change(operation, sent, {})) is False
    assert law(change(operation, sent, [])) is False


@EVERY
def test_a_refusal(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The law does not apply to a refusal."""
    assert law(change(operation, sent, dict.fromkeys(response, "other"), status=409)) is False


@EVERY
def test_another_operation(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The law does not apply to other operations, with or without an identifier."""
    made = change("getEngagement", sent, dict.fromkeys(response, "other"))
    assert law(made) is False
    assert law(replace(made, request=replace(made.request, identifier=None))) is False


@EVERY
def test_a_request_outside_the_interface(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The law does not apply to another method or path."""
    made = change(operation, sent, dict.fromkeys(response, "other"))
    assert law(replace(made, request=replace(made.request, probe=("PUT", "/elsewhere")))) is False


@pytest.mark.parametrize(
    ("law", "operation", "sent", "response"),
    [
        # A service may normalize or refuse a text that is not ordinary.
        (echo_laws.renaming_repeats_name, "updateCurrentOrganization", {"name": "A  B"}, {"name": "A B"}),
        (echo_laws.creation_repeats_texts, "createEngagement", {"name": " Review "}, {"name": "Review"}),
        (echo_laws.creation_repeats_texts, "createEngagement", {"name": "R" * 300}, {"name": "R" * 255}),
        (echo_laws.creation_is_active, "createEngagement", {"name": "A", "status": "archived"}, {"status": "archived"}),
        # The letter case of roles and other accepted values are open.
        (echo_laws.role_change_repeats_role, "updateMemberRole", {"role": "ADMIN"}, {"role": "admin"}),
        (echo_laws.role_change_repeats_role, "updateMemberRole", {}, {"role": "admin"}),
        (echo_laws.invitation_repeats, "inviteMember", {"email": INVITED["email"]}, {"role": "member"}),
        (echo_laws.invitation_repeats, "inviteMember", {**INVITED, "email": "Me <me@a.org>"}, {"email": "me@a.org"}),
        (echo_laws.invitation_repeats, "inviteMember", {**INVITED, "email": ["a@b.org"]}, {"email": "a@b.org"}),
    ],
)
def test_a_request_whose_response_is_open(law: Law, operation: str, sent: Sent, response: dict[str, Any]) -> None:
    """The law does not apply to requests whose response is open."""
    assert law(change(operation, sent, response)) is False


def test_a_creation_with_both_texts_is_active() -> None:
    """A description does not affect the status."""
    made = change("createEngagement", {"name": "A", "description": "B"}, {"status": "archived"})
    assert broken(echo_laws.creation_is_active, made)[3] == "/data/status"


def test_an_address_in_other_letter_case() -> None:
    """The letter case of the address in the response is open."""
    assert echo_laws.invitation_repeats(change("inviteMember", INVITED, {"email": "some.one@EXAMPLE.ORG"})) is True


def lasting(created: object, expires: object) -> Exchange:
    """Return an invitation with these times."""
    return change("inviteMember", INVITED, {"createdAt": created, "expiresAt": expires})


@pytest.mark.parametrize(
    "expires", ["2026-01-09T03:04:05.678Z", "2026-01-09T03:04:06.678Z", "2026-01-09T03:04:04.678Z"]
)
def test_an_invitation_of_seven_days(expires: str) -> None:
    """Seven days are permitted, give or take a second."""
    assert echo_laws.invitation_expires_in_seven_days(lasting("2026-01-02T03:04:05.678Z", expires)) is True


@pytest.mark.parametrize(
    "expires", ["2026-01-09T03:04:06.679Z", "2026-01-09T03:04:04.677Z", "2026-01-02T03:04:05.678Z"]
)
def test_an_invitation_of_another_length(expires: str) -> None:
    """More than a second away from seven days is wrong."""
    made = lasting("2026-01-02T03:04:05.678Z", expires)

    said, expected, actual, pointer = broken(echo_laws.invitation_expires_in_seven_days, made)
    assert said == "the invitation does not expire seven days after its creation"
    assert (expected, pointer) == ("createdAt plus 7 days, within a second", "/data/expiresAt")
    assert actual.startswith("createdAt plus ")


@pytest.mark.parametrize(("created", "expires"), [(None, "2026-01-09T03:04:05.678Z"), ("2026-01-09T03:04:05.678Z", 7)])
def test_an_invitation_without_its_times(created: object, expires: object) -> None:
    """Other laws judge the presence of fields."""
    assert echo_laws.invitation_expires_in_seven_days(lasting(created, expires)) is False


def test_an_invitation_with_unreadable_times() -> None:
    """Times in another format are undecided."""
    right = "2026-01-02T03:04:05.678Z"
    for made in (lasting("today", right), lasting(right, "next week")):
        with pytest.raises(CantTell) as raised:
            echo_laws.invitation_expires_in_seven_days(made)
        assert raised.value.exchanges == (made,)


# --- open responses


def in_turn(*exchanges: Exchange) -> list[Exchange]:
    """Return the exchanges, numbered, a second after each other."""
    return [
        replace(exchange, number=number, started_at=exchange.started_at + timedelta(seconds=number))
        for number, exchange in enumerate(exchanges, 1)
    ]


ARCHIVE = change("archiveEngagement", None, {})
INVITATION = change("inviteMember", INVITED, {})


def test_changes_in_turn() -> None:
    """Consecutive changes of one engagement are all judged."""
    edit = change("updateEngagement", {"name": "A"}, {})
    assert echo_laws.open_responses(in_turn(edit, ARCHIVE, change("deleteEngagement", None, {}))) == frozenset()


@pytest.mark.parametrize("first", [ARCHIVE, change("unarchiveEngagement", None, {}), replace(ARCHIVE, received=None)])
def test_archiving_a_possibly_archived_engagement(first: Exchange) -> None:
    """The response to a second archive is open, even after an unarchive, which may have had no effect."""
    assert echo_laws.open_responses(in_turn(first, ARCHIVE)) == {2}


def test_archiving_after_a_refused_archive() -> None:
    """A refused archive has no effect."""
    assert echo_laws.open_responses(in_turn(change("archiveEngagement", None, {}, status=403), ARCHIVE)) == frozenset()


def test_archiving_another_engagement() -> None:
    """The archive of one engagement does not affect another."""
    other = replace(ARCHIVE, request=replace(ARCHIVE.request, identifier="eng_2"))
    assert echo_laws.open_responses(in_turn(ARCHIVE, other)) == frozenset()


def test_overlapping_changes() -> None:
    """A response may show the effect of an overlapping request."""
    first, second = change("updateMemberRole", {"role": "admin"}, {}), change("removeMember", None, {})
    refused = change("updateMemberRole", {"role": "owner"}, {}, status=403)
    at_once = [replace(first, number=1), replace(second, number=2), replace(refused, number=3)]

    assert echo_laws.open_responses(at_once) == {1, 2}


def test_overlapping_renamings() -> None:
    """Renamings of the organization overlap too, although their path has no identifier."""
    renaming = change("updateCurrentOrganization", {"name": "Quarterly review"}, {})
    renaming = replace(renaming, request=replace(renaming.request, identifier=None))
    assert echo_laws.open_responses([renaming, replace(renaming, number=2)]) == {1, 2}
    assert echo_laws.open_responses(in_turn(renaming, renaming)) == frozenset()


def test_reading_during_a_change() -> None:
    """A read does not affect a change's response."""
    reading = change("getEngagement", None, {})
    assert echo_laws.open_responses([ARCHIVE, replace(reading, number=2)]) == frozenset()


def test_overlapping_creations() -> None:
    """Creations concern different engagements."""
    creation = change("createEngagement", {"name": "A"}, {})
    without = replace(creation, request=replace(creation.request, identifier=None))
    assert echo_laws.open_responses([without, replace(without, number=2)]) == frozenset()


def test_inviting_again() -> None:
    """A second invitation of an address is open, in any letter case."""
    again = change("inviteMember", {**INVITED, "email": INVITED["email"].upper()}, {})
    assert echo_laws.open_responses(in_turn(INVITATION, again)) == {2}


def test_inviting_after_a_refusal() -> None:
    """A refused invitation has no effect."""
    assert echo_laws.open_responses(in_turn(change("inviteMember", INVITED, {}, status=403), INVITATION)) == frozenset()


def test_inviting_a_member() -> None:
    """An invitation of a member's address is open."""
    members = make_exchange("listMembers", 200, {"data": [{"email": "some.one@example.org"}, {"email": 7}], "meta": {}})
    assert echo_laws.open_responses(in_turn(members, INVITATION)) == {2}


def test_inviting_without_a_readable_address() -> None:
    """An invitation without a text as its address need not repeat it."""
    assert echo_laws.open_responses(in_turn(change("inviteMember", {"email": 7}, {}))) == {1}
