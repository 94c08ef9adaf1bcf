"""Outputs report.sarif and metrics.prom, annotations of GitHub, and Allure results."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from conformance.reports.allure import allure_files
from conformance.reports.annotations import annotations_bytes
from conformance.reports.har import har_bytes
from conformance.reports.metrics import merged_metrics, metrics_bytes
from conformance.reports.sarif import sarif_bytes
from conformance.reports.text import one_line

if TYPE_CHECKING:
    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Run = tuple[Report, list[Exchange]]

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=40) | st.text(
    '"\\n%:,{}= \r\n#', max_size=40
)


def _objects(required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object of SARIF, which has no other properties."""
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
MESSAGE = _objects("text", text=TEXT)
BAG = {"type": "object"}
INDEX = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
PHYSICAL = _objects(
    "artifactLocation region",
    artifactLocation=_objects("uri", uri={"const": "exchanges.har"}),
    region=_objects("startLine", startLine={"type": "integer", "minimum": 1}),
)
LOGICAL = _objects("name", name=TEXT, kind={"const": "function"})
LOCATION = _objects("physicalLocation", physicalLocation=PHYSICAL, logicalLocations={"items": LOGICAL})
RULE = _objects(
    "id shortDescription",
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    properties=BAG,
)
RESULT = _objects(
    "message ruleId ruleIndex locations",
    ruleId=TEXT,
    ruleIndex=INDEX,
    level={"const": "error"},
    message=MESSAGE,
    locations={"type": "array", "minItems": 1, "items": LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    suppressions={
        "items": _objects("kind", kind={"const": "external"}, status={"const": "accepted"}, justification=TEXT)
    },
)
INVOCATION = _objects(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    startTimeUtc=TIME,
    endTimeUtc=TIME,
    toolExecutionNotifications={
        "items": _objects(
            "message",
            message=MESSAGE,
            level={"const": "warning"},
            associatedRule=_objects("id index", id=TEXT, index=INDEX),
        )
    },
)
SARIF = _objects(
    "version runs",
    **{
        "$schema": {
            "const": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
        }
    },
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "minItems": 1,
        "items": _objects(
            "tool results",
            tool=_objects(
                "driver",
                driver=_objects("name", name=TEXT, version=TEXT, rules={"items": RULE, "uniqueItems": True}),
            ),
            automationDetails=_objects("id", id={"pattern": "^conformance/.*/$"}),
            columnKind={"const": "unicodeCodePoints"},
            invocations={"items": INVOCATION},
            results={"type": "array", "items": RESULT},
            properties=BAG,
        ),
    },
)
"""The rules of SARIF 2.1.0 for the members that the suite writes."""


def test_sarif_keeps_the_standard(run: Run) -> None:
    """Members, kinds and indexes of every run are those of SARIF 2.1.0."""
    document = json.loads(sarif_bytes(run[0]))
    (logged,) = document["runs"]
    rules = [rule["id"] for rule in logged["tool"]["driver"]["rules"]]
    notifications = logged["invocations"][0]["toolExecutionNotifications"]

    assert [error.message for error in Draft202012Validator(SARIF).iter_errors(document)] == []
    for result in logged["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    for cited in (notification["associatedRule"] for notification in notifications):
        assert rules[cited["index"]] == cited["id"]


def test_a_message_of_sarif_has_no_placeholder_and_no_link(failing: Run) -> None:
    """Braces are doubled, and what would be a link is interrupted."""
    failing[0]["requirements"][6]["failures"][0]["message"] = 'it said {"id": "{0}"} [here](javascript:x)'
    (logged,) = json.loads(sarif_bytes(failing[0]))["runs"]

    assert logged["results"][0]["message"]["text"].splitlines()[:2] == [
        'it said {{"id": "{{0}}"}} [here] (javascript:x)',
        "Expected: a 4xx other than 401, 404 and 429, and no change",
    ]


def test_sarif_has_a_result_for_each_failure(failing: Run) -> None:
    """A waived failure is suppressed with its reason, and an undecided requirement is no result."""
    report, exchanges = failing
    report["requirements"][10]["known"] = True
    failed = [entry for entry in report["requirements"] if entry["outcome"] == "failed"]
    (logged,) = json.loads(sarif_bytes(report))["runs"]

    assert [result["ruleId"] for result in logged["results"]] == [
        entry["id"] for entry in failed for _ in entry["failures"]
    ]
    suppressed = [[found["justification"] for found in result.get("suppressions", [])] for result in logged["results"]]
    baseline = ["This failure is in the baseline."]
    assert suppressed == [[], baseline, baseline, [failed[2]["reason"]]]
    (undecided,) = logged["invocations"][0]["toolExecutionNotifications"]
    assert undecided["message"]["text"].startswith("Undecided: No complete response within 10 s")
    cited = logged["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert (
        f'"_number": {failed[0]["failures"][0]["exchanges"][-1]},'
        in har_bytes(exchanges).decode().splitlines()[cited - 1]
    )


def _samples(text: str) -> dict[tuple[str, ...], float]:
    """Return the value of each sample by its name and the values of its labels, as two parsers agree on it."""
    read = [
        {(sample.name, *sample.labels.values()): sample.value for family in parse(text) for sample in family.samples}
        for parse in (openmetrics, prometheus)
    ]
    assert read[0] == read[1]
    assert len(read[0]) == sum(not line.startswith("#") for line in text.splitlines())
    return read[0]


def test_metrics_are_read_by_both_parsers(failing: Run) -> None:
    """OpenMetrics and Prometheus' own format give the same figures."""
    report, exchanges = failing
    report["requirements"][10]["known"] = True
    report["run"]["interrupted"] = True
    report["not_undone"] = ["an engagement"]
    found = _samples(metrics_bytes(report, exchanges).decode())

    name = report["target"]["name"]
    verdicts = {labels[-1]: value for labels, value in found.items() if labels[0] == "conformance_verdict"}
    assert verdicts == {"conformant": 0, "non-conformant": 1, "inconclusive": 0}
    outcomes = {labels[2:]: value for labels, value in found.items() if labels[0] == "conformance_requirements"}
    assert outcomes == {
        ("core", "passed"): 17,
        ("core", "failed"): 1,
        ("core", "waived"): 1,
        ("core", "baseline"): 1,
        ("core", "cantTell"): 1,
        ("mail", "untested"): 2,
    }
    assert found["conformance_run_requests", name] == 412
    assert found["conformance_run_seconds", name] == 12.3
    assert found["conformance_run_finished_timestamp_seconds", name] == 1772616612.3
    assert found["conformance_run_interrupted", name] == 1
    assert found["conformance_run_records_left", name] == 1
    times = sorted(exchange.seconds for exchange in exchanges if exchange.request.operation.id == "getEngagement")
    assert found["conformance_response_seconds_count", name, "getEngagement"] == len(times)
    assert found["conformance_response_seconds", name, "getEngagement", "1"] == pytest.approx(times[-1])


def test_metrics_of_many_runs_are_one_text(passing: Run, failing: Run) -> None:
    """Its samples are those of the runs, by family."""
    failing[0]["target"]["name"] = 'a "name"\\'
    texts = {run[0]["target"]["name"]: metrics_bytes(*run).decode() for run in (passing, failing)}

    merged = _samples(merged_metrics(texts).decode())

    first, second = map(_samples, texts.values())
    assert merged == first | second
    assert len(merged) == len(first) + len(second)
    assert (
        merged_metrics({name: text for name, text in texts.items() if name == "staging-eu"}).decode() in texts.values()
    )


def test_metrics_of_every_run_are_read(run: Run) -> None:
    """Without exchanges, only the response times are missing."""
    report, exchanges = run
    found = _samples(metrics_bytes(report, exchanges).decode())
    without = _samples(metrics_bytes(report, []).decode())

    assert found.keys() - without.keys() == {labels for labels in found if "response" in labels[0]} != set()


@given(ANY_TEXT)
def test_any_name_is_a_label(samples: Any, name: str) -> None:
    """No name of a target breaks a line, and the parsers read it as it is shown."""
    report, exchanges = samples.passing()
    report["target"]["name"] = name

    assert {labels[1] for labels in _samples(metrics_bytes(report, exchanges).decode())} == {one_line(name)}


COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def _annotations(report: Report) -> list[tuple[str, str, str]]:
    """Return level, title and message of each command, unescaped as GitHub does."""

    def plain(text: str) -> str:
        for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(escape, character)
        return text

    found = [COMMAND.fullmatch(line) for line in annotations_bytes(report).decode().removesuffix("\n").split("\n")]
    return [(match[1], plain(match[2]), plain(match[3])) for match in found if match is not None or pytest.fail("odd")]


def test_annotations_are_of_failures_that_count(failing: Run) -> None:
    """Waived failures have none, undecided requirements are warnings, and the verdict is a notice."""
    report = failing[0]
    report["requirements"][6]["failures"][0]["message"] = "100 % wrong:\r a, b"
    first, *others, last = _annotations(report)

    assert first[:2] == ("error", report["requirements"][6]["id"])
    assert first[2].startswith("100 % wrong: a, b\nExpected: a 4xx other than 401")
    assert first[2].endswith(f"\nconformance explain {report['requirements'][6]['id']}")
    assert [(level, title) for level, title, _ in others] == [
        ("error", report["requirements"][10]["id"]),
        ("warning", report["requirements"][8]["id"]),
    ]
    assert last[:2] == ("notice", "Conformance")
    assert last[2].startswith("The service fails 2 of 20 decided requirements")


@pytest.mark.parametrize(("failures", "last"), [(10, None), (11, "2 more requirements failed: see report.html.")])
def test_github_shows_ten_annotations_of_a_level(failing: Run, failures: int, last: str | None) -> None:
    """The tenth stands for the rest if there are more."""
    report = failing[0]
    report["requirements"] = [report["requirements"][6]] * failures
    errors = [message for level, _, message in _annotations(report) if level == "error"]

    assert len(errors) == 10
    assert errors[-1] == last or last is None


def test_every_run_is_annotated(run: Run) -> None:
    """Each line is one command, and nothing of a target ends it."""
    assert _annotations(run[0])[-1][0] == "notice"


def test_allure_gets_a_result_for_each_requirement(run: Run) -> None:
    """Names follow from the content, and statuses, times and labels are those that Allure knows."""
    files = allure_files(run[0])
    results = [json.loads(data) for data in files.values()]

    assert len(results) == len(run[0]["requirements"])
    assert allure_files(deepcopy(run[0])) == files
    for name, result in zip(files, results, strict=True):
        assert name == f"{result['uuid']}-result.json"
        assert result["stage"] == "finished"
        assert result["status"] in {"passed", "failed", "broken", "skipped", "unknown"}
        assert result["start"] <= result["stop"]
        assert all(isinstance(label["value"], str) and label["value"] for label in result["labels"])
        assert len(result["historyId"]) == 32
    assert len({result["historyId"] for result in results}) == len(results)


def test_allure_statuses(failing: Run) -> None:
    """A failure that counts is failed; a waived one is skipped and known, and an undecided requirement unknown."""
    results = [json.loads(data) for data in allure_files(failing[0]).values()]

    assert [(results[index]["status"], results[index]["statusDetails"]["known"]) for index in (0, 6, 8, 16, 21)] == [
        ("passed", False),
        ("failed", False),
        ("unknown", False),
        ("skipped", True),
        ("skipped", False),
    ]
    assert "An archived engagement was edited." in results[6]["statusDetails"]["message"]
    assert "expected: a 4xx" in results[6]["statusDetails"]["trace"]
    assert results[8]["statusDetails"]["message"].startswith("undecided: No complete response")


def test_another_run_has_other_results_of_the_same_history(failing: Run) -> None:
    """Allure joins the runs of a target, and replaces no result of another run."""
    later = deepcopy(failing[0])
    later["run"]["started_at"] = "2026-03-05T09:30:00Z"
    first, second = allure_files(failing[0]), allure_files(later)

    assert not first.keys() & second.keys()
    assert [json.loads(data)["historyId"] for data in first.values()] == [
        json.loads(data)["historyId"] for data in second.values()
    ]


def test_hostile_results_are_bounded_clean_text(hostile: Run) -> None:
    """The outputs are bounded UTF-8 without control characters or direction marks."""
    report, exchanges = hostile
    contents = [
        sarif_bytes(report),
        metrics_bytes(report, exchanges),
        annotations_bytes(report),
        *allure_files(report).values(),
    ]
    for data in contents:
        assert len(data) < 100_000
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]", data.decode("utf-8"))
