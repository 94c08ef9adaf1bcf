from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.capabilities import MissingMeans
from conformance.targets.membership import Membership
from conformance.wire import requests
from conformance.wire.exchange import NotSent
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.requests import Request

INVALID = Credential("unknown_key", "Bearer nonsense", invalid=True)
WRITES: list[Callable[[str], Request]] = [
    lambda user_id: requests.update_member_role(user_id, {"role": "admin"}),
    requests.remove_member,
    lambda user_id: requests.remove_member(user_id).with_key(INVALID),
]


@pytest.fixture
def membership(service: Any) -> Membership:
    """The guard of an organization with an owner, two admins and a member."""
    service.roles = {"u_owner": "owner", "u_a": "admin", "u_b": "admin", "u_1": "member"}
    guard = Membership(service.send_all, may_try_owner=True)
    service.observers.append(guard)
    return guard


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("user_id", ["u_1", "u_a"])
def test_members_of_others_are_not_touched(
    membership: Membership, user_id: str, write: Callable[[str], Request]
) -> None:
    """A member that is not the run's is neither changed nor removed."""
    with pytest.raises(NotSent, match="not given to the run"):
        membership.ensure([write("u_nobody"), write(user_id)])


@pytest.mark.parametrize("write", WRITES)
def test_a_member_of_the_run_is_changed(membership: Membership, write: Callable[[str], Request]) -> None:
    """A member of the target file, and a created one, may be changed."""
    membership.admit_listed("member", "u_1")
    membership.admit_made("member", "u_9", membership.known("member"), "")

    membership.ensure([write("u_1"), write("u_9")])


@pytest.mark.parametrize("write", WRITES)
def test_a_made_up_user_id_is_verified(membership: Membership, service: Any, write: Callable[[str], Request]) -> None:
    """A made-up id must not be in the list, which is read once."""
    for _ in range(3):
        membership.ensure([write("u_nobody")])

    assert [request.operation.id for request in service.requests] == ["listMembers"]


@pytest.mark.parametrize("write", WRITES)
def test_without_the_list_no_member_is_changed(
    membership: Membership, service: Any, write: Callable[[str], Request]
) -> None:
    """Without the list no made-up id is allowed."""
    service.overrides["listMembers"] = 500

    with pytest.raises(NotSent, match="could not be listed"):
        membership.ensure([write("u_nobody")])


def test_an_owners_role_is_only_tried(membership: Membership, service: Any) -> None:
    """Only in a disposable organization; an owner is never removed."""
    membership.ensure([requests.update_member_role("u_owner", {"role": "admin"})])

    with pytest.raises(NotSent, match="an owner"):
        membership.ensure([requests.remove_member("u_owner")])
    with pytest.raises(NotSent, match="not given to the run"):
        Membership(service.send_all).ensure([requests.update_member_role("u_owner", {"role": "admin"})])


def test_the_role_of_a_demoted_owner_may_be_restored(membership: Membership, service: Any) -> None:
    """A faulty service may have changed the owner's role, which is restored."""
    service.send(requests.list_members())
    service.roles["u_owner"] = "admin"
    service.send(requests.list_members())

    membership.ensure([requests.update_member_role("u_owner", {"role": "owner"})])


def test_a_made_member_whom_a_fault_made_an_owner_gets_another_role(membership: Membership, service: Any) -> None:
    """A member that became an owner is not removed."""
    membership.admit_made("member", "u_9", membership.known("member"), "")
    service.roles["u_9"] = "owner"
    service.send(requests.list_members())

    membership.ensure([requests.update_member_role("u_9", {"role": "member"})])
    with pytest.raises(NotSent, match="an owner"):
        membership.ensure([requests.remove_member("u_9")])


def test_a_member_promoted_to_owner_is_not_changed(membership: Membership, service: Any) -> None:
    """Only an original owner's role is tried."""
    service.send(requests.list_members())
    service.roles["u_a"] = "owner"
    service.send(requests.list_members())

    with pytest.raises(NotSent, match="not given to the run"):
        membership.ensure([requests.update_member_role("u_a", {"role": "member"})])


def test_a_member_that_was_there_is_not_new(membership: Membership) -> None:
    """This includes a member of the run."""
    membership.admit_made("member", "u_9", membership.known("member"), "")

    with pytest.raises(MissingMeans, match="who was a member before"):
        membership.admit_made("member", "u_a", membership.known("member"), "")


@pytest.mark.parametrize(("user_id", "reason"), [("u_owner", "an owner"), ("u_x", "has no member u_x")])
def test_members_of_the_target_file_are_verified(membership: Membership, user_id: str, reason: str) -> None:
    """An owner or an unknown user is refused."""
    with pytest.raises(MissingMeans, match=reason):
        membership.admit_listed("member", user_id)


def test_the_only_admin_is_left_alone(membership: Membership, service: Any) -> None:
    """The only admin is refused."""
    membership.admit_listed("member", "u_a")
    del service.roles["u_b"]
    alone = Membership(service.send_all)
    service.observers.append(alone)

    with pytest.raises(MissingMeans, match="the only admin"):
        alone.admit_listed("member", "u_a")


def test_others_are_let_pass(membership: Membership, service: Any) -> None:
    """Reads, invitations and probes are not verified."""
    membership.ensure([requests.list_members(), requests.invite_member({"email": "a@x", "role": "member"})])
    membership.ensure([requests.remove_member("u_owner").as_probe("OPTIONS", "/x")])

    assert service.requests == []


SPELLINGS = {"u_1": ["U_1", "u-1", "\uff55_1"], "7": ["07"], "6F9619FF-8B86": ["6f9619ff-8b86", "{6F9619FF8B86}"]}


@pytest.mark.parametrize(("listed", "named"), [(listed, named) for listed in SPELLINGS for named in SPELLINGS[listed]])
def test_a_member_in_another_spelling_is_left_alone(service: Any, listed: str, named: str) -> None:
    """A service that ignores letter case or punctuation in ids would change a member that is not the run's."""
    service.roles = {"owner": "owner", listed: "member"}
    membership = Membership(service.send_all)

    with pytest.raises(MissingMeans, match="is spelled almost as that of an earlier one"):
        membership.admit_made("member", named, membership.known("member"), "")
    for request in (requests.remove_member(named), requests.update_member_role(named, {"role": "admin"})):
        with pytest.raises(NotSent, match="another spelling"):
            membership.ensure([request])


@pytest.mark.parametrize("write", WRITES)
def test_another_person_with_the_id_of_a_member_of_the_run_is_not_touched(
    membership: Membership, service: Any, write: Callable[[str], Request]
) -> None:
    """Once a list shows another person under the id of a given member, no write is sent to the id."""
    membership.admit_made("member", "u_9", membership.known("member"), "")
    for person in (("2026-01-01T00:00:00.000Z", "made@example.com"), ("2026-01-01T00:05:00.000Z", "real@example.org")):
        membership.ensure([write("u_9")])
        service.roles["u_9"], service.people["u_9"] = "member", dict(zip(("joinedAt", "email"), person, strict=True))
        service.send(requests.list_members())

    with pytest.raises(NotSent, match="another person"):
        membership.ensure([write("u_9")])


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("listed", "is_given"), [("Made@Example.com", True), (None, True), ("real@example.org", False)]
)
def test_a_member_whose_address_is_not_that_of_the_provisioner_is_not_touched(
    service: Any, membership: Membership, write: Callable[[str], Request], listed: str | None, *, is_given: bool
) -> None:
    """A provisioner may name a user who joined at the same time; the list, read before the first write, shows that."""
    membership.admit_made("member", "u_9", membership.known("member"), "made@example.com")
    service.roles["u_9"], service.people["u_9"] = "member", {} if listed is None else {"email": listed}

    with nullcontext() if is_given else pytest.raises(NotSent, match="another person"):
        membership.ensure([write("u_9")])
    with nullcontext() if is_given else pytest.raises(NotSent, match="another person"):
        membership.ensure([write("u_9")])

    assert [request.operation.id for request in service.requests] == ["listMembers"] * 2
