"""Witness of a certificate: a share of its requirements, repeated by the certifier, and what came of it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.catalogue import load_catalogue
from conformance.certificate.envelope import InvalidEnvelope, opened
from conformance.certificate.statement import STATEMENT
from conformance.reports.sealing import sha256
from conformance.reports.text import load_json, one_line
from conformance.reports.wording import OUTCOMES, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from conformance.reports.model import Report, Requirement

PREDICATE: Final = "urn:engagement-conformance:witness:1"
_DECIDED: Final = ("passed", "failed")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a certificate's report with that of the witness's run.

    Attributes:
        outcomes: The number of requirements that both runs decided.
        observations: The number of compared observations.
        open: The requirements that only one of the runs decided.
        differences: The differences, a sentence each.
    """

    outcomes: int
    observations: int
    open: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def extent(self) -> str:
        """The number of compared outcomes and observations, in words."""
        return f"{counted(self.outcomes, 'outcome')} and {counted(self.observations, 'observation')}"


def drawn(report: Report, challenge: str, share: float) -> tuple[str, ...]:
    """Return the requirements that the witness repeats, of those that the certificate's run decided.

    They are the ones with the lowest SHA-256 digests of ``conformance witness CHALLENGE ID``.

    Args:
        report: The report of the certificate.
        challenge: The challenge.
        share: The share of the decided requirements, above 0 and at most 1; at least one is drawn if any was decided.
    """
    decided = [entry["id"] for entry in report["requirements"] if entry["outcome"] in _DECIDED]
    by_digest = sorted(
        decided, key=lambda name: hashlib.sha256(f"conformance witness {challenge} {name}".encode()).digest()
    )
    chosen = set(by_digest[: math.ceil(share * len(decided))])
    return tuple(name for name in decided if name in chosen)


def compared(certified: Report, witnessed: Report) -> Comparison:
    """Compare the outcomes of the chosen requirements, and the observations of both runs that do not vary."""
    before = {entry["id"]: entry for entry in certified["requirements"]}
    pairs = [(before[entry["id"]], entry) for entry in witnessed["requirements"] if entry.get("chosen", True)]
    both = [(then, now) for then, now in pairs if then["outcome"] in _DECIDED and now["outcome"] in _DECIDED]
    differences = [_of_outcomes(then, now) for then, now in both if then["outcome"] != now["outcome"]]
    points, seen = load_catalogue().open_points, {entry["id"]: entry for entry in certified["observations"]}
    observed = [
        (seen[entry["id"]]["observed"], entry)
        for entry in witnessed["observations"]
        if entry["id"] in seen and not points[entry["id"]].varies
    ]
    differences += [
        f"{entry['id']}: the certificate says {then}, and the witness observed {entry['observed']}."
        for then, entry in observed
        if then != entry["observed"]
    ]
    decided = {now["id"] for _, now in both}
    return Comparison(
        outcomes=len(both),
        observations=len(observed),
        open=tuple(now["id"] for _, now in pairs if now["id"] not in decided),
        differences=tuple(map(one_line, differences)),
    )


def _of_outcomes(then: Requirement, now: Requirement) -> str:
    why = "".join(f" ({failure['message']})" for failure in [*then["failures"], *now["failures"]][:1])
    certified, found = (OUTCOMES[entry["outcome"]] for entry in (then, now))
    return f"{now['id']}: the certificate says {certified}, and in the witness's run it {found}{why}."


def attestation(payload: bytes, witnessed: Report, comparison: Comparison) -> dict[str, Any]:
    """Return the certifier's statement about the witness of a certificate.

    Args:
        payload: The statement of the certificate.
        witnessed: The report of the witness's run.
        comparison: The comparison of the two reports.
    """
    return {
        "_type": STATEMENT,
        "subject": [{"name": "statement", "digest": {"sha256": sha256([payload])}}],
        "predicateType": PREDICATE,
        "predicate": {
            "base_url": witnessed["target"]["base_url"],
            "challenge": witnessed["run"]["challenge"],
            "finished_at": witnessed["run"]["finished_at"],
            "requirements": [entry["id"] for entry in witnessed["requirements"] if entry.get("chosen", True)],
            "compared": comparison.extent,
            "differences": list(comparison.differences),
        },
    }


def attested(content: bytes, payload: bytes, key: Ed25519PublicKey) -> Mapping[str, Any]:
    """Return what a certifier's witness of a certificate states.

    Args:
        content: The envelope of the witness.
        payload: The statement of the certificate.
        key: The certifier's key.

    Raises:
        InvalidEnvelope: It is not signed by the key, or is about another certificate.
    """
    signed = opened(content, key)
    try:
        statement = load_json(signed)
        (subject,), predicate = statement["subject"], statement["predicate"]
        digest, kind = subject["digest"]["sha256"], statement["predicateType"]
        texts = [predicate[name] for name in ("base_url", "challenge", "finished_at", "compared")]
        is_valid = all(isinstance(text, str) for text in [*texts, *predicate["differences"]])
    except (ValueError, KeyError, TypeError):
        raise InvalidEnvelope("it contains no statement of a witness") from None
    if kind != PREDICATE or not is_valid or digest != sha256([payload]):
        raise InvalidEnvelope("it is about another certificate")
    found: Mapping[str, Any] = predicate
    return found
