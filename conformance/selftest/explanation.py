"""Explanation of a requirement: what it states, what is sent, what is expected, and an example exchange."""

from __future__ import annotations

import json
from inspect import cleandoc
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from conformance.catalogue import CLASSES, load_catalogue
from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle.laws.shapes import PROMISES, SHAPES
from conformance.oracle.ledger.ledger import SCENARIOS
from conformance.oracle.permissions import Rule, keys_with
from conformance.reference.faults import all_faults
from conformance.reports.har import har_entry
from conformance.reports.last_scan import LastScan
from conformance.reports.outcome import Outcome
from conformance.reports.text import json_bytes
from conformance.running.options import Effort, RunOptions
from conformance.running.scenarios import scenario_named
from conformance.scenarios.whole_run_ledger import ledger_of_run
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import latitudes
from conformance.targets.capabilities import UNLOCKS
from conformance.verdicts.items import marks_of, name_of, scenarios_of, stage_of
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks
from conformance.verdicts.stages import JUDGING, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pytest

    from conformance.catalogue import Requirement
    from conformance.oracle.laws.shapes import Field
    from conformance.verdicts.results import CheckResult
    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

_MOST_SECONDS: Final = 30.0
"""Seconds after which a run for an example sends nothing more; most take one or two."""
_MOST_SHOWN: Final = 3
"""Most exchanges of an example."""
_OF_THE_RUN: Final = "Judge the exchanges of the run; if those are too few, send some more."
_BY_ITSELF: Final = "Send a few requests and judge their responses."


def explanation(requirement: Requirement, checks: Mapping[str, pytest.Item]) -> dict[str, Any]:
    """Return what the catalogue, the checks, the oracle and the faults say about a requirement, ready for JSON.

    Args:
        requirement: The requirement.
        checks: Its checks, from ``items_by_entry``.
    """
    catalogue = load_catalogue()
    (section,) = (section for section in catalogue.sections if section.number == requirement.section)
    return {
        "id": requirement.id,
        "title": requirement.title,
        "section": {"number": section.number, "title": section.title},
        "statements": catalogue.statements_of(requirement),
        "class": {"id": requirement.conformance_class, "title": CLASSES[requirement.conformance_class]},
        "since": requirement.since,
        "needs": {need: UNLOCKS[need] for need in requirement.needs},
        "sent": {
            "operations": [_operation(name) for name in requirement.operations],
            "scenarios": {name: text for item in checks.values() for name, text in _sent(item, requirement)},
        },
        "expected": [*dict.fromkeys(chain(_promises(requirement), map(_summary, _functions(checks))))],
        "left_open": {
            point.id: point.question
            for point in catalogue.open_points.values()
            if set(point.of) & set(requirement.of) and set(point.operations) & set(requirement.operations)
        },
        "checks": {name_of(item).partition("[")[0]: _effort(item).value for item in checks.values()},
        "faults": [
            {"id": fault.id, "title": fault.title, "made_for_it": fault.breaks[0] == requirement.id}
            for fault in sorted(all_faults().values(), key=lambda fault: (fault.breaks[0] != requirement.id, fault.id))
            if requirement.id in fault.breaks
        ],
    }


def example(requirement: Requirement, checks: Mapping[str, pytest.Item]) -> dict[str, Any]:
    """Run the checks of a requirement on the embedded service, in this process and without any file.

    Args:
        requirement: The requirement.
        checks: Its checks, from ``items_by_entry``.

    Returns:
        Under ``exchanges``, the first and the last exchanges that a passing check judged, as entries of an HTTP
        Archive, without secrets; with the ``check``, the number of exchanges that it judged (``judged``) and the
        behaviours that it permits, in words (``expected``). Without a passing check, only ``missing``: the reason.
    """
    effort = min(map(_effort, checks.values()), key=list(Effort).index)
    entries = load_catalogue().requirements.values()
    # A check that judges the exchanges of others may need those about the same operations.
    related = tuple(entry.id for entry in entries if entry.operations == requirement.operations)
    found: dict[str, Any] = {}
    for only in dict.fromkeys([(requirement.id,), related]):
        options = RunOptions(effort=effort, only=only, max_seconds=_MOST_SECONDS)
        with HostedSession(latitudes("default")[0], options, in_process=True) as session:
            judge = Judge(session.run)
            session.run.closed = session.reach()
            run_checks(judge)
            found = _found([entry for entry in judge.results if entry.requirement == requirement.id], session.redactor)
        if "missing" not in found:
            break
    return found


def _operation(name: str) -> dict[str, Any]:
    operation = OPERATIONS[name]
    return {
        "id": name,
        "method": operation.method,
        "path": operation.path,
        "permission": operation.scope,
        "success": str(operation.status or "any 2xx"),
    }


def _sent(item: pytest.Item, requirement: Requirement) -> Iterator[tuple[str, str]]:
    """Yield the scenarios whose exchanges a check judges; if there are none, the check itself."""
    scenarios = scenarios_of(item)
    if ledger_of_run.__name__ in scenarios:
        scenarios |= {name: scenario_named(name) for name in SCENARIOS.get(requirement.id, ())}
    if not scenarios:
        judges_the_run = stage_of(item) in {Stage.AFTER_SCENARIOS, *JUDGING}
        yield name_of(item).partition("[")[0], _OF_THE_RUN if judges_the_run else _BY_ITSELF
    yield from ((name, f"{_summary(function)} See {_module(function)}.") for name, function in scenarios.items())


def _promises(requirement: Requirement) -> Iterator[str]:
    """Yield what the tables of the oracle permit: fields and permissions."""
    for operation in requirement.operations:
        if PROMISES.get(operation) == requirement.id:
            yield f"Fields: {'; '.join(map(_field, SHAPES[operation]))}."
    if requirement.conformance_class == "permissions" and len(requirement.operations) == 1:
        for rule in Rule:
            if named := [key for key in keys_with(rule, requirement.operations[0]) if key in SCOPES]:
                yield f"With {' or '.join(named)} alone: {rule}."


def _field(field: Field) -> str:
    kind = "timestamp" if field.time else field.kind
    conditions = f"{' or null' if field.nullable else ''}{', may be absent' if field.optional else ''}"
    return f"{'.'.join(field.path)} ({kind}{conditions})"


def _functions(checks: Mapping[str, pytest.Item]) -> list[object]:
    return [getattr(item, "function") for item in checks.values()]  # noqa: B009 - pytest.Item does not declare it


def _effort(item: pytest.Item) -> Effort:
    marks = marks_of(item)
    return Effort.QUICK if marks is None else marks.least_effort


def _module(function: object) -> str:
    return f"{function.__module__.replace('.', '/')}.py"


def _summary(documented: object) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join(cleandoc(documented.__doc__ or "").partition("\n\n")[0].split())


def _found(results: Sequence[CheckResult], redactor: Redactor) -> dict[str, Any]:
    """Return an example from the passed check that says the most about the fewest exchanges, without secrets."""
    passed = [result for result in results if result.outcome is Outcome.PASSED]
    if not passed:
        reasons = [result.reason for result in results if result.reason]
        return {"missing": reasons[0] if reasons else "The run ended before the checks of this requirement."}
    found = min(passed, key=lambda result: (not result.expected, len(result.exchanges)))
    exchanges = found.exchanges
    shown: Iterable[Exchange] = exchanges
    if len(exchanges) > _MOST_SHOWN:
        shown = (*exchanges[: _MOST_SHOWN - 1], exchanges[-1])
    content = {
        "check": found.check,
        "expected": list(found.expected),
        "judged": len(exchanges),
        "exchanges": [har_entry(exchange.without_secrets(redactor)) for exchange in shown],
    }
    clean: dict[str, Any] = json.loads(b"".join(LastScan(redactor).through("explanation.json", [json_bytes(content)])))
    return clean
