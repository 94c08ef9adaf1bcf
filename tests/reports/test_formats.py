"""Outputs summary.md, ctrf.json, earl.jsonld and badge.svg."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from conformance.catalogue import load_catalogue
from conformance.reports.badge import badge_bytes
from conformance.reports.ctrf import ctrf_bytes
from conformance.reports.earl import earl_bytes
from conformance.reports.markdown import fenced, inline, markdown_bytes
from conformance.reports.wording import repeat_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Run = tuple[Report, list[Exchange]]

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def _tokens(text: str) -> list[Any]:
    """Return all tokens of a Markdown text, including inline ones."""
    return [token for block in MARKDOWN.parse(text) for token in (block, *(block.children or []))]


@given(ANY_TEXT | st.text("`*_[]()<>#|!&;:@\\-+=~$.h1 \n"))
def test_inline_text_is_nothing_but_text(text: str) -> None:
    """It contains no markup, link, image, code, emphasis or HTML, and no URL that a reader would link automatically."""
    rendered = inline(text)

    tokens = _tokens(f"x {rendered}")
    assert {token.type for token in tokens} <= {"paragraph_open", "paragraph_close", "inline", "text"}
    assert "://" not in rendered
    assert "\n" not in rendered


@given(st.text("ab`*_[]()<>#|!&;:@-+=~$.\\'\"", max_size=30))
def test_inline_text_reads_as_it_was(text: str) -> None:
    """Escaped text is shown as it was sent."""
    shown = "".join(token.content for token in _tokens(f"x{inline(text)}x") if token.type == "text")

    assert shown == f"x{text}x"


@given(ANY_TEXT | st.text("`~\n a"))
def test_a_fence_cannot_be_closed(text: str) -> None:
    """The block ends only at its own end."""
    assert [token.type for token in _tokens(fenced(text) + "\n")] == ["fence"]


def test_ordinary_text_is_not_escaped() -> None:
    """Ids, times, paths and sentences are readable in a log."""
    text = "sort-by-name (section 4), 2026-11-25T07:43, /api/v1/members?page=2, report.html: 1.5 s!"

    assert inline(text) == text


def test_a_failure_is_repeated_in_the_words_of_the_run(failing: Run) -> None:
    """Options for requirements, seed and folder are replaced."""
    report, _ = failing
    words = ["run", "--target", "../my target.yaml", "--only=archive*", "--seed", "7", "--report", "x", "--quiet"]
    asked: Any = {**report, "run": {**report["run"], "command": [*words, "--effort", "quick"]}}
    broken = report["requirements"][6]

    command = repeat_command(asked, broken)

    start = "conformance run --target '../my target.yaml' --effort quick --seed "
    assert command == f"{start}{report['run']['seed']} --only {broken['id']}"


def test_the_summary_shows_verdict_classes_and_failures(failing: Run) -> None:
    """The summary alone shows what is broken."""
    text = markdown_bytes(failing[0]).decode()
    shown = "".join(token.content for token in _tokens(text) if token.type in {"text", "fence", "text_special"})

    assert "Conformance: not conformant" in shown
    assert "The service fails 2 of 20 decided requirements" in shown
    assert failing[0]["requirements"][6]["failures"][0]["curl"] in shown
    assert "An archived engagement refuses every edit" in shown
    assert "No complete response within 10 s" in shown
    assert len([token for token in _tokens(text) if token.type == "table_open"]) == 2


def test_a_hostile_summary_is_bounded_and_carries_no_markup(hostile: Run) -> None:
    """The summary fits into 1 MiB for GitHub, and the only HTML is the suite's."""
    data = markdown_bytes(hostile[0])

    tokens = _tokens(data.decode())
    assert len(data) < 100_000
    assert {token.content.strip() for token in tokens if token.type.startswith("html")} == {
        "<details><summary>1 undecided</summary>",
        "</details>",
    }
    assert not [token for token in tokens if token.type in {"link_open", "image"}]


def test_many_failures_are_cut_with_a_note(failing: Run) -> None:
    """The summary says how many consequences of a cause it omits."""
    failing[0]["requirements"] = [failing[0]["requirements"][6]] * 80

    assert "29 more failed requirements" in markdown_bytes(failing[0]).decode()


def test_ctrf_has_what_the_format_requires(run: Run) -> None:
    """Names, statuses, whole milliseconds and consistent counts are there."""
    document = json.loads(ctrf_bytes(run[0]))

    assert document["reportFormat"] == "CTRF"
    assert re.fullmatch(r"\d+\.\d+\.\d+", document["specVersion"])
    results = document["results"]
    assert set(results) <= {"tool", "summary", "tests", "environment", "extra"}
    known = {"name", "status", "rawStatus", "duration", "suite", "tags", "extra", "message", "trace"}
    assert {member for test in results["tests"] for member in test} <= known  # the format allows no other members
    statuses = [test["status"] for test in results["tests"]]
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert results["summary"][status] == statuses.count(status)
    assert results["summary"]["tests"] == len(statuses) == len(run[0]["requirements"])
    assert results["summary"]["start"] == 1772616600000
    assert all(isinstance(test["duration"], int) and test["name"] for test in results["tests"])


def test_ctrf_statuses(failing: Run) -> None:
    """Undecided and waived requirements are neither passed nor failed."""
    tests = json.loads(ctrf_bytes(failing[0]))["results"]["tests"]

    assert [(tests[index]["status"], tests[index]["rawStatus"]) for index in (0, 6, 8, 16, 21)] == [
        ("passed", "passed"),
        ("failed", "failed"),
        ("other", "undecided"),
        ("other", "failed"),
        ("skipped", "not tested"),
    ]
    assert "expected: a 4xx" in tests[6]["trace"]


def test_earl_asserts_every_requirement_in_its_terms(run: Run) -> None:
    """Each requirement has an assertion with assertor, subject, criterion and outcome, all in the graph."""
    document = json.loads(earl_bytes(run[0]))
    graph = document["@graph"]
    known = {node["@id"] for node in graph if "@id" in node}
    assertions = [node for node in graph if node["@type"] == "earl:Assertion"]

    assert [assertion["earl:result"]["earl:outcome"] for assertion in assertions] == [
        f"earl:{requirement['outcome']}" for requirement in run[0]["requirements"]
    ]
    for assertion in assertions:
        assert {assertion["earl:assertedBy"], assertion["earl:subject"], assertion["earl:test"]} <= known
        assert assertion["earl:mode"] == "earl:automatic"
    assert document["@context"]["earl"] == "http://www.w3.org/ns/earl#"
    assert all(re.fullmatch(r"[!-~]+", identifier) for identifier in known)


def test_earl_has_the_titles_of_the_catalogues_sections(run: Run) -> None:
    """The report names sections as the catalogue does."""
    nodes = json.loads(earl_bytes(run[0]))["@graph"]
    titles = [node["dct:title"] for node in nodes if node["@type"] == "earl:TestRequirement"]

    assert titles
    assert set(titles) <= {section.title for section in load_catalogue().sections}


def test_earl_states_failures_and_waivers(failing: Run) -> None:
    """The assertion contains the reason."""
    assertions = [node for node in json.loads(earl_bytes(failing[0]))["@graph"] if node["@type"] == "earl:Assertion"]

    assert "An archived engagement was edited." in assertions[6]["earl:result"]["earl:info"]
    assert "This failure is waived." in assertions[16]["earl:result"]["earl:info"]
    assert "earl:info" not in assertions[0]["earl:result"]


@pytest.mark.parametrize("render", [ctrf_bytes, earl_bytes, badge_bytes, markdown_bytes])
def test_hostile_runs_make_bounded_clean_text(render: Callable[[Report], bytes], hostile: Run) -> None:
    """The outputs are bounded UTF-8 without control characters or direction marks."""
    data = render(hostile[0])

    assert len(data) < 200_000
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]", data.decode("utf-8"))


def test_the_badge_is_a_picture_of_the_verdict(run: Run) -> None:
    """It is well-formed, has no references, and gives screen readers the verdict."""
    root = ET.fromstring(badge_bytes(run[0]))  # noqa: S314 - the suite's own text

    texts = [element.text for element in root.iter() if element.text and element.text.strip()]
    assert any("onformant" in str(text) for text in texts[:1])
    assert root.tag.endswith("svg")
    assert not [name for element in root.iter() for name in element.attrib if "href" in name or name.startswith("on")]


def test_the_badge_says_when_a_run_was_interrupted(passing: Run) -> None:
    """The badge of an interrupted run says so."""
    passing[0]["run"]["interrupted"] = True

    assert "conformant, interrupted" in badge_bytes(passing[0]).decode()
