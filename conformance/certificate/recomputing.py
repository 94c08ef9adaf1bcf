"""Contradictions between a report and the recording that it was made from, in every member that the recording knows."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from conformance.replay.comparing import is_cut_off
from conformance.reports.limits import measured_limits
from conformance.reports.text import encodable, one_line, with_texts
from conformance.reports.wording import ENDED_EARLY
from conformance.running.connect import redactor_of, wire_settings
from conformance.running.first_contact import REACHING
from conformance.targets.census import organization_census
from conformance.targets.journal import Journal
from conformance.targets.journal_entries import ChangeState
from conformance.targets.journal_file import JournalError
from conformance.verdicts.reporting import determined
from conformance.wire.exchange import UNDOING
from conformance.wire.replay_wire import BESIDE, RequestKey
from conformance.wire.request_builder import RequestBuilder
from conformance.wire.run_limits import StopCause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from conformance.replay.recorded_inputs_file import RunInputs
    from conformance.replay.recording import Recording
    from conformance.replay.reevaluating import Reevaluation
    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

STATED: Final = (
    "/suite/commit",
    "/run/command",
    "/run/warnings",
    "/requirements/*/known",
    "/requirements/*/checks/*/seconds",
    "/census/after/ownEngagements",
    "/gone",
    "/not_undone",
    "/cleanup",
    "/waivers",
)
"""The members of report.json that only the vendor knows, by patterns of JSON pointers."""

BOUNDED: Final = ("/run/started_at", "/run/finished_at", "/run/seconds")
"""The members that the vendor knows exactly, and the recording within a second or the pauses of the run."""

_ELSEWHERE: Final = ("/run/interrupted", "/run/failed_fast", "/requirements/*/waived")
"""The members that ``_of_end`` and ``consistency`` judge."""
_OF_WHOLE_RUNS: Final = (
    "/verdict",
    "/classes/*/outcome",
    "/classes/*/unlock",
    "/observations",
    "/coverage",
    "/requirements/*/outcome",
    "/requirements/*/reason",
    "/requirements/*/failures",
    "/requirements/*/checks",
    "/requirements/*/statements",
    "/census",
)
"""The members that a replay gives only for a run that was not cut off; ``differences`` compares what it can."""

_MOMENT: Final = timedelta(seconds=1)
_PAUSE: Final = timedelta(seconds=60)
"""The longest time between the number of a request and its start."""
_LONGEST: Final = 200
_ABSENT: Final = "absent"


def contradictions(recording: Recording, again: Reevaluation, folder: Path) -> list[str]:
    """Return the contradictions between a run's report and its recording, a clause each."""
    report, inputs = recording.report, recording.inputs
    try:
        journal = Journal.read(folder)
    except JournalError as error:
        return [str(error).rstrip(".")]
    left_out = [*STATED, *BOUNDED, *_ELSEWHERE]
    if inputs.stopped is not None or is_cut_off(report):
        left_out += _OF_WHOLE_RUNS
    known = determined(
        inputs.profile,
        inputs.options,
        again.conclusions,
        sent=max((exchange.number for exchange in recording.exchanges), default=0),
        certificate=inputs.certificate_sha256,
    )
    known |= {"journal": _changes(journal, report), "lasting": [encodable(line) for line in journal.lasting()]}
    known["census"] = _census(recording.exchanges)
    if limits := measured_limits(inputs.profile.limits, recording.exchanges):
        known["limits"] = limits
    return [
        *(one_line(line) for line in _unlike(known, report, "", _pattern(left_out))),
        *_of_files(journal, inputs),
        *_of_undoing(journal, report),
        *_of_requests(recording),
        *_of_times(report, recording.exchanges, journal),
        *_of_end(report, inputs),
    ]


def _pattern(pointers: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(pointer).replace(r"\*", "[^/]*") for pointer in pointers))


def _unlike(expected: object, actual: object, pointer: str, left_out: re.Pattern[str]) -> Iterator[str]:
    """Yield each difference between two JSON values, except at and below the pointers of a pattern."""
    if left_out.fullmatch(pointer):
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in dict.fromkeys([*expected, *actual]):
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            yield from _unlike(expected.get(name, _ABSENT), actual.get(name, _ABSENT), place, left_out)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (first, second) in enumerate(zip(expected, actual, strict=True)):
            yield from _unlike(first, second, f"{pointer}/{number}", left_out)
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield f"{pointer} is {_shown(actual)}, but the recording gives {_shown(expected)}"


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _changes(journal: Journal, report: Report) -> object:
    """Return the changes by the journal, as the report lists them.

    ``conformance cleanup`` may have settled some of them after the report was written.
    """
    reported = report.get("journal")
    changes: Any = with_texts(journal.changes(), encodable)
    if report.get("not_undone") and isinstance(reported, list):
        for change, listed in zip(changes, reported, strict=False):
            if change["state"] == ChangeState.SETTLED and isinstance(listed, dict):
                change["state"] = listed.get("state")
    return changes


def _census(exchanges: Iterable[Exchange]) -> dict[str, object]:
    """Return the organization before and after the run, by its first and its last reads."""
    reads = [exchange for exchange in exchanges if exchange.operation_id == "getCurrentOrganization"]
    first = [exchange for exchange in reads if exchange.check == REACHING]
    last = [exchange for exchange in reads if exchange.check == UNDOING]
    if not first or not last:
        return {}
    return {
        "before": organization_census(first[-1].received) | {"ownEngagements": 0},
        "after": organization_census(last[-1].received),
    }


def _of_files(journal: Journal, inputs: RunInputs) -> Iterator[str]:
    if journal.names != inputs.names or journal.place.base_url != inputs.profile.base_url:
        yield "journal.jsonl is the journal of another run than provisioned.jsonl"
    if refusal := inputs.profile.organization_refusal(journal.place.organization):
        yield one_line(refusal.rstrip("."))


def _of_undoing(journal: Journal, report: Report) -> Iterator[str]:
    left = [entry for entry in journal.pending() if entry.state is not ChangeState.REFUSED]
    if left and not report.get("not_undone"):
        yield f"/not_undone is empty, but changes of the journal were not undone: {len(left)}"


def _of_requests(recording: Recording) -> Iterator[str]:
    """Yield a clause for each retry of nothing, and each request beside the checks that this suite does not send."""
    profile = recording.inputs.profile
    seen: set[tuple[RequestKey, int]] = set()
    for exchange in recording.exchanges:
        key = RequestKey.of(exchange.check, exchange.request, exchange.sent_request)
        if exchange.attempt > 1 and (key, exchange.attempt - 1) not in seen:
            yield f"exchange {exchange.number} is attempt {exchange.attempt} without the attempt before"
        seen.add((key, exchange.attempt))
    builder = RequestBuilder(wire_settings(profile, recording.inputs.options), redactor_of(profile))
    for exchange in recording.exchanges:
        if exchange.check not in {*BESIDE, UNDOING}:
            continue
        if builder.record(exchange.request, builder.writable(exchange.request)[0]) != exchange.sent_request:
            yield f"exchange {exchange.number} is not a request that this suite sends to {profile.base_url}"


def _of_times(report: Report, exchanges: list[Exchange], journal: Journal) -> Iterator[str]:
    """Yield the contradictions among the times of the report, the exchanges and the journal."""
    run = report["run"]
    began, ended = datetime.fromisoformat(run["started_at"]), datetime.fromisoformat(run["finished_at"])
    if abs((ended - began).total_seconds() - run["seconds"]) > _MOMENT.total_seconds():
        yield f"between {run['started_at']} and {run['finished_at']} are not {run['seconds']} s"
    times = [(exchange.started_at, exchange.ended_at) for exchange in exchanges]
    if not times:
        return
    first, last = min(started for started, _ in times), max(finished for _, finished in times)
    if first < began - _MOMENT:
        yield f"the first exchange was at {first}, before the run began at {run['started_at']}"
    if last > ended + 2 * _MOMENT:
        yield f"the last exchange was at {last}, after the run ended at {run['finished_at']}"
    opened = datetime.fromtimestamp(journal.begun, first.tzinfo)
    if not began - _MOMENT <= opened <= first + _MOMENT:
        yield f"the journal was opened at {opened}, not between the beginning of the run and its first exchange"
    latest = first
    for exchange in exchanges:
        if exchange.started_at < latest - _PAUSE:
            yield f"exchange {exchange.number} was sent long before the exchange with the number before"
            return
        latest = max(latest, exchange.started_at)


def _of_end(report: Report, inputs: RunInputs) -> Iterator[str]:
    """Yield the contradictions between how the run ended and the report's account of it."""
    run, stopped = report["run"], inputs.stopped
    warnings = run.get("warnings", [])
    if is_cut_off(report) and stopped is None:
        yield "the run was cut off, but its recording is complete"
    cause = StopCause.of(stopped)
    if cause is StopCause.SIGNAL and not run["interrupted"]:
        yield f"the run was {stopped}"
    if cause is StopCause.FAIL_FAST and not is_cut_off(report):
        yield "the run ended at its first failure"
    missing = [warning for warning in inputs.profile.warnings if warning not in warnings]
    yield from (f"the warning is missing: {one_line(warning)}" for warning in missing)
    if any(warning.startswith(ENDED_EARLY) for warning in warnings) != (stopped is not None):
        yield "the warning about an early end does not fit the recording"
