"""Certificates of runs that follow a certifier's challenge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate.signing import sign
from conformance.certificate.statement import CLAIMS
from conformance.certificate.verifying import Verified, verify
from conformance.reports.har_reading import read_har
from conformance.targets.challenge import mark_of, seed_of
from conformance.targets.journal import Journal
from conformance.wire.exchange import SUCCESSES
from tests.conftest import RecordedRun

from .conftest import conformance
from .forging import Change, documents, forge

CHALLENGE = "a-challenge-of-acme"
OTHER = "another-challenge-of-acme"


@pytest.fixture(scope="session")
def challenged_run(
    recorded_run: RecordedRun, private_key: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A small signed run that follows the challenge."""
    recorded = recorded_run("--only", "archive-*", "--challenge", CHALLENGE)
    folder = Path(shutil.copytree(recorded, tmp_path_factory.mktemp("challenged") / "run"))
    sign(folder, private_key, anyway=True)
    return folder


@pytest.fixture
def challenged(challenged_run: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return Path(shutil.copytree(challenged_run, tmp_path / "run"))


def test_a_challenge_is_in_every_record_of_the_run(challenged_run: Path) -> None:
    """Report, notes, journal and statement name it, and each engagement that was created has its mark."""
    found = documents(challenged_run)
    run, journal = found["report"]["run"], Journal.read(challenged_run)
    made = [
        json.loads(exchange.sent_request.body)["name"]
        for exchange in read_har(challenged_run / "exchanges.har")
        if exchange.request.operation.id == "createEngagement"
        and exchange.received is not None
        and exchange.received.status in SUCCESSES
    ]

    assert (run["challenge"], run["seed"]) == (CHALLENGE, seed_of(CHALLENGE))
    assert (found["notes"][0]["challenge"], journal.names.challenge) == (CHALLENGE, CHALLENGE)
    assert found["statement"]["predicate"][CLAIMS]["run"]["challenge"] == CHALLENGE
    assert found["statement"]["predicate"][CLAIMS]["level"] == "2, challenged"
    assert made
    assert all(name.startswith(journal.names.prefix + mark_of(CHALLENGE)) for name in made)
    assert all(len(name) <= 28 or "walk" in name for name in made)
    assert CHALLENGE in (challenged_run / "certificate.html").read_text()


@pytest.mark.parametrize(
    ("words", "status", "level", "last"),
    [
        (
            ("--challenge", CHALLENGE),
            0,
            "level 1, self-consistent, and level 2, challenged: ",
            "The certificate is valid",
        ),
        ((), 0, "level 1, self-consistent: ", "The certificate is valid"),
        (
            ("--challenge", OTHER),
            4,
            "level 1, self-consistent: ",
            f"Exit 4: the certificate lacks the challenge {OTHER}.",
        ),
        (("--challenge", "short"), 2, "", ""),
    ],
)
def test_verify_demands_a_challenge(
    challenged_run: Path, key_file: Path, words: tuple[str, ...], status: int, level: str, last: str
) -> None:
    """The last lines name the level that was verified; another challenge is not accepted."""
    done = conformance("verify", challenged_run, "--public-key", f"{key_file}.pub", "--require", "any", *words)

    assert done.returncode == status
    assert level in done.stdout
    assert "".join(done.stdout.splitlines()[-1:]).startswith(last)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), None),
        (
            (f'{{"challenge": "{CHALLENGE}", "to": "Acme", "given_at": "2001-01-01T00:00:00Z"}}',),
            "the challenge was given to Acme at 2001-01-01T00:00:00Z.",
        ),
        (
            ("{", "[]", "[" * 100_000, f'{{"challenge": "{CHALLENGE}", "given_at": "2999-01-01T00:00:00Z"}}'),
            "the challenge was given at 2999-01-01T00:00:00Z, after the run began at 2",
        ),
        ((f'{{"challenge": "{OTHER}"}}',), f"given.jsonl does not have the challenge {CHALLENGE}."),
    ],
    ids=["no list", "given", "given later", "not given"],
)
def test_verify_looks_the_challenge_up(
    challenged_run: Path, key_file: Path, tmp_path: Path, lines: tuple[str, ...], said: str | None
) -> None:
    """The output says whether and when the certifier gave it; the exit status does not depend on that."""
    register = tmp_path / "given.jsonl"
    if lines:
        register.write_text("\n".join(lines))
    words = ("--require", "any", "--challenge", CHALLENGE, "--challenges", register)
    done = conformance("verify", challenged_run, "--public-key", f"{key_file}.pub", *words)

    assert done.returncode == 0
    assert "challenge was given" not in done.stdout if said is None else said in done.stdout


def test_a_run_without_a_challenge_is_not_accepted(small_signed: Path, key_file: Path) -> None:
    """The certificate holds, but no challenge gave its seed."""
    words = ("--require", "any", "--challenge", CHALLENGE)
    done = conformance("verify", small_signed, "--public-key", f"{key_file}.pub", *words)

    assert done.returncode == 4
    assert done.stdout.splitlines()[-1] == f"Exit 4: the certificate lacks the challenge {CHALLENGE}."


def test_a_run_that_creates_nothing_shows_no_challenge(
    recorded_run: RecordedRun, private_key: Ed25519PrivateKey, key_file: Path, tmp_path: Path
) -> None:
    """A read-only run has no name with the mark."""
    recorded = recorded_run("--only", "list-engagements-*", "--read-only", "--challenge", CHALLENGE)
    folder = Path(shutil.copytree(recorded, tmp_path / "run"))
    sign(folder, private_key, anyway=True)
    words = ("--require", "any", "--challenge", CHALLENGE)
    done = conformance("verify", folder, "--public-key", f"{key_file}.pub", *words)

    assert done.returncode == 4
    assert done.stdout.splitlines()[-1].endswith("an engagement that was created with the mark of the challenge.")


def _faults(verified: Verified) -> list[str]:
    return [fault for claim in verified.claims for fault in claim.faults]


def _renamed(value: Any) -> Any:
    """Return a JSON value whose texts have the mark of the other challenge."""
    return json.loads(json.dumps(value).replace(mark_of(CHALLENGE), mark_of(OTHER)))


@pytest.mark.parametrize(
    ("document", "change", "words"),
    [
        ("report", lambda report: report["run"].update(challenge=OTHER), f"/run/challenge is {OTHER}"),
        ("report", lambda report: report["run"].pop("challenge"), "/run/challenge is absent"),
        ("notes", lambda notes: notes[0].update(challenge=OTHER), "the challenge gives the seed"),
        ("notes", lambda notes: notes[0].update(challenge=OTHER), "gives a name without the mark"),
        ("notes", lambda notes: notes[0].update(challenge=OTHER), "journal.jsonl is the journal of another run"),
        ("notes", lambda notes: notes[0].update(seed=7), "the challenge gives the seed"),
        ("archive", lambda archive: archive.update(_renamed(archive)), "gives a name without the mark"),
        ("statement", lambda said: said["predicate"][CLAIMS]["run"].update(challenge=OTHER), "its run differs"),
    ],
)
def test_a_recording_of_another_challenge_does_not_hold(
    challenged: Path,
    private_key: Ed25519PrivateKey,
    public_key: Ed25519PublicKey,
    document: str,
    change: Change,
    words: str,
) -> None:
    """Changing one record alone contradicts the others, although digests and signature were made anew."""
    forge(challenged, private_key, document, change)
    found = _faults(verify(challenged, public_key))

    assert any(words in fault for fault in found), found
