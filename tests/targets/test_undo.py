from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.cleanup import clean_up
from conformance.targets.journal import Journal
from conformance.targets.journal_file import JournalError
from conformance.targets.membership import Membership
from conformance.targets.ownership import Ownership
from conformance.targets.pending import UndoResult
from conformance.targets.queries import QueryClient
from conformance.targets.undo import undo
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NoResponse
from conformance.wire.requests import Request
from tests.fakes.service import BASE_URL, PREFIX
from tests.fakes.undoing import FOREIGN, make, undone

if TYPE_CHECKING:
    from collections.abc import Callable


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


@pytest.mark.parametrize("has_id", [True, False])
def test_a_journal_that_only_names_a_prefix_deletes_nothing(
    service: Any, journal: Journal, clean: Callable[..., UndoResult], *, has_id: bool
) -> None:
    """Another run's prefix, ids and times are seen in the service: only a seal or the prefix's origin shows its run."""
    service.engagements |= FOREIGN
    head = {"format": "conformance-journal/2", "prefix": "cf-zzzzzz22-", "base_url": BASE_URL, "origin": "0" * 32}
    made = {"entry": 1, "at": "2026-01-01T00:00:00.000Z", "do": "create-engagement", "subject": FOREIGN["f_2"]}
    told = {"entry": 1, "is": "done", "id": "f_2"} if has_id else {}
    journal._file.path.write_text("".join(json.dumps(line) + "\n" for line in (head, made, told)))

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
    journal.member_made("u_9", "member", "")
    running.send(requests.update_member_role("u_1", {"role": "admin"}))
    running.send(requests.update_organization({"name": f"{PREFIX}b"}))

    assert clean("another-key-0002").left == [
        "Not undone, because the journal was written with another key: change-role, make-member, rename-organization."
    ]
    assert running.writes == ["DELETE /api/v1/engagements/e_1"]
    assert (clean().left, running.name, running.roles) == ([], "Acme", {"u_owner": "owner", "u_1": "member"})


def test_invitations_are_listed_as_lasting(running: Any, clean: Callable[..., UndoResult]) -> None:
    """Invitations cannot be undone and do not count as left behind."""
    running.send(requests.invite_member({"email": "a@x", "role": "member"}))

    result = clean()
    assert result.lasting == ["a@x was invited; an invitation expires after seven days."]
    assert result.left == []


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


def test_undoing_while_the_journal_watches_leaves_nothing(running: Any, journal: Journal) -> None:
    """Undoing through the observed wire settles the journal too."""
    make(running, "a", "b")
    running.send(requests.update_organization({"name": "B"}))
    running.send(requests.update_member_role("u_1", {"role": "admin"}))
    journal.member_made("u_9", "member", "")
    running.roles["u_9"] = "member"

    result = undone(running, journal)

    assert (result.left, result.lasting) == ([], [])
    assert journal.pending() == []
    assert Journal.read(journal._file.path.parent).pending() == []
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

    monkeypatch.setattr(journal._file, "append", full)
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
    lines = journal._file.path.read_bytes().splitlines(keepends=True)
    torn = b"".join(lines[:count]) + (lines[count][:-7] if count < len(lines) else b"")
    journal._file.path.write_bytes(torn)
    intended = sum(b'"do"' in line for line in lines[:count])
    for number in range(intended + 1, 4):
        del running.engagements[f"e_{number}"]  # its intention is not written, so it was never sent

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
