"""Tampering with recordings at random places: every change is detected."""

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
from conformance.replay.reevaluating import reevaluate

from .conftest import change_entries

Entry = dict[str, Any]

NAMED = frozenset(
    {
        *("id", "name", "slug", "plan", "memberCount", "engagementCount", "createdAt", "updatedAt", "settings"),
        *("requireTwoFactor", "domainAutoJoin", "ssoEnabled", "email", "role", "joinedAt", "lastSeenAt", "status"),
        *("expiresAt", "data", "meta", "total", "page", "perPage", "totalPages", "removed", "userId", "deleted"),
        *("error", "code", "message", "statusCode"),
    }
)
"""The members that the interface names, with fixed types."""

UNASKED = frozenset({"undoing", "connection", "ownership"})
"""Senders that are no checks: undoing, the search for a lost target, and the reads that prove ownership."""

OPEN = frozenset({"updateEngagement", "unarchiveEngagement"})
"""Operations with free ``data`` in successful responses."""


@pytest.mark.parametrize("name", ["exchanges.har", "report.json", "provisioned.jsonl"])
def test_any_changed_byte_is_noticed(folder: Path, name: str) -> None:
    """Digests detect a changed byte at each of 100 random places."""
    choices, path = random.Random(f"bytes of {name}"), folder / name
    content = path.read_bytes()

    for place in choices.sample(range(len(content)), 100):
        path.write_bytes(content[:place] + bytes([content[place] ^ choices.randrange(1, 256)]) + content[place + 1 :])
        assert _noticed(folder), f"byte {place} of {name}"
    path.write_bytes(content)
    assert _noticed(folder) == ""


def _noticed(folder: Path) -> str:
    """Return what reading the recording detects, without judging it."""
    try:
        return ", ".join(read_recording(folder).changed)
    except NotJudgeable as refusal:
        return str(refusal)


def other_status(entry: Entry, choices: random.Random) -> None:
    """Replace the status by one that the response cannot have; of a success, another success may be permitted."""
    response = entry["response"]
    permitted = {response["status"], 200} if response["status"] < 300 else {response["status"]}
    response["status"] = choices.choice([status for status in (200, 404, 418, 500) if status not in permitted])


def no_limit(entry: Entry, choices: random.Random) -> None:
    """Remove a rate-limit header."""
    name = choices.choice(["limit", "remaining", "reset"])
    headers = entry["response"]["headers"]
    entry["response"]["headers"] = [header for header in headers if header["name"].lower() != f"x-ratelimit-{name}"]


def other_type(entry: Entry, choices: random.Random) -> None:
    """Change the JSON type of a named member of the body."""
    body = json.loads(entry["response"]["content"]["text"])
    holder, name = choices.choice(list(_members(body)))
    holder[name] = {"was": holder[name]} if isinstance(holder[name], list) else [holder[name]]
    entry["response"]["content"]["text"] = json.dumps(body)


def _members(value: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every named member with its object."""
    if isinstance(value, dict):
        yield from ((value, name) for name in value if name in NAMED)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _members(inner)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("change", [other_status, no_limit, other_type])
def test_another_meaning_is_noticed_though_digests_are_right(
    whole_run: Path, tmp_path: Path, change: Callable[[Entry, random.Random], None], seed: int
) -> None:
    """A relevant change of a response changes an outcome, although the digests are correct."""
    folder, choices = Path(shutil.copytree(whole_run, tmp_path / "run")), random.Random(seed)

    def at_random(entries: list[Entry]) -> None:
        again = _archivings_again(entries)
        judged = [
            entry for entry in entries if entry["_check"] not in UNASKED and _is_specified(entry) and entry not in again
        ]
        change(choices.choice(judged), choices)

    change_entries(folder, at_random)
    recording = read_recording(folder)

    assert recording.changed == ()
    assert differences(recording, reevaluate(recording, folder)) != []


@pytest.mark.parametrize(
    ("operation", "outcome"),
    [("deleteEngagement", "failed"), ("getEngagement", "cantTell"), ("getCurrentOrganization", "failed")],
)
def test_responses_of_the_last_scenario_are_judged_like_any_other(
    whole_run: Path, tmp_path: Path, operation: str, outcome: str
) -> None:
    """The laws judge the responses to the final deletion, too."""
    folder, choices = Path(shutil.copytree(whole_run, tmp_path / "run")), random.Random(operation)

    def last(entries: list[Entry]) -> None:
        of_deletion = [entry for entry in entries if entry["_check"] == "final_deletion"]
        other_type([entry for entry in of_deletion if entry["_call"]["operation"] == operation][-1], choices)

    change_entries(folder, last)
    recording = read_recording(folder)

    # After a 404 to the main key, the check asks whether the key is still valid; the recording has no such request.
    found = differences(recording, reevaluate(recording, folder))
    assert any(f"passed, re-evaluated it is {outcome}" in line for line in found)


def test_unchanged_recording_is_the_same_again(whole_run: Path) -> None:
    """An unchanged recording has no differences."""
    recording = read_recording(whole_run)

    assert differences(recording, reevaluate(recording, whole_run)) == []


def _archivings_again(entries: list[Entry]) -> list[Entry]:
    """Return the repeated archivings of engagements, whose responses may be open."""
    archivings = [entry for entry in entries if entry["_call"]["operation"] == "archiveEngagement"]
    first = {entry["request"]["url"]: entry for entry in reversed(archivings)}
    return [entry for entry in archivings if first[entry["request"]["url"]] is not entry]


def _is_specified(entry: Entry) -> bool:
    """Whether the interface specifies the body of a response."""
    response = entry["response"]
    is_open = entry["_call"]["operation"] in OPEN and 200 <= response["status"] < 300
    return not is_open and str(response["content"].get("text", "")).startswith("{")
