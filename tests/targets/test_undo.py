from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.journal import Journal, JournalError
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership, RunTime
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.targets.undo import UndoResult, clean_up, undo
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NoResponse
from conformance.wire.requests import Credential, Request
from tests.targets.conftest import BASE_URL, MAIN_KEY

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
    """The service during the run, with other people's engagements in it and the journal watching."""
    service.engagements |= FOREIGN
    service.observers.append(JournalRecorder(journal))
    service.send(requests.get_organization())
    service.send(requests.list_members())
    return service


@pytest.fixture
def clean(service: Any, journal: Journal) -> Callable[..., UndoResult]:
    """Cleans up as another process does: from the file, without the run."""

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


def undone(service: Any, journal: Journal) -> UndoResult:
    """Undo at the end of the run itself."""
    ownership = Ownership(journal.names, service.send_all)
    membership = Membership(service.send_all)
    service.observers += [ownership, membership]
    return undo(journal, ownership, membership, QueryClient(service.send, service.send_all))


def make(service: Any, *labels: str) -> None:
    """Create engagements of the run."""
    for label in labels:
        service.send(requests.create_engagement({"name": f"{PREFIX}{label}"}))


def test_what_was_created_is_deleted_and_nothing_else(running: Any, clean: Callable[..., UndoResult]) -> None:
    """After undoing the organization holds what it held before."""
    make(running, "a", "b")

    result = clean()

    assert running.engagements == FOREIGN
    assert (result.undone, result.left, result.lasting) == (2, [], [])
    assert running.writes == ["DELETE /api/v1/engagements/e_2", "DELETE /api/v1/engagements/e_1"]


def test_a_second_time_sends_nothing(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Where everything is undone a second cleanup does not send a single request."""
    make(running, "a")
    clean()
    running.requests.clear()

    result = clean()

    assert running.requests == []
    assert (result.undone, result.left) == (0, [])


def test_nothing_done_is_nothing_to_undo(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A run that changed nothing leaves nothing to send."""
    running.requests.clear()

    assert clean().left == []
    assert running.requests == []


def test_what_is_gone_already_counts_as_undone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An engagement that somebody else deleted is no problem."""
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


def test_a_creation_that_never_arrived_is_settled_by_looking(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Where no engagement has the run's prefix the lost creation was not carried out."""
    running.overrides["createEngagement"] = None
    make(running, "a")

    assert (clean().left, running.writes) == ([], [])
    running.requests.clear()
    clean()
    assert running.requests == []


def test_lost_creations_are_found_on_later_pages(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Others may have created hundreds of engagements meanwhile."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(250)}

    assert clean().left == []
    assert f"{PREFIX}a" not in running.engagements.values()


def test_looking_is_bounded(running: Any, clean: Callable[..., UndoResult]) -> None:
    """In a huge organization ten pages of the latest are looked through, and no more."""
    running.overrides["createEngagement"] = None
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(3000)}
    running.requests.clear()

    assert clean().left == []
    assert sum(request.operation.id == "listEngagements" for request in running.requests) == 10


def test_a_list_in_another_order_decides_nothing(
    running: Any, clean: Callable[..., UndoResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a huge list does not begin with the latest a lost creation stays unclear, and is told."""
    running.overrides["createEngagement"] = None
    make(running, "a")
    running.engagements |= {f"x_{number}": "busy" for number in range(1500)}
    response = running._listEngagements

    def ascending(request: Request, body: object) -> tuple[int, dict[str, Any]]:
        status, listed = response(request, body)
        return status, {"data": listed["data"][::-1]}

    monkeypatch.setattr(running, "_listEngagements", ascending)

    assert clean().left == ["Creations of which it is unknown what they made: 1."]


def test_a_lost_creation_without_the_prefix_is_told(running: Any, clean: Callable[..., UndoResult]) -> None:
    """What has no name of the run cannot be found, and nothing is guessed."""
    running.lost.add("createEngagement")
    running.send(requests.create_engagement({"name": ""}))

    result = clean()

    assert result.left == ["Creations of which it is unknown what they made: 1."]
    assert running.writes == []


def test_a_creation_refused_and_carried_out_is_found(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A faulty service that refuses and creates all the same leaves nothing behind either."""
    running.overrides["createEngagement"] = 422
    make(running, "a")
    running.engagements["e_9"] = f"{PREFIX}a"

    assert clean().left == []
    assert running.engagements == FOREIGN


def test_refused_creations_cost_one_request(running: Any, clean: Callable[..., UndoResult]) -> None:
    """However many creations were refused, one look is enough, and it is the last."""
    running.overrides["createEngagement"] = 422
    make(running, "a", "b", "c")
    running.requests.clear()

    clean()
    assert [request.operation.id for request in running.requests] == ["getCurrentOrganization", "listEngagements"]
    running.requests.clear()
    clean()
    assert running.requests == []


@pytest.mark.parametrize("status", [403, 500, 503, None])
def test_a_list_that_cannot_be_read_is_told(running: Any, clean: Callable[..., UndoResult], status: int | None) -> None:
    """Where engagements cannot be listed the lost creation is left and named."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.overrides["listEngagements"] = status

    (sentence,) = clean().left
    assert sentence.startswith("Creations of which it is unknown what they made: 1: ")


@pytest.mark.parametrize("body", [b"x", b"[]", b'{"data": 7}', b'{"data": {}}'])
def test_a_list_of_another_shape_is_told(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange], body: bytes
) -> None:
    """A list that is none decides nothing."""
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
    """Items without a name, or with an id that is none, are nobody's."""
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
    """What cannot be deleted is told with its id, and tried again the next time."""
    make(running, "a")
    running.overrides["deleteEngagement"] = status

    assert clean().left == [f"The engagement e_1 could not be deleted: {reason}."]
    running.overrides.clear()
    assert clean().left == []


def responded(running: Any, make_exchange: Callable[..., Exchange], made_id: str, name: str = f"{PREFIX}a") -> None:
    """Let the journal see the answer to a creation."""
    request = requests.create_engagement({"name": f"{PREFIX}a"})
    running.observers[0].before(request)
    running.observers[0].after(make_exchange(request, 201, {"data": {"id": made_id, "name": name}}))


@pytest.mark.parametrize("name", ["Quarterly audit", f"{PREFIX}a"])
def test_the_id_of_another_users_engagement_is_not_deleted(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange], name: str
) -> None:
    """Whatever name the response to a creation gives: the engagement that it names is read before it is deleted."""
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"
    responded(running, make_exchange, "f_1", name)

    assert clean().left == []
    assert running.engagements == FOREIGN
    assert running.writes == []


def test_what_a_creation_made_is_found_although_another_id_was_answered(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange]
) -> None:
    """The engagement that the run really made is found by its name and deleted."""
    responded(running, make_exchange, "f_1")
    running.engagements["e_7"] = f"{PREFIX}a"

    assert (clean().left, running.engagements) == ([], FOREIGN)


def test_a_name_of_the_run_on_an_older_engagement_is_left_alone(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange]
) -> None:
    """A service that gave an existing engagement the name of the new one has not made it the run's."""
    responded(running, make_exchange, "f_1")
    running.engagements["f_1"] = f"{PREFIX}a"
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"

    clean()

    assert running.writes == []


def test_a_list_that_lies_deletes_nothing(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange]
) -> None:
    """What only a list shows under a name of the run is read before it is deleted."""
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
    """Neither letter case nor blanks hide whose the engagement is."""
    make(running, "a")
    running.engagements["e_1"] = name

    assert (clean().left, running.engagements) == ([], FOREIGN)


@pytest.mark.parametrize("name", ["garbled", f"Copy of {PREFIX}a"])
def test_an_engagement_without_its_name_is_left_and_told(
    running: Any, clean: Callable[..., UndoResult], name: str
) -> None:
    """If a read does not show the name of the run, the engagement may be anybody's: every cleanup names it as left."""
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


def test_an_engagement_created_before_the_run_is_another_users(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange]
) -> None:
    """It is named, and is nothing that the run left."""
    responded(running, make_exchange, "f_1")
    running.made_at["f_1"] = "2020-01-01T00:00:00.000Z"

    result = clean()

    sentence = "The engagement f_1 was left alone: it does not show that it is the run's."
    assert (result.left, result.lasting) == ([], [sentence])


def test_a_refused_read_does_not_hide_what_was_made(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A key that may not read engagements does not tick off what the run left."""
    make(running, "a")
    running.overrides["getEngagement"] = 403

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]


def test_what_was_created_after_the_run_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A person may give a name of the run to an engagement while looking at what it left."""
    running.lost.add("createEngagement")
    make(running, "a")
    running.lost.clear()
    running.engagements["f_9"] = f"{PREFIX}a (copy)"
    running.made_at["f_9"] = "2999-01-01T00:00:00.000Z"

    assert clean().left == [
        "The engagement f_9 has a name of the run, and was not created while it went on: it was left alone."
    ]
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]


@pytest.mark.parametrize("operation", ["getEngagement", "getEngagement and list"])
def test_an_engagement_that_cannot_be_read_is_left_and_told(
    running: Any, clean: Callable[..., UndoResult], operation: str
) -> None:
    """Without a read nothing is deleted; it is told, and a later cleanup can do it."""
    make(running, "a")
    running.overrides |= {"getEngagement": 500, **({"listEngagements": 500} if "list" in operation else {})}

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]
    assert running.writes == []
    running.overrides.clear()
    assert clean().undone == 1


def test_a_lost_creation_without_a_name_left_nothing_where_all_others_are_older(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """A creation that had to be refused bears no name of the run; its response may be lost all the same."""
    running.lost.add("createEngagement")
    running.send(requests.create_engagement({"description": "no name"}))

    assert clean().left == ["Creations of which it is unknown what they made: 1."]
    running.created_at = "2020-01-01T00:00:00.000Z"
    assert clean().left == []
    assert running.engagements == FOREIGN


@pytest.mark.parametrize(("field", "value"), [("id", "org_2"), ("founded", "2021-01-01T00:00:00.000Z")])
def test_another_organization_is_not_touched(
    running: Any, clean: Callable[..., UndoResult], field: str, value: str
) -> None:
    """With a key of another organization, or if another one has the same id, nothing is sent but that question."""
    make(running, "a")
    setattr(running, field, value)
    running.requests.clear()

    with pytest.raises(JournalError, match=f"The journal is about the organization org_1 .* {value}"):
        clean()
    assert [request.operation.id for request in running.requests] == ["getCurrentOrganization"]


@pytest.mark.parametrize("labels", [["a"], []], ids=["pending", "nothing pending"])
def test_another_service_is_not_asked(running: Any, clean: Callable[..., UndoResult], labels: list[str]) -> None:
    """With another address nothing is sent at all, and both addresses are named, even if nothing is left."""
    make(running, *labels)
    running.requests.clear()

    with pytest.raises(JournalError, match=r"about http://service, and this is https://production\.example.*--moved"):
        clean(base_url="https://production.example")
    assert running.requests == []


def test_a_service_that_has_moved_is_cleaned(running: Any, clean: Callable[..., UndoResult]) -> None:
    """If the organization is the same, another address is confirmed by the option."""
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
    """A key that is refused, or a target that is gone, is told, and nothing is ticked off."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = status

    (sentence,) = clean().left
    assert reason in sentence
    running.overrides.clear()
    assert clean().undone == 1


def test_an_organization_that_reads_oddly_does_not_prevent_undoing(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """A faulty service that fails to show the organization still gets its engagements deleted."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = 500

    clean()

    assert running.engagements == FOREIGN


@pytest.mark.parametrize("listing", [False, True])
def test_a_key_that_shows_nothing_of_the_run_may_be_anybodys(
    running: Any, clean: Callable[..., UndoResult], *, listing: bool
) -> None:
    """Where neither the organization can be read nor anything of the run is seen, nothing is ticked off."""
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
    """Whatever it was named in the end, it gets the first name back."""
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.send(requests.update_organization({"name": f"{PREFIX}c"}))

    assert clean().left == []
    assert running.name == "Acme"


def test_a_renaming_without_a_response_is_looked_at(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Whether or not it was carried out, the name is right in the end."""
    running.lost.add("updateCurrentOrganization")
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))

    clean()

    assert running.name == "Acme"


def test_a_renaming_refused_and_carried_out_is_mended(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A faulty service that refuses and renames all the same is set right."""
    running.overrides["updateCurrentOrganization"] = 400
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.overrides.clear()
    running.name = f"{PREFIX}b"

    assert clean().left == []
    assert running.name == "Acme"


def test_a_renaming_refused_indeed_needs_no_write(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Where the name is as before nothing is written, and the next time nothing is sent."""
    running.overrides["updateCurrentOrganization"] = 400
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.overrides.clear()

    assert (clean().left, running.writes) == ([], [])
    running.requests.clear()
    clean()
    assert running.requests == []


def test_a_name_that_is_not_known_is_told(service: Any, journal: Journal, clean: Callable[..., UndoResult]) -> None:
    """Without a look before the renaming the name cannot be restored."""
    service.observers.append(JournalRecorder(journal))
    service.send(requests.update_organization({"name": "B"}))

    assert clean().left == ["The organization may have been renamed, and its name before is not known."]


def test_a_name_that_is_refused_is_told(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A name that the service does not take back is named."""
    running.send(requests.update_organization({"name": "B"}))
    running.overrides["updateCurrentOrganization"] = 500

    assert clean().left == ['The organization could not be named "Acme" again: status 500.']


def test_a_name_that_the_service_changes_is_told(
    running: Any, journal: Journal, clean: Callable[..., UndoResult]
) -> None:
    """A service that makes another name of the one it is given back has not got it back, success or not."""
    running.name = "Acme  Lab"
    running.observers[:] = [JournalRecorder(journal)]
    running.send(requests.get_organization())
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))
    running.merges = True
    running.send(requests.update_organization({"name": "Acme  Lab"}))

    expected = 'The organization was to be named "Acme  Lab", and became "Acme Lab".'
    assert clean().left == [expected]


def test_roles_are_given_back(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A member whose role was changed has the first one again."""
    running.send(requests.update_member_role("u_1", {"role": "admin"}))

    assert clean().left == []
    assert running.roles == {"u_owner": "owner", "u_1": "member"}


def test_a_role_of_nobody_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A change for a user who is no member, and whose response was lost, came to nothing."""
    running.lost.add("updateMemberRole")
    running.send(requests.update_member_role("u_nobody", {"role": "admin"}))

    assert clean().left == []
    assert running.writes == []


def test_a_role_that_was_not_known_is_told(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A member who is there and whose role before nobody saw may have another one now."""
    running.lost.add("updateMemberRole")
    running.send(requests.update_member_role("u_late", {"role": "admin"}))
    running.roles["u_late"] = "admin"

    assert clean().left == ["The role of u_late may have been changed, and the interface cannot make it None again."]


def test_an_owner_who_lost_the_role_is_told(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A faulty service that changes the owner's role cannot be set right through the interface."""
    running.send(requests.update_member_role("u_owner", {"role": "member"}))

    assert clean().left == ["The role of u_owner may have been changed, and the interface cannot make it owner again."]
    assert running.writes == []


def test_an_owner_who_kept_the_role_is_settled(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An attempt without a response that came to nothing leaves nothing to tell."""
    running.overrides["updateMemberRole"] = None
    running.send(requests.update_member_role("u_owner", {"role": "member"}))

    assert (clean().left, running.writes) == ([], [])


def test_a_role_that_another_user_gave_is_left_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """A role that the run did not ask for is not the run's to take back."""
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

    assert clean().left == [f'The organization is named "{given}", which the run did not do; before it was "Acme".']
    assert running.writes == []


def test_a_name_that_the_service_trimmed_is_the_runs(running: Any, clean: Callable[..., UndoResult]) -> None:
    """What the service showed right after a renaming is taken back like what was sent."""
    running.merges = True
    running.send(requests.update_organization({"name": " two  blanks "}))

    assert (clean().left, running.name) == ([], "Acme")


def test_a_made_member_who_is_an_owner_now_stays(
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
    """Engagements show whose they are; for members, roles and names the journal would have to be believed."""
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
    """A member that was made for the run is removed, without a role being given back first."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member")
    running.send(requests.update_member_role("u_9", {"role": "admin"}))

    assert clean().left == []
    assert running.roles == {"u_owner": "owner", "u_1": "member"}
    assert running.writes == ["DELETE /api/v1/organizations/current/members/u_9"]


def test_a_member_that_cannot_be_removed_is_told(
    running: Any, clean: Callable[..., UndoResult], journal: Journal
) -> None:
    """A member who stays is named."""
    running.roles["u_9"] = "member"
    journal.member_made("u_9", "member")
    running.overrides["removeMember"] = 500

    assert clean().left == ["The member u_9 could not be removed: status 500."]


def test_what_lasts_is_listed_and_not_left(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Invitations cannot be undone and do not count as left behind."""
    running.send(requests.invite_member({"email": "a@x", "role": "member"}))

    result = clean()
    assert result.lasting == ["a@x was invited; an invitation expires after seven days."]
    assert result.left == []


def test_the_other_organizations_engagements_need_its_key(running: Any, clean: Callable[..., UndoResult]) -> None:
    """What the other organization's key made is deleted with it, and left where it is not at hand."""
    running.send(requests.create_engagement({"name": f"{PREFIX}a"}).with_key(OTHER))

    assert clean().left == ["The engagement e_1 was not deleted, because no read shows that it is the run's."]
    assert running.writes == []
    running.requests.clear()
    assert clean(credentials={"other_organization": OTHER}).left == []
    assert running.requests[-1].credential == OTHER


def test_a_silent_target_is_given_up(running: Any, clean: Callable[..., UndoResult]) -> None:
    """After three requests without a response no more are tried, and everything left is named."""
    make(running, *"abcdef")
    running.overrides["deleteEngagement"] = None

    result = clean()

    assert len(running.writes) == 3
    assert len(result.left) == 6
    assert result.left[-1].endswith("could not be deleted: the service no longer responds.")


def test_a_run_that_may_not_send_leaves_everything(running: Any, journal: Journal) -> None:
    """Where sending is over each thing left is named, and no error comes out."""
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
    """With a way to send together all deletions are one batch."""
    make(running, *"abcdef")
    batches: list[int] = []

    def send_all(batch: list[Request]) -> list[Exchange]:
        batches.append(len(batch))
        return [running.send(request) for request in batch]

    assert clean(send_all=send_all).undone == 6
    assert max(batches) == 6


@pytest.mark.parametrize("is_given_again", [True, False])
def test_a_deletion_whose_response_is_lost_is_read_before_it_is_sent_again(
    running: Any, clean: Callable[..., UndoResult], make_exchange: Callable[..., Exchange], *, is_given_again: bool
) -> None:
    """The id may be another user's by then."""
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


def test_what_a_service_has_too_many_of_at_once_goes_alone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Deletions that a gateway does not let through together are tried one by one."""
    make(running, *"abcdef")

    def send_all(batch: list[Request]) -> list[Exchange]:
        sent = [running.send(request) for request in batch[:1]]
        running.overrides["deleteEngagement"] = None
        sent += [running.send(request) for request in batch[1:]]
        running.overrides.clear()
        return sent

    assert clean(send_all=send_all).undone == 6


def test_undoing_while_the_journal_watches_leaves_nothing(running: Any, journal: Journal) -> None:
    """Undone through the watched wire of the run, the journal is settled as well."""
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
    """With a full disk the organization is set right all the same, and the missing ticks are told."""
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


@pytest.mark.parametrize("kept", range(3, 9))
def test_cleaning_up_works_after_any_torn_line(
    running: Any, clean: Callable[..., UndoResult], journal: Journal, kept: int
) -> None:
    """Wherever the journal ends, what it says was sent is undone, and what it does not was never made."""
    make(running, "a", "b", "c")
    lines = journal._path.read_bytes().splitlines(keepends=True)
    torn = b"".join(lines[:kept]) + (lines[kept][:-7] if kept < len(lines) else b"")
    journal._path.write_bytes(torn)
    intended = sum(b'"do"' in line for line in lines[:kept])
    for number in range(intended + 1, 4):
        del running.engagements[f"e_{number}"]  # its intention is not written, so it was never sent

    assert clean().left == []
    assert running.engagements == FOREIGN
