"""Witnesses: a share of a certificate's requirements, repeated against the service by the certifier."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.catalogue import load_catalogue
from conformance.certificate.countersigning import countersign
from conformance.certificate.envelope import InvalidEnvelope, sealed
from conformance.certificate.keys import public_path, read_private_key, read_public_key
from conformance.certificate.signing import sign
from conformance.certificate.verifying import verify
from conformance.certificate.witnessing import attestation, attested, compared, drawn
from conformance.cli.witness import USER_AGENT
from conformance.reports.har_reading import read_har
from conformance.reports.model import load_report
from conformance.reports.sealing import ENVELOPE, WITNESS
from conformance.reports.text import json_bytes
from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import Subject, mixtures
from conformance.verdicts import conclude
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks
from tests.conftest import RecordedRun, serve_sandbox

from .conftest import conformance, key_pair

CHALLENGE = "a-challenge-of-acme"
ONLY = ("--only", "archived-*")
WHY = [{"message": "so it was"}]
Sandbox = dict[str, str]


def report(observed: dict[str, str], **outcomes: str) -> Any:
    """Return the members of a report that witnesses read."""
    return {
        "requirements": [
            {"id": name.replace("_", "-"), "outcome": outcome, "failures": WHY if outcome == "failed" else []}
            for name, outcome in outcomes.items()
        ],
        "observations": [{"id": name, "observed": text} for name, text in observed.items()],
        "target": {"base_url": "https://a.test"},
        "run": {"challenge": CHALLENGE, "finished_at": "2026-11-26T22:00:00Z"},
    }


def test_a_challenge_draws_a_share_of_the_decided_requirements() -> None:
    """The same challenge always draws the same; a larger share contains the smaller one."""
    names = [f"r{number}" for number in range(40)]
    found = report({}, **dict.fromkeys(names, "passed"), bad="failed", open="cantTell", later="untested")
    shares = [drawn(found, CHALLENGE, share) for share in (0.01, 0.1, 0.5, 1)]

    assert [len(share) for share in shares] == [1, 5, 21, 41]
    assert all(set(less) < set(more) for less, more in pairwise(shares))
    assert shares[-1] == (*names, "bad")
    assert drawn(found, CHALLENGE, 0.1) == shares[1] != drawn(found, "another-challenge-of-acme", 0.1)


def test_outcomes_and_observations_of_both_runs_are_compared() -> None:
    """An outcome or observation of one run alone is no difference, and neither is an observation that varies."""
    seen = {"archive-status": "200", "archive-again": "409", "limit-honoured": "8"}
    certified = report(seen, a="passed", b="passed", c="failed", d="passed")
    seen = {"archive-status": "200", "create-status": "201", "limit-honoured": "9"}
    same = compared(certified, report(seen, a="passed", b="cantTell", c="failed"))
    seen = {"archive-status": "204", "archive-again": "409"}
    other = compared(certified, report(seen, a="failed", c="passed", d="passed"))

    assert (same.outcomes, same.observations, same.open, same.differences) == (2, 1, ("b",), ())
    assert (other.outcomes, other.observations, other.open) == (3, 2, ())
    assert other.differences == (
        "a: the certificate says passed, and in the witness's run it failed (so it was).",
        "c: the certificate says failed, and in the witness's run it passed (so it was).",
        "archive-status: the certificate says 200, and the witness observed 204.",
    )


def test_a_witness_is_about_one_certificate() -> None:
    """Another certificate, key or text is refused."""
    key, payload = Ed25519PrivateKey.generate(), b"a statement"
    said = attestation(payload, report({}, a="passed"), compared(report({}, a="passed"), report({}, a="passed")))
    content = sealed(json_bytes(said), key)

    assert attested(content, payload, key.public_key())["compared"] == "1 outcome and 0 observations"
    for changed in ({}, said | {"predicate": {}}, said | {"predicateType": "x"}, said | {"subject": []}):
        with pytest.raises(InvalidEnvelope):
            attested(sealed(json_bytes(changed), key), payload, key.public_key())
    with pytest.raises(InvalidEnvelope, match="another certificate"):
        attested(content, b"another statement", key.public_key())
    with pytest.raises(InvalidEnvelope, match="it names the key"):
        attested(content, payload, Ed25519PrivateKey.generate().public_key())


def test_two_runs_of_the_reference_service_differ_in_nothing_that_is_compared(recorded_run: RecordedRun) -> None:
    """Runs with different seeds have the same outcomes and observations."""
    first, second = (load_report(recorded_run("--seed", seed) / "report.json") for seed in ("3", "4"))
    comparison = compared(first, second)

    assert comparison.differences == ()
    assert comparison.outcomes > 200
    assert comparison.observations > 70


@pytest.mark.parametrize("subject", mixtures(8, seed=5), ids=lambda subject: subject.id)
def test_two_runs_of_a_conforming_service_differ_only_where_observations_vary(subject: Subject) -> None:
    """Every open point has a random choice; an observation that varies is declared in the catalogue."""
    first, second = (_observed(subject, seed) for seed in (1, 2))
    points = load_catalogue().open_points
    changed = [name for name in first if name in second and first[name] != second[name]]

    assert [name for name in changed if not points[name].varies] == []


def _observed(subject: Subject, seed: int) -> dict[str, str]:
    """Return the observations of a quick run."""
    options = RunOptions(effort=Effort.QUICK, seed=seed)
    with HostedSession(subject, options, in_process=True) as session:
        judge = Judge(session.run)
        session.run.closed = session.reach()
        run_checks(judge)
        session.undo()
        assert judge.errors == []
        return {entry["id"]: entry["observed"] for entry in conclude.observations(session.run.observations)}


@pytest.fixture(scope="session")
def certifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certifier's private key with its public key beside it."""
    return key_pair(tmp_path_factory, "key")


@pytest.fixture(scope="session")
def live(sandbox: Sandbox, private_key: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small signed run of the running sandbox."""
    folder = tmp_path_factory.mktemp("live") / "run"
    done = conformance("run", *_service(sandbox), "--effort", "quick", "--seed", "3", *ONLY, "--report", folder)
    assert done.returncode == 0, done.stderr
    sign(folder, private_key, anyway=True)
    return folder


@pytest.fixture
def certified(live: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return Path(shutil.copytree(live, tmp_path / "run"))


def _service(sandbox: Sandbox) -> tuple[str, ...]:
    return "--base-url", sandbox["CONFORMANCE_BASE_URL"], "--api-key", sandbox["CONFORMANCE_API_KEY"]


def _witness(folder: Path, key_file: Path, sandbox: Sandbox, *words: object) -> Any:
    return conformance("witness", folder, "--public-key", f"{key_file}.pub", *_service(sandbox), "--share", "1", *words)


def test_the_same_service_agrees(certified: Path, key_file: Path, sandbox: Sandbox, certifier: Path) -> None:
    """A target file names the service; the signed result makes the countersigned certificate a witnessed one."""
    target = certified.with_name("target.yaml")
    address, api_key = sandbox["CONFORMANCE_BASE_URL"], sandbox["CONFORMANCE_API_KEY"]
    target.write_text(f"base_url: {address}\napi_key: {api_key}\n")
    words = ("witness", certified, "--public-key", f"{key_file}.pub", "--target", target)
    done = conformance(*words, "--share", "0.5", "--key", certifier)
    lines = done.stdout.splitlines()

    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1].startswith("The witness agrees: ")
    assert lines[-1].endswith(" are the same. No verdict follows from that.")
    assert api_key not in done.stdout + done.stderr

    own = certified.with_name("run-witness")
    agents = {dict(exchange.sent_request.headers)["User-Agent"] for exchange in read_har(own / "exchanges.har")}

    assert agents == {USER_AGENT}
    assert load_report(own / "report.json")["not_undone"] == []
    assert conformance("render", "--rejudge", own).returncode == 0

    countersign(certified, (certified / ENVELOPE).read_bytes(), read_private_key(certifier), None, ())
    public = ("--public-key", f"{key_file}.pub", "--require", "any")
    both = conformance("verify", certified, *public, "--countersigned-by", f"{certifier}.pub")
    one = conformance("verify", certified, *public)

    assert (both.returncode, one.returncode) == (0, 0)
    assert "level 3, countersigned, and level 4, witnessed: " in both.stdout.splitlines()[-1]
    assert "✓ recomputed: The certifier signed that its own run against http://127.0.0.1" in both.stdout
    assert "? not recomputed here: witness.dsse.json is signed by a key that is not given." in one.stdout
    assert "level 4" not in one.stdout


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (
            ("--fault", "archived-edit-applied"),
            "! archived-edit-changes-nothing: the certificate says passed, and in ",
        ),
        (("--latitude", "archive_again=200"), "! archive-again: the certificate says 409 CONFLICT, unchanged, and the"),
    ],
)
def test_another_service_differs(
    certified: Path, key_file: Path, public_key: Ed25519PublicKey, certifier: Path, options: tuple[str, ...], named: str
) -> None:
    """A sentence names the requirement or the open point; the signed result gives no level."""
    with serve_sandbox(*options) as other:
        done = _witness(certified, key_file, other, "--key", certifier, "--challenge", CHALLENGE)
    lines = done.stdout.splitlines()
    verified = verify(certified, public_key, read_public_key(public_path(certifier)))

    assert done.returncode == 4, done.stdout + done.stderr
    assert any(line.startswith(named) for line in lines)
    assert lines[-1].startswith("Exit 4: the witness differs in 1 of ")
    assert lines[-1].endswith(". No verdict follows from that.")
    assert verified.holds
    assert not verified.is_witnessed


def test_a_changed_folder_is_not_witnessed(certified: Path, key_file: Path, sandbox: Sandbox) -> None:
    """Without a certificate that holds, nothing is sent."""
    (certified / "summary.md").write_text("Certified.")
    done = _witness(certified, key_file, sandbox)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "Exit 1: The certificate is not valid."
    assert not certified.with_name("run-witness").exists()


def test_a_service_that_is_away_cannot_be_witnessed(certified: Path, key_file: Path, sandbox: Sandbox) -> None:
    """The status is 3, and no result is signed."""
    away = sandbox | {"CONFORMANCE_BASE_URL": "http://127.0.0.1:1"}
    done = _witness(certified, key_file, away, "--key", certified.with_name("none"))
    wrong = _witness(certified, key_file, away)
    nameless = conformance("witness", certified, "--public-key", f"{key_file}.pub")

    assert (done.returncode, wrong.returncode, nameless.returncode) == (2, 3, 2)
    assert wrong.stdout.splitlines()[-1].startswith("Exit 3: ")
    assert "Name the service: --target FILE or --base-url URL." in nameless.stderr
    assert not (certified / WITNESS).exists()


@pytest.mark.parametrize(
    ("written", "holds"),
    [
        (lambda _, key: b"{}", False),
        (lambda _, key: sealed(b"{}", key), False),
        (lambda folder, _: (folder / ENVELOPE).read_bytes(), True),
    ],
    ids=["no envelope", "no statement", "signed by the vendor"],
)
def test_a_forged_witness_is_none(
    certified: Path,
    public_key: Ed25519PublicKey,
    certifier: Path,
    written: Callable[[Path, Ed25519PrivateKey], bytes],
    *,
    holds: bool,
) -> None:
    """It is a fault, but not if another key signed it, which may be that of another certifier."""
    key = read_private_key(certifier)
    (certified / WITNESS).write_bytes(written(certified, key))
    verified = verify(certified, public_key, key.public_key())

    assert (verified.holds, verified.is_witnessed) == (holds, False)


def test_signing_again_removes_the_witness(certified: Path, private_key: Ed25519PrivateKey) -> None:
    """A result about the earlier certificate does not stay."""
    (certified / WITNESS).write_bytes(b"of the earlier certificate")
    sign(certified, private_key, anyway=True)

    assert not (certified / WITNESS).exists()
