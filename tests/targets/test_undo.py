from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.census import take_census
from conformance.targets.journal import Journal, JournalError
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership, RunTime
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.targets.remains import reopen_remaining
from conformance.targets.undo import UndoResult, clean_up, undo
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NoResponse
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.service import BASE_URL, MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

PREFIX = "cf-wbfc2iy2-"
NAMES = RunNames(PREFIX, "00000000000000000000000000000001")
OTHER = Credential.bearer("other_organization", "k")
FOREIGN = {"f_1": "Quarterly audit", "f_2": "cf-zzzzzz22-other run", "f_3": ""}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a run, with the origin of its prefix."""
    opened = Journal.open(tmp_path / "report", NAMES, BASE_URL, MAIN_KEY)
    yield opened
    opened.close()


@pytest.fixture
def running(service: Any, journal: Journal) -> Any:
    """The service during the run, with other users' engagements and the journal's recorder."""
    service.engagements |= FOREIGN
    service.observers.append(JournalRecorder(journal))
    service.send(requests.get_organization())
    service.send(requests.list_members())
    return service


@pytest.fixture
def clean(service: Any, journal: Journal) -> Callable[..., UndoResult]:
    """Cleans up like another process, from the file."""

    def cleaning(
        key: str = MAIN_KEY,
        base_url: str = BASE_URL,
        *,
        moved: bool = False,
        send_all: Any = None,
        credentials: Mapping[str, Credential] | None = None,
    ) -> UndoResult:
        journal.close()
        service.lost.clear()
        service.writes.clear()
        with closing(Journal.claim(journal._path.parent, key)) as claimed:
            ownership = Ownership(claimed.names, service.send_all, RunTime(claimed.period))
            membership = Membership(service.send_all)
            service.observers[:] = [ownership, membership]
            return clean_up(
                claimed, ownership, membership, QueryClient(service.send, send_all, credentials), base_url, moved=moved
            )

    return cleaning


def undone(service: Any, journal: Journal, lateness: float = 0.0) -> UndoResult:
    """Undo at the end of the run itself."""
    ownership = Ownership(journal.names, service.send_all)
    membership = Membership(service.send_all)
    service.observers += [ownership, membership]
    queries = QueryClient(service.send, service.send_all)
    return undo(journal, ownership, membership, queries, lateness=lateness)


def observing(service: Any) -> Ownership:
    """Return a guard that observes the service."""
    guard = Ownership(NAMES, service.send_all)
    service.observers.append(guard)
    return guard


def make(service: Any, *labels: str) -> None:
    """Create engagements of the run."""
    for label in labels:
        service.send(requests.create_engagement({"name": f"{PREFIX}{label}"}))


def test_only_created_engagements_are_deleted(running: Any, clean: Callable[..., UndoResult]) -> None:
    """After undoing the organization holds what it held before."""
    make(running, "a", "b")

    result = clean()

    assert running.engagements == FOREIGN
    assert (result.undone, result.left, result.lasting) == (2, [], [])
    assert running.writes == ["DELETE /api/v1/engagements/e_2", "DELETE /api/v1/engagements/e_1"]


def test_a_second_time_sends_nothing(running: Any, clean: Callable[..., UndoResult]) -> None:
    """If everything is undone, a second cleanup sends no request."""
    make(running, "a")
    clean()
    running.requests.clear()

    result = clean()

    assert running.requests == []
    assert (result.undone, result.left) == (0, [])


def test_nothing_done_is_nothing_to_undo(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Without changes no request is sent."""
    running.requests.clear()

    assert clean().left == []
    assert running.requests == []


def test_an_engagement_deleted_by_others_counts_as_undone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An engagement that another user deleted is settled."""
    make(running, "a")
    del running.engagements["e_1"]

    assert clean().left == []


def test_lost_creations_are_found_by_name(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A creation whose response was lost is found among the engagements and deleted."""
    running.lost.add("createEngagement")
    make(running, "a", "b")

    result = clean()

    assert running.engagements == FOREIGN
    assert (result.undone, result.left) == (2, [])


def test_a_creation_that_never_arrived_is_settled_by_a_list(running: Any, clean: Callable[..., UndoResult]) -> None:
    """If no engagement has the run's prefix, the lost creation was not carried out."""
    running.overrides["createEngagement"] = None
    make(running, "a")

    assert (clean().left, running.writes) == ([], [])
    running.requests.clear()
    clean()
    assert running.requests == []


def test_lost_creations_are_found_on_later_pages(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Other users may have created hundreds of engagements meanwhile."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(250)}

    assert clean().left == []
    assert f"{PREFIX}a" not in running.engagements.values()


def test_searching_is_limited(running: Any, clean: Callable[..., UndoResult]) -> None:
    """In a huge organization only ten pages of the latest are read."""
    running.overrides["createEngagement"] = None
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(3000)}
    running.requests.clear()

    assert clean().left == []
    assert sum(request.operation.id == "listEngagements" for request in running.requests) == 10


def test_a_list_in_another_order_decides_nothing(
    running: Any, clean: Callable[..., UndoResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a huge list does not begin with the latest, a lost creation stays unclear and is reported."""
    running.overrides["createEngagement"] = None
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(1500)}
    response = running._listEngagements

    def ascending(request: Request, body: object) -> tuple[int, dict[str, Any]]:
        status, listed = response(request, body)
        return status, {"data": listed["data"][::-1]}

    monkeypatch.setattr(running, "_listEngagements", ascending)

    assert clean().left == ["Creations with unknown results: 1."]


def test_a_lost_creation_without_the_prefix_is_reported(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An engagement without a name of the run cannot be found, and nothing is deleted."""
    running.lost.add("createEngagement")
    running.send(requests.create_engagement({"name": ""}))

    result = clean()

    assert result.left == ["Creations with unknown results: 1."]
    assert running.writes == []


def test_a_creation_refused_and_carried_out_is_found(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A refused creation that a faulty service carried out is deleted."""
    running.overrides["createEngagement"] = 422
    make(running, "a")
    running.engagements["e_9"] = f"{PREFIX}a"

    assert clean().left == []
    assert running.engagements == FOREIGN


def test_refused_creations_cost_one_request(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Any number of refused creations costs one list, which is the last read."""
    running.overrides["createEngagement"] = 422
    make(running, "a", "b", "c")
    running.requests.clear()

    clean()
    assert [request.operation.id for request in running.requests] == ["getCurrentOrganization", "listEngagements"]
    running.requests.clear()
    clean()
    assert running.requests == []


@pytest.mark.parametrize("status", [403, 500, 503, None])
def test_a_list_that_cannot_be_read_is_reported(
    running: Any, clean: Callable[..., UndoResult], status: int | None
) -> None:
    """If engagements cannot be listed, the lost creation is reported."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.overrides["listEngagements"] = status

    (sentence,) = clean().left
    assert sentence.startswith("Creations with unknown results: 1: ")


@pytest.mark.parametrize("body", [b"x", b"[]", b'{"data": 7}', b'{"data": {}}'])
def test_a_list_of_another_shape_is_reported(running: Any, clean: Callable[..., UndoResult], body: bytes) -> None:
    """An invalid list decides nothing."""
    running.lost.add("createEngagement")
    make(running, "a")
    send = running.send
    running.send = lambda request: (
        make_exchange(request, 200, body) if request.operation.id == "listEngagements" else send(request)
    )

    assert len(clean().left) == 1


def test_odd_items_of_a_list_are_passed_over(
    running: Any, clean: Callable[..., UndoResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items without a name or a valid id are ignored."""
    running.lost.add("createEngagement")
    make(running, "a")
    items = [None, 7, {}, {"name": f"{PREFIX}x"}, {"name": f"{PREFIX}x", "id": ""}, {"name": 7, "id": "f_1"}]
    monkeypatch.setattr(running, "_listEngagements", lambda *_: (200, {"data": items}))

    clean()

    assert running.writes == []


@pytest.mark.parametrize(("status", "reason"), [(409, "status 409"), (500, "status 500"), (403, "status 403")])
def test_a_deletion_that_fails_is_left_and_named(
    running: Any, clean: Callable[..., UndoResult], status: int, reason: str
) -> None:
    """A failed deletion is reported with its id, and repeated the next time."""
    make(running, "a")
    running.overrides["deleteEngagement"] = status

    assert clean().left == [f"The engagement e_1 could not be deleted: {reason}."]
    running.overrides.clear()
    assert clean().left == []


def responded(running: Any, made_id: str, name: str = f"{PREFIX}a") -> None:
    """Pass the response to a creation to the journal."""
    request = requests.create_engagement({"name": f"{PREFIX}a"})
    running.observers[0].before(request)
    running.observers[0].after(make_exchange(request, 201, {"data": {"id": made_id, "name": name}}))


@pytest.mark.parametrize("name", ["Quarterly audit", f"{PREFIX}a"])
def test_the_id_of_another_users_engagement_is_not_deleted(
    running: Any, clean: Callable[..., UndoResult], name: str
) -> None:
    """The engagement that the response to a creation names is read before it is deleted."""
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"
    responded(running, "f_1", name)

    assert clean().left == []
    assert running.engagements == FOREIGN
    assert running.writes == []


def test_a_created_engagement_is_found_despite_another_returned_id(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """The engagement that the run created is found by its name and deleted."""
    responded(running, "f_1")
    running.engagements["e_7"] = f"{PREFIX}a"

    assert (clean().left, running.engagements) == ([], FOREIGN)


def test_a_name_of_the_run_on_an_older_engagement_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An existing engagement that got the run's name is not deleted."""
    responded(running, "f_1")
    running.engagements["f_1"] = f"{PREFIX}a"
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"

    clean()

    assert running.writes == []


def test_a_list_that_lies_deletes_nothing(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A listed engagement with a name of the run is read before it is deleted."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.listed_as = {"f_1": f"{PREFIX}a", "f_3": f"{PREFIX}b"}

    clean()

    assert running.engagements == FOREIGN
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]


@pytest.mark.parametrize("name", [f"{PREFIX}a".upper(), f"  {PREFIX}a"])
def test_a_name_that_the_service_changed_is_the_runs_still(
    running: Any, clean: Callable[..., UndoResult], name: str
) -> None:
    """The owner is recognized despite changed case and blanks."""
    make(running, "a")
    running.engagements["e_1"] = name

    assert (clean().left, running.engagements) == ([], FOREIGN)


@pytest.mark.parametrize("name", ["garbled", f"Copy of {PREFIX}a"])
def test_an_engagement_without_its_name_is_left_and_reported(
    running: Any, clean: Callable[..., UndoResult], name: str
) -> None:
    """If a read does not show the run's name, the engagement is not deleted; every cleanup names it as left."""
    make(running, "a")
    running.engagements["e_1"] = name

    for _ in range(2):
        result = clean()

        assert (result.left, result.lasting) == (
            ["The engagement e_1 was left alone: it does not show that it is the run's."],
            [],
        )
        assert running.engagements == FOREIGN | {"e_1": name}
    del running.engagements["e_1"]
    assert clean().left == []


def test_an_engagement_created_before_the_run_is_another_users(running: Any, clean: Callable[..., UndoResult]) -> None:
    """It is named, and is nothing that the run left."""
    responded(running, "f_1")
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"

    result = clean()

    sentence = "The engagement f_1 was left alone: it does not show that it is the run's."
    assert (result.left, result.lasting) == ([], [sentence])


def test_a_refused_read_does_not_hide_what_was_made(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A key without the permission to read settles nothing."""
    make(running, "a")
    running.overrides["getEngagement"] = 403

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]


def test_an_engagement_created_after_the_run_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A user may give a name of the run to another engagement later."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.lost.clear()
    running.engagements["f_9"] = f"{PREFIX}a (copy)"
    running.made_at["f_9"] = "2999-01-01T00:00:00.000Z"

    assert clean().left == [
        "The engagement f_9 has a name of the run, but was created before or after it: it was left alone."
    ]
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]


@pytest.mark.parametrize("operation", ["getEngagement", "getEngagement and list"])
def test_an_engagement_that_cannot_be_read_is_left_and_reported(
    running: Any, clean: Callable[..., UndoResult], operation: str
) -> None:
    """Without a read nothing is deleted; it is reported, and a later cleanup can do it."""
    make(running, "a")
    running.overrides |= {"getEngagement": 500, **({"listEngagements": 500} if "list" in operation else {})}

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]
    assert running.writes == []
    running.overrides.clear()
    assert clean().undone == 1


def test_a_lost_creation_without_a_name_left_nothing_where_all_others_are_older(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """A lost creation without a name of the run is settled if it was to be refused."""
    running.lost.add("createEngagement")
    running.send(requests.create_engagement({"description": "no name"}))

    assert clean().left == ["Creations with unknown results: 1."]
    running.created_at = "2020-01-01T00:00:00.000Z"
    assert clean().left == []
    assert running.engagements == FOREIGN


@pytest.mark.parametrize(("field", "value"), [("id", "org_2"), ("founded", "2021-01-01T00:00:00.000Z")])
def test_another_organization_is_not_touched(
    running: Any, clean: Callable[..., UndoResult], field: str, value: str
) -> None:
    """For another organization, even one with the same id, only one read is sent."""
    make(running, "a")
    setattr(running, field, value)
    running.requests.clear()

    with pytest.raises(JournalError, match=f"The journal is about the organization org_1 .* {value}"):
        clean()
    assert [request.operation.id for request in running.requests] == ["getCurrentOrganization"]


@pytest.mark.parametrize("labels", [["a"], []], ids=["pending", "nothing pending"])
def test_another_service_gets_no_request(running: Any, clean: Callable[..., UndoResult], labels: list[str]) -> None:
    """For another address nothing is sent, and both addresses are named, even if nothing is pending."""
    make(running, *labels)
    running.requests.clear()

    with pytest.raises(JournalError, match=r"about http://service, and this is https://production\.example.*--moved"):
        clean(base_url="https://production.example")
    assert running.requests == []


def test_a_service_that_has_moved_is_cleaned(running: Any, clean: Callable[..., UndoResult]) -> None:
    """With the option another address is accepted for the same organization."""
    make(running, "a")

    assert clean(base_url="https://new.example", moved=True).undone == 1
    assert running.engagements == FOREIGN


@pytest.mark.parametrize("status", [None, 401, 500])
def test_a_move_needs_the_organization(running: Any, clean: Callable[..., UndoResult], status: int | None) -> None:
    """If the organization cannot be read, another address may be another service."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = status

    with pytest.raises(JournalError, match="does not show whether the service has moved"):
        clean(base_url="https://new.example", moved=True)
    assert running.writes == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "refused with status 401"), (403, "refused with status 403"), (None, "could not be read")],
)
def test_a_useless_key_undoes_nothing(
    running: Any, clean: Callable[..., UndoResult], status: int | None, reason: str
) -> None:
    """A refused key or a lost target is reported, and nothing is settled."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = status

    (sentence,) = clean().left
    assert reason in sentence
    running.overrides.clear()
    assert clean().undone == 1


def test_an_organization_that_reads_oddly_does_not_prevent_undoing(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """Engagements are deleted even if the organization cannot be read."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = 500

    clean()

    assert running.engagements == FOREIGN


@pytest.mark.parametrize("listing", [False, True])
def test_a_key_that_shows_nothing_of_the_run_is_not_accepted(
    running: Any, clean: Callable[..., UndoResult], *, listing: bool
) -> None:
    """If neither the organization nor an engagement of the run can be read, nothing is settled."""
    make(running, "a")
    ours = dict(running.engagements)
    running.engagements.clear()
    running.overrides["getCurrentOrganization"] = 500
    if not listing:
        running.overrides["listEngagements"] = 500

    (sentence,) = clean().left

    assert "neither the organization nor an engagement of the run could be read: status 500" in sentence
    assert running.writes == []
    running.engagements.update(ours)
    assert clean().undone == 1


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
    journal.member_made("u_9", "member")

    assert clean().left == ["The member u_9 was not removed: it would remove an owner."]
    assert running.writes == []


@pytest.mark.parametrize("has_id", [True, False])
def test_a_journal_that_only_names_a_prefix_deletes_nothing(
    service: Any, journal: Journal, clean: Callable[..., UndoResult], *, has_id: bool
) -> None:
    """Another run's prefix, ids and times are seen in the service: only a seal or the prefix's origin shows its run."""
    service.engagements |= FOREIGN
    head = {"format": "conformance-journal/2", "prefix": "cf-zzzzzz22-", "base_url": BASE_URL, "origin": "0" * 32}
    made = {"entry": 1, "at": "2026-01-01T00:00:00.000Z", "do": "create-engagement", "subject": FOREIGN["f_2"]}
    told = {"entry": 1, "is": "done", "id": "f_2"} if has_id else {}
    journal._path.write_text("".join(json.dumps(line) + "\n" for line in (head, made, told)))

    assert clean().left == [
        "Not undone, because neither the key nor the prefix shows that a run wrote the journal: create-engagement."
    ]
    assert (service.writes, service.engagements) == ([], FOREIGN)


def test_with_another_key_only_what_reads_prove_is_undone(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """With an untrusted journal only engagements are undone."""
    make(running, "a")
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member")
    running.send(requests.update_member_role("u_1", {"role": "admin"}))
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))

    assert clean("another-key-0002").left == [
        "Not undone, because the journal was written with another key: change-role, make-member, rename-organization."
    ]
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]
    assert (clean().left, running.name, running.roles) == ([], "Acme", {"u_owner": "owner", "u_1": "member"})


def test_members_of_the_run_are_removed(running: Any, clean: Callable[..., UndoResult], journal: Journal) -> None:
    """A created member is removed without restoring its role."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member")
    running.send(requests.update_member_role("u_9", {"role": "admin"}))

    assert clean().left == []
    assert running.roles == {"u_owner": "owner", "u_1": "member"}
    assert running.writes == ["DELETE /api/v1/organizations/current/members/u_9"]


def test_a_member_that_cannot_be_removed_is_reported(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """A member that cannot be removed is reported."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member")
    running.overrides["removeMember"] = 500

    assert clean().left == ["The member u_9 could not be removed: status 500."]


def test_invitations_are_listed_as_lasting(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Invitations cannot be undone and do not count as left behind."""
    running.send(requests.invite_member({"email": "a@x", "role": "member"}))

    result = clean()
    assert result.lasting == ["a@x was invited; an invitation expires after seven days."]
    assert result.left == []


def test_the_other_organizations_engagements_need_its_key(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Engagements of the other organization are deleted with its key, if it is known."""
    running.send(requests.create_engagement({"name": f"{PREFIX}a"}).with_key(OTHER))

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]
    assert running.writes == []
    running.requests.clear()
    assert clean(credentials={"other_organization": OTHER}).left == []
    assert running.requests[-1].credential == OTHER


def test_another_other_organization_is_left_alone(
    running: Any, clean: Callable[..., UndoResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the other organization's key has changed its organization, a missing engagement shows nothing."""
    others = ["org_2"]

    def organization(request: Request, _: Any) -> tuple[int, object]:
        data = {"id": "org_1" if request.credential is None else others[0], "name": "Acme"}
        return 200, {"data": data | {"createdAt": running.founded}}

    monkeypatch.setattr(running, "_getCurrentOrganization", organization)
    running.send(requests.get_organization().with_key(OTHER))
    running.send(requests.create_engagement({"name": f"{PREFIX}a"}).with_key(OTHER))
    others[0] = "org_3"

    left = ["Engagements of the other organization were left: 1; the key is of another."]
    assert clean(credentials={"other_organization": OTHER}).left == left

    others[0] = "org_2"
    assert clean(credentials={"other_organization": OTHER}).left == []
    assert running.engagements == FOREIGN


def test_a_silent_target_is_given_up(running: Any, clean: Callable[..., UndoResult]) -> None:
    """After three requests without a response no more are sent, and all changes left are reported."""
    make(running, *"abcdef")
    running.overrides["deleteEngagement"] = None

    result = clean()

    assert len(running.writes) == 3
    assert len(result.left) == 6
    assert result.left[-1].endswith("could not be deleted: the service no longer responds.")


def test_a_run_that_may_not_send_leaves_everything(running: Any, journal: Journal) -> None:
    """After the end of the run all changes left are reported without an error."""
    make(running, "a")

    def stopped(_request: Request) -> Exchange:
        raise NoResponse("the time for undoing is used up")

    ownership, queries = Ownership(journal.names, running.send_all), QueryClient(stopped)
    left = ["The engagement e_1 was not deleted, because no read shows that it is the run's."]
    membership = Membership(running.send_all)
    assert undo(journal, ownership, membership, queries).left == left
    assert clean_up(journal, ownership, membership, queries, BASE_URL).left == [
        "Nothing was undone, because the organization could not be read: the time for undoing is used up."
    ]


def test_deletions_may_go_together(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Deletions are sent in one batch if possible."""
    make(running, *"abcdef")
    batches: list[int] = []

    def send_all(batch: list[Request]) -> list[Exchange]:
        batches.append(len(batch))
        return [running.send(request) for request in batch]

    assert clean(send_all=send_all).undone == 6
    assert max(batches) == 6


@pytest.mark.parametrize("is_given_again", [True, False])
def test_a_deletion_whose_response_is_lost_is_read_before_it_is_sent_again(
    running: Any, clean: Callable[..., UndoResult], *, is_given_again: bool
) -> None:
    """After a lost deletion the engagement is read again."""
    make(running, "a")

    def send_all(sent: Sequence[Request]) -> list[Exchange]:
        exchanges: list[Exchange] = running.send_all(sent)
        if sent[0].method != "DELETE":
            return exchanges
        if is_given_again:
            running.engagements["e_1"] = "Quarterly audit 2"
        return [make_exchange(sent[0], None)]

    result = clean(send_all=send_all)

    assert result.left == []
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]


def test_deletions_refused_together_are_sent_one_by_one(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Deletions that a gateway refuses together are sent one by one."""
    make(running, *"abcdef")

    def send_all(batch: list[Request]) -> list[Exchange]:
        sent = [running.send(request) for request in batch[:1]]
        running.overrides["deleteEngagement"] = None
        sent += [running.send(request) for request in batch[1:]]
        running.overrides.clear()
        return sent

    assert clean(send_all=send_all).undone == 6


def test_undoing_while_the_journal_watches_leaves_nothing(running: Any, journal: Journal) -> None:
    """Undoing through the observed wire settles the journal too."""
    make(running, "a", "b")
    running.send(requests.update_organization({"name": "B"}))
    running.send(requests.update_member_role("u_1", {"role": "admin"}))
    journal.member_made("u_9", "member")
    running.roles["u_9"] = "member"

    result = undone(running, journal)

    assert (result.left, result.lasting) == ([], [])
    assert journal.pending() == []
    assert Journal.read(journal._path.parent).pending() == []
    assert (running.engagements, running.name) == (FOREIGN, "Acme")
    assert running.roles == {"u_owner": "owner", "u_1": "member"}


def test_a_journal_that_cannot_be_written_does_not_stop_undoing(
    running: Any, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a full disk changes are undone, and the unsettled entries are reported."""
    make(running, "a")
    running.send(requests.update_organization({"name": "B"}))
    running.send(requests.update_member_role("u_1", {"role": "admin"}))

    def full(*_: object, **__: object) -> None:
        raise JournalError("The disk is full.")

    monkeypatch.setattr(journal, "_append", full)
    result = undone(running, journal)

    assert (running.engagements, running.name) == (FOREIGN, "Acme")
    assert running.roles["u_1"] == "member"
    assert result.left == ["The disk is full. What was undone could not be marked as undone in the journal."]


@pytest.mark.parametrize("count", range(3, 9))
def test_cleaning_up_works_after_any_torn_line(
    running: Any, clean: Callable[..., UndoResult], journal: Journal, count: int
) -> None:
    """A journal that ends anywhere is enough to undo all sent changes."""
    make(running, "a", "b", "c")
    lines = journal._path.read_bytes().splitlines(keepends=True)
    torn = b"".join(lines[:count]) + (lines[count][:-7] if count < len(lines) else b"")
    journal._path.write_bytes(torn)
    intended = sum(b'"do"' in line for line in lines[:count])
    for number in range(intended + 1, 4):
        del running.engagements[f"e_{number}"]  # its intention is not written, so it was never sent

    assert clean().left == []
    assert running.engagements == FOREIGN


def rename(service: Any, _: Journal) -> None:
    """Rename the organization."""
    service.send(requests.update_organization({"name": f"{PREFIX}b"}))


def promote(service: Any, _: Journal) -> None:
    """Change a member's role."""
    service.send(requests.update_member_role("u_1", {"role": "admin"}))


def join(service: Any, journal: Journal) -> None:
    """Make a member for the run."""
    service.roles["u_9"] = "member"
    journal.member_made("u_9", "member")


def create(service: Any, _: Journal) -> None:
    """Create an engagement."""
    make(service, "a")


CHANGES = {
    "updateCurrentOrganization": (
        rename, requests.update_organization({"name": "Acme"}),
        f'The organization is still named "{PREFIX}b" after it was named "Acme" again.',
    ),
    "updateMemberRole": (
        promote, requests.update_member_role("u_1", {"role": "member"}),
        "The role of u_1 is still admin after it was made member again.",
    ),
    "removeMember": (join, requests.remove_member("u_9"), "The member u_9 is still there after its removal."),
    "deleteEngagement": (
        create, requests.delete_engagement("e_1"), "The engagement e_1 is still there.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("operation", CHANGES)
def test_what_is_undone_in_words_only_is_reported(
    running: Any, journal: Journal, clean: Callable[..., UndoResult], operation: str
) -> None:
    """A change that the service says to have undone, but still shows, is left, and the next cleanup undoes it."""
    change, _, sentence = CHANGES[operation]
    change(running, journal)
    running.overrides[operation] = 200

    assert clean().left == [sentence]

    del running.overrides[operation]
    assert clean().left == []
    assert (running.engagements, running.name) == (FOREIGN, "Acme")
    assert running.roles == {"u_owner": "owner", "u_1": "member"}


@pytest.mark.parametrize("operation", CHANGES)
def test_what_a_run_undid_in_words_only_is_reported(
    running: Any, journal: Journal, clean: Callable[..., UndoResult], operation: str
) -> None:
    """The same holds for a change that the run itself took back."""
    change, back, sentence = CHANGES[operation]
    change(running, journal)
    running.overrides[operation] = 200
    running.send(back)
    queries = QueryClient(running.send, running.send_all)

    ownership = observing(running)
    assert undone(running, journal).left == []
    assert reopen_remaining(journal, ownership, queries, *take_census(queries, NAMES)) == [sentence]

    del running.overrides[operation]
    assert clean().left == []
    assert (running.engagements, running.name) == (FOREIGN, "Acme")
    assert running.roles == {"u_owner": "owner", "u_1": "member"}


def test_a_stale_list_shows_nothing_that_is_left(running: Any, journal: Journal) -> None:
    """An engagement that is listed, but gone by a read, is not left."""
    make(running, "a")
    queries = QueryClient(running.send, running.send_all)
    census, listed = take_census(queries, NAMES)

    ownership = observing(running)
    assert undone(running, journal).left == []
    assert reopen_remaining(journal, ownership, queries, census, listed) == []


def test_a_late_read_does_not_show_that_an_engagement_is_gone(
    running: Any, journal: Journal, clean: Callable[..., UndoResult]
) -> None:
    """If reads by id find nothing, but a list shows the engagement, and none was deleted, it is left."""
    make(running, "a")
    running.overrides["getEngagement"] = 404
    queries = QueryClient(running.send, running.send_all)
    ownership = observing(running)

    assert undone(running, journal).left == []
    census, listed = take_census(queries, NAMES)
    assert reopen_remaining(journal, ownership, queries, census, listed) == ["The engagement e_1 is still there."]

    del running.overrides["getEngagement"]
    assert clean().left == []
    assert running.engagements == FOREIGN


@pytest.mark.parametrize("kind", ["create", "rename", "role"])
def test_a_write_without_a_response_may_still_come(
    running: Any, journal: Journal, clean: Callable[..., UndoResult], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A write that is not seen yet stays in the journal, and a later cleanup undoes it."""
    request, sentence = {
        "create": (requests.create_engagement({"name": f"{PREFIX}late"}), "Creations with unknown results: 1."),
        "rename": (
            requests.update_organization({"name": f"{PREFIX}late"}),
            "The organization may still be renamed: a request got no response.",
        ),
        "role": (
            requests.update_member_role("u_1", {"role": "admin"}),
            "The role of u_1 may still be changed: a request got no response.",
        ),
    }[kind]
    waits: list[float] = []
    monkeypatch.setattr("conformance.targets.undo.time.sleep", waits.append)
    running.overrides[request.operation.id] = None
    running.send(request)
    del running.overrides[request.operation.id]

    assert undone(running, journal, lateness=20).left == [sentence]
    assert waits == [2.0]

    running.observers.clear()
    running.send(request)  # the service is late
    assert clean().left == []
    assert (running.engagements, running.name) == (FOREIGN, "Acme")
    assert running.roles["u_1"] == "member"
