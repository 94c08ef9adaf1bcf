from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest

from conformance.target.changes import Action, State
from conformance.target.journal import Journal, JournalError

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "cf-abcdefgh-"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """The journal of a new run."""
    return Journal.open(tmp_path / "report", PREFIX)


def lines(journal: Journal) -> list[dict[str, object]]:
    """The lines of a journal's file."""
    return [json.loads(line) for line in journal._path.read_text().splitlines()]


def test_an_intention_is_on_the_disk_before_it_is_sent(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is written and synced when ``intend`` returns."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))

    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}a")

    assert synced == [journal._path.stat().st_size]
    assert lines(journal)[-1]["do"] == "create-engagement"
    assert lines(journal)[-1]["subject"] == f"{PREFIX}a"


def test_a_change_that_cannot_be_written_must_not_be_sent(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is an error before anything goes out."""
    journal.close()

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(JournalError, match="cannot be written: No space left on device"):
        journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")

    assert journal.pending() == []


def test_a_journal_is_read_as_it_was_written(journal: Journal, tmp_path: Path) -> None:
    """Reading gives the same entries in the same states."""
    first = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}\ud83c lone")
    second = journal.intend(Action.CHANGE_ROLE, "api_key", "u_1", "member")
    third = journal.intend(Action.CREATE_ENGAGEMENT, "other_organization", None)
    fourth = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "gone")
    journal.done(first, "e_1", doubtful=True)
    journal.done(second)
    journal.refused(third)
    journal.settle(fourth)
    journal.member_made("u_9", "member")
    journal.belongs_to("org_1")

    again = Journal.read(tmp_path / "report")

    assert again.entries() == journal.entries()
    assert again.pending() == journal.pending()
    assert (again.organization, again.names.prefix) == ("org_1", PREFIX)


def test_pending_is_what_may_be_left_the_latest_first(journal: Journal) -> None:
    """Creations, renamings and role changes are pending until settled; refusals of role changes are not."""
    made, renamed, role, refused, invited, removed = (
        journal.intend(action, "api_key", "x")
        for action in (
            Action.CREATE_ENGAGEMENT,
            Action.RENAME_ORGANIZATION,
            Action.CHANGE_ROLE,
            Action.CHANGE_ROLE,
            Action.INVITE,
            Action.REMOVE_MEMBER,
        )
    )
    journal.refused(refused)

    assert journal.pending() == [role, renamed, made]
    for entry in (made, renamed, role, invited, removed):
        journal.settle(entry)
    assert journal.pending() == []


def test_what_lasts_is_told(journal: Journal) -> None:
    """Invitations and removals are listed, uncertain ones as such, refused ones not at all."""
    invited = journal.intend(Action.INVITE, "api_key", "a@x")
    journal.done(invited)
    journal.intend(Action.INVITE, "api_key", "b@x")
    journal.refused(journal.intend(Action.INVITE, "api_key", "c@x"))
    removed = journal.intend(Action.REMOVE_MEMBER, "api_key", "u_1")
    journal.done(removed)

    assert journal.lasting() == [
        "a@x was invited; an invitation expires after seven days.",
        "b@x may have been invited; an invitation expires after seven days.",
        "The member u_1 was removed.",
    ]


def test_a_line_cut_by_a_full_disk_spoils_no_later_one(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once there is room again the journal goes on, and every later entry is read."""
    write, room = os.write, [20]

    def nearly_full(descriptor: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[: room.pop()])

    monkeypatch.setattr(os, "write", nearly_full)
    with pytest.raises(JournalError):
        journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "torn")
    monkeypatch.undo()
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "whole")
    journal.done(entry, "e_1")

    assert [found.id for found in Journal.read(tmp_path / "report").entries()] == ["e_1"]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_passed_over(journal: Journal, tmp_path: Path, cut: int) -> None:
    """A line that a sudden end cut short says nothing, and later lines are not joined to it."""
    kept = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}kept")
    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}torn")
    text = journal._path.read_bytes()
    journal._path.write_bytes(text[:-cut])

    again = Journal.read(tmp_path / "report")
    assert next(entry.subject for entry in again.entries()) == kept.subject
    again.settle(again.entries()[0])
    again.close()

    assert Journal.read(tmp_path / "report").entries()[0].state is State.SETTLED


def test_settling_twice_writes_once(journal: Journal) -> None:
    """Ticking off what is ticked off already adds no line."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    journal.settle(entry)
    before = len(lines(journal))

    journal.settle(entry)

    assert len(lines(journal)) == before


def test_the_organization_is_noted_once(journal: Journal) -> None:
    """Only the first organization counts."""
    journal.belongs_to("org_1")
    journal.belongs_to("org_2")

    assert journal.organization == "org_1"
    assert sum("organization" in line for line in lines(journal)) == 1


def test_a_folder_without_a_journal_is_told(tmp_path: Path) -> None:
    """Cleaning up needs a journal."""
    with pytest.raises(JournalError, match=r"There is no journal.jsonl in"):
        Journal.read(tmp_path)
    with pytest.raises(JournalError, match=r"There is no journal.jsonl in"):
        Journal.read(tmp_path / "none")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"format": "other", "prefix": "x"}',
        '{"format": "conformance-journal/1"}',
        '{"format": "conformance-journal/1", "prefix": ""}',
        "[" * 100000,
    ],
)
def test_a_file_that_is_no_journal_is_told(tmp_path: Path, text: str) -> None:
    """A file of another kind is not acted upon."""
    (tmp_path / "journal.jsonl").write_text(text)

    with pytest.raises(JournalError, match="is not the journal of a run"):
        Journal.read(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        '{"entry": true, "do": "create-engagement"}',
        '{"entry": 1, "do": "explode"}',
        '{"entry": [], "is": "done"}',
        '{"entry": 9, "is": "done"}',
        '{"do": [], "is": {}}',
    ],
)
def test_a_line_of_another_shape_says_nothing(journal: Journal, tmp_path: Path, line: str) -> None:
    """A line that the suite did not write is no entry."""
    with journal._path.open("a") as file:
        file.write(line + "\n")

    assert Journal.read(tmp_path / "report").entries() == []


def test_a_folder_with_pending_entries_is_not_used_again(journal: Journal, tmp_path: Path) -> None:
    """A new run does not overwrite what is needed to clean up after an old one."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    with pytest.raises(JournalError, match=r"run conformance cleanup \S+ first"):
        Journal.open(tmp_path / "report", "cf-other000-")

    journal.settle(entry)
    journal.close()

    assert Journal.open(tmp_path / "report", "cf-other000-").entries() == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A report folder that is a file is a sentence."""
    (tmp_path / "report").write_text("")

    with pytest.raises(JournalError, match=r"cannot be written|is not a directory|cannot be read"):
        Journal.open(tmp_path / "report", PREFIX)


@pytest.mark.parametrize("action", Action)
def test_every_change_is_undone_or_listed(journal: Journal, action: Action) -> None:
    """No kind of change that was carried out is forgotten."""
    entry = journal.intend(action, "api_key", "x")
    journal.done(entry)

    assert (entry in journal.pending()) != bool(journal.lasting())
