"""Early end of a trial once it has reported the requirement that its fault breaks, or any requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.oracle.laws import registry
from conformance.oracle.laws.survey import survey
from conformance.running.scenarios import MARKED
from conformance.verdicts.items import requirement_of, stage_of
from conformance.verdicts.judge import Judge
from conformance.verdicts.stages import JUDGING

if TYPE_CHECKING:
    from conformance.oracle.laws.registry import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


LAWS: Final = {identifier: law for identifier, law in registry.LAWS.items() if law.ends_trial}
"""The requirements about single responses, with their laws; their checks send nothing.

Their laws are tested during a run; after a failure their checks judge the exchanges sent so far. If the checks do not
report the requirement, for example because they leave a response undecided, the fault counts as missed and is retried.
"""


class EarlyEnd:
    """A wire observer that stops the run once a law is broken."""

    def __init__(self, law: Law, run: Run) -> None:
        self._law = law
        self._run = run

    def before(self, request: Request) -> None:
        """Do nothing before a request."""

    def after(self, exchange: Exchange) -> None:
        """Stop the run if the response breaks the law."""
        if self._law.concerns(exchange) and survey(self._law.judge, [exchange]).broken:
            self._run.wire.stop("the requirement of the fault was reported")


class FirstFailureJudge(Judge):
    """A judge that ends with the first check that fails, whatever its requirement."""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Remove the later checks after a failure; pytest has already chosen the next item."""
        if nextitem is not None and self.results and self.results[-1].failure is not None:
            del item.session.items[item.session.items.index(nextitem) + 1 :]


def _sends(item: pytest.Item) -> bool:
    """Whether a check gets the result of a scenario."""
    return not MARKED.keys().isdisjoint(getattr(item, "fixturenames", ()))


class EarlyJudge(Judge):
    """A judge that ends once a requirement has failed, and runs only its checks once the run has stopped sending.

    Of the checks that judge the exchanges of others, it runs only those of the requirement and those of a scenario.
    """

    def __init__(self, run: Run, requirement: str) -> None:
        super().__init__(run)
        self._requirement = requirement
        self._seen = 0
        self._narrowed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the checks that send, and those of the requirement."""
        super().pytest_collection_modifyitems(config, items)
        items[:] = [item for item in items if self._judges(item) or stage_of(item) not in JUDGING or _sends(item)]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Remove the checks that need not run; pytest has already chosen the next item."""
        new, self._seen = self.results[self._seen :], len(self.results)
        found = any(result.requirement == self._requirement and result.failure is not None for result in new)
        if nextitem is None or not (found or (self.run.wire.is_over and not self._narrowed)):
            return
        self._narrowed = True
        items = item.session.items
        after = items.index(nextitem) + 1
        items[after:] = [later for later in items[after:] if not found and self._judges(later)]

    def _judges(self, item: pytest.Item) -> bool:
        return requirement_of(item) == self._requirement
