"""Judge: the pytest plugin that turns outcomes into results.

Only this module, ``plugin``, ``session``, the checks' conftest and the self-test's judge implement pytest hooks.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from traceback import format_exception
from typing import TYPE_CHECKING, Final

import pytest

from conformance.catalogue import load_catalogue
from conformance.confirm.at_once import ListConfirmation
from conformance.oracle.outcomes import CantTell, CheckOutcome, Evidence, NonConformity, Untested
from conformance.reports.outcome import Outcome
from conformance.running.options import Effort
from conformance.targets.capabilities import MissingMeans
from conformance.targets.journal_file import JournalError
from conformance.verdicts.items import (
    arguments_of,
    background_scenarios,
    marks_of,
    name_of,
    requirement_of,
    scenarios_of,
    stage_of,
)
from conformance.verdicts.results import CheckListener, CheckResult, result_of, sentence
from conformance.verdicts.stages import JUDGING
from conformance.wire.exchange import NoResponse
from conformance.wire.main_key import is_refusal, rests_on_ended_key
from conformance.wire.requests import get_organization
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from conformance.running.run import Run
    from conformance.verdicts.items import Marks
    from conformance.wire.exchange import Exchange

_OF_FORM: Final = frozenset({"1", "7", "8"})
"""The sections about the form of any response."""

_ATTEMPTS: Final = 3
_EFFORTS: Final = list(Effort)
_ORDERLY: Final = (CheckOutcome, NoResponse, MissingMeans)


class CollectErrors:
    """A plugin that collects the errors of check modules that cannot be imported.

    Attributes:
        errors: Tracebacks of the suite's own errors, for its developers.
    """

    def __init__(self) -> None:
        self.errors: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Collect the error of a module that cannot be imported."""
        if report.failed:
            self.errors.append(f"{report.nodeid}\n{report.longreprtext}")


class Judge(CollectErrors):
    """Runner of the checks of a run and collector of their results.

    Attributes:
        results: The results, in the order of the checks.
        errors: Tracebacks of the suite's own errors, from imports and from checks.
    """

    def __init__(self, run: Run, progress: CheckListener | None = None) -> None:
        super().__init__()
        self.run = run
        run.confirm_lists = ListConfirmation(run)
        self.results: list[CheckResult] = []
        self._progress = progress
        self._catalogue = load_catalogue()
        self._evidence: dict[str, Evidence] = {}
        self._unfinished: dict[str, tuple[str, str]] = {}
        self._stopping = False

    def stop(self) -> None:
        """Start no further check; may be called from any thread or signal handler."""
        self._stopping = True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the chosen checks and sort them by stage."""
        chosen = [item for item in items if self._is_chosen(item)]
        if self.run.options.only:
            sending = [item for item in chosen if requirement_of(item) and not self._missing(item)]
            used = {name for item in sending for name in scenarios_of(item)}
            chosen += [item for item in items if self._is_shown(item, used)]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = sorted(chosen, key=stage_of)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start the scenarios of the checks that will run."""
        if session.config.option.collectonly:
            return
        self._unfinished = {
            item.nodeid: (name_of(item), cited) for item in session.items if (cited := requirement_of(item))
        }
        if self._progress is not None:
            self._progress.planned([cited for _, cited in self._unfinished.values()])
        if self.run.closed is not None:
            return
        ready = [item for item in session.items if not self._missing(item)]
        self.run.scenarios.prepare(dict.fromkeys(found for item in ready for found in background_scenarios(item)))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a check whose needs the target does not meet."""
        if self._progress is not None and (cited := requirement_of(item)):
            self._progress.began(name_of(item), cited)
        if self.run.closed is not None and not self._judges_form(item):
            raise Untested(self.run.closed)
        if missing := self._missing(item):
            raise Untested(self.run.unlocking(missing))

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Collect the evidence of a check, and retry it if a broken connection ended it."""
        evidence = self._evidence.setdefault(pyfuncitem.nodeid, Evidence())
        with evidence, self.run.wire.checking(name_of(pyfuncitem)):
            try:
                try:
                    return (yield)
                except NoResponse as no_response:
                    return self._retry(pyfuncitem, no_response)
            except NonConformity as failure:
                self._ensure_main_key(
                    [exchange for exchange in (*evidence.exchanges, *failure.exchanges) if is_refusal(exchange)]
                )
                raise

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """Record the result of a phase, and let pytest show only failures and errors as such."""
        if self._stopping:
            item.session.shouldstop = "stopped"
        raised = call.excinfo.value if call.excinfo is not None else None
        if marks_of(item) is None or isinstance(raised, KeyboardInterrupt):  # with --pdb
            return None
        form = _brief if raised is None or isinstance(raised, _ORDERLY) else pytest.TestReport.from_item_and_call
        report = form(item, call)
        if call.when == "call" or raised is not None:
            self._conclude(item, call, raised, report)
        return report

    def give_up(self, reason: str) -> None:
        """Add an undecided result for each unfinished check, so that no requirement passes with half its checks.

        Args:
            reason: The reason, as a sentence.
        """
        begun = {result.requirement for result in self.results}
        for name, cited in self._unfinished.values():
            if cited in begun:
                given_up = CantTell(reason)
                self.results.append(result_of(name, cited, given_up, in_preamble=False, evidence=(), seconds=0.0))
        self._unfinished = {}

    def _conclude(
        self,
        item: pytest.Item,
        call: pytest.CallInfo[None],
        raised: BaseException | None,
        report: pytest.TestReport,
    ) -> None:
        if isinstance(raised, JournalError):  # for example a full disk, which ends the run and is reported once
            raised = CantTell(str(raised))
        if raised is not None and not isinstance(raised, _ORDERLY):
            self.errors.append(f"{item.nodeid}\n{''.join(format_exception(raised))}")
        cited = requirement_of(item)
        evidence = self._evidence.pop(item.nodeid, None)
        self._unfinished.pop(item.nodeid, None)
        if cited is None:
            if isinstance(raised, _ORDERLY):
                _skip(report, item, sentence(raised))
            return
        if isinstance(raised, MissingMeans):
            raised = Untested(raised.reason)
        result = result_of(
            name_of(item),
            cited,
            raised,
            in_preamble=call.when != "call",
            evidence=evidence.exchanges if evidence else (),
            expected=evidence.expected if evidence else (),
            seconds=call.duration,
        )
        self.results.append(result)
        _show(report, item, result, keeps_exchanges=self.run.options.report is not None)
        if self._progress is not None:
            self._progress.ended(result)

    def _retry(self, item: pytest.Function, no_response: NoResponse) -> object:
        """Retry a check that a broken connection or a gateway ended."""
        arguments = arguments_of(item)
        for _ in range(_ATTEMPTS - 1):
            if no_response.permanent:
                break
            try:
                return item.obj(**arguments)
            except NoResponse as again:
                no_response = again
        raise no_response

    def _ensure_main_key(self, refusals: Sequence[Exchange]) -> None:
        """Raise if a failure rests on refusals of a main key that is no longer valid.

        Raises:
            RunStopped: The service has refused the main key since.
        """
        if not refusals:
            return
        with suppress(NoResponse):  # only its effect matters: an invalid key stops the run
            self.run.wire.send(get_organization())
        if rests_on_ended_key(refusals, self.run.wire.exchanges, self.run.wire.stopped):
            raise RunStopped(str(self.run.wire.stopped), *refusals)

    def _is_chosen(self, item: pytest.Item) -> bool:
        marks = marks_of(item)
        if marks is None:  # a test of another project in the same session
            return True
        is_chosen = not self.run.options.only or marks.requirement in self._chosen
        return is_chosen and self._is_of_effort(marks)

    def _is_of_effort(self, marks: Marks) -> bool:
        return _EFFORTS.index(self.run.effort) >= _EFFORTS.index(marks.least_effort)

    def _is_shown(self, item: pytest.Item, used: set[str]) -> bool:
        """Whether an item is an observation that only needs scenarios of the chosen checks, and so no request."""
        marks = marks_of(item)
        if marks is None or marks.requirement is not None or not self._is_of_effort(marks):
            return False
        return bool(needed := scenarios_of(item).keys()) and needed <= used

    @cached_property
    def _chosen(self) -> frozenset[str]:
        """The ids of the chosen requirements."""
        return frozenset(self.run.options.only)

    def _judges_form(self, item: pytest.Item) -> bool:
        """Whether a check judges only the form of responses, which any response can break."""
        cited = requirement_of(item)
        if cited is None or stage_of(item) not in JUDGING:
            return False
        return self._catalogue.requirements[cited].section in _OF_FORM

    def _missing(self, item: pytest.Item) -> Sequence[str]:
        return [need for need in self._needs(item) if not self.run.meets(need)]

    def _needs(self, item: pytest.Item) -> Sequence[str]:
        if (cited := requirement_of(item)) is not None:
            return self._catalogue.requirements[cited].needs
        marks = marks_of(item)
        points = [self._catalogue.open_points[name] for name in (() if marks is None else marks.observed)]
        return list(dict.fromkeys(need for point in points for need in point.needs))


def _brief(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Return a minimal report of a phase without an error; pytest's own takes longer to create."""
    assert call.when != "collect"  # noqa: S101 - for the type checker
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="passed" if call.excinfo is None else "failed",
        longrepr=None,
        when=call.when,
        duration=call.duration,
        start=call.start,
        stop=call.stop,
    )


def _show(report: pytest.TestReport, item: pytest.Item, result: CheckResult, *, keeps_exchanges: bool) -> None:
    """Write the result to pytest's report."""
    if result.failure is not None:
        failure = result.failure
        cited = ", ".join(str(exchange.number) for exchange in failure.exchanges)
        lines = [
            f"requirement {result.requirement}: {load_catalogue().requirements[result.requirement].title}",
            f"  {failure.message}",
            f"  expected: {failure.expected}",
            f"  actual:   {failure.actual}",
            f"  exchanges: {cited}{'' if keeps_exchanges else ' (--report DIR keeps them)'}" if cited else "",
        ]
        report.longrepr = "\n".join(line for line in lines if line)
    elif result.error:
        report.outcome = "failed"
        report.longrepr = report.longrepr or result.reason
    elif result.outcome is not Outcome.PASSED:
        _skip(report, item, f"{result.outcome}: {result.reason}")


def _skip(report: pytest.TestReport, item: pytest.Item, reason: str) -> None:
    report.outcome = "skipped"
    report.longrepr = (str(item.path), (item.location[1] or 0) + 1, reason)  # pytest counts from 0
