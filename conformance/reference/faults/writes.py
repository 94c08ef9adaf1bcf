"""Faults of creating and editing engagements, and of names in use."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import EngagementQuery

from .changes import cut, drop, edit, page, put, set_fields, view, whole
from .conditions import (
    again,
    all_of,
    always,
    archived,
    counted,
    described,
    field_is,
    has_one_permission,
    header_has,
    name_in_use,
    name_of_archived,
    sends,
    sends_only,
    undescribed,
)
from .mutations import (
    Mutation,
    after,
    at_step,
    before,
    done_yet,
    edit_as,
    end_process,
    fault,
    instead,
    new_engagement,
    override,
    receive,
    refuse,
    refuse_valid,
    refused_yet,
)
from .operations import ARCHIVE, CREATE, DELETE, EDIT
from .situations import Situation, edit_all, moment, overwrite, recalled, remember, show_edited

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply

    from .mutations import Method


_SUCCEEDS, _RESPONSE, _LASTS = (
    "create-engagement-succeeds", "create-engagement-answers-what-was-sent", "create-engagement-lasts")  # fmt: skip
_TEXT, _LISTED, _COUNTED = "create-engagement-keeps-text", "create-engagement-listed", "create-engagement-counted"
_ACTIVE, _EQUAL_TIMES = "new-engagement-active", "created-updated-at-equals-created-at"
_DUPLICATE, _EDITED = "create-engagement-duplicate-name", "update-engagement-takes-effect"


def _honour(field: str, change: Callable[[Engagement, Any], Engagement]) -> Mutation:
    """Store what a creation sends in a read-only field, if it is text."""
    return at_step("new_engagement", lambda at, honest: change(honest(), at.field(field))
                     if isinstance(at.field(field), str) and at.field(field) else honest())  # fmt: skip


def _numbered(new: Engagement) -> Engagement:
    return replace(new, name=f"{new.name} (1)")


def _undescribed(at: Situation) -> bool:
    """The engagement to create has no description."""
    return not at.values["description"]


def _edit_new(at: Situation, **columns: object) -> None:
    """Write columns of the engagement that was just created."""
    overwrite(at.service, "engagements", at.data["id"], **columns)


def _inherit(at: Situation, honest: Method) -> object:
    new: Engagement = honest()
    return replace(new, description=new.description or at.remembered("descriptions", {}).get(new.name))


CREATED = (
    fault("create-keeps-escaped-slash", "A creation keeps the backslash of an escaped slash in its JSON.",
          receive(CREATE, lambda content: content.replace(rb"\/", rb"\\/")), _TEXT),
    fault("create-misses-escaped-field", "A creation does not know a field whose name has a Unicode escape.",
          receive(CREATE, lambda content: re.sub(
              rb'"[^"]*"\s*:', lambda name: name[0].replace(b"\\u", b"\\\\u"), content)), _SUCCEEDS),
    fault("create-drops-description-like-name", "A creation whose description is its name loses the description.",
          before(CREATE, lambda at: at.values.update(description=None),
                 lambda at: at.values.get("description") == at.values["name"]), _RESPONSE, _TEXT),
    fault("created-archived", "A new engagement is archived.", new_engagement(set_fields(status="archived")), _ACTIVE),
    fault("created-undescribed-archived", "A new engagement without a description is archived.",
          new_engagement(set_fields(status="archived"), _undescribed), _ACTIVE),
    fault("created-undescribed-named", "A new engagement without a description gets its name as the description.",
          new_engagement(lambda new: replace(new, description=new.description or new.name)), _LASTS),
    fault("created-inherits-from-deleted",
          "A creation without a description gets that of the deleted engagement that had its name.",
          after(DELETE, lambda at: at.remembered("descriptions", {}).update(
              {at.engagement.name: at.engagement.description}))
          | at_step("new_engagement", _inherit), _RESPONSE),
    fault("created-without-description", "A creation drops the description.",
          new_engagement(set_fields(description=None)), _RESPONSE, _TEXT),
    fault("created-name-numbered", "A creation adds a number to the name.",
          new_engagement(_numbered), _RESPONSE, _TEXT),
    fault("created-swapped", "A creation swaps name and description.",
          new_engagement(lambda new: replace(new, name=new.description, description=new.name)
                         if new.description else replace(new, description=None)), _RESPONSE, _TEXT),
    fault("created-updated-earlier", "A new engagement has an updatedAt before its createdAt.",
          new_engagement(lambda new: replace(new, updated_at=new.updated_at - 1000)), _EQUAL_TIMES),
    fault("created-updated-later", "A new engagement has an updatedAt shortly after its createdAt.",
          new_engagement(lambda new: replace(new, updated_at=new.updated_at + 1)), _EQUAL_TIMES),
    fault("created-description-apart",
          "A new engagement with a description has an updatedAt one millisecond after its createdAt.",
          new_engagement(lambda new: replace(new, updated_at=new.created_at + bool(new.description))), _EQUAL_TIMES),
    fault("created-undescribed-apart",
          "A new engagement without a description has an updatedAt one second before its createdAt.",
          new_engagement(lambda new: replace(new, updated_at=new.created_at - 1000), _undescribed), _EQUAL_TIMES),
    fault("created-read-a-moment-later",
          "A read shows the times of a new engagement one millisecond later than the creation did.",
          after(CREATE, lambda at: _edit_new(at, **dict.fromkeys(("created_at", "updated_at"), at.now + 1))),
          _LASTS, _LISTED),
    *(fault(f"create-honours-{field.lower()}", f"A creation accepts {field} from the client.",
            _honour(field, change), "create-engagement-own-values") for field, change in (
        ("id", lambda new, sent: replace(new, id=sent)), ("status", lambda new, sent: replace(new, status=sent)),
        ("createdAt", lambda new, sent: replace(new, created_at=moment(sent))),
        ("updatedAt", lambda new, sent: replace(new, updated_at=moment(sent))))),
)  # fmt: skip

RESPONSES = (
    fault("create-answers-pending", "The response to a creation has the status pending.",
          view("created", put(status="pending")), "engagement-status-known", _ACTIVE),
    fault("create-answers-without-description", "The response to a creation lacks the description.",
          view("created", drop("description")), _RESPONSE, "create-engagement-fields"),
    fault("create-answers-other-id", "The response to a creation has an id that is not the engagement's.",
          view("created", edit(id=lambda text: f"{text}0")), _LASTS),
    fault("create-answers-capitals", "The response to a creation has the name in capitals.",
          view("created", edit(name=str.upper)), _RESPONSE),
    fault("create-answers-other-times", "The response to a creation has times one day ahead.",
          view("created", edit(**dict.fromkeys(("createdAt", "updatedAt"), lambda time: f"2099{time[4:]}"))),
          _LASTS, "created-at-never-changes", "updated-at-never-goes-back"),
)  # fmt: skip

KEPT = (
    fault("create-not-kept", "A creation reports success but creates nothing.",
          instead(CREATE, lambda at: at.success(at.service.view_created(at.service.new_engagement(at.context)))),
          _LASTS, _LISTED, _COUNTED),
    fault("create-twice", "A creation makes two engagements.",
          before(CREATE, lambda at: at.store.add_engagement(at.service.new_engagement(at.context))), _COUNTED),
    fault("create-every-tenth-twice", "Every tenth creation makes two engagements.",
          before(CREATE, lambda at: at.store.add_engagement(at.service.new_engagement(at.context)),
                 lambda at: next(at.remembered("creations", count(1))) % 10 == 0), _COUNTED, "deleted-uncounted"),
    fault("create-unlisted", "The list of engagements omits those without a description.",
          page(lambda find, query: cut(query, tuple(
              engagement for engagement in whole(find, query) if engagement.description)))
          | override(count_engagements=lambda service, organization:
                        service.find_engagements(EngagementQuery(organization.id, 0, 1)).total), _LISTED),
    fault("create-uncounted", "engagementCount never changes from its first value.",
          override(count_engagements=lambda service, organization: service.memory.setdefault(
              "count", service.store.count_engagements(organization.id))), _COUNTED, "engagement-count-agrees"),
    fault("create-needs-description", "A creation without a description is refused.",
          refuse(CREATE, 422, _undescribed), _SUCCEEDS),
    fault("create-refuses-description", "A creation with a description is refused.",
          refuse(CREATE, 422, lambda at: not _undescribed(at)), _SUCCEEDS),
)  # fmt: skip


def _has_older_namesake(at: Situation) -> bool:
    this = at.engagement
    return any(other.name == this.name and other.created_at < this.created_at for other in at.engagements)


def _is_namesake(at: Situation) -> bool:
    """The engagement that was just created has a name that was in use before."""
    return len(at.namesakes) > 1


def _name_of_deleted(at: Situation) -> bool:
    """A deleted engagement had the name that was sent, and no other has it now."""
    return at.values.get("name") in at.remembered("deleted", set()) and not name_in_use(at)


NAMES_IN_USE = (
    *(fault(f"duplicate-name-create-{status}", f"A creation with a name in use is refused with {status}.",
            refuse(CREATE, status, name_in_use), _DUPLICATE) for status in (400, 403, 404, 422)),
    *(fault(f"duplicate-name-update-{status}", f"A renaming to a name in use is refused with {status}.",
            refuse(EDIT, status, lambda at: name_in_use(at) and not archived(at)),
            "update-engagement-duplicate-name") for status in (403, 422)),
    fault("duplicate-name-create-500", "A creation with a name in use causes a 500.",
          refuse(CREATE, 500, name_in_use), "no-server-error", _DUPLICATE),
    *(fault(f"name-of-deleted-{label}", f"{subject} engagement {words}.",
            before(DELETE, lambda at: at.remembered("deleted", set()).add(at.engagement.name), when)
            | refuse(operation, status, _name_of_deleted), *breaks)
      for label, subject, words, when, operation, status, *breaks in (
        ("create-409", "A creation with the name of a deleted", "is refused with 409", always, CREATE, 409, _SUCCEEDS),
        ("archived-create-409", "A creation with the name of a deleted archived", "is refused with 409", archived,
         CREATE, 409, _SUCCEEDS, _DUPLICATE),
        ("update-500", "A renaming to the name of a deleted", "causes a 500", always, EDIT, 500, "no-server-error"))),
    fault("duplicate-name-overwrites",
          "A creation with a name in use also gives its description to the older engagement of that name.",
          before(CREATE, lambda at: at.store.edit_engagement(
              at.namesakes[0].id, {"description": at.values["description"]}, at.now), name_in_use),
          "update-engagement-takes-effect", _DUPLICATE, _LASTS),
    fault("duplicate-name-gives-the-first",
          "A creation with a name in use creates nothing and returns the older engagement of that name.",
          instead(CREATE, lambda at: at.success(at.service.view_created(at.namesakes[-1])), name_in_use), _DUPLICATE),
    fault("duplicate-name-refused-and-created",
          "A creation with a name in use is refused with 409 but carried out.",
          done_yet(CREATE, 409, _is_namesake), _DUPLICATE),
    fault("duplicate-name-refused-and-renamed",
          "A renaming to a name in use is refused with 409 but carried out.",
          done_yet(EDIT, 409, name_in_use), "update-engagement-refused-changes-nothing"),
    fault("duplicate-name-refused-and-described",
          "An edit with a name in use is refused with 409 but stores the description.",
          after(EDIT, lambda at: at.edit(name=at.engagement.name), name_in_use) | done_yet(EDIT, 409, name_in_use),
          "update-engagement-refused-changes-nothing"),
    fault("name-in-use-numbered-on-create",
          "A creation with a name in use adds a number to the name, in the response too.",
          new_engagement(_numbered, name_in_use), _RESPONSE),
    fault("name-of-archived-numbered",
          "A creation with the name of an archived engagement adds a number to the name, in the response too.",
          new_engagement(_numbered, name_of_archived), _RESPONSE),
    fault("name-in-use-numbered-unsaid",
          "A creation with a name in use adds a number to the name, which the response does not show.",
          after(CREATE, lambda at: _edit_new(at, name=f"{at.values['name']} (1)"), _is_namesake), _LASTS),
    fault("name-in-use-numbered-on-update", "A renaming to a name in use adds a number to the name.",
          before(EDIT, lambda at: at.values.update(name=f"{at.values['name']} (1)"), name_in_use), _EDITED),
    fault("edit-of-namesake-lost",
          "An edit of the description reports success but does nothing if an older engagement has the same name.",
          instead(EDIT, lambda at: show_edited(at, **at.values),
                  lambda at: _has_older_namesake(at) and "name" not in at.values), _EDITED),
    fault("archive-of-namesake-lost",
          "Archiving reports success but does nothing if an older engagement has the same name.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), _has_older_namesake),
          "archive-sets-status", "archived-edit-refused"),
)  # fmt: skip


_EFFECT, _KEEPS_TEXT, _KEEPS = (
    f"update-engagement-{rest}" for rest in ("takes-effect", "keeps-text", "keeps-the-rest")
)
_MOVES, _SPARES, _EDIT_SUCCEEDS = (
    f"update-engagement-{rest}" for rest in ("moves-updated-at", "spares-others", "succeeds")
)

_COMPARED = 255
_MOST_EDITS = 10

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


def _begins_alike(at: Situation) -> bool:
    """Whether the description that was sent begins with the first 255 characters of the old one, which is longer."""
    known, sent = at.engagement.description or "", at.values.get("description") or ""
    return len(known) > _COMPARED and sent.startswith(known[:_COMPARED])


def _ignore_some(are_ignored: Callable[[int], bool]) -> Mutation:
    """Ignore some edits of an engagement, by their number."""
    return instead(EDIT, show_edited, counted("edits", are_ignored))


_NOTE_NAME = after(CREATE, lambda at: at.remembered("first names", {}).update({at.data["id"]: at.data["name"]}))


def _first_name(at: Situation) -> str:
    return str(recalled(at.service, "first names", at.context.resource_id, at.engagement.name))


def _add_edited(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    edited = replace(at.engagement, **at.values, id=at.service.new_id("engagement"), updated_at=at.now)
    at.store.add_engagement(edited)
    return at.success(at.service.view_edited(edited))


def _follow_id(at: Situation) -> None:
    named = at.store.engagement(at.field("id")) if isinstance(at.field("id"), str) else None
    if named is not None and named.organization_id == at.context.organization_id:
        at.context.engagement, at.context.resource_id = named, named.id


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
    *(fault(f"edit-ignores-{name}", f"An edit ignores the {name}.", edit_as(drop(name)), _EFFECT, _KEEPS_TEXT)
      for name in ("description", "name")),
    fault("edit-both-takes-name-only", "An edit of name and description changes only the name.",
          edit_as(drop("description"), _both), _EFFECT, _KEEPS_TEXT),
    fault("edit-both-takes-description-only", "An edit of name and description changes only the description.",
          edit_as(drop("name"), _both), _EFFECT, _KEEPS_TEXT),
    fault("edit-swaps-both", "An edit of name and description swaps the two.",
          edit_as(lambda sent: {"name": sent["description"], "description": sent["name"]},
                  lambda at: _describes(at) and sends("name")(at)), _EFFECT, _KEEPS_TEXT),
    fault("edit-appends-description", "An edit appends to the description instead of replacing it.",
          before(EDIT, lambda at: at.values.update(
              description=f"{at.engagement.description or ''}{at.values['description']}"), _describes),
          _EFFECT, _KEEPS_TEXT),
    fault("edit-longer-description-cut", "An edit cuts the description to the length of the old one.",
          before(EDIT, lambda at: at.values.update(
              description=at.values["description"][: len(at.engagement.description or "")]),
              lambda at: described(at) and _describes(at)), _EFFECT, _KEEPS_TEXT),
    fault("edit-keeps-long-name", "An edit ignores a name shorter than the old one.",
          edit_as(drop("name"), lambda at: sends("name")(at) and len(at.values["name"]) < len(at.engagement.name)),
          _EFFECT, _KEEPS_TEXT),
    fault("edit-keeps-prefix", "An edit ignores a name that begins with the old one.",
          edit_as(drop("name"), lambda at: str(at.values.get("name")).startswith(at.engagement.name)), _EFFECT),
    fault("edit-ignores-former-name", "An edit that restores the first name of an engagement keeps the present one.",
          _NOTE_NAME | before(EDIT, lambda at: at.values.update(name=at.engagement.name),
                              lambda at: at.values.get("name") == _first_name(at)), _EFFECT),
    fault("edit-first-description-restores-name",
          "The first description of an engagement restores the name of the creation.",
          _NOTE_NAME | after(EDIT, lambda at: at.overwrite(name=_first_name(at)),
                             all_of(sends_only("description"), undescribed, _describes)), _EFFECT, _KEEPS),
    *(fault(f"{name}-restores-cleared-description", f"{words} restores a description that was cleared.",
            before(EDIT, remember("cleared", lambda at: at.engagement.description), all_of(described, _clears))
            | mutation, requirement) for name, words, mutation, requirement in (
        ("edit", "An edit of only the name", before(EDIT, lambda at: at.values.update(
            description=recalled(at.service, "cleared", at.context.resource_id)), sends_only("name")), _KEEPS),
        ("archive", "Archiving", after(ARCHIVE, lambda at: at.overwrite(description=recalled(
            at.service, "cleared", at.context.resource_id, at.engagement.description)), undescribed),
         "archive-keeps-content"))),
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
          edit_as(drop("description"), described), _EFFECT, _KEEPS_TEXT),
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
          | override(view_edited=lambda service, engagement: service.view_engagement(engagement)), _KEEPS_TEXT),
    *(fault(f"edit-honours-{name.lower()}", f"An edit accepts {name} from the client.",
            _store_sent(name, column, value), "update-engagement-own-values") for name, column, value in (
        ("status", "status", str), ("createdAt", "created_at", moment), ("updatedAt", "updated_at", moment),
        ("id", "id", str))),
)  # fmt: skip

DONE = (
    fault("edit-not-kept", "An edit reports success but does nothing.",
          instead(EDIT, lambda at: show_edited(at, **at.values, updated_at=at.now)), _EFFECT, _MOVES),
    fault("edit-with-one-permission-keeps-time", "An edit with a key of one permission does not move updatedAt.",
          after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at), has_one_permission), _MOVES),
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
    fault("edit-with-charset-does-nothing",
          "An edit whose Content-Type states a charset reports success but does nothing.",
          instead(EDIT, show_edited, header_has("content-type", "charset")), _EFFECT),
    fault("edit-archives", "An edit of the description archives the engagement.",
          after(EDIT, lambda at: at.store.edit_engagement(at.engagement.id, {"status": "archived"}, 0),
                sends("description")), _KEEPS),
    fault("edit-needs-name", "An edit without the name is refused.",
          refuse_valid(EDIT, 422, lambda at: "name" not in at.values), _EDIT_SUCCEEDS),
    fault("edit-cuts-other-description", "An edit of only the name cuts the description after 255 characters.",
          after(EDIT, lambda at: at.overwrite(description=(at.engagement.description or "")[:255] or None),
                lambda at: "description" not in at.values), _KEEPS),
    fault("edit-takes-description-of-archived",
          "An edit of only the name to that of an archived engagement takes over the description of that one.",
          after(EDIT, lambda at: at.overwrite(description=next(
              namesake.description for namesake in at.namesakes if namesake.status == "archived")),
              all_of(sends_only("name"), name_of_archived)), _KEEPS),
    fault("edit-compares-255-characters",
          "An edit of a description that differs only after 255 characters reports success but does nothing.",
          instead(EDIT, show_edited, _begins_alike), _EFFECT),
    fault("edit-takes-one-field", "An edit of both fields is refused.",
          refuse_valid(EDIT, 422, lambda at: len(at.values) > 1), _EDIT_SUCCEEDS),
    fault("edit-conflicts-after-ten", "An engagement with ten edits refuses further edits with 409.",
          refuse_valid(EDIT, 409, counted("edits", lambda number: number > _MOST_EDITS)), _EDIT_SUCCEEDS),
    fault("edit-after-white-space-refused", "An edit with white space before its JSON is refused.",
          refuse_valid(EDIT, 400, lambda at: at.context.content[:1].isspace()), _EDIT_SUCCEEDS),
    fault("edit-of-empty-name-untitles", "An edit with an empty name is refused but changes the name to Untitled.",
          refused_yet(EDIT, lambda at: at.edit(name="Untitled"),
                      lambda at: re.search(rb'"name":\s*""', at.context.content) is not None),
          "update-engagement-refused-changes-nothing"),
    fault("ends-at-an-emptied-description", "An edit with an empty description ends the process.",
          end_process(EDIT, lambda at: at.field("description") == ""), "no-server-error"),
    fault("edit-follows-id-of-body", "An edit whose body has the id of another engagement changes that one.",
          before(EDIT, _follow_id), _SPARES),
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
