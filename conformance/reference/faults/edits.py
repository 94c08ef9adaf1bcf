"""Faults of edits of engagements."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from .changes import drop, put
from .conditions import again, all_of, described, field_is, sends, sends_only, undescribed
from .mutations import after, at_step, before, edit_as, end_process, fault, instead, override, refuse_valid, refused_yet
from .operations import CREATE, EDIT
from .situations import Situation, edit_all, moment, recalled, remember, show_edited

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import Reply

    from .mutations import Method, Mutation


_EFFECT, _TEXT, _KEEPS = (f"update-engagement-{rest}" for rest in ("takes-effect", "keeps-text", "keeps-the-rest"))
_MOVES, _SPARES, _SUCCEEDS = (f"update-engagement-{rest}" for rest in ("moves-updated-at", "spares-others", "succeeds"))

_both = sends("name", "description")


def _store_sent(name: str, column: str, value: Callable[[str], object]) -> Mutation:
    """Store a text of the body that is not the client's to set."""
    return after(EDIT, lambda at: at.overwrite(**{column: value(at.field(name))}), field_is(name, str))


def _empties(at: Situation) -> bool:
    return at.values.get("description") == ""


def _clears(at: Situation) -> bool:
    return "description" in at.values and not at.values["description"]


def _describes(at: Situation) -> bool:
    return bool(at.values.get("description"))


def _ignore_some(are_ignored: Callable[[int], bool]) -> Mutation:
    """Ignore some edits of an engagement, by their number."""

    def is_ignored(at: Situation) -> bool:
        numbers = at.remembered("edits", Counter())
        numbers[at.engagement.id] += 1
        return are_ignored(numbers[at.engagement.id])

    return instead(EDIT, show_edited, is_ignored)


def _add_edited(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    edited = replace(at.engagement, **at.values, id=at.service.new_id("engagement"), updated_at=at.now)
    at.store.add_engagement(edited)
    return at.success(at.service.view_edited(edited))


def _create_unknown(at: Situation, honest: Method) -> object:
    if at.operation == EDIT and at.stored is None and (sent := at.service.check_edit(at.context)):
        at.context.values = {"name": "Untitled", "description": None, **sent}
        at.store.add_engagement(replace(at.service.new_engagement(at.context), id=at.context.resource_id))
    return honest()


def _describe_active(at: Situation) -> None:
    for other in at.engagements:
        if other.status == "active":
            at.store.edit_engagement(other.id, {"description": at.values["description"]}, other.updated_at)


STORED = (
    fault("edit-name-drops-description", "An edit of the name deletes the description.",
          edit_as(lambda sent: {"description": None, **sent}), _KEEPS),
    fault("edit-description-resets-name", "An edit of the description changes the name to Untitled.",
          edit_as(lambda sent: {"name": "Untitled", **sent}), _KEEPS),
    *(fault(f"edit-ignores-{name}", f"An edit ignores the {name}.", edit_as(drop(name)), _EFFECT, _TEXT)
      for name in ("description", "name")),
    fault("edit-both-takes-name-only", "An edit of name and description changes only the name.",
          edit_as(drop("description"), _both), _EFFECT, _TEXT),
    fault("edit-both-takes-description-only", "An edit of name and description changes only the description.",
          edit_as(drop("name"), _both), _EFFECT, _TEXT),
    fault("edit-swaps-both", "An edit of name and description swaps the two.",
          edit_as(lambda sent: {"name": sent["description"], "description": sent["name"]},
                  lambda at: _describes(at) and sends("name")(at)), _EFFECT, _TEXT),
    fault("edit-appends-description", "An edit appends to the description instead of replacing it.",
          before(EDIT, lambda at: at.values.update(
              description=f"{at.engagement.description or ''}{at.values['description']}"), _describes), _EFFECT, _TEXT),
    fault("edit-longer-description-cut", "An edit cuts the description to the length of the old one.",
          before(EDIT, lambda at: at.values.update(
              description=at.values["description"][: len(at.engagement.description or "")]),
              lambda at: described(at) and _describes(at)), _EFFECT, _TEXT),
    fault("edit-keeps-long-name", "An edit ignores a name shorter than the old one.",
          edit_as(drop("name"), lambda at: sends("name")(at) and len(at.values["name"]) < len(at.engagement.name)),
          _EFFECT, _TEXT),
    fault("edit-keeps-prefix", "An edit ignores a name that begins with the old one.",
          edit_as(drop("name"), lambda at: str(at.values.get("name")).startswith(at.engagement.name)), _EFFECT),
    fault("edit-ignores-former-name", "An edit that restores the first name of an engagement keeps the present one.",
          after(CREATE, lambda at: at.remembered("first names", {}).update({at.data["id"]: at.data["name"]}))
          | before(EDIT, lambda at: at.values.update(name=at.engagement.name),
                   lambda at: at.values.get("name") == recalled(at.service, "first names", at.context.resource_id, "")),
          _EFFECT),
    fault("edit-restores-cleared-description", "An edit of only the name restores a description that was cleared.",
          before(EDIT, remember("cleared", lambda at: at.engagement.description), all_of(described, _clears))
          | before(EDIT, lambda at: at.values.update(
              description=recalled(at.service, "cleared", at.context.resource_id)), sends_only("name")), _KEEPS),
    fault("edit-same-name-ignored", "An edit that sends the current name changes nothing, whatever else it sends.",
          edit_as(lambda _: {}, lambda at: at.values.get("name") == at.engagement.name), _EFFECT),
    fault("edit-empty-description-ignored", "An edit with an empty description keeps the old one.",
          edit_as(drop("description"), _empties), _EFFECT),
    fault("edit-of-both-empties-no-description",
          "An edit of the name with an empty description keeps the old description.",
          edit_as(drop("description"), lambda at: _both(at) and _empties(at)), _EFFECT),
    fault("edit-with-null-description-keeps-name",
          "An edit with a name and a null description is accepted but changes nothing.",
          edit_as(lambda _: {}, lambda at: _both(at) and at.values["description"] is None), _EFFECT),
    fault("edit-with-null-name-keeps-description",
          "An edit with a description and a null name is accepted but changes nothing.",
          at_step("check_edit", lambda at, honest: {} if at.field("name") is None else honest()), _EFFECT),
    fault("edit-adds-no-description", "An edit ignores the description if the engagement has none.",
          edit_as(drop("description"), undescribed), _EFFECT),
    fault("edit-changes-no-description", "An edit ignores the description if the engagement already has one.",
          edit_as(drop("description"), described), _EFFECT, _TEXT),
    fault("edit-name-becomes-description", "An edit of only the name stores it as the description, too.",
          edit_as(lambda sent: {**sent, "description": sent["name"]}, sends_only("name")), _KEEPS),
    fault("edit-name-adds-description",
          "An edit of only the name stores the old name as the description of an engagement without one.",
          before(EDIT, lambda at: at.values.update(description=at.engagement.name),
                 all_of(sends_only("name"), undescribed)), _KEEPS),
    fault("empty-edit-clears-description", "An edit without any field deletes the description.",
          edit_as(put(description=None), lambda at: not at.values), _KEEPS),
    fault("edit-keeps-small-letters-behind-answer",
          "An edit stores the description in lower case, but its response shows it as sent.",
          after(EDIT, lambda at: at.overwrite(description=str(at.values["description"]).lower()),
                lambda at: bool(at.values.get("description")))
          | override(view_edited=lambda service, engagement: service.view_engagement(engagement)), _TEXT),
    *(fault(f"edit-honours-{name.lower()}", f"An edit accepts {name} from the client.",
            _store_sent(name, column, value), "update-engagement-own-values") for name, column, value in (
        ("status", "status", str), ("createdAt", "created_at", moment), ("updatedAt", "updated_at", moment),
        ("id", "id", str))),
)  # fmt: skip

DONE = (
    fault("edit-not-kept", "An edit reports success but does nothing.",
          instead(EDIT, lambda at: show_edited(at, **at.values, updated_at=at.now)), _EFFECT, _MOVES),
    fault("edit-makes-another", "An edit creates a new engagement and leaves the old one unchanged.",
          instead(EDIT, _add_edited), _EFFECT, _MOVES),
    fault("edit-once", "Only the first edit of an engagement is carried out.",
          _ignore_some(lambda number: number > 1), _EFFECT),
    fault("edit-two-at-most", "Only the first two edits of an engagement are carried out.",
          _ignore_some(lambda number: number > 2), _EFFECT),  # noqa: PLR2004 - two, as its title says
    fault("edit-every-second", "Every second edit of an engagement reports success but does nothing.",
          _ignore_some(lambda number: number % 2 == 0), _EFFECT),
    fault("edit-repeated-is-lost",
          "An edit with the body of an earlier edit of the engagement reports success but does nothing.",
          instead(EDIT, lambda at: show_edited(at, **at.values, updated_at=at.now),
                  again("bodies", lambda at: f"{at.context.resource_id} {at.context.content!r}")), _EFFECT, _MOVES),
    fault("edit-archives", "An edit of the description archives the engagement.",
          after(EDIT, lambda at: at.store.edit_engagement(at.engagement.id, {"status": "archived"}, 0),
                sends("description")), _KEEPS),
    fault("edit-needs-name", "An edit without the name is refused.",
          refuse_valid(EDIT, 422, lambda at: "name" not in at.values), _SUCCEEDS),
    fault("edit-takes-one-field", "An edit of both fields is refused.",
          refuse_valid(EDIT, 422, lambda at: len(at.values) > 1), _SUCCEEDS),
    fault("edit-of-empty-name-untitles", "An edit with an empty name is refused but changes the name to Untitled.",
          refused_yet(EDIT, lambda at: at.edit(name="Untitled"),
                      lambda at: re.search(rb'"name":\s*""', at.context.content) is not None),
          "update-engagement-refused-changes-nothing"),
    fault("ends-at-an-emptied-description", "An edit with an empty description ends the process.",
          end_process(EDIT, lambda at: at.field("description") == ""), "no-server-error"),
    fault("edit-unknown-creates", "An edit of an engagement that does not exist creates it.",
          at_step("act", _create_unknown), "update-unknown-engagement", "deleted-uneditable"),
)  # fmt: skip

OTHERS = (
    fault("edit-changes-neighbour", "An edit changes the description of every engagement of the organization.",
          after(EDIT, _describe_active, sends("description")), _SPARES),
    fault("edit-touches-others", "An edit moves the updatedAt of every engagement of the organization.",
          after(EDIT, lambda at: edit_all(at.service, reversed(at.engagements))), _SPARES),
    fault("edit-touches-next", "An edit of the name moves the updatedAt of the engagement created next.",
          after(EDIT, lambda at: edit_all(at.service, [
              other for other in at.engagements if other.created_at > at.engagement.created_at][:1]), sends("name")),
          _SPARES),
    fault("edit-changes-namesakes", "An edit also changes every other engagement of the same name.",
          after(EDIT, lambda at: edit_all(at.service, [
              other for other in at.engagements if other.name == at.engagement.name], **at.values)), _SPARES),
)  # fmt: skip
