"""Report of a finished run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import __version__
from conformance.catalogue import CLASSES, load_catalogue
from conformance.commit import commit
from conformance.interface.openapi import openapi_sha256
from conformance.reports.outcome import Outcome
from conformance.running.options import Effort, RunOptions
from conformance.targets.names import RunNames
from conformance.targets.profile import Mode, Profile, ProvisionerSettings
from conformance.verdicts.reporting import build_report
from conformance.verdicts.results import CheckResult, Failure
from conformance.verdicts.waivers import Waiver
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

FORM = "json-well-formed"
BEGAN = datetime(2026, 3, 1, 12, 0, 7, 900_000, tzinfo=UTC)


def over(**more: Any) -> Any:
    """Return a finished run with some properties replaced."""
    usual: dict[str, Any] = {
        "missing": {"disposable": "Add --disposable."},
        "observations": {},
        "closed": None,
        "only": (),
        "command": ("run", "--api-key", "swordfish", "--api-key=swordfish", "--effort", "deep"),
        "certificate": None,
        "warnings": ("The target file is readable by everybody.",),
        "weak": (),
        "stopped": None,
        "mode": Mode.READ_ONLY,
        "mistaken": [],
        "writes": [],
        "gone": [],
        "exchanges": (),
    }
    parts = SimpleNamespace(**(usual | more))
    profile = SimpleNamespace(
        name="a name",
        base_url="https://service.test/v1",
        warnings=parts.warnings,
        variables={"api_key": "STAGING_KEY"},
        limits={},
        mode=parts.mode,
    )
    return SimpleNamespace(
        run=SimpleNamespace(
            missing=parts.missing,
            profile=profile,
            options=RunOptions(seed=7, workers=3, effort=Effort.STANDARD, only=parts.only, command=parts.command),
            effort=Effort.STANDARD,
            wire=SimpleNamespace(sent=42, stopped=parts.stopped, exchanges=parts.exchanges),
            journal=SimpleNamespace(changes=lambda: [{"made": "e1"}]),
            names=RunNames("cf-k3vq7t2a-"),
            mode=parts.mode,
            observations=parts.observations,
            closed=parts.closed,
        ),
        profile=profile,
        certificate=parts.certificate,
        began=BEGAN,
        seconds=1.23456,
        census={"listEngagements": 3},
        undo=lambda: SimpleNamespace(left=["e1"], lasting=["an audit log"], writes=parts.writes),
        ownership=SimpleNamespace(foreign_ids=parts.mistaken),
        missing=parts.gone,
        provisioner=None,
        redactor=SimpleNamespace(weak=parts.weak, text=str, headers=tuple, body=bytes),
    )


def result(outcome: Outcome, exchange: Exchange | None = None) -> CheckResult:
    """Return the result of a check."""
    exchanges = () if exchange is None else (exchange,)
    failed = Failure("a", "wrong", "this", "that", None, exchanges) if outcome is Outcome.FAILED else None
    return CheckResult("a", FORM, outcome, None, failed, exchanges, 0.5)


def reported(session: Any, *results: CheckResult, interrupted: bool = False, **more: Any) -> Any:
    """Return the report, without problems of waivers."""
    report, problems = build_report(session, results, interrupted=interrupted, **more)
    assert problems == []
    return report


def outcome_of(report: Any, requirement: str) -> tuple[str, str | None]:
    """Return the outcome of a requirement and its reason."""
    return next((entry["outcome"], entry["reason"]) for entry in report["requirements"] if entry["id"] == requirement)


def test_all_that_a_report_says() -> None:
    """The report describes the suite, the target, the run and what is left."""
    report = reported(over(), result(Outcome.PASSED, make_exchange()))

    assert list(report) == [
        "format", "suite", "target", "interface", "run", "verdict", "classes", "requirements", "observations",
        "coverage", "census", "journal", "gone", "not_undone", "lasting", "waivers",
    ]  # fmt: skip
    assert report["format"] == "conformance-report/1"
    assert report["suite"] == {
        "name": "engagement-conformance", "version": __version__, "openapi_sha256": openapi_sha256(),
    } | ({"commit": commit()} if commit() else {})  # fmt: skip
    assert report["target"] == {"name": "a name", "base_url": "https://service.test/v1"}
    assert report["run"].pop("finished_at") == "2026-03-01T12:00:09Z", "the duration gives the end"
    assert report["interface"]["version"] == "v1"
    assert report["run"] == {
        "command": ["run", "--api-key", "<secret>", "--api-key=<secret>", "--effort", "deep"],
        "started_at": "2026-03-01T12:00:07Z",
        "seconds": 1.235,
        "seed": 7,
        "effort": "standard",
        "requests": 42,
        "mode": "read-only",
        "interrupted": False,
        "workers": 3,
        "warnings": ["The target file is readable by everybody."],
    }
    assert report["verdict"] == "inconclusive"
    assert [entry["id"] for entry in report["classes"]] == list(CLASSES)
    assert [entry["id"] for entry in report["requirements"]] == list(load_catalogue().requirements)
    assert outcome_of(report, FORM) == ("passed", None)
    assert report["observations"] == []
    assert (report["census"], report["journal"]) == ({"listEngagements": 3}, [{"made": "e1"}])
    assert (report["not_undone"], report["lasting"], report["waivers"]) == (["e1"], ["an audit log"], [])


def test_a_missing_need_unlocks_a_class() -> None:
    """The line that meets a need is listed with the classes that need it."""
    needing = {
        entry.conformance_class for entry in load_catalogue().requirements.values() if "disposable" in entry.needs
    }
    report = reported(over())

    assert {entry["id"] for entry in report["classes"] if entry["unlock"] == ["Add --disposable."]} == needing
    assert needing


def test_observations_are_reported() -> None:
    """An observation is reported with its exchanges."""
    point = next(iter(load_catalogue().open_points.values()))
    report = reported(over(observations={point.id: [("so it is", [make_exchange(number=4)])]}))

    (observed,) = report["observations"]
    assert (observed["id"], observed["observed"], observed["exchanges"]) == (point.id, "so it is", [4])


def test_the_certificate_of_a_target_that_has_one() -> None:
    """The report contains the digest of the TLS certificate."""
    assert reported(over(certificate="ab12"))["target"]["certificate_sha256"] == "ab12"


@pytest.mark.parametrize(
    ("session", "interrupted", "reason"),
    [
        (over(closed="The target cannot be reached.", only=(FORM,)), True, "The run was interrupted before."),
        (over(closed="The target cannot be reached.", only=(FORM,)), False, "The target cannot be reached."),
        (over(only=("a",)), False, "Not chosen by the options of the run."),
        (over(), False, "No check ran."),
    ],
)
def test_why_a_requirement_was_not_tested(session: Any, *, interrupted: bool, reason: str) -> None:
    """An interruption takes precedence over the other reasons."""
    report = reported(session, interrupted=interrupted)

    assert outcome_of(report, FORM) == ("untested", reason)
    assert report["run"]["interrupted"] is interrupted


def test_warnings() -> None:
    """The report warns of the target file, weak secrets and an early end."""
    report = reported(over(weak=("api_key", "passphrase"), stopped="the budget is used up"))

    assert report["run"]["warnings"] == [
        "The target file is readable by everybody.",
        "Too short or too common to be redacted from every response: <api_key>, <passphrase>.",
        "The run ended early: the budget is used up.",
    ]


@pytest.mark.parametrize(
    ("only", "missing", "number"),
    [
        (("isolation-get-engagement", FORM), (), "1 requirement"),
        (("isolation-get-engagement",), ("writes",), None),
        ((FORM,), (), None),
    ],
)
def test_a_problem_of_the_provisioner_is_a_warning(
    only: tuple[str, ...], missing: tuple[str, ...], number: str | None
) -> None:
    """It has the number of untested requirements that the provisioner alone would have unlocked."""
    session = over(only=only, missing=dict.fromkeys(missing, "A line."))
    profile = Profile.from_options("https://service.test", "key")
    session.profile = replace(profile, provisioner=ProvisionerSettings(("program",)))
    session.provisioner = SimpleNamespace(problem="The program ended.", late_members=[])

    lost = "" if number is None else f" For that reason {number} could not be tested."
    assert reported(session)["run"]["warnings"] == [f"The program ended.{lost}"]


def test_risks_for_other_users_give_a_warning() -> None:
    """The report warns of other users' ids in responses to creations, and of changes in a read-only run."""
    more = {"mistaken": ["f1", "f2"], "writes": ["the engagement e1 was deleted"], "gone": ['f3 "Audit"']}
    report = reported(over(**more))

    assert report["gone"] == ['f3 "Audit"']
    assert report["run"]["warnings"][1:] == [
        "The service responded to creations with ids of other users' engagements, which were left alone: f1, f2.",
        "The changes of requests without a valid key were undone with <api_key>: the engagement e1 was deleted.",
    ]
    assert len(reported(over(mode=Mode.DISPOSABLE, writes=more["writes"]))["run"]["warnings"]) == 1


def test_a_failure_that_is_waived() -> None:
    """A waived failure does not fail the run if the waiver is valid on the day of the run."""
    failed = result(Outcome.FAILED, make_exchange())
    waiver = Waiver(FORM, "Known.", "The team", BEGAN.date())
    assert reported(over(), failed)["verdict"] == "non-conformant"

    report = reported(over(), failed, waivers=[waiver])
    assert report["verdict"] == "inconclusive"
    assert [entry["id"] for entry in report["requirements"] if entry["waived"]] == [FORM]
    assert report["waivers"] == [
        {"requirement": FORM, "reason": "Known.", "owner": "The team", "expires": "2026-03-01", "check": "*"}
    ]

    late = Waiver(FORM, "Known.", "The team", date(2026, 2, 28))
    report, problems = build_report(over(), [failed], waivers=[late], interrupted=False)
    assert report["verdict"] == "non-conformant"
    assert len(problems) == 1
    assert FORM in problems[0]


def test_a_failure_is_repeated_from_what_was_sent() -> None:
    """The script begins with the creation and uses the variable of the target file."""
    made = {"data": {"id": "eng_1", "name": "cf-k3vq7t2a-a"}}
    creation = make_exchange("createEngagement", 201, made, number=1)
    sent = replace(
        creation.sent_request, body=b'{"name": "cf-k3vq7t2a-a"}', headers=(("Authorization", "Bearer <api_key>"),)
    )
    creation = replace(creation, request=replace(creation.request, identifier=None), sent_request=sent)
    shown = make_exchange("getEngagement", 200, made, number=2)
    gone = make_exchange("deleteEngagement", 200, {"data": {}}, number=3)

    report = reported(over(exchanges=(creation, shown, gone)), result(Outcome.FAILED, shown))

    (failed,) = [entry for entry in report["requirements"] if entry["failures"]]
    (failure,) = failed["failures"]
    assert failure["gone"] == "The run has deleted the engagement eng_1 since."
    assert 'Bearer $STAGING_KEY"' in failure["script"]
    assert f"breaks {FORM}" in failure["script"]
    assert '/engagements/"$E1"' in failure["script"]
