"""What the ledger says of answers about one engagement: reads, and requests that were to change it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import ledger_causes as causes
from conformance.oracle.effects import STATUS, TEXTS, Span, accepted, is_plain, refused, sent_object
from conformance.oracle.histories import Attempt, History, Sight
from conformance.oracle.laws import readable_resources
from conformance.oracle.ledger_findings import Finding, Findings
from conformance.oracle.words import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.wire.exchange import Exchange

_STATUSES: Final = frozenset({"active", "archived"})
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_NOT_JUDGED: Final = frozenset({401, 429})
_NOT_SERVED: Final = frozenset({404, 405})
_OPEN_LENGTH: Final = 200
_OF_DELETED: Final = {
    "updateEngagement": "deleted-uneditable",
    "archiveEngagement": "deleted-unarchivable",
    "unarchiveEngagement": "deleted-not-unarchived",
    "deleteEngagement": "deleted-undeletable",
}
_REFUSALS_OF_UNARCHIVE: Final = frozenset({400, 403, 404, 415, 422})


@dataclass(frozen=True, slots=True)
class Judging:
    """What rules about one engagement may use.

    Attributes:
        findings: Where they note what they come to.
        others: Gives what changed other engagements since a time.
    """

    findings: Findings
    others: Callable[[History, float, float], Sequence[Attempt]]

    def read(self, history: History, exchange: Exchange) -> None:
        """Judge the answer to a read."""
        span, status = Span.of(exchange), _status(exchange)
        if history.broken or status in _NOT_JUDGED:
            return
        if (deletion := history.deletion(span)) is not None:
            self._deleted_read(history, exchange, span, deletion.exchange)
        elif accepted(exchange):
            self._shown(history, exchange, span)
        elif refused(exchange) and history.exists(span):
            self._missing(history, exchange, span)

    def change(self, history: History, exchange: Exchange) -> None:
        """Judge the answer to an edit, an archive, an unarchive or a deletion."""
        span, status = Span.of(exchange), _status(exchange)
        if history.broken or status in _NOT_JUDGED or not (accepted(exchange) or refused(exchange)):
            return
        if (deletion := history.deletion(span)) is not None:
            self._deleted_change(history, exchange, deletion.exchange)
        elif history.exists(span) or (exchange.call.operation.id == "deleteEngagement" and accepted(exchange)):
            judge = {
                "updateEngagement": self._edit,
                "archiveEngagement": self._archive,
                "unarchiveEngagement": self._unarchive,
                "deleteEngagement": self._delete,
            }[exchange.call.operation.id]
            judge(history, exchange, span)

    # Reads

    def _deleted_read(self, history: History, exchange: Exchange, span: Span, deletion: Exchange) -> None:
        later = [status for when, status in history.reads if when.start > span.start and status == _NOT_FOUND]
        since = Span.of(deletion).end
        earlier = [status for when, status in history.reads if since <= when.start < span.start]
        slipped = accepted(exchange) and later and _NOT_FOUND not in earlier
        requirement = "delete-effective-at-once" if slipped else "deleted-unreadable"
        finding = _finding(requirement, exchange, deletion, message="a deleted engagement was read", expected="404")
        self._conclude(history, finding, right=_status(exchange) == _NOT_FOUND)

    def _missing(self, history: History, exchange: Exchange, span: Span) -> None:
        last = history.sights[-1].exchange if history.sights else history.creation.exchange
        requirement = "get-engagement-succeeds"
        if _status(exchange) == _NOT_FOUND:
            requirement = causes.of_absence(history, span, self._others_since(history, span))
        elif history.registers[STATUS].surely(span) == "archived":
            requirement = "archived-readable"
        message = "an engagement that is there was not read"
        self._break(history, _finding(requirement, exchange, last, message=message, expected="200"))

    def _shown(self, history: History, exchange: Exchange, span: Span) -> None:
        data = next(iter(readable_resources(exchange)), None)
        if data is None or not isinstance(data.get("id"), str):
            return
        requirement, message = "get-engagement-is-the-one-asked-for", "another engagement was read"
        finding = _finding(
            requirement, exchange, history.creation.exchange, message=message, expected=shown(history.identifier),
            actual=shown(data["id"]), pointer="/data/id",
        )  # fmt: skip
        self._conclude(history, finding, right=data["id"] == history.identifier)
        if data["id"] != history.identifier:
            return
        sight = Sight(exchange, span, data)
        for name in (*TEXTS, STATUS):
            self._field(history, sight, name)
        for name, of_times in (("createdAt", "created-at-never-changes"), ("updatedAt", "updated-at-never-goes-back")):
            self._time(history, sight, name, of_times)
        self._untouched(history, sight)
        history.sights.append(sight)

    def _field(self, history: History, sight: Sight, name: str) -> None:
        register, value = history.registers[name], sight.text(name)
        if history.broken or value is None or (name == STATUS and value not in _STATUSES):
            return
        may = register.may_be(value, sight.span)
        others = [] if may else self._others_since(history, sight.span)
        cause = causes.of_status if name == STATUS else partial(causes.of_text, field=name)
        requirement = cause(history, value=None if may else value, span=sight.span, others=others)
        if may:
            register.settle(value, sight.span)
            history.good[name] = sight
            self.findings.keep(requirement, sight.exchange)
            return
        candidates = register.candidates(sight.span)
        good = [history.good[name].exchange] if name in history.good else []
        expected = " or ".join(dict.fromkeys(shown(one.value) for one in candidates))
        because = *(one.exchange for one in candidates), *good
        finding = _finding(
            requirement, sight.exchange, *because, message=f"{name} reads as it cannot", expected=expected,
            actual=shown(value), pointer=f"/data/{name}",
        )  # fmt: skip
        ambiguous = name != STATUS and causes.is_ambiguous(history, name, sight.span)
        self._break(history, replace(finding, ambiguous=ambiguous))

    def _time(self, history: History, sight: Sight, name: str, requirement: str) -> None:
        """No time goes back, and that of the creation does not move at all."""
        now = sight.moment(name)
        past = [(then, one) for one in history.sights if one.span.before(sight.span) and (then := one.moment(name))]
        if history.broken or now is None or not past:
            return
        then, before = max(past, key=lambda one: (one[0], one[1].span.end))
        right = now == then if name == "createdAt" else now >= then
        expected = f"{before.text(name)}{'' if name == 'createdAt' else ' or later'}"
        message = f"{name} has {'changed' if name == 'createdAt' else 'gone back'}"
        finding = _finding(
            requirement, sight.exchange, before.exchange, message=message, expected=expected,
            actual=sight.text(name), pointer=f"/data/{name}",
        )  # fmt: skip
        self._conclude(history, finding, right=right)

    def _untouched(self, history: History, sight: Sight) -> None:
        """A refused edit leaves updatedAt as it was."""
        before = next((one for one in reversed(history.sights) if one.span.before(sight.span)), None)
        if history.broken or before is None or not history.quiet(before.span.start, sight.span.end):
            return
        edits = [one for one in history.between(before.span.end, sight.span.start) if causes.is_refused_edit(one)]
        then, now = before.moment("updatedAt"), sight.moment("updatedAt")
        if not edits or then is None or now is None:
            return
        archived = history.registers[STATUS].surely(sight.span) == "archived"
        requirement = "archived-edit-changes-nothing" if archived else "update-engagement-refused-changes-nothing"
        finding = _finding(
            requirement, sight.exchange, before.exchange, *(one.exchange for one in edits),
            message="updatedAt has moved although the edit was refused", expected=str(before.text("updatedAt")),
            actual=sight.text("updatedAt"), pointer="/data/updatedAt",
        )  # fmt: skip
        self._conclude(history, finding, right=then == now)

    # Changes

    def _deleted_change(self, history: History, exchange: Exchange, deletion: Exchange) -> None:
        operation = exchange.call.operation.id
        if operation == "unarchiveEngagement":
            right, expected = _status(exchange) in _REFUSALS_OF_UNARCHIVE, "404, 400, 403, 415 or 422"
        else:
            # What a request lacks besides may be said first, where it lacks anything.
            sound = operation != "updateEngagement" or _is_sound_edit(exchange)
            right, expected = _status(exchange) == _NOT_FOUND or (refused(exchange) and not sound), "404"
        message = f"{operation} found a deleted engagement"
        finding = _finding(_OF_DELETED[operation], exchange, deletion, message=message, expected=expected)
        self._conclude(history, finding, right=right)

    def _edit(self, history: History, exchange: Exchange, span: Span) -> None:
        status = history.registers[STATUS]
        because = tuple(one.exchange for one in status.candidates(span))
        if status.surely(span) == "archived":
            right = refused(exchange) and _status(exchange) != _NOT_FOUND
            message = f"an archived engagement was {'edited' if accepted(exchange) else 'not found by an edit'}"
            requirement, expected = self._of_archived_edit(history, exchange, span), "a 4xx other than 401, 404 and 429"
        elif status.surely(span) == "active" and _is_sound_edit(exchange):
            # A conflict may be with another edit, or with a name in use.
            right = accepted(exchange) or _status(exchange) == _CONFLICT
            message, expected = "an active engagement could not be edited", "any 2xx"
            requirement = "unarchived-editable" if _by_unarchive(because) else "update-engagement-succeeds"
        else:
            return
        finding = _finding(requirement, exchange, *because, message=message, expected=expected)
        self._conclude(history, finding, right=right)

    def _of_archived_edit(self, history: History, exchange: Exchange, span: Span) -> str:
        """Whether the archive came into effect at last, after some edits had slipped in."""
        status = history.registers[STATUS]
        last = status.latest(span)
        if last is None or not accepted(exchange):
            return "archived-edit-refused"
        edits = [one for one in history.attempts if causes.is_refused_edit(one) and last.span.before(one.span)]
        earlier = any(one.span.start < span.start for one in edits)
        later = any(one.span.start > span.start and status.surely(one.span) == "archived" for one in edits)
        return "archive-effective-at-once" if later and not earlier else "archived-edit-refused"

    def _archive(self, history: History, exchange: Exchange, span: Span) -> None:
        before = [one for one in history.registers[STATUS].candidates(span) if one.exchange is not exchange]
        unsure = any(one.value != "active" or one.span.meets(span) for one in before)
        if unsure or not history.alone(span, exchange):
            return
        because = tuple(one.exchange for one in before)
        requirement = "unarchived-archivable" if _by_unarchive(because) else "archive-engagement-succeeds"
        message = "an active engagement could not be archived"
        finding = _finding(requirement, exchange, *because, message=message, expected="any 2xx")
        self._conclude(history, finding, right=accepted(exchange))

    def _unarchive(self, history: History, exchange: Exchange, _: Span) -> None:
        message, expected = "unarchiving was not served", "any 2xx, or a 4xx other than 401, 404, 405 and 429"
        because = history.creation.exchange
        finding = _finding("unarchive-served", exchange, because, message=message, expected=expected)
        self._conclude(history, finding, right=_status(exchange) not in _NOT_SERVED)

    def _delete(self, history: History, exchange: Exchange, span: Span) -> None:
        if not history.alone(span, exchange):
            return
        archived = history.registers[STATUS].surely(span) == "archived"
        requirement = "archived-deletable" if archived else "delete-engagement-succeeds"
        message = "an engagement could not be deleted"
        finding = _finding(requirement, exchange, history.creation.exchange, message=message, expected="200")
        self._conclude(history, finding, right=accepted(exchange))

    # Conclusions

    def _others_since(self, history: History, span: Span) -> Sequence[Attempt]:
        since = history.sights[-1].span.start if history.sights else history.creation.span.start
        return self.others(history, since, span.end)

    def _conclude(self, history: History, finding: Finding, *, right: bool) -> None:
        if right:
            self.findings.keep(finding.requirement, finding.exchange)
        else:
            self._break(history, finding)

    def _break(self, history: History, finding: Finding) -> None:
        history.broken = True
        self.findings.broken.append(replace(finding, identifier=history.identifier))


def _finding(
    requirement: str, exchange: Exchange, *because: Exchange, message: str, expected: str, actual: str | None = None,
    pointer: str | None = None,
) -> Finding:  # fmt: skip
    """A finding, which stands only where its rule was broken; without ``actual`` it is the status that is wrong."""
    words = str(_status(exchange)) if actual is None else actual
    return Finding(requirement, exchange, because, message, expected, words, pointer)


def _by_unarchive(exchanges: Sequence[Exchange]) -> bool:
    return any(one.call.operation.id == "unarchiveEngagement" for one in exchanges)


def _is_sound_edit(exchange: Exchange) -> bool:
    """Whether an edit is one that nothing is wrong with: a name or a description, neither empty nor odd nor long."""
    body: dict[str, Any] = sent_object(exchange) or {}
    texts = [value for value in body.values() if isinstance(value, str) and 0 < len(value) <= _OPEN_LENGTH]
    orderly = all(is_plain(text) and text.isascii() for text in texts)
    return bool(body) and body.keys() <= set(TEXTS) and len(texts) == len(body) and orderly


def _status(exchange: Exchange) -> int:
    return 0 if exchange.received is None else exchange.received.status
