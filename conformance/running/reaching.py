"""The first request of a run: is the target there, and is the key good?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.wire import call
from conformance.wire.exchange import Unanswered

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_UNAUTHORIZED: Final = 401


def reach(run: Run) -> Exchange | str:
    """Ask for the organization.

    Returns:
        The answer of a target that can be tested, or why it cannot, as a clause.
    """
    try:
        with run.wire.checking("reaching the target"):
            exchange = run.send(call.get_organization())
        status = exchange.status
    except Unanswered as trouble:
        return str(trouble)
    if status == _UNAUTHORIZED:
        return "the service refuses the main key with 401"
    return exchange
