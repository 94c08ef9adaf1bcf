"""Recordings that were changed at random places: every change is noticed."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.replay.comparing import differences
from conformance.replay.recording import NotJudgeable, read_recording
from conformance.replay.reevaluating import rejudge

from .conftest import change_entries, conformance

Entry = dict[str, Any]

NAMED = frozenset(
    {
        *("id", "name", "slug", "plan", "memberCount", "engagementCount", "createdAt", "updatedAt", "settings"),
        *("requireTwoFactor", "domainAutoJoin", "ssoEnabled", "email", "role", "joinedAt", "lastSeenAt", "status"),
        *("expiresAt", "data", "meta", "total", "page", "perPage", "totalPages", "removed", "userId", "deleted"),
        *("error", "code", "message", "statusCode"),
    }
)
"""The members that the interface names, whose types no answer may change."""

UNASKED = frozenset({"undoing", "connection"})
"""Who sends what no check asked for: the undoing after the checks, and the search for a target that was lost."""

OPEN = frozenset({"updateEngagement", "unarchiveEngagement"})
"""Operations whose successes may say what they like in ``data``."""


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of every class over the embedded service."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = conformance("run", "--effort", "quick", "--seed", 3, "--report", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", ["exchanges.har", "report.json", "provisioned.jsonl"])
def test_any_changed_byte_is_noticed(folder: Path, name: str) -> None:
    """Bytes at 100 random places of what is judged again, each made another one: the digests tell."""
    choices, path = random.Random(f"bytes of {name}"), folder / name
    content = path.read_bytes()

    for place in choices.sample(range(len(content)), 100):
        path.write_bytes(content[:place] + bytes([content[place] ^ choices.randrange(1, 256)]) + content[place + 1 :])
        assert _noticed(folder), f"byte {place} of {name}"
    path.write_bytes(content)
    assert _noticed(folder) == ""


def _noticed(folder: Path) -> str:
    """What a reader of the recording notices, without judging it."""
    try:
        return ", ".join(read_recording(folder).changed)
    except NotJudgeable as refusal:
        return str(refusal)


def other_status(entry: Entry, choices: random.Random) -> None:
    """Another status than came."""
    response = entry["response"]
    response["status"] = choices.choice([status for status in (200, 404, 418, 500) if status != response["status"]])


def no_limit(entry: Entry, choices: random.Random) -> None:
    """One rate-limit header less."""
    name = choices.choice(["limit", "remaining", "reset"])
    headers = entry["response"]["headers"]
    entry["response"]["headers"] = [one for one in headers if one["name"].lower() != f"x-ratelimit-{name}"]


def other_type(entry: Entry, choices: random.Random) -> None:
    """A member of the body that the interface names, of another JSON type."""
    body = json.loads(entry["response"]["content"]["text"])
    holder, name = choices.choice(list(_members(body)))
    holder[name] = {"was": holder[name]} if isinstance(holder[name], list) else [holder[name]]
    entry["response"]["content"]["text"] = json.dumps(body)


def _members(value: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Every member that the interface names, with the object that holds it."""
    if isinstance(value, dict):
        yield from ((value, name) for name in value if name in NAMED)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _members(inner)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("change", [other_status, no_limit, other_type])
def test_another_meaning_is_noticed_though_digests_are_right(
    whole_run: Path, tmp_path: Path, change: Callable[[Entry, random.Random], None], seed: int
) -> None:
    """An answer of any check, changed in what the interface speaks of: another outcome comes of it."""
    folder, choices = Path(shutil.copytree(whole_run, tmp_path / "run")), random.Random(seed)

    def at_random(entries: list[Entry]) -> None:
        again = _archivings_again(entries)
        judged = [one for one in entries if one["_check"] not in UNASKED and _is_told(one) and one not in again]
        change(choices.choice(judged), choices)

    change_entries(folder, at_random)
    recording = read_recording(folder)

    assert recording.changed == ()
    assert differences(recording, rejudge(recording, folder)) != []


@pytest.mark.parametrize("operation", ["deleteEngagement", "getEngagement", "getCurrentOrganization"])
def test_responses_of_the_last_scenario_are_judged_like_any_other(
    whole_run: Path, tmp_path: Path, operation: str
) -> None:
    """What the deletion of all that was made is answered breaks the laws of every answer, too."""
    folder, choices = Path(shutil.copytree(whole_run, tmp_path / "run")), random.Random(operation)

    def last(entries: list[Entry]) -> None:
        of_clearing = [one for one in entries if one["_check"] == "clearing"]
        other_type([one for one in of_clearing if one["_call"]["operation"] == operation][-1], choices)

    change_entries(folder, last)
    recording = read_recording(folder)

    assert any("judged again it is failed" in line for line in differences(recording, rejudge(recording, folder)))


def test_unchanged_recording_is_the_same_again(whole_run: Path) -> None:
    """The comparison finds nothing where nothing was changed."""
    recording = read_recording(whole_run)

    assert differences(recording, rejudge(recording, whole_run)) == []


def _archivings_again(entries: list[Entry]) -> list[Entry]:
    """Every archiving of an engagement but the first: what it answers may be open."""
    archivings = [one for one in entries if one["_call"]["operation"] == "archiveEngagement"]
    first = {one["request"]["url"]: one for one in reversed(archivings)}
    return [one for one in archivings if first[one["request"]["url"]] is not one]


def _is_told(entry: Entry) -> bool:
    """Whether the interface says what this answer's body is."""
    response = entry["response"]
    is_open = entry["_call"]["operation"] in OPEN and 200 <= response["status"] < 300
    return not is_open and str(response["content"].get("text", "")).startswith("{")
