"""Forged journals: cleanup writes only to the data of its run.

``--sample`` tries the journals that the commit draws; a node id tries a single journal.
"""

from __future__ import annotations

import json
import random
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.targets.cleanup import clean_up
from conformance.targets.journal import Journal
from conformance.targets.journal_entries import Action
from conformance.targets.journal_file import JournalError
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership, OwnershipState, RunTime
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.wire import requests
from tests.fakes.service import BASE_URL, MAIN_KEY, Service

OTHERS: Final = {
    "f_1": "Quarterly audit",
    "f_2": "cf-zzzzzz22-of another run",
    "f_3": "",
    "f_4": "cf-security-review",
    "f_5": "Seeded 000",
    "f_6": "Copy of cf-abcdefg2-left",
    "f_7": "cf-abcdefg2-left (copy)",
}
AFTER_THE_RUN: Final = {"f_7": "2999-01-01T00:00:00.000Z"}
ROLES: Final = {"u_owner": "owner", "u_a": "admin", "u_b": "admin", "u_1": "member"}
PREFIXES: Final = ("cf-abcdefg2-", "cf-security-", "Seeded 000", "cf-zzzzzz22-", "cf-zzzzzz23-", "", "cf-", "Q")


class Forger:
    """A partly or wholly forged journal of a service that others use.

    Args:
        folder: The folder of the journal.
        number: The number of the example, which is its seed.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._chance = random.Random(f"journal {number}")
        self._path = folder / "journal.jsonl"
        self.service = Service(engagements=dict(OTHERS), roles=dict(ROLES), made_at=dict(AFTER_THE_RUN))
        self.key = self._chance.choice([MAIN_KEY, MAIN_KEY, "another-key-0002"])
        genuine = self._chance.random() < 0.7
        if genuine:
            self._run(folder)
        elif self._chance.random() < 0.8:
            self._write([self._head()])
        self._write([self._line() for _ in range(self._chance.randint(1, 12))])
        if genuine and self._chance.random() < 0.4:
            self._alter()

    def _run(self, folder: Path) -> None:
        """Write the journal of a killed run that may have left an engagement, a new name and another role."""
        names = RunNames("cf-abcdefg2-")
        with closing(Journal.open(folder, names, BASE_URL, MAIN_KEY)) as journal:
            self.service.observers.append(JournalRecorder(journal))
            self.service.send(requests.get_organization())
            self.service.send(requests.list_members())
            self.service.send(requests.create_engagement({"name": names.name("left")}))
            if self._chance.random() < 0.3:
                self.service.roles["u_9"] = "member"
                journal.member_made("u_9", "member", "")
        self.service.observers.clear()

    def _head(self) -> dict[str, Any]:
        return {
            "format": self._chance.choice(["conformance-journal/2", "conformance-journal/2", "conformance-journal/1"]),
            "prefix": self._chance.choice(PREFIXES),
            "base_url": self._chance.choice([BASE_URL, BASE_URL, "https://production.example"]),
            "at": "2026-01-01T00:00:00.000Z",
        }

    def _line(self) -> dict[str, Any]:
        """Return a line in the run's format about other users' data."""
        chance = self._chance
        action = chance.choice([*Action, Action.CREATE_ENGAGEMENT, Action.MAKE_MEMBER])
        subject = {
            Action.CREATE_ENGAGEMENT: chance.choice([*OTHERS.values(), "cf-abcdefg2-x"]),
            Action.RENAME_ORGANIZATION: chance.choice([self.service.name, "Acme Ltd"]),
        }.get(action, chance.choice([*ROLES]))
        line = {
            "entry": chance.randint(1, 30), "at": "2026-01-01T00:00:00.000Z", "do": action.value,
            "key": chance.choice(["api_key", "provisioner", "other_organization"]), "subject": subject,
            "before": chance.choice(["admin", "member", "owner", "Pwned Ltd"]),
            "wanted": chance.choice(["admin", "member"]), "became": self.service.name,
        }  # fmt: skip
        told = {
            "entry": line["entry"],
            "is": chance.choice(["done", "refused", "intended"]),
            "id": chance.choice([*OTHERS]),
        }
        place = {"organization": self.service.id, "created_at": self.service.founded, "since": 0}
        found = chance.choice([line, line, line, told, told, place])
        return found if chance.random() < 0.5 else {**found, "seal": f"{chance.getrandbits(128):032x}"}

    def _alter(self) -> None:
        """Change genuine lines, and keep their seals."""
        lines = self._path.read_text().splitlines()
        place = self._chance.randrange(1, len(lines))
        for old, new in (
            ("e_1", "f_1"),
            ("cf-abcdefg2-left", "Quarterly audit"),
            ("u_9", "u_owner"),
            ("intended", "done"),
        ):
            lines[place] = lines[place].replace(old, new)
        self._path.write_text("".join(f"{line}\n" for line in lines))

    def _write(self, lines: list[dict[str, Any]]) -> None:
        with self._path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


def cleaned(folder: Path, number: int) -> tuple[Service, list[str]]:
    """Clean up with a forged journal.

    Returns:
        The service afterwards, and the writes to other users' data.
    """
    forger = Forger(folder, number)
    service = forger.service
    service.writes.clear()
    with suppress(JournalError), closing(Journal.claim(folder, forger.key)) as journal:
        ownership = Ownership(journal.names, service.send_all, RunTime(journal.period))
        membership = Membership(service.send_all)
        service.observers += [ownership, membership]
        clean_up(journal, ownership, membership, QueryClient(service.send), BASE_URL)
    permitted = {"DELETE /api/v1/engagements/e_1", "DELETE /api/v1/organizations/current/members/u_9"}
    return service, [write for write in service.writes if write not in permitted]


@pytest.mark.parametrize("number", range(1000))
def test_no_journal_makes_cleanup_write_to_others(number: int, tmp_path: Path) -> None:
    """Cleanup writes only to engagements with the run's prefix, and to members that the run made."""
    service, writes = cleaned(tmp_path, number)

    assert writes == []
    assert {identifier: service.engagements.get(identifier) for identifier in OTHERS} == OTHERS
    assert (service.name, {identifier: service.roles.get(identifier) for identifier in ROLES}) == ("Acme", ROLES)


def test_the_journals_would_do_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the guards, the same journals make cleanup write to other users' data."""
    monkeypatch.setattr("conformance.targets.journal_file.JournalFile.is_sealed", lambda *_: True)
    monkeypatch.setattr("conformance.targets.ownership.Ownership._judged", lambda *_: OwnershipState.OWN)
    harmed = 0
    for number in range(60):
        (tmp_path / str(number)).mkdir()
        harmed += bool(cleaned(tmp_path / str(number), number)[1])

    assert harmed >= 10
