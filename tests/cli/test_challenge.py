"""``conformance challenge``, and ``run --challenge``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.targets.challenge import CHALLENGE


def test_a_challenge_is_printed_and_listed(tmp_path: Path) -> None:
    """The list keeps who got which challenge, in order."""
    register = tmp_path / "given.jsonl"
    printed = [
        CliRunner().invoke(main, ["challenge", "--list", str(register), "--to", name]).stdout.strip()
        for name in ("Acme", "Beta")
    ]
    listed = [json.loads(line) for line in register.read_text().splitlines()]

    assert [(given["challenge"], given["to"]) for given in listed] == list(zip(printed, ["Acme", "Beta"], strict=True))
    assert printed[0] != printed[1]
    assert all(CHALLENGE.fullmatch(challenge) for challenge in printed)
    assert all("given_at" in given for given in listed)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("--embedded", "--challenge", "a-challenge-of-acme", "--seed", "3"),
            "--challenge and --seed exclude each other",
        ),
        (("--embedded", "--challenge", "too short"), "expected 16 to 64 letters"),
        (("--challenge", "a-challenge-of-acme"), "No target is given, although --challenge is set"),
    ],
)
def test_an_unusable_challenge_is_refused(words: tuple[str, ...], why: str) -> None:
    """The run ends before any request, with exit status 2."""
    done = CliRunner().invoke(main, ["run", *words], env={"CI": ""})

    assert done.exit_code == 2
    assert why in done.stderr.splitlines()[-1]
