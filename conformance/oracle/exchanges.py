"""Selection of exchanges by their operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange


def of_operation(exchanges: Iterable[Exchange], operation: str) -> list[Exchange]:
    """Return the exchanges of an operation, given by its operationId."""
    return [exchange for exchange in exchanges if exchange.operation_id == operation]
