"""Rendering of certificate.html: the attained classes on one printable page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.certificate.claims import Basis
from conformance.reports.templating import environment, fixed_parts
from conformance.reports.wording import MODES, ORDER, OUTCOMES, counted, moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reports.model import Report

_PACKAGE: Final = "conformance.certificate"
_HEADINGS: Final = {
    "conformant": "Certificate of conformance",
    "inconclusive": "Statement of an inconclusive test",
    "non-conformant": "Statement of non-conformance",
}


def page_bytes(report: Report, claims: Mapping[str, Any], key: str) -> bytes:
    """Return the content of certificate.html.

    Args:
        report: The report of the run.
        claims: The claims of the statement that will be signed.
        key: The id of the key that will sign it.
    """
    text = (
        environment(_PACKAGE)
        .get_template("certificate.html.j2")
        .render(
            heading=_HEADINGS[report["verdict"]],
            verdict=report["verdict"],
            target=report["target"]["name"],
            attained=[entry for entry in report["classes"] if entry["outcome"] == "passed"],
            others=[(entry, OUTCOMES[entry["outcome"]]) for entry in report["classes"] if entry["outcome"] != "passed"],
            level=claims["level"],
            reservations=claims["reservations"],
            facts=_facts(report, claims),
            key=key,
            counted=counted,
            **fixed_parts(("certificate.css",), package=_PACKAGE),
        )
    )
    return text.encode("utf-8", "backslashreplace")


def _facts(report: Report, claims: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    run, target, suite = claims["run"], claims["target"], claims["suite"]
    counted_outcomes = sorted(claims["outcomes"].items(), key=lambda item: ORDER.index(item[0]))
    counts = ", ".join(f"{number} {OUTCOMES[outcome]}" for outcome, number in counted_outcomes)
    selection, interface = claims["selection"], claims["interface"]
    recomputed = {
        "Address": target["base_url"],
        "Organization": target["organization"],
        "Interface": interface and f"{interface['name']} {interface['version']}, sha256:{interface['sha256']}",
        "Requirements": f"{counts}, after {counted(run['requests'], 'request')}",
        "Chosen": selection and f"{selection['chosen']} of {selection['of']} requirements",
        "Catalogue": run["catalogue"] and f"release {run['catalogue']}",
        "Mode": MODES[report["run"]["mode"]],
        "Effort and seed": f"{run['effort']}, {run['seed']}",
        "Challenge": run["challenge"],
        "OpenAPI document": f"sha256:{claims['openapi_sha256']}",
    }
    stated = {
        "Suite": f"{suite['name']} {suite['version']}, commit {suite.get('commit', 'unknown')}",
        "Files of the suite": f"sha256:{suite['sha256']}",
        "Tested": moment(run["started_at"]),
        "TLS certificate": _algorithm({"sha256": target["certificate_sha256"]}),
        "Subordinate records by": claims["evidence"].get("cascade"),
        "E-mails read by": claims["evidence"].get("mail"),
        "Build": _algorithm(claims["build"]),
        "Signed": moment(claims["signed_at"]),
    }
    rows = [(Basis.RECOMPUTED, recomputed), (Basis.STATED, stated)]
    return [(name, value, basis.value) for basis, facts in rows for name, value in facts.items() if value]


def _algorithm(digest: Mapping[str, str | None] | None) -> str:
    return ", ".join(f"{name}:{value}" for name, value in (digest or {}).items() if value)
