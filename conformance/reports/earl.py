"""Rendering of earl.jsonld: the outcomes as assertions in W3C EARL 1.0, in JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from conformance.reports.text import excerpt, json_document, visible
from conformance.reports.wording import evidence, section_title

if TYPE_CHECKING:
    from conformance.reports.model import Report, Requirement

_NAMES: Final = "urn:engagement-conformance"
_CONTEXT: Final = {
    "earl": "http://www.w3.org/ns/earl#",
    "dct": "http://purl.org/dc/terms/",
    "doap": "http://usefulinc.com/ns/doap#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "dct:date": {"@type": "xsd:dateTime"},
    "dct:isPartOf": {"@type": "@id"},
    "earl:assertedBy": {"@type": "@id"},
    "earl:subject": {"@type": "@id"},
    "earl:test": {"@type": "@id"},
    "earl:mode": {"@type": "@id"},
    "earl:outcome": {"@type": "@id"},
}


def earl_bytes(report: Report) -> bytes:
    """Return the content of earl.jsonld, which needs no context from the network."""
    subject, assertor = "_:target", f"{_NAMES}:suite:{_part(report['suite']['version'])}"
    graph = [
        _assertor(report, assertor),
        _subject(report, subject),
        *(
            _section(number)
            for number in sorted({requirement["section"] for requirement in report["requirements"]}, key=int)
        ),
        *(_criterion(requirement) for requirement in report["requirements"]),
        *(_assertion(report, requirement, subject, assertor) for requirement in report["requirements"]),
    ]
    return json_document({"@context": _CONTEXT, "@graph": graph})


def _assertor(report: Report, identifier: str) -> dict[str, Any]:
    suite = report["suite"]
    return {
        "@id": identifier,
        "@type": ["earl:Assertor", "earl:Software"],
        "dct:title": suite["name"],
        "dct:hasVersion": suite["version"],
        "dct:description": f"OpenAPI document with the SHA-256 digest {suite['openapi_sha256']}",
    }


def _subject(report: Report, identifier: str) -> dict[str, Any]:
    target = report["target"]
    return {
        "@id": identifier,
        "@type": ["earl:TestSubject", "doap:Project"],
        "dct:title": excerpt(target["name"]),
        "dct:identifier": excerpt(target["base_url"]),
    }


def _section(number: str) -> dict[str, Any]:
    return {
        "@id": f"{_NAMES}:section:{number}",
        "@type": "earl:TestRequirement",
        "dct:title": section_title(number) or number,
    }


def _criterion(requirement: Requirement) -> dict[str, Any]:
    return {
        "@id": _criterion_id(requirement),
        "@type": "earl:TestCase",
        "dct:identifier": excerpt(requirement["id"]),
        "dct:title": excerpt(requirement["title"]),
        "dct:isPartOf": f"{_NAMES}:section:{requirement['section']}",
    }


def _assertion(report: Report, requirement: Requirement, subject: str, assertor: str) -> dict[str, Any]:
    return {
        "@type": "earl:Assertion",
        "earl:assertedBy": assertor,
        "earl:subject": subject,
        "earl:test": _criterion_id(requirement),
        "earl:mode": "earl:automatic",
        "earl:result": {
            "@type": "earl:TestResult",
            "earl:outcome": f"earl:{requirement['outcome']}",
            "dct:date": report["run"]["finished_at"],
            **_information(requirement),
        },
    }


def _information(requirement: Requirement) -> dict[str, str]:
    texts = ["\n".join([excerpt(failure["message"]), *evidence(failure)]) for failure in requirement["failures"]]
    if requirement["waived"]:
        texts.insert(0, "This failure is waived.")
    if requirement["reason"]:
        texts.insert(0, excerpt(requirement["reason"]))
    return {"earl:info": "\n\n".join(texts)} if texts else {}


def _criterion_id(requirement: Requirement) -> str:
    return f"{_NAMES}:requirement:{_part(requirement['id'])}"


def _part(text: str) -> str:
    """Return text as part of an identifier; lone surrogates, which cannot be encoded, are shown by number."""
    return quote(visible(text), safe="")
