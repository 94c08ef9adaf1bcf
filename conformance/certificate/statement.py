"""Statement of a certificate: an in-toto Statement with the test-result predicate."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.interface.operations import KINDS
from conformance.suite import suite_sha256, versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.replay.recorded_inputs_file import RunInputs
    from conformance.reports.model import Report
    from conformance.targets.profile import Profile

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
CLAIMS: Final = "urn:engagement-conformance:certificate:1"
"""The member of the predicate with the claims that are not in the standard predicate."""

_RESULTS: Final = {"conformant": "PASSED", "inconclusive": "WARNED", "non-conformant": "FAILED"}
SELF_CONSISTENT: Final = "1, self-consistent"
"""The level of a certificate whose folder bears out every claim that its recording can bear out."""
CHALLENGED: Final = "2, challenged"
"""The level of a certificate whose run also followed from a certifier's challenge."""
COUNTERSIGNED: Final = "3, countersigned"
"""The level of a certificate that a certifier verified and signed, too; no statement contains it."""
WITNESSED: Final = "4, witnessed"
"""The level of a countersigned certificate whose certifier repeated a share of it; no statement contains it."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DIGEST: Final = re.compile(r"(sha256):([0-9a-f]{64})|(sha512):([0-9a-f]{128})")


@dataclass(frozen=True, slots=True)
class Signing:
    """The claims of a certificate that its signer adds.

    Attributes:
        signed_at: The time of signing, UTC in ISO 8601.
        reservations: The reasons against certifying the run, a sentence each.
        build: The digest of the build under test as the vendor states it, by its algorithm, or None.
        versions: The versions that rendered certificate.html.
    """

    signed_at: str
    reservations: Sequence[str] = ()
    build: Mapping[str, str] | None = None
    versions: Mapping[str, str] = field(default_factory=versions)

    @classmethod
    def of(cls, claims: Mapping[str, Any]) -> Self:
        """Return what the signer added to the claims of a statement.

        Raises:
            KeyError: A member is missing.
            TypeError: A member has another type.
            ValueError: A time or a digest is invalid.
        """
        signed_at, reservations, build = claims["signed_at"], claims["reservations"], claims["build"]
        signed_with = claims["versions"]["signed"]
        if _TIME.fullmatch(signed_at) is None:
            raise ValueError(signed_at)
        datetime.fromisoformat(signed_at)
        if not all(isinstance(text, str) for text in [*reservations, *signed_with.values()]):
            raise TypeError(reservations)
        if build is not None and [build] != [build_digest(":".join(pair)) for pair in build.items()]:
            raise ValueError(build)
        if signed_with.keys() != versions().keys():
            raise KeyError(signed_with)
        return cls(signed_at, reservations, build, signed_with)


def statement(report: Report, inputs: RunInputs, digests: Mapping[str, str], signing: Signing) -> dict[str, Any]:
    """Return the statement about a run.

    Args:
        report: The report of the run.
        inputs: Its recorded inputs.
        digests: The SHA-256 digests of the files in its folder, by name.
        signing: The claims that the signer adds.
    """
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())],
        "predicateType": PREDICATE,
        "predicate": {
            **_of_report(report),
            CLAIMS: claims(report, inputs, signing),
        },
    }


def _of_report(report: Report) -> dict[str, Any]:
    """Return the standard members of the predicate, derived from the report."""
    waived = any(entry["waived"] for entry in report["requirements"])
    result = _RESULTS[report["verdict"]]
    return {
        "result": "WARNED" if waived and result == "PASSED" else result,
        "configuration": _configuration(report),
        "passedTests": _tests(report, "passed"),
        "warnedTests": _tests(report, "cantTell"),
        "failedTests": _tests(report, "failed"),
    }


def claims(report: Report, inputs: RunInputs, signing: Signing) -> dict[str, Any]:
    """Return the further claims of a certificate."""
    run, suite, target = report["run"], report["suite"], report["target"]
    census = _mapping(_mapping(report.get("census")).get("before"))
    return {
        "level": CHALLENGED if "challenge" in run else SELF_CONSISTENT,
        "verdict": report["verdict"],
        "interface": report.get("interface"),
        "suite": {name: value for name, value in suite.items() if name in ("name", "version", "commit")}
        | {"sha256": suite_sha256()},
        "openapi_sha256": suite["openapi_sha256"],
        "target": {
            "name": target["name"],
            "base_url": target["base_url"],
            "organization": census.get("id"),
            "certificate_sha256": _mapping(target).get("certificate_sha256"),
        },
        "classes_attained": [entry["id"] for entry in report["classes"] if entry["outcome"] == "passed"],
        "classes": {entry["id"]: entry["outcome"] for entry in report["classes"]},
        "outcomes": dict(sorted(Counter(entry["outcome"] for entry in report["requirements"]).items())),
        "run": {
            name: _mapping(run)[name]
            for name in ("mode", "effort", "seed", "requests", "started_at", "finished_at", "interrupted")
        }
        | {name: run.get(name) for name in ("challenge", "catalogue")},
        "selection": _mapping(run).get("selection"),
        "evidence": evidence(inputs.profile),
        "waivers": _mapping(report).get("waivers", []),
        "waived": [entry["id"] for entry in report["requirements"] if entry["waived"]],
        "versions": {"run": dict(inputs.versions), "signed": dict(signing.versions)},
        "signed_at": signing.signed_at,
        "reservations": list(signing.reservations),
        "build": signing.build,
    }


def evidence(profile: Profile) -> dict[str, str]:
    """Return who provided the evidence of the classes that the interface alone cannot show, by class."""
    program = "the vendor's program"
    own, others = list(profile.subordinates), [kind for kind in KINDS if kind not in profile.subordinates]
    parts = [f"the service's own API ({', '.join(own)})"] if own else []
    parts += [f"{program} ({', '.join(others)})"] if others and profile.provisioner else []
    mail = "the suite's own mailbox" if profile.mailbox else program if profile.provisioner else ""
    found = {"cascade": " and ".join(parts), "mail": mail}
    return {name: text for name, text in found.items() if text}


def build_digest(stated: str | None) -> dict[str, str] | None:
    """Return a digest in the form of in-toto.

    Args:
        stated: ``sha256:`` or ``sha512:`` and hexadecimal digits in lower case, or None.

    Raises:
        ValueError: It is not such a digest.
    """
    if stated is None:
        return None
    if _DIGEST.fullmatch(stated) is None:
        raise ValueError("expected sha256: and 64 hexadecimal digits in lower case, or sha512: and 128")
    algorithm, _, digest = stated.partition(":")
    return {algorithm: digest}


def reservations_about(report: Report, stopped: str | None) -> list[str]:
    """Return the reasons why a run is not certified, a sentence each; empty if it is certified.

    Args:
        report: The report of the run.
        stopped: The reason why the run stopped sending, or None.
    """
    found = []
    if report["run"]["interrupted"]:
        found.append("The run was interrupted.")
    if _mapping(report["run"]).get("failed_fast"):
        found.append("The run ended at its first failure.")
    if stopped is not None:
        found.append(f"The run ended early: {stopped}.")
    if _mapping(report).get("waivers") or any(entry["waived"] for entry in report["requirements"]):
        found.append("Waivers were given, and a waived run is never certified.")
    if report["verdict"] == "inconclusive":
        found.append("The verdict is inconclusive.")
    if report["verdict"] == "non-conformant":
        found.append("The target is not conformant.")
    return found


def _configuration(report: Report) -> list[dict[str, Any]]:
    """Return the inputs of the run as resource descriptors."""
    suite = report["suite"]
    return [
        {"name": suite["name"], "digest": {"sha256": suite_sha256()}, "annotations": {"version": suite["version"]}},
        {"name": "openapi.yaml", "digest": {"sha256": suite["openapi_sha256"]}},
        {"name": "target", "uri": report["target"]["base_url"], "annotations": {"name": report["target"]["name"]}},
    ]


def _tests(report: Report, outcome: str) -> list[str]:
    return [entry["id"] for entry in report["requirements"] if entry["outcome"] == outcome]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
