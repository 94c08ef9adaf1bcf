"""Model of report.json, the record of a finished run: types, schema, reading and writing."""

from __future__ import annotations

import functools
import json
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from jsonschema import Draft202012Validator, FormatChecker

from conformance.files import DOCUMENT, read_file
from conformance.reports.text import json_document, load_json, one_line

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Outcome = Literal["passed", "failed", "cantTell", "inapplicable", "untested"]
Verdict = Literal["conformant", "non-conformant", "inconclusive"]
Mode = Literal["read-only", "default", "disposable"]

FORMAT = "conformance-report/1"


class Suite(TypedDict):
    """The suite that ran."""

    name: str
    version: str
    commit: NotRequired[str]
    openapi_sha256: str


class Target(TypedDict):
    """The service that was tested."""

    name: str
    base_url: str
    certificate_sha256: NotRequired[str]


class Interface(TypedDict):
    """The interface that the service is judged by."""

    name: str
    version: str
    sha256: str


class Selection(TypedDict):
    """Number of chosen requirements, and of all requirements."""

    chosen: int
    of: int


class Run(TypedDict):
    """Facts about the run; times are UTC in ISO 8601, ``seconds`` is the whole duration."""

    started_at: str
    finished_at: str
    seconds: float
    seed: int
    effort: Literal["quick", "standard", "deep"]
    requests: int
    mode: Mode
    interrupted: bool
    challenge: NotRequired[str]
    catalogue: NotRequired[str]
    failed_fast: NotRequired[bool]
    selection: NotRequired[Selection]
    command: NotRequired[list[str]]
    workers: NotRequired[int]
    warnings: NotRequired[list[str]]


class ConformanceClass(TypedDict):
    """A conformance class and its outcome; ``unlock`` says what the untested requirements need."""

    id: str
    title: str
    outcome: Literal["passed", "failed", "cantTell", "untested"]
    requirements: int
    unlock: NotRequired[list[str]]


class Failure(TypedDict):
    """A finding that a requirement is broken.

    ``pointer`` is a JSON pointer. ``gone`` says what the run has deleted since, so that ``curl`` alone now shows
    something else. ``script`` is a shell script that reproduces the fault from a creation, and ``test`` a pytest file
    that fails while the service has the fault.
    """

    check: str
    message: str
    expected: str
    actual: str
    exchanges: list[int]
    curl: str
    pointer: NotRequired[str | None]
    gone: NotRequired[str | None]
    script: NotRequired[str | None]
    test: NotRequired[str | None]


class Check(TypedDict):
    """One check of a requirement."""

    name: str
    outcome: Outcome
    seconds: float
    exchanges: list[int]


Requirement = TypedDict(
    "Requirement",
    {
        "id": str,
        "title": str,
        "section": str,
        "operations": list[str],
        "class": str,
        "outcome": Outcome,
        "waived": bool,
        "reason": str | None,
        "failures": list[Failure],
        "checks": NotRequired[list[Check]],
        "chosen": NotRequired[bool],
        "known": NotRequired[bool],
        "statements": NotRequired[list[str]],
    },
)
"""A requirement and its outcome.

``chosen`` is false if the run's options exclude it, and ``known`` is true if it failed in the baseline too.
``statements`` are those of the interface that a failed requirement is based on, in the words of the catalogue.
"""


class Observation(TypedDict):
    """Behaviour of the service at an open point."""

    id: str
    section: str
    question: str
    observed: str
    exchanges: list[int]


class Limit(TypedDict):
    """A limit of response times in milliseconds, and what was measured."""

    name: str
    limit: float
    measured: float
    kept: bool


class Report(TypedDict):
    """A finished run."""

    format: str
    suite: Suite
    target: Target
    interface: NotRequired[Interface]
    run: Run
    verdict: Verdict
    classes: list[ConformanceClass]
    requirements: list[Requirement]
    observations: list[Observation]
    census: NotRequired[object]
    journal: NotRequired[object]
    gone: NotRequired[list[str]]
    not_undone: NotRequired[list[str]]
    lasting: NotRequired[list[str]]
    cleanup: NotRequired[str]
    limits: NotRequired[list[Limit]]
    waivers: NotRequired[list[dict[str, str]]]
    coverage: NotRequired[dict[str, dict[str, int]]]


class InvalidReport(ValueError):
    """The report cannot be read or breaks the schema; the message is one plain sentence."""


@functools.cache
def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of report.json, as published with the package."""
    text = resources.files("conformance").joinpath("schemas/report.schema.json").read_text("utf-8")
    return cast("dict[str, Any]", json.loads(text))


@functools.cache
def _validator() -> Draft202012Validator:
    """Return a validator of the schema with all references inlined, which halves the time."""
    schema = report_schema()

    def inlined(part: Any) -> Any:  # noqa: ANN401 - a part of a schema is any JSON
        if isinstance(part, dict):
            reference = part.get("$ref")
            kept = part if reference is None else schema["$defs"][reference.removeprefix("#/$defs/")]
            return {name: inlined(member) for name, member in kept.items() if name != "$defs"}
        return list(map(inlined, part)) if isinstance(part, list) else part

    return Draft202012Validator(inlined(schema), format_checker=_formats())


def _formats() -> FormatChecker:
    """Return a checker of the schema's formats: times and days that exist, beyond the patterns."""
    checker = FormatChecker(())
    for name, read in (("date-time", datetime.fromisoformat), ("date", date.fromisoformat)):
        checker.checks(name, ValueError)(lambda text, read=read: not isinstance(text, str) or bool(read(text)))
    return checker


def check_report(document: object) -> Report:
    """Return the document as a report.

    Raises:
        InvalidReport: It breaks the schema; the message names the place and the error.
    """
    errors = list(_validator().iter_errors(document))
    if errors:
        raise InvalidReport(_sentence(min(errors, key=lambda error: list(map(str, error.absolute_path)))))
    return cast("Report", document)


def _sentence(error: ValidationError) -> str:
    where = "/".join(map(str, error.absolute_path)) or "the document"
    return f"The report breaks its schema at {one_line(where)}: {one_line(error.message)[:300]}."


def load_report(path: Path | str) -> Report:
    """Read a report.json.

    Raises:
        InvalidReport: It cannot be read, is not JSON, or breaks the schema.
    """
    try:
        document = load_json(read_file(Path(path), DOCUMENT))
    except OSError as error:
        raise InvalidReport(f"The report {one_line(str(path))} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidReport(f"The report {one_line(str(path))} is not JSON: {one_line(str(error))}.") from error
    return check_report(document)


def report_bytes(report: Report) -> bytes:
    """Return the content of report.json.

    Raises:
        InvalidReport: The report breaks the schema.
    """
    return json_document(check_report(report))
