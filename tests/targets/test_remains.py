from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.census import take_census
from conformance.targets.journal import Journal
from conformance.targets.ownership import Ownership
from conformance.targets.pending import UndoResult
from conformance.targets.queries import QueryClient
from conformance.targets.remains import reopen_remaining
from conformance.wire import requests
from tests.fakes.service import NAMES, PREFIX
from tests.fakes.undoing import FOREIGN, make, undone

if TYPE_CHECKING:
    from collections.abc import Callable


def observing(service: Any) -> Ownership:
    """Return a guard that observes the service."""
    guard = Ownership(NAMES, service.send_all)
    service.observers.append(guard)
    return guard


def rename(service: Any, _: Journal) -> None:
    """Rename the organization."""
    service.send(requests.update_organization({"name": f"{PREFIX}b"}))


def promote(service: Any, _: Journal) -> None:
    """Change a member's role."""
    service.send(requests.update_member_role("u_1", {"role": "admin"}))


def join(service: Any, journal: Journal) -> None:
    """Make a member for the run."""
    service.roles["u_9"] = "member"
    journal.member_made("u_9", "member", "")


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


def test_another_person_with_the_id_of_a_removed_member_is_not_left(running: Any, journal: Journal) -> None:
    """A cleanup must not remove a person who gets the id of a removed member of the run."""
    join(running, journal)
    running.people["u_9"] = {"joinedAt": "2026-01-01T00:00:00.000Z", "email": "made@example.com"}
    running.send(requests.list_members())
    running.send(requests.remove_member("u_9"))
    running.roles["u_9"] = "member"
    running.people["u_9"] = {"joinedAt": "2026-01-01T00:05:00.000Z", "email": "real@example.org"}
    queries = QueryClient(running.send, running.send_all)

    ownership = observing(running)
    assert undone(running, journal).left == []
    assert reopen_remaining(journal, ownership, queries, *take_census(queries, NAMES)) == []
