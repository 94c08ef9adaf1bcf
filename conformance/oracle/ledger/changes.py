"""Ledger rules for responses to requests that were to change one engagement."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle.effects import STATUS, TEXTS, Interval, must_be_accepted, must_be_echoed
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.ledger import attribution, evidence
from conformance.oracle.ledger.histories import Shown
from conformance.oracle.ledger.names import Names, sent_name
from conformance.oracle.ledger.rules import NOT_FOR_CONTENT, NOT_FOUND, EngagementRules, finding_of
from conformance.oracle.rendering import render
from conformance.wire.exchange import BESIDE_OTHERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger.accepted_texts import AcceptedTexts
    from conformance.oracle.ledger.histories import History
    from conformance.wire.exchange import Exchange

_NOT_SERVED: Final = frozenset({401, 404, 405})
_OF_DELETED: Final = {
    "updateEngagement": "deleted-uneditable",
    "archiveEngagement": "deleted-unarchivable",
    "unarchiveEngagement": "deleted-not-unarchived",
    "deleteEngagement": "deleted-undeletable",
}
REFUSALS_OF_UNARCHIVE: Final = (400, 403, 404, 415, 422)
"""The statuses that refuse unarchiving what does not exist; its body is unspecified, and may be refused first."""


@dataclass(frozen=True, slots=True)
class Changes(EngagementRules):
    """Rules of creations, edits, archives, unarchives and deletions.

    Attributes:
        names: The names in use.
        texts: The names and the descriptions that the service accepts.
    """

    names: Names
    texts: tuple[AcceptedTexts, ...]

    def not_created(self, exchange: Exchange) -> None:
        """Judge a creation that was refused with a conflict, which can only be with a name in use."""
        name = sent_name(exchange)
        if name is None or exchange.received_status != HTTPStatus.CONFLICT or not _is_sound_edit(exchange):
            return
        if not self.names.may_be_in_use(name, Interval.of(exchange)):
            message = "a creation was refused with a conflict, but no engagement has that name"
            finding = finding_of("create-engagement-succeeds", exchange, message=message, expected="any 2xx")
            self.findings.broken.append(finding)

    def created(self, history: History, exchange: Exchange) -> None:
        """Judge the response to a creation by the sent texts that must be echoed."""
        sent = exchange.sent_fields
        snapshot = Shown(exchange, Interval.of(exchange), first_resource(exchange) or {})
        for name in TEXTS:
            responded = snapshot.text(name)
            if history.broken or responded is None or not must_be_echoed(sent.get(name)):
                continue
            finding = finding_of(
                "create-engagement-answers-what-was-sent", exchange, message=f"{name} is not what was sent",
                expected=render(sent[name]), actual=render(responded), pointer=f"/data/{name}",
            )  # fmt: skip
            self.conclude(history, finding, right=responded == sent[name])

    def undescribed(self, exchange: Exchange) -> None:
        """Judge the response to a creation without a description, which must not have one that another request sent.

        A service may describe an engagement by itself, but not with a text that belongs to another.
        """
        _, descriptions = self.texts
        data, sent = first_resource(exchange) or {}, exchange.sent_object
        responded = Shown(exchange, Interval.of(exchange), data).text("description")
        is_undescribed = sent is not None and not sent.get("description") and responded != sent.get("name")
        if exchange.accepted and is_undescribed and responded in descriptions.distinctive:
            message = "the description is that of another engagement"
            finding = finding_of(
                "create-engagement-answers-what-was-sent", exchange, message=message,
                expected="no description", actual=render(responded), pointer="/data/description",
            )  # fmt: skip
            self.findings.broken.append(finding)

    def change(self, history: History, exchange: Exchange) -> None:
        """Judge the response to an edit, an archive, an unarchive or a deletion."""
        interval, status = Interval.of(exchange), exchange.received_status
        if history.broken or not (exchange.accepted or exchange.refused):
            return
        if status in BESIDE_OTHERS and not history.alone(interval, exchange):
            return
        if (deletion := history.deletion(interval)) is not None:
            self._deleted_change(history, exchange, deletion.exchange)
        elif history.exists(interval) or (exchange.operation_id == "deleteEngagement" and exchange.accepted):
            judge = {
                "updateEngagement": self._edit,
                "archiveEngagement": self._archive,
                "unarchiveEngagement": self._unarchive,
                "deleteEngagement": self._delete,
            }[exchange.operation_id]
            judge(history, exchange, interval)

    def _deleted_change(self, history: History, exchange: Exchange, deletion: Exchange) -> None:
        operation = exchange.operation_id
        if operation == "unarchiveEngagement":
            right, expected = exchange.received_status in REFUSALS_OF_UNARCHIVE, "404, 400, 403, 415 or 422"
        else:
            # If the request has other defects, the service may report those first.
            sound = operation != "updateEngagement" or _is_sound_edit(exchange)
            right, expected = exchange.received_status == NOT_FOUND or (exchange.refused and not sound), "404"
        message = f"{operation} treated a deleted engagement as existing"
        finding = finding_of(_OF_DELETED[operation], exchange, deletion, message=message, expected=expected)
        self.conclude(history, finding, right=right)

    def _edit(self, history: History, exchange: Exchange, interval: Interval) -> None:
        status = history.registers[STATUS]
        because = tuple(effect.exchange for effect in status.candidates(interval))
        if status.certain_value(interval) == "archived":
            if exchange.accepted and not _is_edit(exchange):  # a service that takes it for no edit must change nothing
                for register in history.registers.values():
                    register.forget(exchange)
                return
            right = exchange.refused and exchange.received_status not in NOT_FOR_CONTENT
            returned = "succeeded" if exchange.accepted else f"returned {exchange.received_status}"
            message = f"an edit of an archived engagement {returned}"
            requirement, expected = (
                self._of_archived_edit(history, exchange, interval),
                "a 4xx other than 401, 404 and 429",
            )
            self.keep(exchange, evidence.of_refused_edit(history, interval) if right else None)
        elif status.certain_value(interval) == "active" and (
            _is_sound_edit(exchange) or _is_conflict_of_name(exchange)
        ):
            if any(texts.may_refuse(exchange) for texts in self.texts):
                return
            sent = exchange.sent_fields
            if exchange.refused and all(history.registers[name].certain_value(interval) == sent[name] for name in sent):
                return  # the response to an edit with the present values is open
            right = exchange.accepted or self._may_conflict(history, exchange, interval)
            message, expected = "an edit of an active engagement failed", "any 2xx"
            requirement = "unarchived-editable" if _by_unarchive(because) else "update-engagement-succeeds"
        else:
            return
        finding = finding_of(requirement, exchange, *because, message=message, expected=expected)
        self.conclude(history, finding, right=right)

    def _may_conflict(self, history: History, exchange: Exchange, interval: Interval) -> bool:
        """Whether a conflict may be with another edit, or with a name in use."""
        name = sent_name(exchange)
        in_use = name is not None and self.names.may_be_in_use(name, interval, history)
        return exchange.received_status == HTTPStatus.CONFLICT and (in_use or not history.alone(interval, exchange))

    def _of_archived_edit(self, history: History, exchange: Exchange, interval: Interval) -> str:
        """Return the requirement: an archive that took effect late, after some edits of these fields, has its own."""
        status = history.registers[STATUS]
        last = status.latest(interval)
        if last is None or not exchange.accepted:
            return "archived-edit-refused"
        fields = exchange.sent_fields.keys()
        alike = [attempt for attempt in history.attempts if attempt.exchange.sent_fields.keys() == fields]
        edits = [
            attempt
            for attempt in alike
            if attribution.is_refused_edit(attempt) and last.interval.before(attempt.interval)
        ]
        earlier = any(attempt.interval.start < interval.start for attempt in edits)
        later = any(
            attempt.interval.start > interval.start and status.certain_value(attempt.interval) == "archived"
            for attempt in edits
        )
        return "archive-effective-at-once" if later and not earlier else "archived-edit-refused"

    def _archive(self, history: History, exchange: Exchange, interval: Interval) -> None:
        before = [
            effect for effect in history.registers[STATUS].candidates(interval) if effect.exchange is not exchange
        ]
        if any(effect.value != "active" for effect in before) or not history.alone(interval, exchange):
            return
        because = tuple(effect.exchange for effect in before)
        requirement = "unarchived-archivable" if _by_unarchive(because) else "archive-engagement-succeeds"
        message = "archiving an active engagement failed"
        finding = finding_of(requirement, exchange, *because, message=message, expected="any 2xx")
        self.conclude(history, finding, right=exchange.accepted)

    def _unarchive(self, history: History, exchange: Exchange, _: Interval) -> None:
        message, expected = "unarchiveEngagement is not served", "any 2xx, or a 4xx other than 401, 404, 405 and 429"
        because = history.creation.exchange
        finding = finding_of("unarchive-served", exchange, because, message=message, expected=expected)
        self.conclude(history, finding, right=exchange.received_status not in _NOT_SERVED)

    def _delete(self, history: History, exchange: Exchange, interval: Interval) -> None:
        if not history.alone(interval, exchange):
            return
        archived = history.registers[STATUS].certain_value(interval) == "archived"
        requirement = "archived-deletable" if archived else "delete-engagement-succeeds"
        message = "deleting an engagement failed"
        finding = finding_of(requirement, exchange, history.creation.exchange, message=message, expected="200")
        self.conclude(history, finding, right=exchange.accepted)


def _by_unarchive(exchanges: Sequence[Exchange]) -> bool:
    return any(exchange.operation_id == "unarchiveEngagement" for exchange in exchanges)


def _is_edit(exchange: Exchange) -> bool:
    """Whether an edit sends a text at all; a service may treat another one as a no-op, even if archived."""
    body: dict[str, Any] = exchange.sent_fields
    return any(isinstance(body.get(field), str) for field in TEXTS)


def _is_conflict_of_name(exchange: Exchange) -> bool:
    """Whether a conflict can only be with the name, a short plain one: no description is in conflict."""
    body: dict[str, Any] = exchange.sent_fields
    texts = body.keys() <= set(TEXTS) and all(isinstance(value, str) and value for value in body.values())
    return exchange.received_status == HTTPStatus.CONFLICT and texts and must_be_accepted(body.get("name"))


def _is_sound_edit(exchange: Exchange) -> bool:
    """Whether an edit is certainly valid: a short plain name, a short plain description, or both."""
    body: dict[str, Any] = exchange.sent_fields
    return bool(body) and body.keys() <= set(TEXTS) and all(must_be_accepted(value) for value in body.values())
