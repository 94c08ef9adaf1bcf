"""Selection of findings: reported, or explained by others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.oracle.ledger import findings as ledger_findings
from conformance.oracle.ledger.changes import _OF_DELETED
from conformance.oracle.ledger.evidence import SPARING
from conformance.oracle.ledger.findings import EVIDENCE, EXPLAINED_BY, Finding, Findings
from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES, ORGANIZATION_RULES
from tests.fakes.exchanges import make_exchange

RESPONSE = make_exchange(number=5)
OF_READ, OF_LIST = "archive-keeps-content", "list-engagements-as-read"


def finding(requirement: str, **more: Any) -> Finding:
    """Return a finding about an engagement, by a read unless said otherwise."""
    return replace(Finding(requirement, RESPONSE, (), "wrong", "this", "that", identifier="e1"), **more)


def reported(*broken: Finding) -> list[Finding]:
    """Return the findings that are reported."""
    findings = Findings(list(broken))
    return [finding for finding in broken if finding in findings.of(finding.requirement)]


def test_the_tables_hold_only_ledger_rules() -> None:
    """An unknown id would silently match nothing."""
    named = {
        *EXPLAINED_BY,
        *(root for roots in EXPLAINED_BY.values() for root in roots),
        *SPARING.values(),
        *_OF_DELETED.values(),
    }
    named |= ledger_findings._OF_READS | ledger_findings._OF_LISTS

    assert named <= {*ENGAGEMENT_RULES, *ORGANIZATION_RULES}


@given(st.sets(st.sampled_from(ENGAGEMENT_RULES), min_size=1))
def test_some_finding_is_always_reported(rules: set[str]) -> None:
    """Explanations have no cycle, so that no service passes by breaking many rules at once."""
    findings = Findings([finding(rule) for rule in rules])

    assert any(findings.of(rule) and findings.explained(rule) is None for rule in rules)


@pytest.mark.parametrize(
    ("requirement", "root"),
    [
        ("archived-edit-refused", "archive-sets-status"),
        ("archived-again-stays-archived", "archive-sets-status"),
        ("archived-listed", "create-engagement-listed"),
        ("update-engagement-succeeds", "create-engagement-lasts"),
        ("archive-engagement-succeeds", "delete-spares-others"),
        ("delete-engagement-succeeds", "delete-spares-others"),
        ("archived-deletable", "create-engagement-lasts"),
        ("list-engagements-as-read", "create-engagement-keeps-text"),
        ("list-engagements-total", "update-engagement-keeps-text"),
        ("deleted-unlisted", "deleted-unreadable"),
        ("deleted-uneditable", "delete-effective-at-once"),
        ("unarchived-archivable", "archive-engagement-succeeds"),
        ("list-engagements-as-read", "archive-keeps-content"),
        ("list-engagements-total", "archived-listed"),
        ("list-engagements-total", "create-engagement-lasts"),
        ("list-engagements-filter-counts", "list-engagements-total"),
        ("list-engagements-filter-counts", "update-engagement-takes-effect"),
        ("list-engagements-status-filter", "archive-sets-status"),
        ("list-engagements-status-filter", "archived-listed"),
        ("list-engagements-pages-partition", "sort-by-name"),
        ("list-engagements-pages-partition", "create-engagement-lasts"),
        ("sort-with-filter", "sort-by-name"),
    ],
)
def test_a_derived_breach_is_explained(requirement: str, root: str) -> None:
    """The root explains the derived breach, never the other way round."""
    findings = Findings([finding(requirement), finding(root)])

    explanation = findings.explained(requirement)
    assert explanation is not None
    assert explanation.requirement == root
    assert findings.explained(root) is None


def test_an_unreported_finding_explains_nothing() -> None:
    """A finding that another read already covers is no root."""
    unsure = finding("update-engagement-takes-effect", other_candidates=1)
    findings = Findings([unsure, finding("archive-keeps-content"), finding("update-engagement-in-parallel")])

    assert findings.of("update-engagement-takes-effect") == []
    assert findings.explained("update-engagement-in-parallel") is None


def test_a_read_covers_the_list_of_the_same_engagement() -> None:
    """The read reports the engagement once; a list still reports another one."""
    by_read, same = finding(OF_READ), finding(OF_LIST, of_list=True)
    other, unnamed = replace(same, identifier="e2"), replace(same, identifier=None)

    assert reported(by_read, same) == [by_read]
    assert reported(by_read, other, unnamed) == [by_read, other, unnamed]
    assert reported(same, other) == [same, other]


def test_a_clear_read_silences_ambiguous_reads() -> None:
    """If one read has a single cause, reads with several causes are not reported."""
    clear, unclear = finding(OF_READ), finding(OF_READ, other_candidates=1, identifier="e2")

    assert reported(clear, unclear) == [clear]
    assert reported(unclear) == [unclear]
    assert reported(unclear, finding("archived-readable")) == [unclear, finding("archived-readable")]
    of_list = finding(OF_READ, of_list=True, identifier="e3")
    assert reported(unclear, of_list) == [unclear, of_list]


def test_the_clearest_list_findings_are_reported() -> None:
    """List findings with more possible causes are not reported."""
    sure, unsure, least = (finding(OF_LIST, of_list=True, identifier=f"e{n}", other_candidates=n) for n in range(3))

    assert reported(sure, unsure, least) == [sure]
    assert reported(unsure, least) == [unsure]
    assert reported(least) == [least]
    missing = finding("create-engagement-listed", of_list=True, identifier="e9")
    assert reported(unsure, missing) == [unsure, missing]
    of_read = finding("delete-spares-others", identifier="e8")
    assert reported(unsure, of_read) == [unsure, of_read]


def test_a_clear_read_does_not_silence_other_lists() -> None:
    """Lists of other engagements are still reported, however ambiguous."""
    clear, listed = finding(OF_READ), finding(OF_LIST, of_list=True, other_candidates=1, identifier="e2")

    assert reported(clear, listed) == [clear, listed]


def test_whether_a_finding_is_ambiguous() -> None:
    """A finding is ambiguous with at least one other candidate."""
    assert [finding(OF_READ, other_candidates=other_candidates).ambiguous for other_candidates in range(3)] == [
        False,
        True,
        True,
    ]


def test_resolving_an_ambiguous_finding() -> None:
    """It has no other candidates afterwards."""
    findings = Findings([finding(OF_LIST), finding(OF_READ, other_candidates=2)])
    findings.resolve(1, OF_LIST)

    assert findings.broken == [finding(OF_LIST), finding(OF_LIST)]


def test_evidence_is_bounded() -> None:
    """The first exchanges are kept, up to the limit."""
    findings = Findings()
    for number in range(10 * EVIDENCE):
        assert findings.lacks(OF_READ) == (number < EVIDENCE)
        findings.keep(OF_READ, make_exchange(number=number))

    assert [exchange.number for exchange in findings.kept[OF_READ]] == list(range(EVIDENCE))
    assert findings.lacks(OF_LIST)


def test_a_finding_ends_a_check_with_its_evidence() -> None:
    """Each exchange is cited once, in the order of sending; the context follows the message."""
    first = make_exchange(number=2)
    fault = finding(OF_READ, because=(RESPONSE, first), pointer="/data").as_fault(context=", as told")

    assert [exchange.number for exchange in fault.exchanges] == [2, 5]
    assert (fault.message, fault.expected, fault.actual, fault.pointer) == ("wrong, as told", "this", "that", "/data")
    assert finding(OF_READ).as_fault().message == "wrong"


def test_no_two_requirements_explain_each_other() -> None:
    """The table of explanations is not symmetric."""
    assert not [
        pair
        for pair in combinations(EXPLAINED_BY, 2)
        if pair[0] in EXPLAINED_BY[pair[1]] and pair[1] in EXPLAINED_BY[pair[0]]
    ]


def test_the_status_of_a_missing_response() -> None:
    """It is 0, which no response can have."""
    assert [make_exchange(status=status).received_status for status in (204, None)] == [204, 0]
