from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.membership import Membership
from conformance.targets.ownership import Ownership
from conformance.targets.pending import UndoResult
from conformance.targets.queries import QueryClient
from conformance.targets.undo import undo
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.service import PREFIX
from tests.fakes.undoing import FOREIGN, make

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.targets.journal import Journal

OTHER = Credential.bearer("other_organization", "k")


def test_only_created_engagements_are_deleted(running: Any, clean: Callable[..., UndoResult]) -> None:
    """After undoing the organization holds what it held before."""
    make(running, "a", "b")

    result = clean()

    assert running.engagements == FOREIGN
    assert (result.undone, result.left, result.lasting) == (2, [], [])
    assert running.writes == ["DELETE /api/v1/engagements/e_2", "DELETE /api/v1/engagements/e_1"]


def test_an_engagement_deleted_by_others_counts_as_undone(running: Any, clean: Callable[..., UndoResult]) -> None:
    """An engagement that another user deleted is settled."""
    make(running, "a")
    del running.engagements["e_1"]

    assert clean().left == []


def test_an_engagement_that_got_the_number_of_one_of_the_run_stays(
    running: Any, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user deleted the run's engagement after its last read, and created one that the service gave its id."""
    now = [100.0]
    monkeypatch.setattr("conformance.targets.ownership.time.monotonic", lambda: now[0])
    ownership = Ownership(journal.names, running.send_all)
    running.observers.append(ownership)
    make(running, "a", "b")
    running.made_at = dict.fromkeys(("e_1", "e_2"), "2025-10-09T08:53:20.000Z")
    running.send_all([requests.get_engagement("e_1"), requests.get_engagement("e_2")])
    running.engagements["e_1"], running.made_at["e_1"] = "Pentest of a customer", "2025-10-09T08:53:25.000Z"
    running.writes.clear()
    now[0] += 60

    undo(journal, ownership, Membership(running.send_all), QueryClient(running.send, running.send_all))

    assert running.writes == ["DELETE /api/v1/engagements/e_2"]
    assert running.engagements == FOREIGN | {"e_1": "Pentest of a customer"}


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
