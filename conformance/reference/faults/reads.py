"""Faults of reading engagements, one and in the list, and of operations on what does not exist."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .changes import drop, edit, put
from .conditions import archived, noted
from .mutations import Method, Mutation, at_step, before, fault, instead, refuse, wrap
from .operations import ARCHIVE, DELETE, EDIT, LIST, READ, REMOVE, ROLE
from .replies import data, view
from .situations import Situation, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.views import View

_UNKNOWN, _UNREADABLE, _LASTS = "get-unknown-engagement", "deleted-unreadable", "create-engagement-lasts"
_ASKED_FOR, _AS_READ = "get-engagement-is-the-one-asked-for", "list-engagements-as-read"
_KNOWN = "engagement-status-known"
_NO_TEXTS: tuple[object, ...] = (False, {}, [])


def _cut_identifier(at: Situation, honest: Method) -> object:
    for end in range(1, 5):
        if at.store.engagement(at.context.resource_id[:-end]) is not None:
            at.context.resource_id = at.context.resource_id[:-end]
    return honest()


def _succeed_if_missing(operation: str, view_of: Callable[[Situation], Any]) -> Mutation:
    """Succeed with an operation if its resource exists in no organization."""

    def around(at: Situation, honest: Method) -> object:
        if at.operation != operation or not _exists_nowhere(at):
            return honest()
        at.service.authorize(at.context)
        return at.success(view_of(at))

    return at_step("act", around)


def _exists_nowhere(at: Situation) -> bool:
    if at.context.operation.finds == "engagement":
        return at.stored is None
    store, ids = at.store, (at.context.organization_id, at.context.resource_id)
    return not store.is_member_elsewhere(*ids) and store.member(*ids) is None


def _newest(at: Situation) -> View:
    return at.service.view_read(at.engagements[-1]) if at.engagements else {}


def _now(at: Situation) -> str:
    return at.service.timestamp(at.now)


def _made_up(at: Situation) -> View:
    times = dict.fromkeys(("createdAt", "updatedAt"), _now(at))
    return {"id": at.context.resource_id, "name": "", "description": "", "status": "active", **times}


def _described_as(value: object) -> Mutation:
    """List engagements without a description with some value for it."""
    return wrap("view_item", lambda _, honest, engagement: honest(engagement) if engagement.description
                else {**honest(engagement), "description": value})  # fmt: skip


UNKNOWN = (
    fault("unknown-read-null", "Reading an engagement that does not exist gives 200 with null.",
          _succeed_if_missing(READ, lambda _: None), _UNKNOWN, _UNREADABLE, "success-data-object"),
    fault("unknown-read-another", "Reading an engagement that does not exist gives the newest engagement.",
          _succeed_if_missing(READ, _newest), _UNKNOWN, _UNREADABLE, _ASKED_FOR),
    fault("unknown-read-made-up", "Reading an engagement that does not exist gives an invented engagement.",
          _succeed_if_missing(READ, _made_up), _UNKNOWN, _UNREADABLE),
    fault("unknown-edit-succeeds", "Editing an engagement that does not exist reports success.",
          _succeed_if_missing(EDIT, _made_up), "update-unknown-engagement", "deleted-uneditable"),
    fault("unknown-deletion-succeeds", "Deleting an engagement that does not exist reports success.",
          _succeed_if_missing(DELETE, lambda at: {"deleted": True, "id": at.context.resource_id}),
          "delete-unknown-engagement", "deleted-undeletable"),
    fault("unknown-archive-succeeds", "Archiving an engagement that does not exist reports success.",
          _succeed_if_missing(ARCHIVE, lambda at: {
              "id": at.context.resource_id, "status": "archived", "updatedAt": _now(at)}),
          "archive-unknown-engagement", "deleted-unarchivable"),
    fault("unknown-role-change-succeeds", "Changing the role of an unknown user reports success.",
          _succeed_if_missing(ROLE, lambda at: {"id": at.context.resource_id, "role": "member", "updatedAt": _now(at)}),
          "update-role-unknown-member", "removed-member-role-unchangeable"),
    fault("unknown-removal-succeeds", "Removing an unknown user reports success.",
          _succeed_if_missing(REMOVE, lambda at: {"removed": True, "userId": at.context.resource_id}),
          "remove-unknown-member", "removed-member-not-removable"),
    fault("identifier-with-more-found", "An engagement is found by its id with more text after it.",
          at_step("find_engagement", _cut_identifier), _UNKNOWN),
)  # fmt: skip

READS = (
    fault("read-gives-neighbour", "A read gives the engagement created last, whatever the id.",
          instead(READ, lambda at: at.success(_newest(at))), _ASKED_FOR),
    fault("read-moves-updated-at", "A read moves updatedAt.",
          before(READ, lambda at: at.edit()), "reading-changes-nothing", _LASTS),
    fault("read-once", "An active engagement can be read only once; later reads give 404.",
          before(READ, note("read")) | refuse(READ, 404, lambda at: noted("read")(at) and not archived(at)),
          "get-engagement-succeeds", _LASTS),
    fault("read-without-description", "A read of an engagement lacks the description.",
          view("read", drop("description")), _LASTS, "create-engagement-keeps-text", _AS_READ,
          "update-engagement-takes-effect", "get-engagement-fields"),
    fault("read-status-open", "A read of an active engagement has the status open.",
          view("read", edit(status=lambda status: "open" if status == "active" else status)), _KNOWN),
)  # fmt: skip

ITEMS = (
    fault("item-without-description", "A listed engagement lacks the description.",
          view("item", drop("description")), _AS_READ, "list-engagements-fields"),
    *(fault(f"listed-undescribed-{type(value).__name__}",
            f"A listed engagement without a description has {json.dumps(value)} as the description.",
            _described_as(value), "list-engagements-fields") for value in _NO_TEXTS),
    fault("item-shortened", "A listed engagement has only the first 20 characters of its description.",
          view("item", lambda shown: {
              **shown, "description": shown.get("description") and shown["description"][:20]}), _AS_READ),
    fault("item-name-in-capitals", "A listed engagement has its name in capitals.",
          view("item", edit(name=str.upper)), _AS_READ),
    fault("item-merges-blanks", "A listed engagement has repeated blanks of its name as one.",
          view("item", edit(name=lambda text: re.sub(" +", " ", text))), _AS_READ),
    fault("item-always-active", "A listed engagement is always shown as active.",
          view("item", put(status="active")), _AS_READ, "list-engagements-status-filter"),
    fault("item-updated-at-created", "A listed engagement shows createdAt as updatedAt.",
          view("item", lambda shown: {**shown, "updatedAt": shown["createdAt"]}), _AS_READ, "sort-by-updated-at"),
    fault("item-status-capitalized", "A listed engagement has its status capitalized.",
          view("item", edit(status=str.capitalize)), _KNOWN),
    fault("list-repeats-identifier", "All engagements on a page have the id of the first.",
          data(LIST, lambda _, items: [{**item, "id": items[0]["id"]} for item in items]),
          "engagement-ids-distinct", _AS_READ, "list-engagements-pages-partition"),
)  # fmt: skip
