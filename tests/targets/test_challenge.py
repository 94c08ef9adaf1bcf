"""The seed and the mark of a challenge."""

from __future__ import annotations

import pytest

from conformance.targets.challenge import CHALLENGE, fresh_challenge, mark_of, seed_of
from conformance.targets.names import PREFIX, RunNames

FIRST, SECOND = "a-challenge-of-acme", "a-challenge-of-beta"


def test_a_fresh_challenge_is_valid_and_new() -> None:
    """No challenge is given twice."""
    given = {fresh_challenge() for _ in range(50)}

    assert len(given) == 50
    assert all(CHALLENGE.fullmatch(challenge) for challenge in given)


def test_a_challenge_gives_the_seed_and_the_mark() -> None:
    """Both stay the same between releases, and differ between challenges."""
    assert (seed_of(FIRST), mark_of(FIRST)) == (1114138973, "phztk-")
    assert seed_of(SECOND) != seed_of(FIRST)
    assert mark_of(SECOND) != mark_of(FIRST)


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 65, "with a blank in it", "a-challenge-of-\u00e4cme", FIRST + "\n"]
)
def test_another_text_is_no_challenge(text: str) -> None:
    """A challenge is long, and the same in every shell and encoding."""
    assert CHALLENGE.fullmatch(text) is None


def test_the_mark_stands_behind_the_prefix_in_every_name() -> None:
    """Two runs of a challenge have different prefixes, so that neither takes the other's records for its own."""
    one, other = RunNames.fresh(FIRST), RunNames.fresh(FIRST)

    assert one.name("walk") == f"{one.prefix}{mark_of(FIRST)}walk"
    assert one.address("walk", "example.com") == f"{one.prefix}{mark_of(FIRST)}walk@example.com"
    assert PREFIX.fullmatch(one.prefix)
    assert one.owns(one.name("walk"))
    assert not other.owns(one.name("walk"))
    assert one.is_proved
