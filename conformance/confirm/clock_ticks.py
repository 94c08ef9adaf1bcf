"""Service clocks that tick too rarely for a check, or that were set back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle import expect, read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws import rate_limits
from conformance.oracle.laws.clock_set_back import was_set_back
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.timestamps import A_LONG_TICK, parse_timestamp, step_of

if TYPE_CHECKING:
    from datetime import datetime

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

ONE_SECOND_TICK: Final = 1.1
"""Seconds in which a clock of whole seconds is certain to tick."""

A_SHORT_TICK: Final = 0.25
"""Seconds in which a clock that shows fractions of seconds has most likely ticked."""


def expect_moved(run: Run, actual: str, than: str, *at: Exchange) -> None:
    """Expect an updatedAt to be later than another, if the service's clock had time to tick.

    Raises:
        NonConformity: It is not later.
        CantTell: It is not later, and all times of the service are multiples of a coarse step; or its clock was set
            back and has not reached the earlier time again.
    """
    try:
        expect.later("updatedAt", actual, than, *at)
    except NonConformity as fault:
        if was_set_back(at[-1], run.wire.exchanges) and _is_behind(at[-1], than):
            raise CantTell("the service's clock was set back during the run", *fault.exchanges) from fault
        step = step_of(_times(run))
        if step > A_LONG_TICK:
            raise CantTell(f"the service's clock ticks only every {step:g} s", *fault.exchanges) from fault
        raise


def _is_behind(exchange: Exchange, time: str) -> bool:
    """Whether a response is older than a time, by its own Date header."""
    dated, moment = rate_limits.date(exchange), parse_timestamp(time)
    return dated is not None and moment is not None and dated < moment.timestamp()


def _times(run: Run) -> list[datetime]:
    """Return the times of the run's engagements; older ones may have times of other clocks."""
    creations = of_operation(run.wire.exchanges, "createEngagement")
    own = {read.id_of(resource) for exchange in creations for resource in readable_resources(exchange)} - {None}
    shown = (resource for exchange in run.wire.exchanges for resource in readable_resources(exchange))
    found = (item.get(name) for item in shown if read.id_of(item) in own for name in ("createdAt", "updatedAt"))
    return [moment for time in found if (moment := parse_timestamp(time)) is not None]
