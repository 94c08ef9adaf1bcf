"""Pages of requirements: complete for every requirement, readable in any terminal, with an example, without a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from conformance.catalogue import load_catalogue
from conformance.cli import main
from conformance.cli.explain import print_page
from conformance.selftest.explanation import explanation
from conformance.verdicts.session import items_by_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Ended

REQUIREMENTS = load_catalogue().requirements
RESULTS = Path(__file__).parent.parent.parent / "docs" / "results.md"


def conformance_explain(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["explain", *words])


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, Any]]:
    """Return the pages of all requirements, without examples."""
    checks = items_by_entry()
    return {identifier: explanation(entry, checks[identifier]) for identifier, entry in REQUIREMENTS.items()}


@pytest.mark.parametrize("identifier", REQUIREMENTS)
def test_every_requirement_has_a_whole_page(pages: dict[str, dict[str, Any]], identifier: str) -> None:
    """A page has the statement and its sources, what is sent and expected, the checks and the faults made for it."""
    page, entry = pages[identifier], REQUIREMENTS[identifier]

    assert (page["id"], page["title"], page["class"]["id"]) == (identifier, entry.title, entry.conformance_class)
    assert list(page["statements"]) == list(entry.of)
    assert list(page["needs"]) == list(entry.needs)
    assert [operation["id"] for operation in page["sent"]["operations"]] == list(entry.operations)
    assert page["sent"]["scenarios"]
    assert page["checks"]
    assert page["faults"][0]["made_for_it"]
    texts = [*page["expected"], *page["sent"]["scenarios"].values(), *page["statements"].values()]
    assert page["expected"]
    assert [text for text in texts if not text.endswith(".") or "\n" in text] == []


def test_a_page_names_the_scenarios_that_the_ledger_needs(pages: dict[str, dict[str, Any]]) -> None:
    """A requirement that the ledger alone judges is explained by the scenario that sends what it judges."""
    assert "deletion" in pages["deleted-unreadable"]["sent"]["scenarios"]
    assert "throttling" in pages["throttled-changes-nothing"]["sent"]["scenarios"]
    assert "deletion" not in pages["throttled-changes-nothing"]["sent"]["scenarios"]


@pytest.mark.parametrize("columns", [80, 160])
def test_every_page_fits_the_terminal(
    pages: dict[str, dict[str, Any]],
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No line is wider than the terminal, and no text of a page is left out."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    for page in pages.values():
        print_page(page)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
        assert [line for line in lines if len(line.rstrip()) > columns] == []
        printed = "".join("".join(lines).split())
        for text in (page["title"], *page["needs"].values(), *page["expected"], *page["checks"]):
            assert "".join(text.split()) in printed


def test_the_page_shows_the_permitted_responses(pages: dict[str, dict[str, Any]]) -> None:
    """Fields, permissions, laws, statuses of success and questions left open come from the oracle and the catalogue."""
    assert "lastSeenAt (timestamp or null)" in pages["list-members-fields"]["expected"][0]
    assert "description (string or null, may be absent)" in pages["get-engagement-fields"]["expected"][0]
    assert pages["scope-refuses-get-engagement"]["expected"][:3] == [
        "With engagements:read alone: allowed.",
        "With organizations:read or organizations:write alone: refused.",
        "With engagements:write or engagements:delete alone: open.",
    ]
    assert "Require a success or an error as the response of an operation." in pages["no-redirect"]["expected"]
    (archiving,) = pages["archive-engagement-succeeds"]["sent"]["operations"]
    assert (archiving["path"], archiving["success"]) == ("/api/v1/engagements/{id}/archive", "any 2xx")
    assert "archive-status" in pages["archive-engagement-succeeds"]["left_open"]


def test_json_has_the_same_content(pages: dict[str, dict[str, Any]]) -> None:
    """``--json`` prints the page, and the documents name each of its keys."""
    ended = conformance_explain("archive-sets-status", "--json", "--no-example")

    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.output) == pages["archive-sets-status"]
    documented = RESULTS.read_text("utf-8")
    assert [key for key in (*json.loads(ended.output), "example") if f"`{key}`" not in documented] == []


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("archive-set-status", "There is no requirement 'archive-set-status'; did you mean archive-sets-status"),
        ("zzzz", "There is no requirement 'zzzz'; list them with: conformance requirements"),
        ("archive-status", "archive-status is an open point, observed and never judged: With which status"),
    ],
)
def test_an_unknown_id_is_a_usage_error(identifier: str, message: str) -> None:
    """The error suggests the nearest ids, or says that an open point is no requirement."""
    ended = conformance_explain(identifier)

    assert ended.exit_code == 2
    assert message in " ".join(ended.output.split())


@pytest.mark.parametrize(
    ("identifier", "request_line", "status"),
    [
        ("archive-sets-status", r"POST /api/v1/engagements/eng_[\w-]+/archive", 200),
        ("error-code-404", r"GET /api/v1/engagements/[\w-]+", 404),
        ("update-organization-succeeds", "PATCH /api/v1/organizations/current", 200),
        ("scope-refuses-get-engagement", r"GET /api/v1/engagements/eng_[\w-]+", 403),
        ("invite-sends-mail", "POST /api/v1/organizations/current/members/invite", 201),
        ("throttled-answers-429", "GET /api/v1/organizations/current", 429),
        ("subordinate-tasks-go", r"DELETE /api/v1/engagements/eng_[\w-]+", 200),
    ],
)
def test_an_example_is_a_judged_exchange(
    conformance: Callable[..., Ended], tmp_path: Path, identifier: str, request_line: str, status: int
) -> None:
    """The example has the request and the response that a check judged, without keys; no file is left."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    ended = conformance("explain", identifier, "--json", TMPDIR=str(temporary))

    assert ended.status == 0, ended.err
    example = json.loads(ended.out)["example"]
    assert example["check"].startswith("test_")
    assert 1 <= len(example["exchanges"]) <= example["judged"]
    last = example["exchanges"][-1]
    assert re.fullmatch(
        request_line, f"{last['request']['method']} {re.sub('^http://[^/]+', '', last['request']['url'])}"
    )
    assert last["response"]["status"] == status
    sent = [header["value"] for header in last["request"]["headers"] if header["name"] == "Authorization"]
    assert [value for value in sent if not re.fullmatch(r"Bearer <[\w:. ]+>", value)] == []
    assert list(tmp_path.rglob("*")) == [temporary]


def test_the_page_ends_with_the_example(conformance: Callable[..., Ended]) -> None:
    """The text has the lines of the request and the response, and every behaviour that the check permits."""
    ended = conformance("explain", "invite-succeeds")

    lines = [line.strip() for line in ended.out.splitlines()]
    assert "expected: any 2xx" in lines
    assert "> Authorization: Bearer <api_key>" in lines
    assert "< 201 Created" in lines
    assert '"status": "pending",' in lines


def test_without_evidence_the_reason_is_stated(conformance: Callable[..., Ended]) -> None:
    """If no check passes on the embedded service, the page says why."""
    ended = conformance("explain", "error-code-429")

    assert ended.status == 0, ended.err
    assert "No example: the run against the embedded service has no evidence." in ended.out
