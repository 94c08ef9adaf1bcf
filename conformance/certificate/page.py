"""Rendering of certificate.html: the attained classes on one printable page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.certificate.statement import CLAIMS
from conformance.reports.templating import environment, fixed_parts
from conformance.reports.wording import MODES, OUTCOMES, counted, moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reports.model import Report

_PACKAGE: Final = "conformance.certificate"
_ORDER: Final = ("passed", "failed", "cantTell", "untested", "inapplicable")
_HEADINGS: Final = {
    "conformant": "Certificate of conformance",
    "inconclusive": "Statement of an inconclusive test",
    "non-conformant": "Statement of non-conformance",
}


def page_bytes(report: Report, predicate: Mapping[str, Any], key: str) -> bytes:
    """Return the content of certificate.html.

    Args:
        report: The report of the run.
        predicate: The predicate of the statement that will be signed.
        key: The id of the key that will sign it.
    """
    claims = predicate[CLAIMS]
    text = (
        environment(_PACKAGE)
        .get_template("certificate.html.j2")
        .render(
            heading=_HEADINGS[report["verdict"]],
            verdict=report["verdict"],
            target=report["target"]["name"],
            attained=[entry for entry in report["classes"] if entry["outcome"] == "passed"],
            others=[(entry, OUTCOMES[entry["outcome"]]) for entry in report["classes"] if entry["outcome"] != "passed"],
            reservations=claims["reservations"],
            facts=_facts(report, claims),
            key=key,
            counted=counted,
            **fixed_parts(("certificate.css",), package=_PACKAGE),
        )
    )
    return text.encode("utf-8", "backslashreplace")


def _facts(report: Report, claims: Mapping[str, Any]) -> list[tuple[str, str]]:
    run, target, suite = claims["run"], claims["target"], claims["suite"]
    counted_outcomes = sorted(claims["outcomes"].items(), key=lambda item: _ORDER.index(item[0]))
    counts = ", ".join(f"{number} {OUTCOMES[outcome]}" for outcome, number in counted_outcomes)
    facts = [
        ("Address", target["base_url"]),
        ("Organization", target["organization"]),
        ("Tested", f"{moment(run['started_at'])}, {counted(run['requests'], 'request')}"),
        ("Requirements", counts),
        ("Mode", MODES[report["run"]["mode"]]),
        ("Effort and seed", f"{run['effort']}, {run['seed']}"),
        ("Build, as stated by the vendor", _algorithm(claims["build"])),
        ("TLS certificate", _algorithm({"sha256": target["certificate_sha256"]})),
        ("Suite", f"{suite['name']} {suite['version']}"),
        ("Commit of the suite", suite.get("commit")),
        ("Files of the suite", f"sha256:{suite['sha256']}"),
        ("OpenAPI document", f"sha256:{claims['openapi_sha256']}"),
        ("Signed", moment(claims["signed_at"])),
    ]
    return [(name, value) for name, value in facts if value]


def _algorithm(digest: Mapping[str, str | None] | None) -> str:
    return ", ".join(f"{name}:{value}" for name, value in (digest or {}).items() if value)
