"""Every section: the laws of every response of the run, each with a check named after its requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.laws.registry import LAWS
from conformance.scenarios.whole_run_laws import expect_law, expect_law_of_cleanup
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.oracle.laws.registry import Law
    from conformance.running.run import Run


def _check(identifier: str, law: Law) -> Callable[[Run], None]:
    """Return the check of a law, with the docstring of the law."""

    def check(run: Run) -> None:
        expect_law(run, law)

    check.__doc__ = law.judge.__doc__
    stage = pytest.mark.stage(Stage.WHOLE_RUN if law.confirmed else Stage.EVERY_RESPONSE)
    scenarios = [pytest.mark.usefixtures(*law.scenarios)] if law.scenarios else []
    for mark in (requirement(identifier), stage, *scenarios):
        mark(check)
    return check


globals().update({f"test_{name.replace('-', '_')}": _check(name, law) for name, law in LAWS.items()})


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, marks=requirement(name), id=name)
        for name, law in LAWS.items()
        if law.confirmed and "listEngagements" in law.operations
    ],
)
def test_lists_of_cleanup(run: Run, law: Law) -> None:
    """The lists that the run reads while it deletes its engagements keep the laws of lists."""
    expect_law_of_cleanup(run, law)
