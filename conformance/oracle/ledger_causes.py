"""Which requirement is broken where an engagement reads as it cannot: what was the last to touch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.oracle.effects import STATUS, Effect, Span, accepted, is_main, refused, sent_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.histories import Attempt, History, Sight

LASTS = "create-engagement-lasts"
TAKES_EFFECT = "update-engagement-takes-effect"
KEEPS_THE_REST = "update-engagement-keeps-the-rest"
IN_PARALLEL = "update-engagement-in-parallel"


def of_text(history: History, *, field: str, value: str | None, span: Span, others: Sequence[Attempt]) -> str:
    """The requirement that a text of an engagement is judged by, or breaks.

    Args:
        history: The engagement's.
        field: ``name`` or ``description``.
        value: What a read shows; None where it shows what it may.
        span: When it was read.
        others: What changed other engagements meanwhile.
    """
    last = history.registers[field].latest(span)
    if last is None:
        return LASTS
    good = _good_since(history, field, last)
    meanwhile = history.between(good.span.start if good else last.span.start, span.end, but=(last.exchange,))
    if value is None:
        return _owner(last)
    if refusal := _carrying(field, value, meanwhile):
        archived = history.registers[STATUS].surely(refusal.span) == "archived"
        return "archived-edit-changes-nothing" if archived else "update-engagement-refused-changes-nothing"
    is_stale = any(one.value == value for one in history.registers[field].effects)
    if not is_stale and any(accepted(one.exchange) and _sends(one, field, value) for one in others):
        return "update-engagement-spares-others"
    return _of_own(last, meanwhile, is_lost=good is None and is_stale)


def is_ambiguous(history: History, field: str, span: Span) -> bool:
    """Whether a wrong text may have several causes.

    The last write may have been lost, or undone by what touched the engagement before it was read.
    """
    last = history.registers[field].latest(span)
    if last is None:
        return False
    good = _good_since(history, field, last)
    meanwhile = history.between(good.span.start if good else last.span.start, span.end, but=(last.exchange,))
    causes = {one.operation for one in meanwhile if accepted(one.exchange)}
    return len(causes) > 1 or (good is None and bool(causes - {"unarchiveEngagement"}))


def of_status(history: History, *, value: str | None, span: Span, others: Sequence[Attempt]) -> str:
    """The requirement that the status of an engagement is judged by, or breaks."""
    last = history.registers[STATUS].latest(span)
    if last is None:
        return "new-engagement-active"
    good = _good_since(history, STATUS, last)
    meanwhile = history.between(good.span.start if good else last.span.start, span.end, but=(last.exchange,))
    if last.value == "archived":
        return _of_archived(meanwhile, read_before=good is not None, wrong=value is not None)
    if value is None:
        return "new-engagement-active"
    edits = [one for one in meanwhile if one.operation == "updateEngagement"]
    if any("status" in (sent_object(one.exchange) or {}) for one in edits):
        return "update-engagement-own-values"
    if any(accepted(one.exchange) for one in edits):
        return KEEPS_THE_REST
    archives = [one for one in others if one.operation == "archiveEngagement" and accepted(one.exchange)]
    return "archive-spares-others" if good is not None and archives else "new-engagement-active"


def of_absence(history: History, span: Span, others: Sequence[Attempt]) -> str:
    """The requirement that an engagement's being there is judged by, or breaks."""
    last = history.sights[-1] if history.sights else None
    if last is None:
        return LASTS
    meanwhile = history.between(last.span.start, span.end, but=(history.creation.exchange,))
    done = [one for one in meanwhile if accepted(one.exchange)]
    if done and done[-1].operation == "archiveEngagement":
        return "archived-readable"
    if done and done[-1].operation == "updateEngagement":
        return KEEPS_THE_REST
    deletions = [one for one in others if one.operation == "deleteEngagement" and accepted(one.exchange)]
    return "delete-spares-others" if deletions else LASTS


def is_refused_edit(one: Attempt) -> bool:
    """Whether an attempt is an edit that was refused for what it is, and not for its key or its haste."""
    status = None if one.exchange.received is None else one.exchange.received.status
    judged = is_main(one.exchange) and status not in {401, 429}
    return one.operation == "updateEngagement" and refused(one.exchange) and judged


def _good_since(history: History, field: str, last: Effect) -> Sight | None:
    """The last read that showed what was written last."""
    good = history.good.get(field)
    return good if good is not None and last.span.before(good.span) else None


def _of_archived(meanwhile: Sequence[Attempt], *, read_before: bool, wrong: bool) -> str:
    if not (read_before and wrong):
        return "archive-sets-status"
    if any(one.operation == "archiveEngagement" for one in meanwhile):
        return "archived-again-stays-archived"
    return "archived-edit-changes-nothing" if any(map(is_refused_edit, meanwhile)) else "archive-sets-status"


def _of_own(last: Effect, meanwhile: Sequence[Attempt], *, is_lost: bool) -> str:
    """What the engagement's own changes did to a text.

    Args:
        last: What wrote it last.
        meanwhile: The other changes since.
        is_lost: Whether what was written last was never read, but something older.
    """
    edits = [one for one in meanwhile if one.operation == "updateEngagement" and accepted(one.exchange)]
    if _is_edit(last) and any(one.span.meets(last.span) for one in edits):
        return IN_PARALLEL
    return _owner(last) if is_lost else _of_last(meanwhile, default=_owner(last))


def _of_last(meanwhile: Sequence[Attempt], *, default: str) -> str:
    """What touched the engagement last, of those that must leave its texts alone."""
    causes = {
        "archiveEngagement": "archive-keeps-content",
        "updateEngagement": KEEPS_THE_REST,
    }
    done = [one for one in meanwhile if accepted(one.exchange)]
    if done:
        return causes.get(done[-1].operation, default)
    return "update-engagement-refused-changes-nothing" if any(map(is_refused_edit, meanwhile)) else default


def _owner(last: Effect) -> str:
    return TAKES_EFFECT if _is_edit(last) else LASTS


def _is_edit(effect: Effect) -> bool:
    return effect.exchange.call.operation.id == "updateEngagement"


def _carrying(field: str, value: str, meanwhile: Sequence[Attempt]) -> Attempt | None:
    """A refused edit that carried what is read."""
    return next((one for one in meanwhile if is_refused_edit(one) and _sends(one, field, value)), None)


def _sends(one: Attempt, field: str, value: str) -> bool:
    edit = one.operation == "updateEngagement" and bool(value)
    return edit and (sent_object(one.exchange) or {}).get(field) == value
