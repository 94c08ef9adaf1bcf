"""Evidence in a correct response: the requirements that it could have shown broken."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle.effects import EXISTENCE, MICROSECONDS, STATUS, Interval
from conformance.oracle.ledger import attribution

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from conformance.oracle.effects import Effect
    from conformance.oracle.ledger.histories import History, Shown, Write
    from conformance.wire.exchange import Exchange

SPARING: Final = {
    "updateEngagement": "update-engagement-spares-others",
    "archiveEngagement": "archive-spares-others",
    "deleteEngagement": "delete-spares-others",
}
"""For an operation, the requirement that it leaves other engagements unchanged."""

_OF_SUCCESSES: Final = {
    "archiveEngagement": ("archive-keeps-content", "archived-again-stays-archived", "archived-readable"),
    "updateEngagement": (attribution.KEEPS_THE_REST, attribution.IN_PARALLEL, "update-engagement-own-values"),
}
"""For an operation, the requirements that blame it if its own engagement looks wrong afterwards."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def of_read(history: History, field: str, interval: Interval) -> set[str]:
    """Return the requirements that a correct field in a read supports, by the writes since the field's last write."""
    last = history.registers[field].latest(interval)
    if last is None:
        return set()
    meanwhile = history.between(last.interval.start, interval.end, but=(last.exchange,))
    supported = {requirement for write in meanwhile for requirement in _supported(history, field, last, write)}
    keeps = None if field == STATUS else attribution.keeps_text(last)
    return supported if keeps is None else supported | {keeps}


def of_others(others: Sequence[Write]) -> set[str]:
    """Return the requirements that a read supports or breaks, by the writes to other engagements."""
    return {SPARING[write.operation] for write in others if write.operation in SPARING and write.exchange.accepted}


def of_moved_time(
    history: History, shown: Shown, refused: Sequence[Write], others: Sequence[Write], within: float
) -> dict[str, Exchange]:
    """Return the requirements that a moved ``updatedAt`` may break with their requests, first that at the time shown.

    ``createdAt``, stated by the same clock, and the time of the creation relate that clock to the run's.

    Args:
        history: The engagement's history.
        shown: A response with the moved time.
        refused: The refused requests to change the engagement since it was read.
        others: The writes to other engagements since.
        within: Microseconds by which a request may be away from the time shown.
    """
    created, moved = shown.moment("createdAt"), shown.moment("updatedAt")
    since = 0.0 if created is None or moved is None else (moved - created).total_seconds()
    at = history.creation.interval.end + since * MICROSECONDS
    suspects = [(write, attribution.requirement_for_refusal(history, write)) for write in reversed(refused)]
    suspects += [(write, SPARING[write.operation]) for write in others if of_others([write])]
    away = {id(write): max(write.interval.start - at, at - write.interval.end, 0.0) for write, _ in suspects}
    suspects.sort(key=lambda suspect: away[id(suspect[0])])
    found: dict[str, Exchange] = {}
    for write, rule in suspects:
        if away[id(write)] <= within:
            found.setdefault(rule, write.exchange)
    return found


def blamed(
    history: History, requirement: str, interval: Interval, others: Sequence[Write], sent: Mapping[str, str] = _NOTHING
) -> tuple[Exchange, ...]:
    """Return the request that a requirement blames for a wrong response; none if it blames the response itself.

    Args:
        history: The engagement's history.
        requirement: The broken requirement.
        interval: The interval of the response.
        others: The writes to other engagements since the engagement was read last.
        sent: The wrong value, by its field; of several requests, one that sent it is blamed, else the last one.
    """
    own = history.between(attribution.seen_since(history), interval.end, but=(history.creation.exchange,))
    suspects = [write for write in others if of_others([write]) == {requirement}]
    suspects += [write for write in own if requirement in _blames(history, write)]
    sending = [write for write in suspects if any(attribution.sends(write, *value) for value in sent.items())]
    return tuple(write.exchange for write in (sending or suspects)[-1:])


def _blames(history: History, write: Write) -> Collection[str]:
    """Return the requirements that blame a write if its engagement looks wrong afterwards."""
    if write.exchange.refused:
        return (attribution.requirement_for_refusal(history, write),)
    return _OF_SUCCESSES.get(write.operation, ()) if write.exchange.accepted else ()


def of_refused_edit(history: History, interval: Interval) -> str | None:
    """Return the requirement that the first refusal of an edit after an archive supports."""
    archive = history.registers[STATUS].latest(interval)
    return "archive-effective-at-once" if archive is not None and _is_first(history, archive, interval) else None


def of_missing(history: History, interval: Interval) -> str | None:
    """Return the requirement that the first 404 of a deleted engagement supports."""
    deletion = history.registers[EXISTENCE].latest(interval)
    if deletion is None:
        return None
    earlier = any(deletion.interval.end <= when.start < interval.start for when, _ in history.reads)
    return None if earlier else "delete-effective-at-once"


def _is_first(history: History, archive: Effect, interval: Interval) -> bool:
    edits = (
        edit for edit in history.between(archive.interval.end, interval.start) if edit.operation == "updateEngagement"
    )
    return not any(archive.interval.before(edit.interval) and edit.interval.start < interval.start for edit in edits)


def _supported(history: History, field: str, last: Effect, write: Write) -> Iterator[str]:
    done = write.exchange.accepted
    if write.operation == "archiveEngagement" and field != STATUS and done:
        yield "archive-keeps-content"
    if write.operation == "archiveEngagement" and field == STATUS and last.value == "archived":
        yield "archived-again-stays-archived"
    if attribution.is_refused_edit(write):
        archived = history.registers[STATUS].certain_value(write.interval) == "archived"
        yield "archived-edit-changes-nothing" if archived else "update-engagement-refused-changes-nothing"
    if write.operation == "updateEngagement" and field == STATUS and "status" in write.exchange.sent_fields:
        yield "update-engagement-own-values"
    if write.operation == "updateEngagement" and done:
        yield attribution.IN_PARALLEL if write.interval.overlaps(last.interval) else attribution.KEEPS_THE_REST
