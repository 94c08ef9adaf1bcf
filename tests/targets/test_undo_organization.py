from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.journal import Journal
from conformance.targets.pending import UndoResult
from conformance.targets.recorder import JournalRecorder
from conformance.wire import requests
from conformance.wire.exchange import NotSent
from tests.fakes.service import PREFIX
from tests.fakes.undoing import undone

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_organizations_name_is_restored(running: Any, clean: Callable[..., UndoResult]) -> None:
    """The first name is restored after several renamings."""
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.send(requests.update_organization({"name": f"{PREFIX}c"}))

    assert clean().left == []
    assert running.name == "Acme"


def test_a_renaming_without_a_response_is_verified(running: Any, clean: Callable[..., UndoResult]) -> None:
    """The name is right even after a lost response."""
    running.lost.add("updateCurrentOrganization")
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))

    clean()

    assert running.name == "Acme"


def test_a_renaming_refused_and_carried_out_is_mended(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A refused renaming that was carried out is undone."""
    running.overrides["updateCurrentOrganization"] = 400
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.overrides.clear()
    running.name = f"{PREFIX}b"

    assert clean().left == []
    assert running.name == "Acme"


def test_a_renaming_refused_indeed_needs_no_write(running: Any, clean: Callable[..., UndoResult]) -> None:
    """If the name is unchanged nothing is written, and the next time nothing is sent."""
    running.overrides["updateCurrentOrganization"] = 400
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.overrides.clear()

    assert (clean().left, running.writes) == ([], [])
    running.requests.clear()
    clean()
    assert running.requests == []


def test_an_unknown_earlier_name_is_reported(service: Any, journal: Journal, clean: Callable[..., UndoResult]) -> None:
    """Without an earlier read the name cannot be restored."""
    service.observers.append(JournalRecorder(journal))
    service.send(requests.update_organization({"name": "B"}))

    assert clean().left == ["The organization may have been renamed, and its name before is not known."]


def test_a_refused_name_is_reported(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A name that the service refuses is reported."""
    running.send(requests.update_organization({"name": "B"}))
    running.overrides["updateCurrentOrganization"] = 500

    assert clean().left == ['The organization could not be named "Acme" again: status 500.']


def test_a_name_that_the_service_changes_is_reported(
    running: Any, journal: Journal, clean: Callable[..., UndoResult]
) -> None:
    """A success with another name does not count as restored."""
    running.name = "Acme  Lab"
    running.observers[:] = [JournalRecorder(journal)]
    running.send(requests.get_organization())
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.merges = True
    running.send(requests.update_organization({"name": "Acme  Lab"}))

    expected = 'The organization was to become "Acme  Lab", but became "Acme Lab".'
    assert clean().left == [expected]


def test_roles_are_given_back(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A changed role is restored."""
    running.send(requests.update_member_role("u_1", {"role": "admin"}))

    assert clean().left == []
    assert running.roles == {"u_owner": "owner", "u_1": "member"}


def test_a_role_of_no_member_is_settled(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A lost change for a user who is no member is settled."""
    running.lost.add("updateMemberRole")
    running.send(requests.update_member_role("u_nobody", {"role": "admin"}))

    assert clean().left == []
    assert running.writes == []


def test_an_unknown_earlier_role_is_reported(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Without an earlier list the role cannot be restored."""
    running.lost.add("updateMemberRole")
    running.send(requests.update_member_role("u_late", {"role": "admin"}))
    running.roles["u_late"] = "admin"

    assert clean().left == ["The role of u_late may have been changed, and the interface cannot make it None again."]


def test_a_demoted_owner_is_reported(running: Any, clean: Callable[..., UndoResult]) -> None:
    """The owner's role cannot be restored through the interface."""
    running.send(requests.update_member_role("u_owner", {"role": "member"}))

    assert clean().left == ["The role of u_owner may have been changed, and the interface cannot make it owner again."]
    assert running.writes == []


def test_an_unchanged_owner_is_settled(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A lost change without an effect is settled silently."""
    running.overrides["updateMemberRole"] = None
    running.send(requests.update_member_role("u_owner", {"role": "member"}))

    assert (clean().left, running.writes) == ([], [])


def test_a_role_that_another_user_gave_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A role that the run did not request is left unchanged."""
    running.send(requests.update_member_role("u_1", {"role": "admin"}))
    running.roles["u_1"] = "auditor"

    assert clean().left == ["The role of u_1 is auditor, which the run did not request; it was left unchanged."]
    assert running.writes == []


@pytest.mark.parametrize("given", ["Renamed meanwhile", f"{PREFIX}another", f"{PREFIX}b & Sons"])
def test_a_name_that_another_user_gave_is_left_alone(
    running: Any, clean: Callable[..., UndoResult], given: str
) -> None:
    """A name that the run did not set is not overwritten, even if it begins with the run's prefix."""
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.name = given

    assert clean().left == [f'The organization is named "{given}", but not by the run; its name before was "Acme".']
    assert running.writes == []


def test_a_name_that_is_longer_than_the_journal_records_is_restored(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """The journal has the beginning of a long name, which shows that it is the run's."""
    running.send(requests.update_organization({"name": f"{PREFIX}b {'long ' * 60}end"}))

    assert (clean().left, running.name) == ([], "Acme")


def test_a_name_that_another_user_gave_is_not_the_runs_after_undoing(running: Any, journal: Journal) -> None:
    """The reads after undoing do not make it a name of the run, which a later cleanup would overwrite."""
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.name = "Renamed meanwhile"

    undone(running, journal)
    running.send(requests.get_organization())

    assert [entry.became for entry in journal.pending()] == [None]


def test_a_name_that_the_service_trimmed_is_the_runs(running: Any, clean: Callable[..., UndoResult]) -> None:
    """The name right after a renaming is undone like the sent one."""
    running.merges = True
    running.send(requests.update_organization({"name": " two  blanks "}))

    assert (clean().left, running.name) == ([], "Acme")


def test_a_created_member_promoted_to_owner_stays(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """An owner is never removed."""
    running.roles["u_9"] = "owner"
    journal.member_made("u_9", "member", "")

    assert clean().left == ["The member u_9 was not removed: it would remove an owner."]
    assert running.writes == []


def test_members_of_the_run_are_removed(running: Any, clean: Callable[..., UndoResult], journal: Journal) -> None:
    """A created member is removed without restoring its role."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member", "")
    running.send(requests.update_member_role("u_9", {"role": "admin"}))

    assert clean().left == []
    assert running.roles == {"u_owner": "owner", "u_1": "member"}
    assert running.writes == ["DELETE /api/v1/organizations/current/members/u_9"]


def test_a_member_that_cannot_be_removed_is_reported(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """A member that cannot be removed is reported."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member", "")
    running.overrides["removeMember"] = 500

    assert clean().left == ["The member u_9 could not be removed: status 500."]


FIRST = {"joinedAt": "2026-01-01T00:00:00.000Z", "email": "made@example.com"}
LATER = {"joinedAt": "2026-01-01T00:05:00.000Z", "email": "real@example.org"}


def test_another_person_with_the_id_of_a_made_member_stays(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """A person who gets the id of a member of the run is neither removed nor demoted."""
    running.roles["u_9"], running.people["u_9"] = "member", FIRST
    journal.member_made("u_9", "member", "")
    running.send(requests.list_members())
    running.send(requests.update_member_role("u_9", {"role": "admin"}))
    running.people["u_9"] = LATER

    assert clean().left == ["The member u_9 was left alone: the id is another person's by now."]
    assert (running.roles["u_9"], running.writes) == ("admin", [])


@pytest.mark.parametrize(("joined_at", "is_left"), [("2019-01-01T00:00:00.000Z", True), (None, False)])
def test_a_made_member_that_no_list_has_shown_joined_during_the_run(
    running: Any, clean: Callable[..., UndoResult], journal: Journal, joined_at: str | None, *, is_left: bool
) -> None:
    """After a kill before any list, the id may be that of a person who joined at another time."""
    journal.member_made("u_9", "member", "")
    running.roles["u_9"], running.people["u_9"] = "member", {"joinedAt": joined_at, "email": "real@example.org"}

    assert clean().left == ["The member u_9 was left alone: the id is another person's by now."] * is_left
    assert ("u_9" in running.roles) is is_left


@pytest.mark.parametrize("email", ["real@example.org", "made@example.com"])
def test_a_member_with_another_address_than_the_provisioner_returned_stays(
    running: Any, clean: Callable[..., UndoResult], journal: Journal, email: str
) -> None:
    """The user may have joined at the same time as the run's member, whose id the provisioner confused."""
    journal.member_made("u_9", "member", "Made@example.com")
    running.roles["u_9"], running.people["u_9"] = "member", LATER | {"email": email}
    running.send(requests.list_members())
    is_left = email != "made@example.com"

    assert clean().left == ["The member u_9 was left alone: the id is another person's by now."] * is_left
    assert ("u_9" in running.roles) is is_left


@pytest.mark.parametrize("changed", [{"joinedAt": LATER["joinedAt"]}, {"email": LATER["email"]}, {"joinedAt": None}])
def test_a_made_member_is_removed_although_one_text_changed(
    running: Any, clean: Callable[..., UndoResult], journal: Journal, changed: dict[str, object]
) -> None:
    """A service may show another join time or another form of the address of the same member."""
    running.roles["u_9"], running.people["u_9"] = "member", FIRST
    journal.member_made("u_9", "member", "")
    running.send(requests.list_members())
    running.people["u_9"] = FIRST | changed

    assert clean().left == []
    assert "u_9" not in running.roles


FIELDS = {"slug": "acme", "plan": "team", "settings": {"requireTwoFactor": True, "ssoEnabled": False}}
CLAIMS = {"slug": f"{PREFIX}slug", "plan": "team", "settings": {"requireTwoFactor": False, "ssoEnabled": True}}


def test_fields_that_a_faulty_service_stored_are_restored(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An update with the slug and settings that a service carries out is undone."""
    running.fields = dict(FIELDS)
    running.send(requests.get_organization())
    running.send(requests.update_organization({"name": f"{PREFIX}b", **CLAIMS}))
    assert running.fields == CLAIMS

    assert clean().left == []
    assert (running.name, running.fields) == ("Acme", FIELDS)
    running.requests.clear()
    clean()
    assert running.requests == []


def test_fields_that_cannot_be_restored_are_reported(running: Any, clean: Callable[..., UndoResult]) -> None:
    """The report names the fields that stay, and the next cleanup tries again."""
    running.fields = dict(FIELDS)
    running.send(requests.get_organization())
    running.send(requests.update_organization({"name": "Acme", **CLAIMS}))
    running.overrides["updateCurrentOrganization"] = 403

    expected = 'slug "acme", requireTwoFactor true, ssoEnabled false'
    assert clean().left == [f"Fields of the organization could not be restored; before the run they were: {expected}."]
    running.overrides.clear()
    assert (clean().left, running.fields) == ([], FIELDS)


def test_fields_that_another_user_changed_are_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A plan that the run did not send stays."""
    running.fields = dict(FIELDS)
    running.send(requests.get_organization())
    running.send(requests.update_organization({"name": "Acme", "plan": "free"}))
    running.fields["plan"] = "enterprise"

    assert (clean().left, running.writes) == ([], [])


def test_a_name_that_an_update_without_one_removed_is_restored(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A careless service may store an empty name."""
    running.send(requests.update_organization({}))
    assert running.name == ""

    assert (clean().left, running.name) == ([], "Acme")


def test_another_organization_of_the_key_is_left_alone(running: Any, journal: Journal) -> None:
    """A service may mix up organizations during the run; their names are neither changed nor restored then."""
    recorder = next(each for each in running.observers if isinstance(each, JournalRecorder))
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.id, running.founded = "org_2", "2021-01-01T00:00:00.000Z"
    running.send(requests.get_organization())
    running.writes.clear()

    with pytest.raises(NotSent, match="another organization"):
        recorder.ensure_harmless([requests.update_organization({"name": f"{PREFIX}c"})])
    assert undone(running, journal).left == [
        'The organization could not be named "Acme" again: the key shows another one.'
    ]
    assert running.writes == []


def test_a_changed_id_alone_is_a_fault(running: Any, journal: Journal) -> None:
    """A service that changes the id with the name still gets its name back."""
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.id = "org_2"

    assert undone(running, journal).left == []
    assert running.name == "Acme"
