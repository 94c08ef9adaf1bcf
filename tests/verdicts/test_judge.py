"""Judge: results from pytest's outcomes, and the choice of checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.running.options import Effort
from conformance.verdicts.items import is_check
from conformance.wire.requests import get_organization

RunChecks = Callable[..., Any]


def test_progress_is_optional(run_checks: RunChecks) -> None:
    """A judge works without a progress listener, as for a replay."""
    ran = run_checks(
        """
        @requirement("json-well-formed")
        def test_right():
            evidence(make_exchange())
        """,
        watched=False,
    )

    assert (ran.status, ran.outcomes, ran.events) == (0, [("test_right", "passed")], [])


def test_the_exception_of_a_check_is_its_result(run_checks: RunChecks) -> None:
    """Each exception has its outcome; pytest shows only failures and errors as failed."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_right():
            evidence(make_exchange(number=1))

        @requirement("json-well-formed")
        def test_wrong():
            exchanges = make_exchange(number=2), make_exchange(number=7)
            raise NonConformity("it is wrong", *exchanges, expected="this", actual="that")

        @requirement("json-well-formed")
        def test_unclear():
            raise CantTell("nothing can be events")

        @requirement("json-well-formed")
        def test_without_means():
            raise MissingMeans("mailbox", "Add a mailbox.")

        @requirement("json-well-formed")
        def test_broken():
            raise KeyError("id")
    """)

    assert ran.outcomes == [
        ("test_right", "passed"), ("test_wrong", "failed"), ("test_unclear", "cantTell"),
        ("test_without_means", "untested"), ("test_broken", "cantTell"),
    ]  # fmt: skip
    shown = {name: outcome for name, (outcome, _) in ran.reports.items()}
    assert shown == {
        "test_right": "passed", "test_wrong": "failed", "test_unclear": "skipped", "test_without_means": "skipped",
        "test_broken": "failed",
    }  # fmt: skip
    assert ran.reports["test_unclear"][1] == "cantTell: Nothing can be events."
    assert ran.reports["test_without_means"][1] == "untested: Add a mailbox."
    assert ran.reports["test_wrong"][1].splitlines() == [
        f"requirement json-well-formed: {load_catalogue().requirements['json-well-formed'].title}",
        "  it is wrong",
        "  expected: this",
        "  actual:   that",
        "  exchanges: 2, 7 (--report DIR keeps them)",
    ]
    assert "KeyError" in ran.reports["test_broken"][1]
    assert [error.splitlines()[0].rpartition("::")[2] for error in ran.judge.errors] == ["test_broken"]
    (error,) = ran.judge.errors
    assert error.splitlines()[1].startswith("Traceback")
    assert error.splitlines()[-1] == "KeyError: 'id'"
    assert {result.requirement for result in ran.judge.results} == {"json-well-formed"}
    assert all(result.seconds > 0 for result in ran.judge.results)


def test_a_passed_check_is_reported_as_by_pytest(run_checks: RunChecks) -> None:
    """The reports contain the location and the times of each phase."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_right():
            evidence(make_exchange())
    """)

    assert [report.when for report in ran.phases] == ["setup", "call", "teardown"]
    for report in ran.phases:
        path, line, name = report.location
        assert (path, name, report.keywords) == ("test_small.py", "test_right", {})
        assert line is not None
        assert report.start <= report.stop
        assert report.duration > 0


def test_a_failure_without_exchanges_cites_none(run_checks: RunChecks) -> None:
    """The report has no empty line."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_wrong():
            raise NonConformity("it is wrong", expected="this", actual="that")
    """)

    assert ran.reports["test_wrong"][1].split("\n")[1:] == ["  it is wrong", "  expected: this", "  actual:   that"]


def test_a_skipped_check_is_shown_with_its_line(run_checks: RunChecks, tmp_path: Path) -> None:
    """The report names the file and the line of the check, counted from 1."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_unclear():
            raise CantTell("nothing can be events")
    """)

    path, line = ran.places["test_unclear"]
    assert path == str(tmp_path / "test_small.py")
    assert (tmp_path / "test_small.py").read_text().splitlines()[line - 1] == '@requirement("json-well-formed")'


@pytest.mark.parametrize(
    ("marks", "found"),
    [(("requirement",), True), (("observes",), True), (("stage", "least_effort"), False), ((), False)],
)
def test_a_check_cites_a_catalogue_entry(marks: tuple[str, ...], *, found: bool) -> None:
    """A test that cites a catalogue entry is a check; other tests are not."""
    made: Any = SimpleNamespace(get_closest_marker=lambda name: SimpleNamespace(args=("x",)) if name in marks else None)

    assert is_check(made) is found


def test_a_check_that_ends_the_program_is_an_error_of_the_suite(run_checks: RunChecks) -> None:
    """The check is undecided, so that its requirement does not pass; the other checks run."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_leaving():
            raise SystemExit(0)

        @requirement("json-well-formed")
        def test_right():
            evidence(make_exchange())
    """)

    assert ran.outcomes == [("test_leaving", "cantTell"), ("test_right", "passed")]
    assert ran.judge.results[0].error
    assert len(ran.judge.errors) == 1


def test_evidence_is_what_the_check_itself_judged(run_checks: RunChecks) -> None:
    """Evidence belongs to one check; evidence from before an exception is kept."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_with():
            evidence(make_exchange(number=5))

        @requirement("json-well-formed")
        def test_without():
            pass

        @requirement("json-well-formed")
        def test_half():
            evidence(make_exchange(number=6))
            raise CantTell("it stopped")
    """)

    assert ran.outcomes == [("test_with", "passed"), ("test_without", "cantTell"), ("test_half", "cantTell")]
    assert [[exchange.number for exchange in result.exchanges] for result in ran.judge.results] == [[5], [], [6]]
    assert ran.reports["test_without"][0] == "failed"
    assert "judged nothing" in ran.reports["test_without"][1]
    assert ran.run.sending == ["test_small::test_with", "test_small::test_without", "test_small::test_half"]


def test_an_error_before_a_check_is_no_failure(run_checks: RunChecks) -> None:
    """A non-conformity in a scenario leaves its checks undecided; the other checks run."""
    ran = run_checks("""
        @pytest.fixture
        def preamble():
            raise NonConformity("it is wrong", make_exchange(number=2), expected="this", actual="that")

        @requirement("json-well-formed")
        def test_first(preamble):
            evidence(make_exchange())

        @requirement("json-well-formed")
        def test_second():
            evidence(make_exchange())
    """)

    assert ran.outcomes == [("test_first", "cantTell"), ("test_second", "passed")]
    assert ran.judge.results[0].reason == "It is wrong."
    assert ran.judge.results[0].failure is None
    assert ran.judge.errors == []


def test_an_observation_that_cannot_be_made_is_skipped(run_checks: RunChecks) -> None:
    """An observation has no result; an error of the suite in it is still reported."""
    point = next(iter(load_catalogue().open_points))
    ran = run_checks(f"""
        @observes("{point}")
        def test_seen():
            pass

        @observes("{point}")
        def test_unseen():
            raise CantTell("nothing responded")

        @observes("{point}")
        def test_broken():
            raise KeyError("id")
    """)

    assert ran.outcomes == []
    assert ran.reports["test_seen"] == ("passed", "")
    assert ran.reports["test_unseen"] == ("skipped", "Nothing responded.")
    assert ran.reports["test_broken"][0] == "failed"
    assert len(ran.judge.errors) == 1


@pytest.mark.parametrize(
    ("raised", "times", "outcome"),
    [
        ("NoResponse('it broke')", 1, "passed"),
        ("NoResponse('it broke')", 2, "passed"),
        ("NoResponse('it broke')", 3, "cantTell"),
        ("RunStopped('it is over')", 1, "cantTell"),
    ],
)
def test_a_check_that_a_broken_connection_ended_runs_anew(
    run_checks: RunChecks, raised: str, times: int, outcome: str
) -> None:
    """It runs three times at most, with the same scenarios, and only once after a permanent error."""
    ran = run_checks(f"""
        tries = []

        @pytest.fixture
        def prepared():
            tries.append("prepared")
            return 7

        @requirement("json-well-formed")
        def test_one(prepared):
            assert prepared == 7
            tries.append("tried")
            evidence(make_exchange())
            if tries.count("tried") <= {times}:
                raise {raised}

        @requirement("json-well-formed")
        def test_then():
            evidence(*[make_exchange(number=number + 1) for number, _ in enumerate(tries)])
    """)

    assert ran.outcomes == [("test_one", outcome), ("test_then", "passed")]
    tried = {"passed": times + 1, "cantTell": times}[outcome]
    assert len(ran.judge.results[1].exchanges) == tried + 1


def test_a_failure_in_a_retry_counts(run_checks: RunChecks) -> None:
    """A failure in a retry counts as a failure."""
    ran = run_checks("""
        tries = []

        @requirement("json-well-formed")
        def test_one():
            tries.append(1)
            if len(tries) == 1:
                raise NoResponse("it broke")
            raise NonConformity("it is wrong", make_exchange(), expected="this", actual="that")
    """)

    assert ran.outcomes == [("test_one", "failed")]


SEVERAL = """
    @pytest.mark.stage(2)
    @requirement("json-well-formed")
    def test_form():
        evidence(make_exchange())

    @pytest.mark.stage(1)
    @requirement("archive-sets-status")
    def test_archive():
        evidence(make_exchange())

    @requirement("get-engagement-succeeds")
    def test_get():
        evidence(make_exchange())

    @pytest.mark.least_effort(Effort.STANDARD)
    @requirement("get-engagement-is-the-one-asked-for")
    def test_costly():
        evidence(make_exchange())

    @pytest.mark.stage(2)
    @requirement("created-at-never-changes")
    def test_time():
        evidence(make_exchange())
""".replace("    @pytest", "    from conformance.running.options import Effort\n\n    @pytest", 1)


def test_later_stages_run_later(run_checks: RunChecks) -> None:
    """Checks run by stage, and within a stage in the order of the files."""
    ran = run_checks(SEVERAL)

    assert [name for name, _ in ran.outcomes] == ["test_get", "test_archive", "test_form", "test_time"]


@pytest.mark.parametrize(("effort", "runs"), [("quick", False), ("standard", True), ("deep", True)])
def test_costly_checks_need_an_effort(run_checks: RunChecks, effort: str, *, runs: bool) -> None:
    """A check for standard effort runs at standard and deep effort."""
    ran = run_checks(SEVERAL, effort=Effort(effort))

    assert ("test_costly" in [name for name, _ in ran.outcomes]) is runs


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (("json-well-formed",), ["test_form"]),
        (("json-well-formed", "archive-sets-status"), ["test_archive", "test_form"]),
        (("mail",), []),
    ],
)
def test_only_what_was_asked_for_runs(run_checks: RunChecks, only: tuple[str, ...], found: list[str]) -> None:
    """Only checks of chosen requirements run; observations that need requests of their own are left out, too."""
    point = next(iter(load_catalogue().open_points))
    ran = run_checks(f"{SEVERAL}\n    @observes('{point}')\n    def test_seen():\n        pass\n", only=only)

    assert [name for name, _ in ran.outcomes] == found
    assert "test_seen" not in ran.reports
    assert ran.events[0] == ("planned", str(len(found)))


def test_tests_of_others_stay(run_checks: RunChecks) -> None:
    """A choice of requirements does not affect other projects' tests."""
    ran = run_checks(f"{SEVERAL}\n    def test_of_others():\n        pass\n", only=("json-well-formed",))

    assert ran.reports["test_of_others"] == ("passed", "")
    assert [name for name, _ in ran.outcomes] == ["test_form"]


def test_the_listener_gets_every_event(run_checks: RunChecks) -> None:
    """The listener gets the number of checks, and each check at its begin and end; no observations."""
    point = next(iter(load_catalogue().open_points))
    ran = run_checks(f"""
        @requirement("json-well-formed")
        def test_one():
            evidence(make_exchange())

        @observes("{point}")
        def test_seen():
            pass
    """)

    assert ran.events == [
        ("planned", "1"),
        ("began", "test_small::test_one", "json-well-formed"),
        ("ended", "test_small::test_one", "passed"),
    ]


def test_a_check_with_a_missing_need_is_untested(run_checks: RunChecks) -> None:
    """The reason of a check or an observation says what to add; nothing is sent."""
    catalogue = load_catalogue()
    need = "mailbox"
    cited = next(entry.id for entry in catalogue.requirements.values() if need in entry.needs)
    points = [point.id for point in catalogue.open_points.values() if "disposable" in point.needs][:2]
    ran = run_checks(
        f"""
        @requirement("{cited}")
        def test_mail():
            evidence(make_exchange())

        @observes(*{points!r})
        def test_seen():
            raise KeyError("it must not run")
        """,
        missing_means=frozenset({need, "disposable"}),
    )

    ((_, outcome),) = ran.outcomes
    missing_means = [name for name in catalogue.requirements[cited].needs if name in {need, "disposable"}]
    assert (outcome, ran.judge.results[0].reason) == ("untested", f"Add {' and '.join(missing_means)}.")
    assert ran.reports["test_seen"] == ("skipped", "Add disposable.")
    assert ran.run.sending == []
    assert ran.judge.errors == []


CLOSED = """
    def creating(run):
        return None

    created = scenario_fixture(creating)

    @requirement("get-engagement-succeeds")
    def test_get():
        evidence(make_exchange())

    @pytest.mark.stage(2)
    @requirement("created-at-never-changes")
    def test_time():
        evidence(make_exchange())

    @requirement("error-envelope")
    def test_errors():
        evidence(make_exchange())

    @pytest.mark.stage(2)
    @requirement("json-well-formed")
    def test_form():
        evidence(make_exchange())
"""


def test_a_closed_run_looks_at_the_form_of_responses_alone(run_checks: RunChecks) -> None:
    """In a closed run, checks that send or judge more than the form of responses are untested."""
    ran = run_checks(CLOSED, closed="The key is refused.")

    assert dict(ran.outcomes) == {
        "test_get": "untested", "test_time": "untested", "test_errors": "untested", "test_form": "passed",
    }  # fmt: skip
    assert {result.reason for result in ran.judge.results} == {"The key is refused.", None}
    assert ran.run.prepared is None


SCENARIOS = """
    def first(run):
        return None

    def second(run):
        return None

    def third(run):
        return None

    def fetch(function):
        def fixture():
            return None
        fixture.background = function
        return pytest.fixture(name=function.__name__)(fixture)

    one, two, three = fetch(first), fetch(second), fetch(third)

    @requirement("get-engagement-succeeds")
    def test_get(first):
        evidence(make_exchange())

    @requirement("{cited}")
    def test_mail(second):
        evidence(make_exchange())

    @requirement("json-well-formed")
    def test_form(third, first, tmp_path):
        evidence(make_exchange())
"""


def test_scenarios_of_the_checks_that_will_run_are_started(run_checks: RunChecks) -> None:
    """Each scenario is started once; none is started for a check with unmet needs."""
    cited = next(entry.id for entry in load_catalogue().requirements.values() if "mailbox" in entry.needs)

    assert run_checks(SCENARIOS.format(cited=cited), missing_means=frozenset({"mailbox"})).run.prepared == [
        "first",
        "third",
    ]


OBSERVED = """
    @observes("{point}")
    def test_seen(first):
        pass

    @observes("{point}")
    def test_unseen(first, third):
        pass

    @observes("{point}")
    def test_unmet(second):
        pass

    @pytest.mark.least_effort(Effort.STANDARD)
    @observes("{point}")
    def test_costly(first):
        pass
"""


def test_requests_of_chosen_checks_are_observed(run_checks: RunChecks) -> None:
    """An observation runs if checks that will run use all its scenarios, so that it starts none."""
    catalogue = load_catalogue()
    cited = next(entry.id for entry in catalogue.requirements.values() if "mailbox" in entry.needs)
    point = next(entry.id for entry in catalogue.open_points.values() if not entry.needs)
    source = "    from conformance.running.options import Effort\n" + (SCENARIOS + OBSERVED).format(
        cited=cited, point=point
    )
    ran = run_checks(source, only=("get-engagement-succeeds", cited), missing_means=frozenset({"mailbox"}))

    assert ran.run.prepared == ["first"]
    assert {name for name in ran.reports if name in OBSERVED} == {"test_seen"}


def test_collecting_alone_starts_nothing(run_checks: RunChecks) -> None:
    """No scenario is started, and the listener gets nothing."""
    ran = run_checks(SEVERAL, "--collect-only")

    assert (ran.run.prepared, ran.events, ran.outcomes) == (None, [], [])


def test_a_module_that_cannot_be_loaded_is_an_error(run_checks: RunChecks) -> None:
    """The error is reported, so that its requirements are not lost silently."""
    ran = run_checks("import no_such_module_at_all")

    assert len(ran.judge.errors) == 1
    assert ran.judge.errors[0].startswith("test_small.py\n")
    assert "no_such_module_at_all" in ran.judge.errors[0]


INTERRUPTED = """
    @requirement("json-well-formed")
    def test_first():
        evidence(make_exchange())

    @requirement("json-well-formed")
    def test_second():
        raise KeyboardInterrupt

    @requirement("json-well-formed")
    def test_third():
        evidence(make_exchange())

    @requirement("get-engagement-succeeds")
    def test_fourth():
        evidence(make_exchange())
"""


def test_a_requirement_does_not_pass_by_half_its_checks(run_checks: RunChecks) -> None:
    """After an interruption the remaining checks of a begun requirement are undecided, once."""
    ran = run_checks(INTERRUPTED)
    assert ran.outcomes == [("test_first", "passed")]

    ran.judge.give_up("A signal ended it.")
    ran.judge.give_up("A signal ended it.")

    assert ran.outcomes == [("test_first", "passed"), ("test_second", "cantTell"), ("test_third", "cantTell")]
    for result in ran.judge.results[1:]:
        assert (result.requirement, result.reason) == ("json-well-formed", "A signal ended it.")
        assert (result.seconds, result.exchanges) == (0.0, ())
    assert ran.judge.errors == []


def test_no_check_begins_after_the_end(run_checks: RunChecks) -> None:
    """If a finalizer swallows the interruption, the current check is the last."""
    ran = run_checks("""
        @requirement("json-well-formed")
        def test_first(request):
            request.config.pluginmanager.get_plugin("conformance-judge").stop()
            evidence(make_exchange())

        @requirement("json-well-formed")
        def test_second():
            evidence(make_exchange())
    """)

    assert ran.outcomes == [("test_first", "passed")]


def test_a_run_that_went_to_its_end_has_nothing_to_give_up(run_checks: RunChecks) -> None:
    """Every check has a result already."""
    ran = run_checks(SEVERAL)
    before = ran.outcomes

    ran.judge.give_up("A signal ended it.")

    assert ran.outcomes == before


REFUSED = """
    @requirement("scope-allows-get-organization")
    def test_refused():
        evidence(make_exchange(status=200))
        raise NonConformity("it was refused", make_exchange(status={}), expected="200", actual="403")
"""


@pytest.mark.parametrize(
    ("status", "end", "outcome"),
    [
        (403, None, "failed"),
        (401, "the main key was refused from request 3 on", "cantTell"),
        (403, "the main key was refused from request 3 on", "cantTell"),
        (403, "the budget of 9 requests is used up", "failed"),
    ],
)
def test_a_failure_for_a_refused_key_counts_where_the_main_key_is_served(
    run_checks: RunChecks, status: int, end: str | None, outcome: str
) -> None:
    """A further request with the main key decides whether a refusal counts."""
    ran = run_checks(REFUSED.format(status), end=end)

    assert ran.outcomes == [("test_refused", outcome)]
    assert ran.run.sent == [get_organization()]


def test_a_failure_without_a_refusal_needs_no_request(run_checks: RunChecks) -> None:
    """Without a refusal no further request is sent."""
    ran = run_checks(REFUSED.format(404))

    assert ran.outcomes == [("test_refused", "failed")]
    assert ran.run.sent == []
