"""The parts of a failure."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle.outcomes import NonConformity
from conformance.wire.exchange import Exchange

Described = tuple[str, str, str, str | None]


def described(fault: NonConformity) -> Described:
    """Return all of a failure except its exchanges."""
    return fault.message, fault.expected, fault.actual, fault.pointer


def broken(law: Callable[[Exchange], bool], exchange: Exchange) -> Described:
    """Return the failure of a law, which must cite this exchange alone."""
    with pytest.raises(NonConformity) as raised:
        law(exchange)
    assert raised.value.exchanges == (exchange,)
    return described(raised.value)
