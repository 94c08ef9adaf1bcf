"""Generation of requests, which is slow and ends with the run."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.oracle.input_validity import Validity
from conformance.running.options import Effort, RunOptions
from conformance.scenarios.generated import schemathesis_cases as generation
from conformance.scenarios.generated.requests import send_generated
from conformance.wire.gateways import MAX_TARGET
from conformance.wire.run_limits import RunStopped
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun, real_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MANY = 1000


def draw(is_over: Callable[[], bool], count: int = _MANY) -> list[dict[str, Any]]:
    """Return positive cases of a list."""
    return generation.draw("listMembers", negative=False, count=count, seeded=1, is_over=is_over)


def test_a_seed_gives_the_same_cases() -> None:
    """A seed gives the same cases, as many as requested, or fewer if there are no more."""
    first = draw(lambda: False, count=10)

    assert first == draw(lambda: False, count=10)
    assert 1 < len(first) <= 10


@pytest.mark.parametrize("after", [0, 1, 5])
def test_drawing_ends_with_the_run(after: int) -> None:
    """Drawing stops with the run, before all cases are drawn, and while another check draws as well."""
    asked = 0

    def is_over() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    with pytest.raises(generation.GivenUp):
        draw(is_over)
    assert asked <= after + 3


def test_requests_that_were_not_drawn_in_time_are_none() -> None:
    """A check whose requests were not drawn in time is stopped with the run."""
    run = real_run(options=RunOptions(effort=Effort.DEEP), wire=FakeRun(is_over=True))

    with pytest.raises(RunStopped, match="before requests were generated"):
        send_generated(run, "listMembers")


def test_certainly_invalid_cases_are_sent_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the cases that break the document few are sent, each once, certainly invalid ones first."""
    open_ones = [{"query": [["page", f"0{number}"]]} for number in range(30)]
    invalid = [{"query": [["page", "x" * number]]} for number in range(1, 11)]
    cases = {False: [{"query": []}], True: [*open_ones, *invalid, *invalid]}
    monkeypatch.setattr(generation, "draw", lambda *_, negative, **__: cases[negative])
    run = FakeRun(lambda request: make_exchange(request, 422), effort=Effort.STANDARD)

    generated = send_generated(run, "listMembers")

    assert [request.query for request in run.sent[:11]] == [(), *((("page", "x" * number),) for number in range(1, 11))]
    assert [len(generated.of(kind)) for kind in (Validity.VALID, Validity.INVALID, Validity.OPEN)] == [1, 10, 6]


def test_cases_are_cut_to_the_limits_of_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long queries are cut, many parameters become fewer, and a body that is too large is left out."""
    queries = [
        [["status", "\U0001f600" * 5000]],
        [["sort", "x" * 900], ["order", "y" * 1500]],
        [["page", "1"]] * 900,
        [["status", "active"]],
    ]
    cases = {False: [{"query": query} for query in queries], True: [{"query": [], "json": {"x": "x" * 40_000}}]}
    monkeypatch.setattr(generation, "draw", lambda *_, negative, **__: cases[negative])
    run = FakeRun(make_exchange, effort=Effort.DEEP)

    send_generated(run, "listEngagements")

    assert [len(request.path) <= MAX_TARGET - 300 for request in run.sent] == [True] * 4
    assert [{name for name, _ in request.query} for request in run.sent] == [
        {"status"},
        {"sort", "order"},
        {"page"},
        {"status"},
    ]
    assert run.sent[-1].query == (("status", "active"),)


def test_drawing_leaves_nothing_in_a_folder(tmp_path: Path) -> None:
    """Hypothesis leaves no cache, nor a temporary one, and its configured folder stays for other users of it."""
    program = (
        "from hypothesis.configuration import set_hypothesis_home_dir, storage_directory\n"
        "from conformance.scenarios.generated.schemathesis_cases import draw\n"
        "set_hypothesis_home_dir('of-the-user')\n"
        "assert draw('createEngagement', negative=True, count=5, seeded=1, is_over=lambda: False)\n"
        "print(storage_directory('x', intent_to_write=False).path)\n"
    )
    words, variables = [sys.executable, "-c", program], {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path, env=variables, timeout=120)

    assert (done.returncode, done.stdout) == (0, "of-the-user/x\n"), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variable", ["SCHEMATHESIS_HOOKS", "HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY"])
def test_variables_of_other_projects_change_no_case(variable: str, tmp_path: Path) -> None:
    """The command line neither imports a module that a variable of Schemathesis names, nor observes cases."""
    (tmp_path / "hooks.py").write_text("open('executed', 'w').close()\n")
    program = (
        "import sys\n"
        "from conformance.__main__ import main\n"
        "sys.argv = ['conformance', '--version']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    from conformance.scenarios.generated.schemathesis_cases import draw\n"
        "    assert draw('createEngagement', negative=True, count=5, seeded=1, is_over=lambda: False)\n"
    )
    words, variables = [sys.executable, "-c", program], {**os.environ, variable: "hooks"}
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path, env=variables, timeout=120)

    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hooks.py"]
