"""Recorded inputs: a replay gets the same values in the same order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import Fixtures
from conformance.targets.profile import Profile
from conformance.targets.recorded_fixtures import RecordedFixtures
from conformance.targets.secret import Secret
from conformance.wire.recorded_inputs import InputPlayer, InputRecorder
from conformance.wire.redaction import Redactor
from conformance.wire.replay_wire import NotRecorded
from conformance.wire.requests import Credential
from conformance.wire.run_limits import RunStopped


def _again(inputs: InputRecorder) -> InputPlayer:
    return InputPlayer([json.loads(json.dumps(line)) for line in inputs.lines])


def _fixtures(**keys: Secret) -> Fixtures:
    """Return the fixtures of a target without a provisioner, which send nothing."""
    profile = Profile(name="t", base_url="http://t.test", api_key=Secret("key-of-the-target"), keys=keys)
    unused: Any = None
    return Fixtures(profile, None, Redactor(), send=unused, journal=unused, membership=unused)


def test_each_check_gets_its_own_responses() -> None:
    """Two checks that request the same value each get their own, in any order."""
    taken = InputRecorder()
    for check, response in (("one", 1), ("two", 2), ("one", 3)):
        with taken.under(check):
            taken.record("n", lambda response=response: response, int, int)  # type: ignore[misc]
    read = _again(taken)
    assert taken.lines[0] == {"check": "one", "asked": "n", "told": 1}

    values = []
    for check in ("two", "one", "one"):
        with read.under(check):
            values.append(read.record("n", lambda: 0, int, int))
    assert values == [2, 1, 3]
    assert read.unused == []


def test_question_that_was_not_noted_raises() -> None:
    """The error names the check and the value."""
    read = InputPlayer([])

    with read.under("archiving"), pytest.raises(NotRecorded, match="archiving asks for seconds"):
        read.record("seconds", lambda: 0.0, float, float)
    assert read.unrecorded == ["archiving asks for seconds, which the run did not record"]


def test_question_that_a_stopped_run_did_not_come_to_is_stopped_again() -> None:
    """The values recorded before the stop are read back."""
    taken = InputRecorder()
    with taken.under("archiving"):
        taken.record("seconds", lambda: 1.5, float, float)
    read = InputPlayer(taken.lines, "interrupted by SIGINT")

    with read.under("archiving"):
        assert read.record("seconds", lambda: 0.0, float, float) == 1.5
        with pytest.raises(RunStopped, match="interrupted by SIGINT"):
            read.record("seconds", lambda: 0.0, float, float)
    assert read.unrecorded == []


def test_responses_left_over_are_named() -> None:
    """Unrequested records show that they belong to another suite."""
    taken = InputRecorder()
    with taken.under("mailing"):
        taken.record("seconds", lambda: 1.5, float, float)
        taken.record_if_any("order", lambda: [2, 1])

    assert len(_again(taken).unused) == 2


def test_empty_responses_are_not_noted_and_keep_their_turn() -> None:
    """Of three values only the second is recorded; the second request returns it."""
    taken = InputRecorder()
    for response in ([], [4], []):
        taken.record_if_any("order", lambda response=response: response)  # type: ignore[misc]
    read = _again(taken)

    assert len(taken.lines) == 1
    assert [read.record_if_any("order", list) for _ in range(3)] == [None, [4], None]


def test_exchanges_sent_for_a_response_are_claimed_with_it() -> None:
    """The exchanges that a fixture sent belong to its value."""
    taken = InputRecorder()

    def found() -> str:
        taken.sent([7, 8])
        return "id"

    taken.record("a record", found, str, str)
    read = _again(taken)
    claimed: list[int] = []
    read.claim = claimed.extend

    assert read.record("a record", lambda: "", str, str) == "id"
    assert claimed == [7, 8]


def test_missing_means_have_the_same_reason_in_a_replay() -> None:
    """A replay gives the same reason for an untested requirement."""
    taken = InputRecorder()
    with pytest.raises(MissingMeans) as first:
        RecordedFixtures(_fixtures(), taken).other_organization()
    with pytest.raises(MissingMeans) as second:
        RecordedFixtures(_fixtures(), _again(taken)).other_organization()

    assert (second.value.need, second.value.reason) == (first.value.need, first.value.reason)


def test_keys_are_noted_by_name_only() -> None:
    """The records contain no key; a replay gets a placeholder of the same name."""
    fixtures = _fixtures(**{"engagements:read": Secret("key-that-nobody-may-see")})
    taken = InputRecorder()
    given = RecordedFixtures(fixtures, taken).scoped_key("engagements:read")
    again = RecordedFixtures(fixtures, _again(taken), lambda name: Credential.bearer(name, "another")).scoped_key(
        "engagements:read"
    )

    assert "nobody-may-see" in (given.authorization or "")
    assert "nobody-may-see" not in json.dumps(taken.lines)
    assert (again.name, again.authorization) == ("engagements:read", "Bearer another")


def test_questions_asked_for_another_response_are_not_counted() -> None:
    """A replay does not request them, so that the numbers of the check's requests stay the same."""
    taken = InputRecorder()
    with taken.under("check"):
        taken.record_if_any("withheld", lambda: None)
        taken.record("a record", lambda: taken.record_if_any("withheld", lambda: "amid it"), str, str)
        taken.record_if_any("withheld", lambda: "it would change what is not the run's")

    read = InputPlayer(taken.lines)
    with read.under("check"):
        values = [read.record_if_any("withheld", lambda: None), read.record("a record", lambda: "", str, str)]
        values.append(read.record_if_any("withheld", lambda: None))

    assert values == [None, "amid it", "it would change what is not the run's"]
    assert read.unused == []
