"""Commands ``render`` and ``diff``."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli.diff import diff
from conformance.cli.render import render
from conformance.reports.folder import write_all
from conformance.reports.model import report_bytes
from conformance.wire.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

NAMES = {
    "json": "report.json",
    "html": "report.html",
    "junit": "junit.xml",
    "har": "exchanges.har",
    "markdown": "summary.md",
    "earl": "earl.jsonld",
    "ctrf": "ctrf.json",
    "badge": "badge.svg",
    "sarif": "report.sarif",
    "metrics": "metrics.prom",
}


@pytest.fixture
def folder(failing: tuple[Report, list[Exchange]], tmp_path: Path) -> Path:
    """The folder of a run with failures."""
    write_all(*failing, tmp_path / "run", Redactor())
    return tmp_path / "run"


def _invoke(command: click.Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("form", "name"), NAMES.items())
def test_rendering_later_gives_what_the_run_wrote(folder: Path, form: str, name: str) -> None:
    """Every output is rendered from the record byte for byte."""
    result = _invoke(render, folder, "--format", form)

    assert result.exit_code == 0
    assert result.stdout_bytes == (folder / name).read_bytes()


def test_output_goes_to_a_file(folder: Path, tmp_path: Path) -> None:
    """The path of the report is accepted as well as its folder."""
    result = _invoke(render, folder / "report.json", "--format", "badge", "--output", tmp_path / "badge.svg")

    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "badge.svg").read_bytes() == (folder / "badge.svg").read_bytes()


def test_html_needs_no_recording(folder: Path) -> None:
    """A report without its recording is rendered, with exchanges as numbers only."""
    (folder / "exchanges.har").unlink()

    assert _invoke(render, folder, "--format", "html").exit_code == 0
    assert _invoke(render, folder, "--format", "har").exit_code == 2


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_an_invalid_report_is_a_usage_error(tmp_path: Path, content: str | None) -> None:
    """The command prints one sentence without a traceback, and exits with 2."""
    path = tmp_path / "report.json"
    if content is not None:
        path.write_text(content)

    for result in (_invoke(render, path, "--format", "html"), _invoke(diff, path, path)):
        assert result.exit_code == 2
        assert result.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(("form", "output"), [("html", "none/x.html"), ("html", "run"), ("allure", "run/report.json")])
def test_an_unwritable_output_is_a_usage_error(folder: Path, tmp_path: Path, form: str, output: str) -> None:
    """The message names the file."""
    result = _invoke(render, folder, "--format", form, "--output", tmp_path / output)

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_allure_gets_a_folder(folder: Path, tmp_path: Path) -> None:
    """Rendered twice, the folder has the same files; without a folder, nothing is printed."""
    for _ in range(2):
        assert _invoke(render, folder, "--format", "allure", "--output", tmp_path / "a" / "allure-results").output == ""
    result = _invoke(render, folder, "--format", "allure")

    requirements = json.loads((folder / "report.json").read_text("utf-8"))["requirements"]
    assert len(list((tmp_path / "a" / "allure-results").iterdir())) == len(requirements)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.fixture
def runs(
    failing: tuple[Report, list[Exchange]], passing: tuple[Report, list[Exchange]], tmp_path: Path
) -> dict[str, Path]:
    """Three reports: passing, failing, and passing with different behaviour at an open point."""
    drifted = deepcopy(passing[0])
    drifted["observations"][0]["observed"] = "accepted"
    paths = {name: tmp_path / f"{name}.json" for name in ("passing", "failing", "drifted")}
    for path, report in zip(paths.values(), (passing[0], failing[0], drifted), strict=True):
        path.write_bytes(report_bytes(report))
    return paths


@pytest.mark.parametrize(
    ("old", "new", "fail_on", "status"),
    [
        ("passing", "passing", "regression", 0),
        ("passing", "failing", "regression", 1),
        ("failing", "failing", "regression", 0),
        ("failing", "passing", "regression", 0),
        ("passing", "drifted", "regression", 0),
        ("passing", "drifted", "drift", 1),
        ("passing", "passing", "drift", 0),
        ("passing", "failing", "drift", 1),
    ],
)
def test_the_exit_status_of_diff(runs: dict[str, Path], old: str, new: str, fail_on: str, status: int) -> None:
    """The status is 1 for a regression, and with drift also for changed behaviour."""
    assert _invoke(diff, runs[old], runs[new], "--fail-on", fail_on).exit_code == status


@pytest.mark.parametrize(("form", "start"), [("text", "Regressions (2)"), ("markdown", "# Changes"), ("json", "{")])
def test_the_formats_of_diff(runs: dict[str, Path], form: str, start: str) -> None:
    """Each format is printed to standard output alone."""
    result: Any = _invoke(diff, runs["passing"], runs["failing"], "--format", form)

    assert result.stdout.startswith(start)
    assert form != "json" or len(json.loads(result.stdout)["regressions"]) == 2
