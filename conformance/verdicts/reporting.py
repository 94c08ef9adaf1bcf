"""Construction of a run's report from the results of its checks."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from conformance import __version__
from conformance.catalogue import load_catalogue
from conformance.commit import commit
from conformance.interface.openapi import openapi_sha256
from conformance.reports.limits import broken_limits, measured_limits
from conformance.reports.model import FORMAT, Report
from conformance.reports.script import Reproductions
from conformance.reports.text import encodable, with_texts
from conformance.reports.wording import ENDED_EARLY, counted
from conformance.suite import catalogue_sha256
from conformance.targets.capabilities import missing as unmet
from conformance.targets.profile import Mode
from conformance.verdicts import conclude
from conformance.verdicts.waivers import apply_waivers

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from conformance.reports.model import Requirement
    from conformance.running.options import RunOptions
    from conformance.running.run_session import RunSession
    from conformance.targets.profile import Profile
    from conformance.verdicts.conclude import Conclusions
    from conformance.verdicts.results import CheckResult
    from conformance.verdicts.waivers import Waiver

_SUITE = "engagement-conformance"
_INTERFACE = "Organization and Engagement Management Interface"
NOT_RUN = "No check ran."
"""The reason for a requirement without checks in a run that was not cut off."""
_UNKNOWN_MEMBERS = (
    "The provisioner never said whether it created a member (create_member): compare the organization's members with "
    "those before the run."
)
_SECRET_OPTIONS = ("--api-key", "--header")
_USER_INFO = re.compile(r"//[^/\s]*@")


def build_report(
    session: RunSession,
    results: Sequence[CheckResult],
    *,
    waivers: Sequence[Waiver] = (),
    known: Collection[str] = (),
    interrupted: bool,
    failed_fast: bool = False,
    warnings: Sequence[str] = (),
) -> tuple[Report, list[str]]:
    """Return the report of a run that is over.

    Args:
        session: The run, after undoing.
        results: The results of its checks.
        waivers: The accepted failures.
        known: Requirements that failed in the baseline.
        interrupted: Whether a signal ended the run.
        failed_fast: Whether ``--fail-fast`` ended the run.
        warnings: Further warnings, a sentence each.

    Returns:
        The redacted report, and the problems of the waivers, a sentence each.
    """
    run = session.run
    unselected = _unselected(session, interrupted=interrupted, failed_fast=failed_fast)
    recording = Reproductions(run.wire.exchanges, run.names.prefix, run.profile.variables, session.redactor)
    undone = session.undo()
    conclusions = conclude.conclusions(run, results, unselected, recording)
    problems = apply_waivers(conclusions.requirements, waivers, session.began.date())
    for entry in conclusions.requirements:
        if entry["id"] in known and entry["outcome"] == "failed" and not entry["waived"]:
            entry["known"] = True
    limits = measured_limits(run.profile.limits, run.wire.exchanges)
    known_facts = determined(run.profile, run.options, conclusions, run.wire.sent, session.certificate)
    report = {
        **known_facts,
        "suite": {**known_facts["suite"], **({"commit": commit()} if commit() else {})},
        "run": {
            "command": _command(run.options.command),
            "started_at": _time(session.began),
            "finished_at": _time(session.began + timedelta(seconds=session.seconds)),
            "seconds": round(session.seconds, 3),
            **known_facts["run"],
            "interrupted": interrupted,
            **({"failed_fast": True} if failed_fast else {}),
            "warnings": [
                *_of_provisioner(session, conclusions.requirements, run.missing),
                *_warnings(session),
                *(f"A limit was not met: {broken}." for broken in broken_limits(limits)),
                *warnings,
            ],
        },
        "census": session.census,
        "journal": session.run.journal.changes(),
        "gone": session.missing,
        "not_undone": undone.left,
        "lasting": undone.lasting,
        **({"limits": limits} if limits else {}),
        "waivers": [asdict(waiver) | {"expires": waiver.expires.isoformat()} for waiver in waivers],
    }
    return cast("Report", with_texts(report, lambda text: encodable(session.redactor.text(text)))), problems


def determined(
    profile: Profile, options: RunOptions, conclusions: Conclusions, sent: int, certificate: str | None
) -> dict[str, Any]:
    """Return the members of a report that the recording of its run determines.

    Args:
        profile: The target.
        options: The options of the run.
        conclusions: The conclusions from the results of its checks.
        sent: The number of requests.
        certificate: The SHA-256 digest of the target's TLS certificate, or None.
    """
    return {
        "format": FORMAT,
        "suite": {"name": _SUITE, "version": __version__, "openapi_sha256": openapi_sha256()},
        "target": {
            "name": profile.name,
            "base_url": profile.base_url,
            **({"certificate_sha256": certificate} if certificate else {}),
        },
        "interface": {"name": _INTERFACE, "version": "v1", "sha256": catalogue_sha256()},
        "run": {
            "seed": options.seed,
            **({"challenge": options.challenge} if options.challenge else {}),
            "effort": options.effort.value,
            "requests": sent,
            "mode": profile.mode.value,
            **({"catalogue": options.catalogue} if options.catalogue else {}),
            **_selection(conclusions.requirements),
            "workers": options.workers,
        },
        "verdict": conclude.overall(conclusions.requirements).value,
        "classes": conclusions.classes,
        "requirements": conclusions.requirements,
        "observations": conclusions.observations,
        "coverage": conclusions.coverage,
    }


def _command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command line, with ``<secret>`` for secret values."""
    shown: list[str] = []
    for given in arguments:
        argument = _USER_INFO.sub("//<secret>@", given)
        option = argument.partition("=")[0]
        if shown and shown[-1] in _SECRET_OPTIONS:
            shown.append("<secret>")
        else:
            shown.append(f"{option}=<secret>" if option in _SECRET_OPTIONS and option != argument else argument)
    return shown


def _unselected(session: RunSession, *, interrupted: bool, failed_fast: bool) -> str:
    if interrupted:
        return "The run was interrupted before."
    if session.run.closed is not None:
        return session.run.closed
    return "The run ended at a failure before." if failed_fast else NOT_RUN


def _selection(requirements: Sequence[Requirement]) -> dict[str, object]:
    """Return the number of chosen requirements; an empty object if all are chosen."""
    chosen = sum(entry.get("chosen", True) for entry in requirements)
    return {} if chosen == len(requirements) else {"selection": {"chosen": chosen, "of": len(requirements)}}


def _of_provisioner(session: RunSession, requirements: Sequence[Requirement], missing: Collection[str]) -> list[str]:
    """Return the provisioner's problem, the number of requirements left untested for it, and what it may have left.

    Args:
        session: The run.
        requirements: The requirements with their outcomes.
        missing: The needs that the target does not meet, even with the provisioner.
    """
    provisioner = session.provisioner
    if provisioner is None:
        return []
    left = [_UNKNOWN_MEMBERS] if None in provisioner.late_members else []
    if provisioner.problem is None:
        return left
    untested = [entry for entry in requirements if entry["outcome"] == "untested" and entry.get("chosen", True)]
    without = unmet(replace(session.profile, provisioner=None))
    needs = [set(load_catalogue().requirements[entry["id"]].needs) for entry in untested]
    number = sum(each.isdisjoint(missing) and not each.isdisjoint(without) for each in needs)
    lost = f" For that reason {counted(number, 'requirement')} could not be tested." if number else ""
    return [f"{provisioner.problem}{lost}", *left]


def _warnings(session: RunSession) -> list[str]:
    warnings = list(session.profile.warnings)
    if mistaken := session.ownership.foreign_ids:
        named = ", ".join(mistaken)
        warnings.append(
            f"The service responded to creations with ids of other users' engagements, which were left alone: {named}."
        )
    if session.run.mode is Mode.READ_ONLY and (writes := session.undo().writes):
        warnings.append(f"The changes of requests without a valid key were undone with <api_key>: {', '.join(writes)}.")
    if weak := session.redactor.weak:
        named = ", ".join(f"<{name}>" for name in weak)
        warnings.append(f"Too short or too common to be redacted from every response: {named}.")
    if session.run.wire.stopped:
        warnings.append(f"{ENDED_EARLY}{session.run.wire.stopped}.")
    return warnings


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
