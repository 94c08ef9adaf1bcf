from __future__ import annotations

import errno
import json
import os
import time
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

import pytest

from conformance.targets.journal import Journal, Place
from conformance.targets.journal_entries import Action, ChangeState, Person
from conformance.targets.journal_file import JournalError
from conformance.targets.names import RunNames
from tests.fakes.service import BASE_URL, MAIN_KEY, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEXT = RunNames("cf-othe2222-")


def begin(folder: Path) -> Journal:
    """The journal of the next run into a folder."""
    return Journal.open(folder, NEXT, BASE_URL, MAIN_KEY)


def lines(journal: Journal) -> list[dict[str, object]]:
    """The lines of a journal's file."""
    return [json.loads(line) for line in journal._file.path.read_text().splitlines()]


def test_an_intention_is_on_the_disk_before_it_is_sent(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is written and synced when ``intend`` returns."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))

    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}a")

    assert synced == [journal._file.path.stat().st_size]
    assert lines(journal)[-1]["do"] == "create-engagement"
    assert lines(journal)[-1]["subject"] == f"{PREFIX}a"


def test_a_change_that_cannot_be_written_must_not_be_sent(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is an error before the request is sent."""
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
    second = journal.intend(Action.CHANGE_ROLE, "api_key", "u_1", "member", "admin")
    third = journal.intend(Action.CREATE_ENGAGEMENT, "other_organization", None)
    fourth = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "gone")
    journal.done(first, "e_1")
    journal.done(second)
    journal.refused(third)
    journal.settle(fourth)
    journal.member_made("u_9", "member", "")
    journal.became(journal.intend(Action.RENAME_ORGANIZATION, "api_key", " x ", "Acme"), "x")
    journal.shown(journal.pending()[-1], Person("2026-01-01t00:00:00.000z", ""))
    journal.belongs_to("org_1", "2020-01-01T00:00:00.000Z", 1.5)

    again = Journal.read(tmp_path / "report", MAIN_KEY)

    assert again.entries() == journal.entries()
    assert again.pending() == journal.pending()
    assert (again.place, again.names, again.trusted) == (journal.place, journal.names, True)


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


def test_lasting_changes_are_listed(journal: Journal) -> None:
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
    """After a full disk the journal goes on, and later entries are read."""
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
    """An incomplete line is skipped, and later lines are separate."""
    kept = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}kept")
    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", f"{PREFIX}torn")
    text = journal._file.path.read_bytes()
    journal._file.path.write_bytes(text[:-cut])

    again = Journal.read(tmp_path / "report")
    assert next(entry.subject for entry in again.entries()) == kept.subject
    again.settle(again.entries()[0])
    again.close()

    assert Journal.read(tmp_path / "report").entries()[0].state is ChangeState.SETTLED


def test_settling_twice_writes_once(journal: Journal) -> None:
    """Settling a settled entry adds no line."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    journal.settle(entry)
    before = len(lines(journal))

    journal.settle(entry)

    assert len(lines(journal)) == before


def test_the_organization_is_noted_once(journal: Journal) -> None:
    """Only the first organization counts."""
    journal.belongs_to("org_1", None, 2.0)
    journal.belongs_to("org_2", None, 3.0)

    assert journal.place == Place(BASE_URL, "org_1", None, 2.0)
    assert sum("organization" in line for line in lines(journal)) == 1


def test_a_folder_without_a_journal_is_an_error(tmp_path: Path) -> None:
    """Cleanup needs a journal."""
    with pytest.raises(JournalError, match=r"There is no journal:"):
        Journal.read(tmp_path)
    with pytest.raises(JournalError, match=r"There is no journal:"):
        Journal.read(tmp_path / "none")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"format": "other", "prefix": "x"}',
        '{"format": "conformance-journal/2", "prefix": "cf-abcdefg2-"}',
        '{"format": "conformance-journal/2", "base_url": "http://service"}',
        '{"format": "conformance-journal/2", "base_url": "http://service", "prefix": ""}',
        '{"format": "conformance-journal/2", "base_url": "http://service", "prefix": "Seeded 000"}',
        '{"format": "conformance-journal/2", "base_url": "http://service", "prefix": "cf-security-"}',
        "[" * 100000,
    ],
)
def test_a_file_that_is_no_journal_is_an_error(tmp_path: Path, text: str) -> None:
    """A file of another kind is refused."""
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
    """Lines of another form are skipped."""
    with journal._file.path.open("a") as file:
        file.write(line + "\n")

    assert Journal.read(tmp_path / "report").entries() == []


@pytest.mark.parametrize("since", ["1" + "0" * 400, "Infinity", "-Infinity", "NaN", "1e999", "true", '"0"', "null"])
def test_a_time_that_is_no_finite_number_is_not_known(journal: Journal, tmp_path: Path, since: str) -> None:
    """The organization of the line counts nevertheless."""
    with journal._file.path.open("a") as file:
        file.write(f'{{"organization": "org_1", "since": {since}}}\n')

    again = Journal.read(tmp_path / "report")

    assert (again.place.organization, again.place.since) == ("org_1", None)
    assert again.period == (again.begun, again.begun)


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59.000-23:00", "0001-01-01T00:00:00.000+23:00", "2026-11-31", "now"])
def test_a_start_that_is_not_a_time_everywhere_is_not_known(journal: Journal, tmp_path: Path, at: str) -> None:
    """Any time zone can show the start of a run."""
    head, *_ = lines(journal)
    journal._file.path.write_text(json.dumps(head | {"at": at}) + "\n")

    assert Journal.read(tmp_path / "report").begun == 0


@pytest.mark.parametrize("line", ["", "1", "{}"])
def test_a_journal_of_very_many_lines_ends_in_seconds(journal: Journal, tmp_path: Path, line: str) -> None:
    """Empty lines are skipped; more other lines than a run writes are refused."""
    head = journal._file.path.read_bytes()
    journal._file.path.write_bytes(head + f"{line}\n".encode() * ((64 << 20) // (len(line) + 1) - len(head)))
    began = time.process_time()

    with nullcontext() if not line else pytest.raises(JournalError, match="more than 500000 lines"):
        assert Journal.read(tmp_path / "report", MAIN_KEY).entries() == []
    assert time.process_time() - began < 20


@pytest.mark.parametrize("depth", [200, 400, 900, 950, 980, 5000])
def test_a_nested_line_has_no_seal(journal: Journal, tmp_path: Path, depth: int) -> None:
    """A line that can be read, and is nested too deeply to be written, is passed over."""
    with journal._file.path.open("a") as file:
        file.write(f'{{"organization": {"[" * depth}{"]" * depth}}}\n')

    assert Journal.read(tmp_path / "report", MAIN_KEY).entries() == []


def test_a_folder_with_pending_entries_is_not_used_again(journal: Journal, tmp_path: Path) -> None:
    """A new run does not overwrite a journal with pending changes."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    journal.close()
    with pytest.raises(JournalError, match=r"run conformance cleanup \S+ first"):
        begin(tmp_path / "report")

    journal.settle(entry)
    journal.close()

    with closing(begin(tmp_path / "report")) as following:
        assert (following.entries(), Journal.read(tmp_path / "report").names) == ([], NEXT)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """A report folder that is a file is an error sentence."""
    (tmp_path / "report").write_text("")

    with pytest.raises(JournalError, match=r"cannot be written|is not a directory|cannot be read"):
        begin(tmp_path / "report")


@pytest.mark.parametrize("use", [begin, lambda folder: Journal.claim(folder, MAIN_KEY)], ids=["run", "cleanup"])
def test_a_journal_in_use_is_left_alone(journal: Journal, tmp_path: Path, use: Callable[[Path], Journal]) -> None:
    """An active journal is locked, and the error names its process."""
    before = journal._file.path.read_bytes()

    with pytest.raises(JournalError, match=rf"by a run in progress \(process {os.getpid()}, begun 20\S+Z\)"):
        use(tmp_path / "report")

    assert journal._file.path.read_bytes() == before
    journal.close()
    use(tmp_path / "report").close()


def test_a_link_is_no_journal(journal: Journal, tmp_path: Path) -> None:
    """A journal is never written through a link to another file."""
    (tmp_path / "next").mkdir()
    (tmp_path / "next" / "journal.jsonl").symlink_to(journal._file.path)
    journal.close()

    with pytest.raises(JournalError, match="cannot be written"):
        begin(tmp_path / "next")


FORGED = '{"entry": 7, "at": "2026-01-01T00:00:00.000Z", "do": "make-member", "key": "provisioner", "subject": "u_0"'


@pytest.mark.parametrize("more", ["}", ', "seal": "0"}', ', "seal": null}', f', "seal": "{"0" * 32}"}}'])
def test_a_line_that_the_key_did_not_seal_says_nothing(journal: Journal, tmp_path: Path, more: str) -> None:
    """In a sealed journal a line without a seal is no entry."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    with journal._file.path.open("a") as file:
        file.write(f"{FORGED}{more}\n")

    again = Journal.read(tmp_path / "report", MAIN_KEY)

    assert (again.entries(), again.trusted) == ([entry], True)


def test_a_sealed_line_of_another_run_says_nothing(journal: Journal, tmp_path: Path) -> None:
    """Lines of two runs with one key cannot be mixed."""
    with closing(begin(tmp_path / "next")) as following:
        following.intend(Action.MAKE_MEMBER, "provisioner", "u_0", "member")
        stray = following._file.path.read_text().splitlines()[-1]
    with journal._file.path.open("a") as file:
        file.write(f"{stray}\n")

    assert Journal.read(tmp_path / "report", MAIN_KEY).entries() == []


def test_a_journal_with_changed_texts_is_trusted(journal: Journal, tmp_path: Path) -> None:
    """Its lines have new seals, so that cleanup still uses it."""
    entry = journal.intend(Action.INVITE, "api_key", "ana@hidden.example")
    content = journal.changed(lambda text: text.replace("ana@hidden", "bob@shown"))
    journal.close()
    (tmp_path / "changed").mkdir()
    (tmp_path / "changed" / journal._file.path.name).write_bytes(content)

    again = Journal.read(tmp_path / "changed", MAIN_KEY)
    assert again.trusted
    assert [(other.number, other.subject) for other in again.entries()] == [(entry.number, "bob@shown.example")]


@pytest.mark.parametrize("key", [None, "another-key-0002"])
def test_a_journal_of_another_key_is_not_trusted(journal: Journal, tmp_path: Path, key: str | None) -> None:
    """Entries of another key are read but not trusted."""
    entry = journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")

    again = Journal.read(tmp_path / "report", key)

    assert (again.entries(), again.trusted) == ([entry], False)


@pytest.mark.parametrize("action", Action)
def test_every_change_is_undone_or_listed(journal: Journal, action: Action) -> None:
    """Every action is recorded."""
    entry = journal.intend(action, "api_key", "x")
    journal.done(entry)

    assert (entry in journal.pending()) != bool(journal.lasting())


@pytest.mark.parametrize("what", ["deleted", "replaced", "cut short", "left alone"])
def test_a_journal_that_is_lost_is_noticed(journal: Journal, what: str) -> None:
    """An oversized journal is refused."""
    journal.intend(Action.CREATE_ENGAGEMENT, "api_key", "x")
    text = journal._file.path.read_bytes()
    if what != "left alone":
        journal._file.path.unlink()
    if what == "replaced":
        journal._file.path.write_bytes(text)
    if what == "cut short":
        journal.close()
        with closing(begin(journal._file.path.parent)) as journal:  # noqa: PLR1704 - the one that is looked at
            os.truncate(journal._file.path, 5)
            assert journal.is_lost
        return

    assert journal.is_lost is (what != "left alone")
