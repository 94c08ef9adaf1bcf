"""Grouping of failed requirements by their probable cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reports.causes import by_cause
from conformance.reports.html import html_bytes
from conformance.reports.markdown import markdown_bytes
from conformance.reports.wording import failed_of
from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import faults
from conformance.verdicts.judge import Judge
from conformance.verdicts.reporting import build_report
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


def recorded(fault: str, only: tuple[str, ...]) -> tuple[Report, list[Exchange]]:
    """Return the report and the exchanges of a run against the reference service with a fault."""
    (subject,) = faults(fault)
    with HostedSession(subject, RunOptions(effort=Effort.QUICK, only=only), in_process=True) as session:
        judge = Judge(session.run)
        session.run.closed = session.reach()
        run_checks(judge)
        session.undo()
        return build_report(session, judge.results, interrupted=False)[0], list(session.run.wire.exchanges)


SCOPES = ("scope-refuses-get-engagement", "scope-refuses-list-members", "scope-refuses-update-engagement")


@pytest.mark.parametrize(
    ("fault", "cause", "consequences"),
    [
        ("invitemember-stumbles-over-no-address", "no-server-error", ("invite-refuses-invalid",)),
        ("list-members-without-role", "list-members-fields", ("list-members-role-filter",)),
        ("cascade-not-at-all", "subordinate-targets-go", ("subordinate-tasks-go", "subordinate-reports-go")),
        ("scope-refused-with-404", SCOPES[0], SCOPES[1:]),
        ("other-prefix", "version-prefix-served", ("list-members-succeeds", "create-engagement-refuses-invalid")),
        ("create-redirects", "no-redirect", ("create-engagement-succeeds",)),
    ],
)
def test_causes_of_recorded_runs(fault: str, cause: str, consequences: tuple[str, ...]) -> None:
    """One fault of the reference service is one group, with the requirement that the fault breaks at its front."""
    report, exchanges = recorded(fault, (cause, *consequences))

    (group,) = by_cause(failed_of(report), exchanges)

    assert group[0]["id"] == cause
    assert {requirement["id"] for requirement in group[1:]} >= {*consequences}


def test_the_refused_edit_that_changed_something_is_cited_alone() -> None:
    """Of many refused edits, the one that had an effect is sent again, with a read before and after it."""
    report, exchanges = recorded("edit-refused-empties-description", ("update-engagement-refused-changes-nothing",))

    ((requirement,),) = by_cause(failed_of(report), exchanges)
    found = requirement["failures"][0]["exchanges"]
    cited = [exchange for exchange in exchanges if exchange.number in found]

    assert [exchange.request.operation.id for exchange in cited] == [
        "getEngagement", "updateEngagement", "getEngagement",
    ]  # fmt: skip
    assert cited[1].sent_object is not None
    assert not isinstance(cited[1].sent_object["description"], str)


def broken(samples: ModuleType, name: str, *found: tuple[int, str], **changes: Any) -> Any:
    """Return a failed requirement by the exchanges and places of its failures."""
    failures = [
        samples.failure([], check=f"{name}::a") | {"exchanges": [number], "pointer": place} for number, place in found
    ]
    return samples.requirement(name, name, outcome="failed", failures=failures, **changes)


def names(groups: list[list[Any]]) -> list[list[str]]:
    """Return the ids of the requirements in each group."""
    return [[requirement["id"] for requirement in group] for group in groups]


def test_failures_at_one_place_stand_together(samples: ModuleType) -> None:
    """The same place of the same response groups requirements, also indirectly; another place does not."""
    failed = [
        broken(samples, "a", (1, "/data/name")),
        broken(samples, "b", (1, "/data/id")),
        broken(samples, "c", (2, "/data/name")),
        broken(samples, "d", (2, "/data/name"), (1, "/data/name")),
    ]

    assert names(by_cause(failed)) == [["a", "d", "c"], ["b"]]


def test_an_excused_failure_is_no_cause_to_mend(samples: ModuleType) -> None:
    """A waived failure stands behind others of its group, and a waived group behind other groups."""
    failed = [
        broken(samples, "a", (1, "/data/name"), waived=True),
        broken(samples, "b", (2, "/data/id"), waived=True),
        broken(samples, "c", (1, "/data/name")),
    ]

    assert names(by_cause(failed)) == [["c", "a"], ["b"]]


def test_core_comes_before_other_classes(samples: ModuleType) -> None:
    """However many requirements of another class failed."""
    failed = [broken(samples, name, (1, "/data/id"), **{"class": "mail"}) for name in ("a", "b")]

    assert names(by_cause([*failed, broken(samples, "c", (2, "/data/name"))])) == [["c"], ["a", "b"]]


def test_consequences_are_folded(failing: tuple[Report, list[Exchange]], samples: ModuleType) -> None:
    """The page and the summary show the cause in full, and the others folded under it."""
    report, exchanges = failing
    other = dict(report["requirements"][6]) | {"id": "another", "title": "Another one"}
    report["requirements"].append(other)  # type: ignore[arg-type]

    page, summary = html_bytes(report, exchanges).decode(), markdown_bytes(report, exchanges).decode()

    number = len(failed_of(report))
    for text in (page, summary):
        assert f"requirements probably have {number - 1} causes. The most serious comes first." in text
        assert "1 more failed requirement, probably of the same cause" in text
    assert "### Another one" not in summary
    assert "- Another one, another: " in summary
