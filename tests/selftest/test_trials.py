"""Trials with a small part of the suite."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from conformance.cli import selftest as command
from conformance.reference.application import create_app
from conformance.reference.latitude import POINTS
from conformance.running.options import Effort, RunOptions
from conformance.selftest import pool, subjects, trial
from conformance.selftest.early_stop import LAWS
from conformance.selftest.in_process import SandboxPeer
from conformance.selftest.trial import Task, Trial, attempt
from conformance.targets.provisioner import Provisioner
from conformance.targets.rpc import MethodMissing, ProvisionerError
from conformance.verdicts.session import CollectedChecks, with_collected_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SMALL = RunOptions(effort=Effort.QUICK, seed=1, only=("get-organization-*",))
HONEST = subjects.latitudes("default")[0]
PLAIN = frozenset({"run", "request"})
FAULTY = subjects.faults("get-organization-203")[0]


def test_trial_of_a_conforming_service() -> None:
    """No requirement of a conforming service is reported, and nothing is left."""
    made = attempt(Task(HONEST, SMALL))

    assert (made.reported, made.errors, made.left, made.found_after) == ({}, (), (), None)
    assert made.passed >= 2
    assert made.requests > 0


def test_trial_of_a_faulty_service() -> None:
    """The requirement of a fault is reported, with the number of requests."""
    made = attempt(Task(FAULTY, SMALL))

    assert set(made.reported) == {"get-organization-succeeds"}
    assert made.found_after is not None
    assert 0 < made.found_after <= made.requests
    assert made.undecided.keys().isdisjoint(made.reported)


def test_trial_without_a_socket() -> None:
    """A trial in process gives the same results as one with a socket."""
    made = [attempt(Task(subject, SMALL, in_process=True)) for subject in (HONEST, FAULTY)]

    assert [(set(result.reported), result.errors) for result in made] == [
        (set(), ()),
        ({"get-organization-succeeds"}, ()),
    ]


@pytest.mark.parametrize(
    "fault",
    ["headers-listengagements-without-limit", "json-trailing-comma", "code-404-of-edit", "breaks-on-unknown-user"],
)
def test_a_trial_ends_with_the_law_that_its_fault_breaks(fault: str) -> None:
    """The run ends at the broken law; the requirement's check judges the exchanges so far."""
    (subject,) = subjects.faults(fault)
    task = Task.quick(subject, RunOptions(effort=Effort.QUICK, seed=1))

    made = attempt(task)

    assert task.law is LAWS[subject.breaks[0]]
    assert subject.breaks[0] in made.reported
    assert made.requests < 300
    assert (made.errors, made.whole) == ((), False)


def test_a_trial_ends_with_the_check_that_finds_its_fault() -> None:
    """Without a law, the check that finds the fault ends the trial."""
    (subject,) = subjects.faults("text-create-description-addresses-lost")
    task = Task.quick(subject, RunOptions(effort=Effort.QUICK, seed=1)).otherwise
    assert task is not None

    made = attempt(task)

    assert task.law is None
    assert set(made.reported) >= {subject.breaks[0]}
    assert made.passed < 200
    assert (made.errors, made.whole) == ((), False)


def test_a_former_name_that_a_single_key_shows_is_reported() -> None:
    """The repetition knows the names that the run gave before, so that no other user seems to have given them."""
    (subject,) = subjects.faults("drawn-stale.get-organization.organizations-read.any.start")
    options = RunOptions(effort=Effort.QUICK, seed=1, only=("update-organization-takes-effect",))

    trial = attempt(Task(subject, options, in_process=True))

    assert trial.reported.keys() == {"update-organization-takes-effect"}


def test_a_trial_of_a_drawn_fault_ends_with_the_first_failure() -> None:
    """All checks are candidates, and any requirement may be reported."""
    (subject,) = subjects.faults("drawn-refused-404.get-engagement.any.archived.start")
    task = Task.quick(subject, RunOptions(effort=Effort.QUICK, seed=1))

    made = attempt(task)

    assert (task.law, task.otherwise, task.options.only) == (None, None, ())
    assert made.reported
    assert made.passed < 200
    assert made.errors == ()


@pytest.mark.parametrize(
    ("choice", "in_process"),
    [("default", False), ("framing=chunked", False), ("pace=slow", False), ("archive_again=403", True)],
)
def test_a_conforming_service_meets_the_whole_suite(choice: str, *, in_process: bool) -> None:
    """A conforming service meets the whole suite; a fault its own checks first, then the whole suite."""
    options = RunOptions(effort=Effort.QUICK, seed=1)
    (subject,) = subjects.latitudes(choice)

    assert Task.complete(subject, options) == Task(subject, options, in_process=in_process)
    assert Task.complete(FAULTY, options) == Task(FAULTY, options, in_process=True)
    assert Task.quick(subject, options) == Task.complete(subject, options)
    assert Task.quick(subjects.covering(1)[0], options) == Task(subjects.covering(1)[0], options)
    assert all(
        Task.quick(mixture, options) == Task(mixture, options, in_process=True) for mixture in subjects.mixtures(3, 1)
    )
    first = Task.quick(FAULTY, options)
    assert first.options.only == FAULTY.breaks
    assert first.otherwise == Task(FAULTY, options, in_process=True, early=True)


@pytest.mark.parametrize("choice", ["unparsable_body=body", "unarchive=403", "unarchive_scope=engagements:unarchive"])
def test_a_permitted_refusal_is_not_reported(choice: str) -> None:
    """The whole suite passes a service that refuses an unparsable body first, or unarchiving with 403."""
    (subject,) = subjects.latitudes(choice)
    made = attempt(Task(subject, RunOptions(effort=Effort.QUICK, seed=1), in_process=True))

    assert (made.reported, made.errors) == ({}, ())
    assert made.passed > 200


@pytest.mark.parametrize("seed", [1, 262720850])
def test_a_list_in_another_order_has_lost_nothing(seed: int) -> None:
    """Whatever the seed, only the order is reported of lists that ignore sort."""
    (fault,) = subjects.faults("sort-ignored")
    made = attempt(Task(fault, RunOptions(effort=Effort.QUICK, seed=seed), in_process=True))

    assert set(made.reported) == set(fault.breaks)


def test_a_fault_without_sending_checks_meets_the_whole_suite() -> None:
    """If the requirement's checks send nothing, the trial starts with the whole suite."""
    options = RunOptions(effort=Effort.QUICK, seed=1)
    (fault,) = subjects.faults("400-null")

    assert fault.breaks == ("error-envelope",)
    assert Task.quick(fault, options) == Task(fault, options, in_process=True, early=True)


def test_such_a_trial_sends_all_that_the_suite_sends() -> None:
    """The last look at what the run did is due although no check of the requirement asks for it."""
    (fault,) = subjects.faults("edit-stumbles-over-removed-creator")
    made = attempt(Task.quick(fault, RunOptions(effort=Effort.QUICK, seed=1)))

    assert set(made.reported) == {"no-server-error"}


def test_points_of_transport_are_points() -> None:
    """The transport latitudes exist."""
    assert POINTS.keys() >= subjects.TRANSPORT


def test_provisioner_that_is_no_process() -> None:
    """It calls the sandbox and raises the same errors as the provisioner's process."""
    app = create_app()
    peer = SandboxPeer(app.sandbox)
    try:
        assert Provisioner(peer).create_organization().reveal().startswith("key_")
        with pytest.raises(MethodMissing, match="has no method make_tea"):
            peer.request("make_tea", {})
        with pytest.raises(ProvisionerError, match="could not do create_member: role must be one of"):
            peer.request("create_member", {"role": "king"})
    finally:
        app.close()


def test_laws_are_those_of_requirements() -> None:
    """Every law that ends a trial belongs to a requirement that a fault breaks."""
    assert LAWS.keys() <= {requirement for fault in subjects.faults() for requirement in fault.breaks}


def test_checks_of_laws_need_nothing_but_the_run() -> None:
    """Each law's requirement has a check that uses only the run."""
    judging: set[str] = set()

    def collect(checks: CollectedChecks) -> None:
        for item in checks._session.items:
            mark = item.get_closest_marker("requirement")
            if mark is not None and isinstance(item, pytest.Function) and PLAIN.issuperset(item.fixturenames):
                judging.add(mark.args[0])

    with_collected_checks(collect)

    assert LAWS.keys() <= judging


def test_trials_in_processes_of_their_own() -> None:
    """Every subject has one result."""
    made = list(pool.run_trials([Task(HONEST, SMALL), Task(FAULTY, SMALL)], 2))

    assert sorted(result.subject.id for result in made) == sorted([HONEST.id, FAULTY.id])
    assert [bool(result.reported) for result in sorted(made, key=lambda result: result.subject.kind)] == [True, False]


def test_nothing_stays_of_a_trial_that_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Closing the pool ends running trials and removes their folders."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    whole = RunOptions(effort=Effort.QUICK, seed=1)
    trials = pool.run_trials([Task(FAULTY, SMALL, in_process=True), Task(HONEST, whole), Task(FAULTY, whole)], 2)

    next(trials)
    seen = sorted(tmp_path.iterdir())
    trials.close()

    assert len(seen) == 1
    assert not list(tmp_path.iterdir())


def test_a_subject_that_cannot_be_served_is_reported() -> None:
    """A subject that cannot be served gives a result with the error."""
    (made,) = pool.run_trials([Task(replace(HONEST, choices={"no-such-point": "x"}), SMALL)], 1)

    assert "The open point 'no-such-point' does not exist" in made.errors[0]


def test_trials_on_few_checks_tell_nothing_of_precision(tmp_path: Path) -> None:
    """A fault meets its own checks first, and the whole suite if those miss it."""
    hidden = subjects.faults("updateengagement-stumbles-over-a-quote")[0]
    patterns = ["--faults", FAULTY.id, "--faults", hidden.id]

    ended = CliRunner().invoke(command.selftest, [*patterns, "--whole", "0", "--report", str(tmp_path)])

    assert ended.exit_code == 0, ended.output
    assert "2  Faults that met only the checks of what they break" in ended.output
    content = json.loads((tmp_path / "selftest.json").read_text())
    found = {entry["id"]: entry for entry in content["trials"]}
    assert (found[FAULTY.id]["whole"], found[FAULTY.id]["precision"]) == (False, None)
    assert (found[hidden.id]["whole"], found[hidden.id]["state"]) == (False, "killed")
    assert found[FAULTY.id]["requests"] * 4 < found[hidden.id]["requests"] < 400


def test_faults_that_meet_the_whole_suite_are_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The seed draws the given number of faults; conforming services always meet the whole suite."""
    drawn: list[set[str]] = []

    def find_all(tasks: Sequence[Task], jobs: int) -> Iterator[Trial]:
        assert jobs
        drawn.append({task.subject.id for task in tasks if task.is_whole})
        for task in tasks:
            yield Trial(task.subject, reported={name: ["it"] for name in task.subject.breaks}, requests=1)

    monkeypatch.setattr(pool, "run_trials", find_all)
    arguments = ["--faults", "archive-*", "--values", "default", "--latitudes", "0", "--report", str(tmp_path)]
    for more in (["--whole", "5", "--seed", "1"], ["--whole", "5", "--seed", "2"], []):
        CliRunner().invoke(command.selftest, [*arguments, *more])

    first, second, everything = (found for found in drawn if found)
    assert len(first) == len(second) == 6
    assert "default" in first & second
    assert first != second
    assert len(everything) == 1 + len(subjects.faults("archive-*"))


def _reporting(reported: dict[str, list[str]]) -> Callable[[Sequence[Task], int], Iterator[Trial]]:
    """Return a function that runs trials, which all report the same."""

    def run_trials(tasks: Sequence[Task], jobs: int) -> Iterator[Trial]:
        whole = Task(FAULTY, RunOptions(effort=Effort.QUICK, seed=1))
        assert all(replace(task, subject=FAULTY, in_process=False) == whole for task in tasks)
        assert all(task.in_process == (jobs > 1) for task in tasks)
        yield from (Trial(task.subject, reported=reported, requests=1) for task in tasks)

    return run_trials


@pytest.mark.parametrize(("reported", "status"), [({FAULTY.breaks[0]: ["it"]}, 0), ({}, 1), ({"other": ["it"]}, 1)])
def test_exit_status(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, reported: dict[str, list[str]], status: int
) -> None:
    """The command ends with 0 only if the fault was found by its requirement."""
    monkeypatch.setattr(pool, "run_trials", _reporting(reported))
    arguments = ["--faults", FAULTY.id, "--report", f"{tmp_path}/report"]

    ended = CliRunner().invoke(command.selftest, arguments)

    assert ended.exit_code == status, ended.output
    assert ended.output.startswith("1 trial (1 fault), about 10 seconds\n")
    assert "1 trial in" in ended.output
    assert f"{FAULTY.id}: reported {', '.join(reported) or 'nothing'}\n" in ended.output


def test_finished_trials_are_reported_after_an_interruption(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After Ctrl-C the report contains the finished trials and is not good."""

    def interrupted(tasks: Sequence[Task], jobs: int) -> Iterator[Trial]:
        yield from _reporting({FAULTY.breaks[0]: ["it"]})(tasks[:1], jobs)
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "run_trials", interrupted)
    faults = ["--faults", FAULTY.id, "--faults", "get-organization-without-id"]

    ended = CliRunner().invoke(command.selftest, [*faults, "--report", str(tmp_path)])

    assert ended.exit_code == 130, ended.output
    assert "1 of 2 trials, interrupted, in" in ended.output
    content = json.loads((tmp_path / "selftest.json").read_text())
    assert (len(content["trials"]), content["good"], content["run"]["interrupted"]) == (1, False, True)
    assert "interrupted after 1 of 2 trials" in (tmp_path / "selftest.html").read_text()


def test_chosen_requirements_are_judged_alone(tmp_path: Path) -> None:
    """``--only`` judges a conforming service by the checks of some requirements, without the figures of faults."""
    chosen = ["--only", "archive-keeps-*", "--values", "identifier_shape=uuid", "--report", str(tmp_path)]

    ended = CliRunner().invoke(command.selftest, chosen)

    assert ended.exit_code == 0, ended.output
    assert ended.output.startswith("1 trial (1 latitude)")
    assert "0  False alarms" in ended.output
    assert "Faults" not in ended.output
    content = json.loads((tmp_path / "selftest.json").read_text())
    assert (content["run"]["only"], content["trials"][0]["passed"]) == (["archive-keeps-content"], 1)


def test_a_misspelt_requirement_is_a_mistake() -> None:
    """The message suggests the nearest requirement."""
    ended = CliRunner().invoke(command.selftest, ["--only", "archive-keeps-contents"])

    assert ended.exit_code == 2
    assert "matches no requirement; did you mean archive-keeps-content" in ended.output


def test_nothing_to_try_is_a_mistake() -> None:
    """Patterns without a match are a usage error."""
    ended = CliRunner().invoke(command.selftest, ["--faults", "no-such-fault"])

    assert ended.exit_code == 2
    assert "No fault and no latitude matches." in ended.output


def test_a_trial_without_a_failure_has_no_first_failure() -> None:
    """Without a failure there is no number of requests."""
    assert trial._found_after([]) is None


def test_slow_services_are_spread_among_the_others() -> None:
    """The slow services begin first, are spread among the others, and none is near the end."""
    asked = command._subjects(("*",), ("*",), 5, 1)

    slow = [place for place, subject in enumerate(asked) if subject.kind == "combination"]
    gaps = {later - earlier for earlier, later in pairwise(slow)}
    assert slow[0] == 0
    assert min(gaps) > 1
    assert max(gaps) <= min(gaps) + 2
    assert slow[-1] < 0.95 * len(asked)
    assert len({subject.id for subject in asked}) == len(asked)
