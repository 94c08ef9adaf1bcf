"""Malformed provisioned.jsonl from others: refused in a sentence, or read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.replay.recorded_inputs_file import InvalidInputs, read_inputs
from conformance.replay.recording import NotJudgeable, read_recording
from conformance.replay.reevaluating import reevaluate
from conformance.reports.sealing import PROVISIONED

from .conftest import conformance, reseal

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 7, 1e300, 10**400, "", "x", "file:///etc/passwd", "Authorization", "a\r\nb", "x" * 20_000,
    [], [None], [7], ["Authorization"], [[]], {}, {"user_id": 7, "key": True}, [{"user_id": 7, "key": True}],
)  # fmt: skip


def _members(head: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield from ((name,) for name in head)
    yield from (("target", name) for name in head["target"])


def _change(head: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    place = head["target"] if len(path) > 1 else head
    place[path[-1]] = value


def test_no_head_makes_the_replay_crash(folder: Path) -> None:
    """Each odd value of each member is refused in a sentence, or accepted."""
    original = (folder / PROVISIONED).read_bytes()
    paths: list[tuple[str, ...]] = []
    reseal(folder, lambda notes: paths.extend(_members(notes[0])))
    refused = 0
    for path in paths:
        for value in ODD:
            (folder / PROVISIONED).write_bytes(original)
            reseal(folder, lambda notes, path=path, value=value: _change(notes[0], path, value))  # type: ignore[misc]
            try:
                read_inputs(folder / PROVISIONED)
            except InvalidInputs as refusal:
                refused += len(str(refusal).splitlines())
    assert len(paths) * len(ODD) * 3 // 4 < refused <= len(paths) * len(ODD)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("target", "timeout"), -1, "target/timeout: -1 is less than or equal to the minimum of 0"),
        (("workers",), 0, "workers: 0 is less than the minimum of 1"),
        (("target", "headers"), ["Authorization"], "target/headers is a header that the suite sets itself"),
        (("target", "base_url"), "file:///x", "target/base_url must be a URL that begins with http"),
        (("target", "members"), [{"user_id": 7, "key": True}], "target/members/0/user_id: 7 is not of type 'string'"),
        (("prefix",), "x" * 10_000_000, "prefix: 'xxx"),
        (("prefix",), "cf-aaaaaaa1-", "prefix: 'cf-aaaaaaa1-' does not match"),
        (("prefix",), "cf-aaaaaaaa-\n", "prefix: "),
    ],
)
def test_an_invalid_setting_in_the_notes_is_reported(
    folder: Path, path: tuple[str, ...], value: object, message: str
) -> None:
    """The command names the member and ends with 2."""
    reseal(folder, lambda notes: _change(notes[0], path, value))

    done = conformance("render", "--rejudge", folder)

    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr) < 1000


@pytest.mark.parametrize(
    "note",
    [
        7, [], "x", {}, {"check": "a", "asked": "b"}, {"check": 7, "asked": "b", "told": 1},
        {"check": "a", "asked": [], "told": 1}, {"check": "a", "asked": "b", "told": 1, "time": "1"},
        {"check": "a", "asked": "b", "told": 1, "exchanges": 7},
        {"check": "a", "asked": "b", "told": 1, "exchanges": [[]]},
    ],
)  # fmt: skip
def test_a_line_that_is_no_note_is_refused(folder: Path, note: Any) -> None:
    """An invalid line is refused before anything is judged."""
    reseal(folder, lambda notes: notes.append(note))

    with pytest.raises(NotJudgeable, match=r"a line is no record of an input|a line has invalid numbers of exchanges"):
        read_recording(folder)


@pytest.mark.parametrize("value", [None, 7, "x", [], [[]], {}, {"a": 1}, 1e308, True])
def test_an_odd_response_is_a_difference(folder: Path, value: Any) -> None:
    """With any other recorded value, judging again ends and reports a difference."""
    reseal(folder, lambda notes: [note.update(told=value) for note in notes[1:]])

    recording = read_recording(folder)

    assert reevaluate(recording, folder).misfits
