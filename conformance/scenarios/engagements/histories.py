"""The changes that the run has made to each of its engagements that may still exist."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.permissions import KEYS
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_CHANGES: Final = frozenset({"updateEngagement", "archiveEngagement", "unarchiveEngagement"})


def histories(run: Run, *, of_other: bool = False) -> dict[str, list[str]]:
    """Return the operations carried out on each engagement that the run created once, and that may still exist.

    The order is the same in every run of a seed, despite parallel requests.

    Args:
        run: The run.
        of_other: Whether they are the engagements of the other organization.
    """
    sent = [exchange for exchange in run.wire.exchanges if (exchange.request.key_name == OTHER_KEY) is of_other]
    done = [exchange for exchange in sent if exchange.accepted]
    creations = sorted(
        (exchange for exchange in done if exchange.operation_id == "createEngagement" and _is_of_run(exchange)),
        key=lambda exchange: exchange.check,
    )
    made = Counter(read.identifier_or_none(creation) for creation in creations)
    gone = {exchange.request.identifier for exchange in sent if _may_be_gone(exchange)}
    found: dict[str, list[str]] = {
        identifier: [] for identifier, times in made.items()
        if identifier is not None and times == 1 and identifier not in gone
    }  # fmt: skip
    for exchange in done:
        if exchange.operation_id in _CHANGES and exchange.request.identifier in found:
            found[exchange.request.identifier].append(exchange.operation_id)
    return found


def archived_last(known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the engagements whose last change was an archive."""
    return [identifier for identifier, changes in known.items() if changes[-1:] == ["archiveEngagement"]]


def _is_of_run(creation: Exchange) -> bool:
    """Whether a creation was sent to the operation itself, with a key that the run knows."""
    sent = creation.request
    is_known = sent.by_member or sent.key_name in {*KEYS, OTHER_KEY}
    return creation.by_main_key or (sent.is_proper and is_known)


def _may_be_gone(exchange: Exchange) -> bool:
    """Whether an exchange was a deletion that was not refused, or the full key of its organization did not find it."""
    is_deletion = exchange.operation_id == "deleteEngagement"
    has_full_key = exchange.by_main_key or exchange.request.key_name == OTHER_KEY
    return (is_deletion and not exchange.refused) or (has_full_key and exchange.missed)
