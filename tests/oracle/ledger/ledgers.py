"""Results of the ledger for recorded exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.oracle.ledger.findings import Finding
from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES, Ledger
from conformance.wire import requests
from conformance.wire.exchange import Exchange


def listing(client: Any, items: Sequence[object], *, count: int | None = None, **asked: object) -> Exchange:
    """Return a list with these items, whatever the service stores; ``count`` replaces their total."""
    total = len(items) if count is None else count
    meta = {"total": total, "page": 1, "perPage": 20, "totalPages": -(-total // 20)}
    made: Exchange = client.made(
        requests.list_engagements(**asked), 200, {"data": items, "meta": meta}, client.now, 0.01
    )
    return made


def broken(exchanges: Iterable[Exchange]) -> list[str]:
    """Return the requirements that a ledger finds broken and not explained by others, each once."""
    findings = Ledger.over(exchanges).findings
    return [rule for rule in ENGAGEMENT_RULES if findings.of(rule) and not findings.explained(rule)]


def found(exchanges: Iterable[Exchange]) -> Finding:
    """Return the only finding of a ledger."""
    (finding,) = Ledger.over(exchanges).findings.broken
    return finding


def kept(exchanges: Iterable[Exchange]) -> dict[str, list[int]]:
    """Return the numbers of the exchanges that are evidence for each requirement."""
    findings = Ledger.over(exchanges).findings
    return {rule: [exchange.number for exchange in exchanges] for rule, exchanges in findings.kept.items()}
