"""Schema, reading and writing of report.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from conformance.interface.operations import OPERATIONS
from conformance.reports.model import InvalidReport, check_report, load_report, report_bytes, report_schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Json = Any


def test_the_schema_is_a_schema() -> None:
    """The published file is valid JSON Schema 2020-12."""
    Draft202012Validator.check_schema(report_schema())


def test_the_schema_knows_every_operation() -> None:
    """The operationIds of the schema are those of the suite."""
    assert report_schema()["$defs"]["operation"]["enum"] == list(OPERATIONS)


def test_reports_keep_the_schema_and_read_back(run: tuple[Report, list[Exchange]], tmp_path: Path) -> None:
    """A written report is read with the same content, except what JSON cannot represent."""
    report, _ = run
    path = tmp_path / "report.json"

    path.write_bytes(report_bytes(report))

    read = load_report(path)
    assert [requirement["outcome"] for requirement in read["requirements"]] == [
        requirement["outcome"] for requirement in report["requirements"]
    ]
    assert read["run"] == json.loads(json.dumps(report["run"]).replace(r"\ud800", r"\\ud800"))
    assert list(tmp_path.iterdir()) == [path]


def test_a_proper_report_reads_back_exactly(failing: tuple[Report, list[Exchange]], tmp_path: Path) -> None:
    """Nothing is added, lost or changed."""
    (tmp_path / "report.json").write_bytes(report_bytes(failing[0]))

    assert load_report(tmp_path / "report.json") == failing[0]


def test_further_members_are_allowed_everywhere(failing: tuple[Report, list[Exchange]]) -> None:
    """A later suite may add members."""
    document: Any = json.loads(json.dumps(failing[0]))
    document["new"] = document["run"]["new"] = document["requirements"][6]["failures"][0]["new"] = {"x": 1}

    check_report(document)


def _without(*path: str | int) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


def _with(value: object, *path: str | int) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_with("conformance-report/2", "format"), "format"),
        (_with("ok", "verdict"), "verdict"),
        (_without("observations"), "the document"),
        (_without("run", "interrupted"), "run"),
        (_with("1", "run", "seed"), "run/seed"),
        (_with("yesterday", "run", "started_at"), "run/started_at"),
        (_with("2026-03-04T09:30:00+02:00", "run", "started_at"), "run/started_at"),
        (_with("safe", "run", "mode"), "run/mode"),
        (_with("exhaustive", "run", "effort"), "run/effort"),
        (_with(-1, "run", "requests"), "run/requests"),
        (_with("abc", "suite", "openapi_sha256"), "suite/openapi_sha256"),
        (_with("abc", "suite", "commit"), "suite/commit"),
        (_with("inapplicable", "classes", 0, "outcome"), "classes/0/outcome"),
        (_with("speed", "classes", 0, "id"), "classes/0/id"),
        (_with("error", "requirements", 0, "outcome"), "requirements/0/outcome"),
        (_with(3, "requirements", 0, "section"), "requirements/0/section"),
        (_with(["ping"], "requirements", 0, "operations"), "requirements/0/operations/0"),
        (_with([], "requirements", 6, "failures"), "requirements/6/failures"),
        (_without("requirements", 6, "failures", 0, "curl"), "requirements/6/failures/0"),
        (_with([0], "requirements", 6, "failures", 0, "exchanges"), "requirements/6/failures/0/exchanges/0"),
        (_with(["3"], "observations", 0, "exchanges"), "observations/0/exchanges/0"),
    ],
)
def test_an_invalid_report_is_refused_with_the_place_of_the_error(
    failing: tuple[Report, list[Exchange]], change: Callable[[Json], None], place: str
) -> None:
    """The message is a sentence that names the place of the error."""
    document = json.loads(json.dumps(failing[0]))
    change(document)

    with pytest.raises(InvalidReport, match=rf"^The report breaks its schema at {place}: .*\.$"):
        check_report(document)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"null"])
def test_a_file_that_is_no_report_is_refused(content: bytes, tmp_path: Path) -> None:
    """Any bytes cause one sentence."""
    path = tmp_path / "report.json"
    path.write_bytes(content)

    with pytest.raises(InvalidReport):
        load_report(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """The message says that the file cannot be read."""
    with pytest.raises(InvalidReport, match="cannot be read"):
        load_report(tmp_path / "none.json")


def test_an_invalid_report_has_no_content(failing: tuple[Report, list[Exchange]]) -> None:
    """It is refused before anything is written."""
    failing[0]["verdict"] = "fine"  # type: ignore[typeddict-item]

    with pytest.raises(InvalidReport):
        report_bytes(failing[0])
