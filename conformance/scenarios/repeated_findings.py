"""Requests of the ledger's findings, sent again to confirm what other users might have caused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger.lists import page_of
from conformance.oracle.lists.listing import contents

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.oracle.ledger.findings import Finding
    from conformance.oracle.ledger.ledger import Ledger
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.4, 1.0, 0.4, 1.0)
_MOST_PAGES: Final = 20


def confirmed_by_repetition(run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]) -> Finding | None:
    """Send the request of a fault again, while the run writes nothing else, until two responses show the same fault.

    Args:
        run: The run.
        finding: The fault.
        judge: Returns the fault of this kind in a response, if there is one.

    Returns:
        The last finding, if every response had one and the last two are the same; None otherwise.
    """
    return repeat_request(run, finding, judge)[0]


def repeat_request(
    run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]
) -> tuple[Finding | None, Exchange | None]:
    """Send the request of a fault again, as ``confirmed_by_repetition`` does.

    Returns:
        The confirmed finding, or the response without a fault; neither if other users kept changing the list.
    """
    before = None
    for pause in _PAUSES:
        run.sleep(pause)
        with run.wire.undisturbed():
            response = run.send(finding.exchange.request)
        found = judge(response)
        if found is None:
            return None, response
        if before is not None and _is_same(before, found):
            return found, None
        before = found
    return None, None


def is_on_another_page(run: Run, finding: Finding) -> bool:
    """Whether another page of the list has the item that is missing: then the order is wrong, and nothing is lost.

    The nearest pages are read, as many as the run can afford.
    """
    page = None if finding.absent is None else page_of(finding.exchange)
    if page is None:
        return False
    near = range(max(1, page.number - _MOST_PAGES), min(page.pages, page.number + _MOST_PAGES) + 1)
    others = sorted(set(near) - {page.number}, key=lambda number: abs(number - page.number))
    asked = finding.exchange.request
    query = tuple((name, value) for name, value in asked.query if name != "page")
    requests = [replace(asked, query=(*query, ("page", str(number)))) for number in others[:_MOST_PAGES]]
    with run.wire.undisturbed():
        responses = run.send_all(requests)
    return any(read.id_of(item) == finding.absent for response in responses for item in readable_resources(response))


def judge_by_ledger(
    ledger: Ledger, requirement: str, seen: Callable[[Exchange], Exchange] = lambda exchange: exchange
) -> Callable[[Exchange], Finding | None]:
    """Return a function that finds the fault of a response by a ledger and a requirement.

    Args:
        ledger: The ledger.
        requirement: The requirement.
        seen: Returns an exchange as the ledger's organization sees it.
    """
    return lambda exchange: next(
        (finding for finding in ledger.take(seen(exchange)) if finding.requirement == requirement), None
    )


def _is_same(first: Finding, other: Finding) -> bool:
    return (first.message, first.actual, _shown(first)) == (other.message, other.actual, _shown(other))


def _shown(finding: Finding) -> list[object] | None:
    """Return what must not move between two reads; None if the response is unreadable, which others cannot cause."""
    return read.or_none(contents, (finding.exchange,))
