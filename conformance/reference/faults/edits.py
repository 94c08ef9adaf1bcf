"""Faults of edits of engagements."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .changes import Change, drop
from .mutations import Method, Mutation, after, before, edit_as, end_process, fault, instead, put_methods, result, wrap
from .operations import EDIT
from .situations import NOTHING, Condition, Situation, always, described, moment, sends, sends_only, undescribed

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

    Sent = dict[str, Any]

_EFFECT, _TEXT, _KEEPS = (f"update-engagement-{rest}" for rest in ("takes-effect", "keeps-text", "keeps-the-rest"))
_MOVES, _SPARES, _SUCCEEDS = (f"update-engagement-{rest}" for rest in ("moves-updated-at", "spares-others", "succeeds"))
_A_MOMENT = 0.004

_both = sends("name", "description")


def _carry_out(change: Change, when: Condition = always) -> Mutation:
    """Carry out an edit of other fields than the ones that were sent."""

    def action(at: Situation) -> None:
        at.context.values = change(at.values)

    return before(EDIT, action, when)


def _refuse_fields(are_refused: Callable[[Sent], bool]) -> Mutation:
    """Refuse an edit for its valid fields, when its body is checked."""

    def refused(sent: Sent) -> Sent:
        if are_refused(sent):
            raise Refusal(422, "These fields are refused.")
        return sent

    return result("check_edit", refused)


def _sent(service: Service, context: RequestContext, name: str) -> Any:  # noqa: ANN401 - any JSON
    body = service.parse(context.content)
    return body.get(name, NOTHING) if isinstance(body, dict) else NOTHING


def _store_sent(name: str, column: str, value: Callable[[str], object]) -> Mutation:
    """Store a text of the body that is not the client's to set."""
    return after(EDIT, lambda at: at.overwrite(**{column: value(_sent(at.service, at.context, name))}),
                 lambda at: isinstance(_sent(at.service, at.context, name), str))  # fmt: skip


def _accept_null_name(service: Service, honest: Method, context: RequestContext) -> Sent:
    fields: Sent = {} if _sent(service, context, "name") is None else honest(context)
    return fields


def _appended(engagement: Engagement, sent: Sent) -> Sent:
    text = sent.get("description")
    return {**sent, "description": f"{engagement.description or ''}{text}"} if text else sent


def _cut(engagement: Engagement, sent: Sent) -> Sent:
    old, new = engagement.description, sent.get("description")
    return {**sent, "description": new[: len(old)]} if old and new else sent


def _empties(at: Situation) -> bool:
    return at.values.get("description") == ""


def _adds_null(at: Situation) -> bool:
    return _both(at) and at.values["description"] is None


def _has_both_texts(at: Situation) -> bool:
    return bool(at.values.get("name") and at.values.get("description"))


def _ignore_some(are_ignored: Callable[[int], bool]) -> Mutation:
    """Ignore some edits of an engagement, by their number."""

    def edits(at: Situation) -> Counter[str]:
        counter: Counter[str] = at.remembered("edits", Counter())
        return counter

    ignored = instead(EDIT, _ignore, lambda at: are_ignored(edits(at)[at.engagement.id]))
    return ignored | before(EDIT, lambda at: edits(at).update([at.engagement.id]))


def _ignore(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    return at.replied("edited")


def _show_edited(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    edited = replace(at.engagement, **at.values, updated_at=at.now)
    return at.success(at.service.view_edited(edited))


def _add_edited(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    now = at.now
    edited = replace(at.engagement, **at.values, id=at.service.new_id("engagement"), updated_at=now)
    at.store.add_engagement(edited)
    return at.success(at.service.view_edited(edited))


def _create_unknown(service: Service, honest: Method, context: RequestContext) -> Reply:
    is_unknown = context.operation.id == EDIT and service.store.engagement(context.resource_id) is None
    if is_unknown and (sent := service.check_edit(context)):
        context.values = {"name": "Untitled", "description": None, **sent}
        service.store.add_engagement(replace(service.new_engagement(context), id=context.resource_id))
    reply: Reply = honest(context)
    return reply


async def _write_all_fields_later(service: Service, honest: Method, context: RequestContext) -> Reply:
    if context.operation.id != EDIT:
        reply: Reply = await honest(context)
        return reply
    service.try_out(context)
    old = context.engagement
    await asyncio.sleep(_A_MOMENT)
    service.check_editable(service.find_engagement(context))
    fields = {"name": old.name, "description": old.description, **context.values}
    service.store.edit_engagement(old.id, fields, service.now())
    return service.resource(context, service.view_edited(service.find_engagement(context)))


def _describe_all(at: Situation) -> None:
    for other in at.engagements:
        if other.status == "active":
            at.store.edit_engagement(other.id, {"description": at.values["description"]}, other.updated_at)


def _touch_all(at: Situation) -> None:
    for other in reversed(at.engagements):
        at.store.edit_engagement(other.id, {}, at.now)


def _touch_next(at: Situation) -> None:
    later = [other for other in at.engagements if other.created_at > at.engagement.created_at]
    if later:
        at.store.edit_engagement(later[0].id, {}, at.now)


def _edit_namesakes(at: Situation) -> None:
    for other in at.engagements:
        if other.name == at.engagement.name:
            at.store.edit_engagement(other.id, at.values, at.now)


def _untitle(service: Service, honest: Method, context: RequestContext, refusal: Refusal) -> Reply:
    if re.search(rb'"name":\s*""', context.content):
        service.store.edit_engagement(context.resource_id, {"name": "Untitled"}, service.now())
    reply: Reply = honest(context, refusal)
    return reply


STORED = (
    fault("edit-name-drops-description", "An edit of the name forgets the description.",
          _carry_out(lambda sent: {"description": None, **sent}), _KEEPS),
    fault("edit-description-resets-name", "An edit of the description makes the name Untitled.",
          _carry_out(lambda sent: {"name": "Untitled", **sent}), _KEEPS),
    *(fault(f"edit-ignores-{name}", f"An edit ignores the {name}.", _carry_out(drop(name)), _EFFECT, _TEXT)
      for name in ("description", "name")),
    fault("edit-both-takes-name-only", "An edit of name and description changes the name only.",
          _carry_out(drop("description"), _both), _EFFECT, _TEXT),
    fault("edit-both-takes-description-only", "An edit of name and description changes the description only.",
          _carry_out(drop("name"), _both), _EFFECT, _TEXT),
    fault("edit-swaps-both", "An edit of name and description takes one for the other.",
          _carry_out(lambda sent: {"name": sent["description"], "description": sent["name"]}, _has_both_texts),
          _EFFECT, _TEXT),
    fault("edit-appends-description", "An edit adds to the description instead of replacing it.",
          edit_as(_appended), _EFFECT, _TEXT),
    fault("edit-longer-description-cut", "An edit cuts a description to the length of the one before.",
          edit_as(_cut), _EFFECT, _TEXT),
    fault("edit-keeps-long-name", "An edit does not take a name that is shorter than the one before.",
          _carry_out(drop("name"), lambda at: sends("name")(at) and len(at.values["name"]) < len(at.engagement.name)),
          _EFFECT, _TEXT),
    fault("edit-keeps-prefix", "An edit that gives a name beginning with the old one keeps the old one.",
          _carry_out(drop("name"), lambda at: str(at.values.get("name")).startswith(at.engagement.name)), _EFFECT),
    fault("edit-same-name-ignored", "An edit that sends the name as it stands changes nothing at all.",
          _carry_out(lambda _: {}, lambda at: at.values.get("name") == at.engagement.name), _EFFECT),
    fault("edit-empty-description-ignored", "An edit with an empty description keeps the one from before.",
          _carry_out(drop("description"), _empties), _EFFECT),
    fault("edit-of-both-empties-no-description",
          "An edit of the name with an empty description keeps the description from before.",
          _carry_out(drop("description"), lambda at: _both(at) and _empties(at)), _EFFECT),
    fault("edit-with-null-description-keeps-name",
          "An edit of the name with null for the description is accepted and changes nothing.",
          _carry_out(lambda _: {}, _adds_null), _EFFECT),
    fault("edit-with-null-name-keeps-description",
          "An edit of the description with null for the name is accepted and changes nothing.",
          wrap("check_edit", _accept_null_name), _EFFECT),
    fault("edit-adds-no-description", "An edit cannot give a description to an engagement that has none.",
          _carry_out(drop("description"), undescribed), _EFFECT),
    fault("edit-changes-no-description", "An edit cannot change a description that there is.",
          _carry_out(drop("description"), described), _EFFECT, _TEXT),
    fault("edit-name-becomes-description", "An edit of the name alone makes it the description, too.",
          _carry_out(lambda sent: {**sent, "description": sent["name"]}, sends_only("name")), _KEEPS),
    fault("edit-name-adds-description",
          "An edit of the name alone gives an engagement that has no description the old name for one.",
          edit_as(lambda engagement, sent: {**sent, "description": engagement.name}
                  if set(sent) == {"name"} and not engagement.description else sent), _KEEPS),
    fault("empty-edit-clears-description", "An edit without any field takes the description away.",
          result("check_edit", lambda sent: sent or {"description": None}), _KEEPS),
    fault("edit-keeps-small-letters-behind-answer",
          "The answer to an edit shows what was sent, and a description is kept in small letters.",
          after(EDIT, lambda at: at.overwrite(description=str(at.values["description"]).lower()),
                lambda at: bool(at.values.get("description")))
          | put_methods(view_edited=lambda service, engagement: service.view_engagement(engagement)), _TEXT),
    *(fault(f"edit-honours-{name.lower()}", f"An edit takes {name} from the client.",
            _store_sent(name, column, value), "update-engagement-own-values") for name, column, value in (
        ("status", "status", str), ("createdAt", "created_at", moment), ("updatedAt", "updated_at", moment),
        ("id", "id", str))),
)  # fmt: skip

DONE = (
    fault("edit-not-kept", "An edit answers as if it had been done.", instead(EDIT, _show_edited), _EFFECT, _MOVES),
    fault("edit-makes-another", "An edit makes a new engagement and leaves the old one.",
          instead(EDIT, _add_edited), _EFFECT, _MOVES),
    fault("edit-once", "Only the first edit of an engagement is carried out.",
          _ignore_some(lambda number: number > 1), _EFFECT),
    fault("edit-two-at-most", "Only two edits of an engagement are carried out.",
          _ignore_some(lambda number: number > 2), _EFFECT),  # noqa: PLR2004 - two, as its title says
    fault("edit-every-second", "Every second edit of an engagement is forgotten.",
          _ignore_some(lambda number: number % 2 == 0), _EFFECT),
    fault("parallel-edits-lose-one",
          "Of two edits at the same time, the second writes back what the first has changed.",
          wrap("perform", _write_all_fields_later), "update-engagement-in-parallel"),
    fault("edit-archives", "An edit of the description archives the engagement.",
          after(EDIT, lambda at: at.store.edit_engagement(at.engagement.id, {"status": "archived"}, 0),
                sends("description")), _KEEPS),
    fault("edit-needs-name", "An edit without the name is refused.",
          _refuse_fields(lambda sent: "name" not in sent), _SUCCEEDS),
    fault("edit-takes-one-field", "An edit of both fields is refused.",
          _refuse_fields(lambda sent: len(sent) > 1), _SUCCEEDS),
    fault("edit-of-empty-name-untitles", "An edit with an empty name is refused and calls the engagement Untitled.",
          wrap("refused", _untitle), "update-engagement-refused-changes-nothing"),
    fault("ends-at-an-emptied-description", "The process ends over an edit that empties the description.",
          end_process(EDIT, lambda at: at.field("description") == ""), "no-server-error"),
    fault("edit-unknown-creates", "An edit of an engagement that does not exist creates it.",
          wrap("act", _create_unknown), "update-unknown-engagement", "deleted-uneditable"),
)  # fmt: skip

OTHERS = (
    fault("edit-changes-neighbour",
          "An edit of the description changes that of every engagement of the organization.",
          after(EDIT, _describe_all, sends("description")), _SPARES),
    fault("edit-touches-others", "An edit moves the updatedAt of every engagement of the organization.",
          after(EDIT, _touch_all), _SPARES),
    fault("edit-touches-next", "An edit of the name moves the updatedAt of the engagement created next.",
          after(EDIT, _touch_next, sends("name")), _SPARES),
    fault("edit-changes-namesakes", "An edit changes every engagement of the same name.",
          after(EDIT, _edit_namesakes), _SPARES),
)  # fmt: skip
