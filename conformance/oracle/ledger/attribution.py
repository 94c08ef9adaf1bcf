"""Attribution of an impossible value to the requirement that it breaks: by the last write that touched it."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.oracle.effects import EXISTENCE, STATUS, Effect, Interval, must_be_echoed
from conformance.oracle.permissions import Rule, rule_of
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger.clock import CreationClock
    from conformance.oracle.ledger.findings import Findings
    from conformance.oracle.ledger.histories import History, Shown, Write
    from conformance.wire.exchange import Exchange

_LASTS = "create-engagement-lasts"
_TAKES_EFFECT = "update-engagement-takes-effect"
KEEPS_THE_REST = "update-engagement-keeps-the-rest"
IN_PARALLEL = "update-engagement-in-parallel"
AS_READ = "list-engagements-as-read"

MOVES: Final = {
    "updateEngagement": "update-engagement-moves-updated-at",
    "archiveEngagement": "archive-refreshes-updated-at",
}
"""For an operation, the requirement that it moves updatedAt."""

_LOST: Final = {"organizations": "organization", "engagements": "engagements"}
"""By family, what a removed member loses."""

_GIVES: Final = {"archived": "archiveEngagement", "active": "unarchiveEngagement"}
"""For a status, the operation that leads to it."""

_KEEPS_TEXT: Final = {
    "createEngagement": "create-engagement-keeps-text",
    "updateEngagement": "update-engagement-keeps-text",
}


def requirement_for_text(
    history: History, *, field: str, value: str | None, interval: Interval, others: Sequence[Write]
) -> str:
    """Return the requirement that judges a text of an engagement, or that the text breaks.

    Args:
        history: The engagement's history.
        field: ``name`` or ``description``.
        value: The impossible value that a read shows; None if the value is possible.
        interval: The interval of the read.
        others: The writes to other engagements meanwhile.
    """
    last = history.registers[field].latest(interval)
    if last is None:
        return _LASTS
    confirmed, meanwhile = _since_confirmed(history, field, last, interval)
    if value is None:
        return _owner(last)
    is_stale = any(effect.value == value for effect in history.registers[field].effects)
    suspects = meanwhile if is_stale else history.between(0.0, interval.end)
    if refusal := _carrying(field, value, suspects):
        return requirement_for_refusal(history, refusal)
    if not is_stale and any(write.exchange.accepted and sends(write, field, value) for write in others):
        return "update-engagement-spares-others"
    is_new = not is_stale and not any(write.exchange.accepted for write in meanwhile)
    if is_new and not _is_seen(history, field, last) and (keeps := keeps_text(last)):
        return keeps
    return _of_own(history, last, meanwhile, field, is_lost=confirmed is None and is_stale)


def keeps_text(write: Effect) -> str | None:
    """Return the requirement to keep a text as sent; None for a text that is no test of it."""
    if not write.value or must_be_echoed(write.value):
        return None
    return _KEEPS_TEXT[write.exchange.operation_id]


def is_ambiguous(history: History, field: str, interval: Interval) -> bool:
    """Whether a wrong text may have several causes.

    The last write may have been lost, or undone by a later request before the read.
    """
    last = history.registers[field].latest(interval)
    if last is None:
        return False
    confirmed, meanwhile = _since_confirmed(history, field, last, interval)
    causes = {write.operation for write in meanwhile if write.exchange.accepted}
    return len(causes) > 1 or (confirmed is None and bool(causes - {"unarchiveEngagement"}))


def requirement_for_status(history: History, *, value: str | None, interval: Interval, others: Sequence[Write]) -> str:
    """Return the requirement that judges the status of an engagement, or that the status breaks."""
    last = history.registers[STATUS].latest(interval)
    if last is None:
        return "new-engagement-active"
    confirmed, meanwhile = _since_confirmed(history, STATUS, last, interval)
    if value is not None and (refusal := _refused(_GIVES[value], _until_wrong_status(history, last, interval))):
        return requirement_for_refusal(history, refusal)
    if last.value == "archived":
        return _of_archived(meanwhile, read_before=confirmed is not None, wrong=value is not None)
    return (
        "new-engagement-active" if value is None else _of_active(meanwhile, others, read_before=confirmed is not None)
    )


def requirement_for_list(
    history: History, *, field: str, value: str, interval: Interval, others: Sequence[Write]
) -> str:
    """Return the requirement that a list breaks if it shows an impossible value.

    If a read or another list has shown a possible value and no known request changed it since, the list itself is
    wrong. Otherwise it is the requirement that a read with the same value would break.
    """
    last = history.registers[field].latest(interval)
    cause = requirement_for_status if field == STATUS else partial(requirement_for_text, field=field)
    rule, kept = (cause(history, value=shown, interval=interval, others=others) for shown in (value, None))
    return AS_READ if rule == kept and last is not None and _is_seen(history, field, last) else rule


def is_late(history: History, fields: Sequence[str], interval: Interval) -> bool:
    """Whether a list lacks the effects of different operations: then it is stale, rather than all of them lost."""
    lasts = [history.registers[field].latest(interval) for field in fields]
    return len({None if last is None else last.exchange.operation_id for last in lasts}) > 1


def count_other_candidates(history: History, field: str, interval: Interval) -> int:
    """Return how many changes since the last one of a field could explain the impossible value in a list."""
    last = history.registers[field].latest(interval)
    meanwhile = [] if last is None else history.between(last.interval.start, interval.end, but=(last.exchange,))
    return sum(1 for write in meanwhile if write.exchange.accepted)


def resolve(history: History, findings: Findings, field: str, interval: Interval) -> None:
    """Attribute earlier findings to the lists themselves, since a read shows the field unchanged and possible.

    Args:
        history: The engagement's history.
        findings: The findings that include those of the lists.
        field: The field.
        interval: The interval of the read.
    """
    last = history.registers[field].latest(interval)
    alike = [
        open_finding
        for open_finding in history.open_findings
        if open_finding.field == field and open_finding.last is last
    ]
    for open_finding in alike:
        findings.resolve(open_finding.place, AS_READ)
        history.open_findings.remove(open_finding)


def seen_since(history: History) -> float:
    """Return when an engagement was read last, or created."""
    return history.snapshots[-1].interval.start if history.snapshots else history.creation.interval.start


def requirement_for_absence(history: History, interval: Interval, others: Sequence[Write]) -> str:
    """Return the requirement that the absence of an engagement breaks."""
    seen = [*history.snapshots[-1:], *history.listed.values()]
    if not seen:
        return _LASTS
    last = max(snapshot.interval.start for snapshot in seen)
    until = history.wrong_since.get(EXISTENCE, interval).end
    meanwhile = history.between(last, until, but=(history.creation.exchange,))
    if refusal := _refused("deleteEngagement", meanwhile):
        return requirement_for_refusal(history, refusal)
    done = [write for write in meanwhile if write.exchange.accepted]
    if done and done[-1].operation == "archiveEngagement":
        return "archived-readable"
    if done and done[-1].operation == "updateEngagement":
        return KEEPS_THE_REST
    deletions = [write for write in others if write.operation == "deleteEngagement" and write.exchange.accepted]
    return "delete-spares-others" if deletions else _LASTS


def requirement_for_refusal(history: History, refused: Write) -> str:
    """Return the requirement that a refused request changes nothing, by its key, else by the engagement's status."""
    archived = history.registers[STATUS].certain_value(refused.interval) == "archived"
    again = archived and refused.operation == "archiveEngagement"
    by_status = "archived-edit-changes-nothing" if archived else "update-engagement-refused-changes-nothing"
    return requirement_for_refused_key(refused.exchange) or ("archived-again-stays-archived" if again else by_status)


def requirement_for_refused_key(exchange: Exchange) -> str | None:
    """Return the requirement that a request which was refused for its key changes nothing; None for another reason."""
    status, key = exchange.received_status, exchange.request.credential
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "throttled-changes-nothing"
    if key is None or exchange.by_main_key:
        return None
    lacks_permission = rule_of(exchange.request) is Rule.REFUSED or status == HTTPStatus.FORBIDDEN
    rules = {
        "unauthenticated-changes-nothing": key.invalid,
        "isolation-untouched": key.name == OTHER_KEY,
        "scope-refused-changes-nothing": lacks_permission,
        f"removed-member-loses-{_LOST[exchange.request.operation.family]}": status == HTTPStatus.UNAUTHORIZED,
    }
    return next((rule for rule, applies in rules.items() if applies), None)


def only_change(history: History, before: Shown, after: Shown, clock: CreationClock) -> Write | None:
    """Return the only write between two responses, if it must have moved ``updatedAt``.

    Args:
        history: The engagement's history.
        before: A response that shows the engagement before the write.
        after: A response that shows it afterwards.
        clock: The service's clock.
    """
    meanwhile = [write for write in history.between(history.since(before), after.interval.end) if write.effects]
    if len(meanwhile) != 1 or not meanwhile[0].exchange.accepted or meanwhile[0].operation not in MOVES:
        return None
    (change,) = meanwhile
    if not (before.interval.before(change.interval) and change.interval.before(after.interval)):
        return None
    earlier = [interval.end for interval in history.changes() if interval.start < change.interval.start]
    writes = history.between(0.0, change.interval.end)
    tick = clock.tick({write.exchange.request.key_name for write in writes if not write.exchange.refused})
    alters = any(effect.certain and effect.value not in {None, before.text(effect.field)} for effect in change.effects)
    return change if alters and change.interval.start - max(earlier) >= tick else None


def is_refused_edit(write: Write) -> bool:
    """Whether a write is an edit that was refused for its content, not for its key or the rate limit."""
    is_for_content = write.exchange.by_main_key and write.exchange.received_status not in {401, 429}
    return write.operation == "updateEngagement" and write.exchange.refused and is_for_content


def _since_confirmed(
    history: History, field: str, last: Effect, interval: Interval
) -> tuple[Shown | None, list[Write]]:
    """Return the last read that showed the last write, and the other writes since that read, or since that write."""
    confirmed = history.confirmed.get(field)
    if confirmed is not None and not last.interval.before(confirmed.interval):
        confirmed = None
    since = last if confirmed is None else confirmed
    return confirmed, history.between(since.interval.start, interval.end, but=(last.exchange,))


def _is_seen(history: History, field: str, last: Effect) -> bool:
    """Whether a read or a list has shown the last write."""
    seen = [snapshot for snapshot in (history.confirmed.get(field), history.listed.get(field)) if snapshot is not None]
    values = [(snapshot.interval.end, snapshot.text(field)) for snapshot in seen]
    return any(end >= last.interval.end and value is not None and last.fits(value) for end, value in values)


def _of_active(meanwhile: Sequence[Write], others: Sequence[Write], *, read_before: bool) -> str:
    edits = [write for write in meanwhile if write.operation == "updateEngagement"]
    if any("status" in write.exchange.sent_fields for write in edits):
        return "update-engagement-own-values"
    if any(write.exchange.accepted for write in edits):
        return KEEPS_THE_REST
    archives = [write for write in others if write.operation == "archiveEngagement" and write.exchange.accepted]
    return "archive-spares-others" if read_before and archives else "new-engagement-active"


def _of_archived(meanwhile: Sequence[Write], *, read_before: bool, wrong: bool) -> str:
    if not (read_before and wrong):
        return "archive-sets-status"
    if any(write.operation == "archiveEngagement" for write in meanwhile):
        return "archived-again-stays-archived"
    return "archived-edit-changes-nothing" if any(map(is_refused_edit, meanwhile)) else "archive-sets-status"


def _of_own(history: History, last: Effect, meanwhile: Sequence[Write], field: str, *, is_lost: bool) -> str:
    """Return the requirement that the engagement's own changes broke in a text.

    Args:
        history: The engagement's history.
        last: The last write of the text.
        meanwhile: The other writes since.
        field: The text.
        is_lost: Whether the last write was never read, but an older value was.
    """
    edits = [write for write in meanwhile if write.operation == "updateEngagement" and write.exchange.accepted]
    if _is_edit(last) and any(write.interval.overlaps(last.interval) for write in edits):
        return IN_PARALLEL
    return _owner(last) if is_lost else _of_last(history, meanwhile, field, default=_owner(last))


def _of_last(history: History, meanwhile: Sequence[Write], field: str, *, default: str) -> str:
    """Return the requirement of the last write that must not have changed the engagement's texts."""
    if meanwhile and is_refused_edit(meanwhile[-1]) and field in meanwhile[-1].exchange.sent_fields:
        return "update-engagement-refused-changes-nothing"
    done = [write for write in meanwhile if write.exchange.accepted]
    if done:
        in_archive = history.registers[STATUS].certain_value(done[-1].interval) == "archived"
        of_edit = "archived-edit-changes-nothing" if in_archive else KEEPS_THE_REST
        return {"archiveEngagement": "archive-keeps-content", "updateEngagement": of_edit}.get(
            done[-1].operation, default
        )
    return "update-engagement-refused-changes-nothing" if any(map(is_refused_edit, meanwhile)) else default


def _owner(last: Effect) -> str:
    return _TAKES_EFFECT if _is_edit(last) else _LASTS


def _is_edit(effect: Effect) -> bool:
    return effect.exchange.operation_id == "updateEngagement"


def _until_wrong_status(history: History, last: Effect, interval: Interval) -> list[Write]:
    """Return the writes from the last response with the right status to the first one with a wrong status."""
    right = [seen for seen in (history.confirmed.get(STATUS), history.listed.get(STATUS)) if seen is not None]
    since = max([last.interval.start, *(seen.interval.start for seen in right)])
    until = history.wrong_since.get(STATUS, interval).end
    return history.between(since, until, but=(last.exchange,))


def _carrying(field: str, value: str, meanwhile: Sequence[Write]) -> Write | None:
    """Return a refused edit that carried the value read."""
    return next((write for write in meanwhile if write.exchange.refused and sends(write, field, value)), None)


def _refused(operation: str, meanwhile: Sequence[Write]) -> Write | None:
    """Return the last refused request of an operation with another key than the main one."""
    return next(
        (
            write
            for write in reversed(meanwhile)
            if write.operation == operation and write.exchange.refused and not write.exchange.by_main_key
        ),
        None,
    )


def sends(write: Write, field: str, value: str) -> bool:
    """Whether a write is an edit that sent a value of a field."""
    is_edit = write.operation == "updateEngagement" and bool(value)
    return is_edit and write.exchange.sent_fields.get(field) == value
