"""Altered reports, which are refused in a sentence or can be rendered in every format."""

from __future__ import annotations

import re
from copy import deepcopy
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from conformance.certificate.page import page_bytes
from conformance.certificate.statement import CLAIMS, Signing, statement
from conformance.reports.drift import compare, drift_json, drift_markdown, drift_text
from conformance.reports.formats import FROM_REPORT
from conformance.reports.html import html_bytes
from conformance.reports.model import InvalidReport, check_report
from conformance.reports.site import read_runs, site_files
from conformance.reports.text import json_bytes
from tests.fakes.runs import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reports.model import Report

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 10**30, 10**400, 1.5, 1e308, -1e308, 1e-320,
    "", " ", "x", "7", "0", "1" * 5000, "2026-99-99", "2026-99-99T00:00:00Z", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00+00:00", "2026-01-01T25:61:61Z", "\ud800", "\x00\x1b[31m",
    "</script><script>", "]]>", "::add-mask::x", "\n::add-mask::x", "../../x", "%s{0}{{7*7}}", "a" * 100_000,
    [], [None], [[]], ["x"], [1], {}, {"id": []}, {"": {}}, {"before": {"id": "x"}},
)  # fmt: skip
"""Values of every type, and texts with a special meaning in some format."""

PARTS = 10
"""The parts of all odd members, so that ``--sample`` can draw some."""


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every member of a value; of lists, only of the first two elements."""
    if path:
        yield path
    members: Any = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


def changed(report: Report, path: tuple[str | int, ...], value: object) -> Any:
    """Return a copy of a report with one member changed."""
    copy: Any = deepcopy(report)
    place = copy
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return copy


def render_all(report: Report, other: Report) -> None:
    """Render every output of a report, including the page of a certificate."""
    for _, render in FROM_REPORT.values():
        render(report)
    html_bytes(report)
    for pair in ((report, other), (other, report)):
        drift = compare(*pair)
        drift_text(drift), drift_markdown(drift), drift_json(drift)
    inputs: Any = SimpleNamespace(versions={}, profile=PROFILE)
    said = statement(report, inputs, {"report.json": "0" * 64}, Signing(report["run"]["finished_at"]))
    page_bytes(report, said["predicate"][CLAIMS], "key")


@pytest.fixture
def whole(failing: tuple[Report, Any], samples: Any) -> Report:
    """A small report with every possible member."""
    report: Any = deepcopy(failing[0])
    report["requirements"] = [requirement for requirement in report["requirements"] if requirement["failures"]][
        :2
    ] + report["requirements"][:2]
    report["observations"], report["classes"] = report["observations"][:2], report["classes"][:2]
    report["census"]["before"] |= {"id": "org_1"}
    report["target"]["certificate_sha256"] = "0" * 64
    report["lasting"] = ["An invitation."]
    report["not_undone"] = ["An engagement."]
    report["waivers"] = [{"requirement": "x", "reason": "r", "owner": "o", "expires": "2026-12-31", "check": "*"}]
    return check_report(report)


COMMANDS = "::add-mask::x\n::add-mask::y\r  ::add-mask::z\n##[add-mask]x\n \u00a0##vso[x]"


def of_commands(value: Any) -> Any:
    """Return a value with pipeline commands around every text."""
    if isinstance(value, dict):
        return {name: of_commands(member) for name, member in value.items()}
    if isinstance(value, list):
        return [of_commands(member) for member in value]
    return f"{COMMANDS}{value}\n{COMMANDS}" if isinstance(value, str) else value


@pytest.mark.parametrize("form", [*FROM_REPORT, "html"])
def test_no_line_of_an_output_is_a_command_of_a_pipeline(whole: Any, form: str) -> None:
    """Pipeline commands at the beginning of a line are escaped, because logs show files; the text reads the same."""
    for entry in (*whole["requirements"], *whole["observations"], *whole["classes"]):
        entry.update(of_commands({name: entry[name] for name in ("title", "question", "reason") if name in entry}))
        entry["failures"] = of_commands(entry.get("failures", []))
    whole["target"] |= {"name": COMMANDS, "base_url": COMMANDS}
    whole["run"]["warnings"] = whole["not_undone"] = [COMMANDS]

    render = html_bytes if form == "html" else FROM_REPORT[form][1]
    written = render(check_report(whole)).decode()

    assert "add-mask" in written or form == "badge"
    own = r"::(?:error|warning|notice) " if form == "annotations" else "(?!)"
    assert not re.search(rf"(?:\A|[\r\n])\s*(?!{own})(?:::|##\w*\[)", written)
    if form == "junit":
        assert COMMANDS.splitlines()[0] in "".join(ET.fromstring(written).itertext())  # noqa: S314 - made here


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9Z", "2026-99-99T00:00:00Z"])
def test_a_site_has_room_for_odd_times(whole: Report, tmp_path: Path, value: str) -> None:
    """A run of any year is on the site, and a run with an invalid date is omitted."""
    whole["run"]["started_at"] = whole["run"]["finished_at"] = value
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "report.json").write_bytes(json_bytes(whole))
    left_out: list[str] = []

    runs = read_runs([tmp_path / "run"], left_out.append)
    pages = [b"".join(pieces()) for pieces in site_files(runs, tmp_path / "site").values()] if runs else []

    assert (len(runs), len(left_out)) == ((0, 1) if "99-99" in value else (1, 0))
    assert all(pages)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_odd_member_is_refused_or_rendered(whole: Report, part: int) -> None:
    """No member with any odd value lets a format crash."""
    tried = 0
    for path, value in [*product(places(whole), ODD)][part::PARTS]:
        report = changed(whole, path, value)
        try:
            check_report(report)
        except InvalidReport:
            continue
        tried += 1
        try:
            render_all(report, whole)
        except Exception as error:  # noqa: BLE001 - reported with its cause
            pytest.fail(f"{path} = {str(value)[:40]!r}: {error!r}"[:500])
    assert tried > 500 / PARTS
