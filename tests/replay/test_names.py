"""Names of a run: reproducible for each check, and unique."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from conformance.running.run import Run
from conformance.wire.recorded_inputs import InputPlayer, InputRecorder
from tests.fakes.runs import real_run


def _run() -> tuple[Run, InputRecorder]:
    inputs = InputRecorder()
    return real_run(inputs=inputs), inputs


def test_names_do_not_depend_on_the_order_of_checks() -> None:
    """Concurrent scenarios have numbers of their own."""
    made: list[dict[str, list[str]]] = []
    for order in ("ab", "ba"):
        run, inputs = _run()
        names: dict[str, list[str]] = {}
        for check in order:
            with inputs.under(check):
                names[check] = [run.name("thing"), run.address("thing"), run.name("thing")]
        made.append(names)

    assert made[0] == made[1]


def test_names_of_different_checks_differ() -> None:
    """The same label gives different names in different checks."""
    run, inputs = _run()
    found = set()
    for check in ("archiving", "deletion", "test_s4_mail::test_invitation_is_sent"):
        with inputs.under(check):
            found |= {run.name("thing"), run.name("thing")}

    assert len(found) == 6


def test_a_thread_of_a_check_has_names_of_its_own() -> None:
    """A thread in the context of a check has numbers and recorded values of its own."""
    run, inputs = _run()
    with inputs.under("racing"), ThreadPoolExecutor(1) as pool:
        meanwhile = pool.submit(copy_context().run, lambda: (inputs.current, run.name("thing"))).result()
        own = inputs.current, run.name("thing")

    assert (own[0], meanwhile[0]) == ("racing", "racing, meanwhile")
    assert own[1] != meanwhile[1]


def test_kept_values_come_out_of_the_notes() -> None:
    """A recorded value is read back and not computed again."""
    run, inputs = _run()
    with inputs.under("generated"):
        assert run.recorded_value("cases", lambda: [["a", None], ["é", 1]]) == [["a", None], ["é", 1]]
    read = InputPlayer(inputs.lines)

    with read.under("generated"):
        assert read.record("cases", list, list, list) == [["a", None], ["é", 1]]
