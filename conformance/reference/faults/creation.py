"""Faults of creating engagements, and of names in use."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import EngagementQuery

from .changes import drop, edit, put, set_fields
from .conditions import archived, name_in_use, name_of_archived
from .mutations import Mutation, after, at_step, before, done_yet, fault, instead, new_engagement, override, refuse
from .operations import ARCHIVE, CREATE, DELETE, EDIT
from .pages import cut, page, whole
from .replies import view
from .situations import Situation, moment, overwrite, show_edited

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement

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


CREATED = (
    fault("created-archived", "A new engagement is archived.", new_engagement(set_fields(status="archived")), _ACTIVE),
    fault("created-undescribed-archived", "A new engagement without a description is archived.",
          new_engagement(set_fields(status="archived"), _undescribed), _ACTIVE),
    fault("created-undescribed-named", "A new engagement without a description gets its name for one.",
          new_engagement(lambda new: replace(new, description=new.description or new.name)), _LASTS),
    fault("created-without-description", "The description of a new engagement is dropped.",
          new_engagement(set_fields(description=None)), _RESPONSE, _TEXT),
    fault("created-name-numbered", "The name of a new engagement gets a number.",
          new_engagement(_numbered), _RESPONSE, _TEXT),
    fault("created-swapped", "Name and description of a new engagement change places.",
          new_engagement(lambda new: replace(new, name=new.description, description=new.name)
                         if new.description else replace(new, description=None)), _RESPONSE, _TEXT),
    fault("created-updated-earlier", "The updatedAt of a new engagement is before its createdAt.",
          new_engagement(lambda new: replace(new, updated_at=new.updated_at - 1000)), _EQUAL_TIMES),
    fault("created-updated-later", "A new engagement is said to be updated a moment after its creation.",
          new_engagement(lambda new: replace(new, updated_at=new.updated_at + 1)), _EQUAL_TIMES),
    fault("created-description-apart",
          "A new engagement with a description is updated a millisecond after its creation, as in a second step.",
          new_engagement(lambda new: replace(new, updated_at=new.created_at + bool(new.description))), _EQUAL_TIMES),
    fault("created-undescribed-apart",
          "A new engagement without a description is updated a second before its creation.",
          new_engagement(lambda new: replace(new, updated_at=new.created_at - 1000), _undescribed), _EQUAL_TIMES),
    fault("created-read-a-moment-later",
          "The times of a new engagement are those of the next millisecond once it is read.",
          after(CREATE, lambda at: _edit_new(at, **dict.fromkeys(("created_at", "updated_at"), at.now + 1))),
          _LASTS, _LISTED),
    *(fault(f"create-honours-{field.lower()}", f"A creation takes {field} from the client.",
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
    fault("create-answers-other-id", "The response to a creation carries an identifier that is not the engagement's.",
          view("created", edit(id=lambda text: f"{text}0")), _LASTS),
    fault("create-answers-capitals", "The response to a creation has the name in capitals.",
          view("created", edit(name=str.upper)), _RESPONSE),
    fault("create-answers-other-times", "The response to a creation has its times a day ahead.",
          view("created", edit(**dict.fromkeys(("createdAt", "updatedAt"), lambda time: f"2099{time[4:]}"))),
          _LASTS, "created-at-never-changes", "updated-at-never-goes-back"),
)  # fmt: skip

KEPT = (
    fault("create-not-kept", "A creation answers as if it had been done.",
          instead(CREATE, lambda at: at.success(at.service.view_created(at.service.new_engagement(at.context)))),
          _LASTS, _LISTED, _COUNTED),
    fault("create-twice", "A creation makes two engagements.",
          before(CREATE, lambda at: at.store.add_engagement(at.service.new_engagement(at.context))), _COUNTED),
    fault("create-every-tenth-twice", "Every tenth creation makes two engagements.",
          before(CREATE, lambda at: at.store.add_engagement(at.service.new_engagement(at.context)),
                 lambda at: next(at.remembered("creations", count(1))) % 10 == 0), _COUNTED, "deleted-uncounted"),
    fault("create-unlisted", "Engagements without a description are left out of the list.",
          page(lambda find, query: cut(query, tuple(each for each in whole(find, query) if each.description)))
          | override(count_engagements=lambda service, organization:
                        service.find_engagements(EngagementQuery(organization.id, 0, 1)).total), _LISTED),
    fault("create-uncounted", "The organization counts the engagements that it had at first.",
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
    *(fault(f"duplicate-name-create-{status}", f"A name in use is refused with {status} on create.",
            refuse(CREATE, status, name_in_use), _DUPLICATE) for status in (400, 403, 404, 422)),
    *(fault(f"duplicate-name-update-{status}", f"A name in use is refused with {status} on update.",
            refuse(EDIT, status, lambda at: name_in_use(at) and not archived(at)),
            "update-engagement-duplicate-name") for status in (403, 422)),
    fault("duplicate-name-create-500", "A name in use ends in an unexpected error on create.",
          refuse(CREATE, 500, name_in_use), "no-server-error", _DUPLICATE),
    *(fault(f"name-of-deleted-{label}", f"The name of a deleted engagement {words}.",
            before(DELETE, lambda at: at.remembered("deleted", set()).add(at.engagement.name))
            | refuse(operation, status, _name_of_deleted), *breaks)
      for label, words, operation, status, *breaks in (
        ("create-409", "is refused with 409 on create", CREATE, 409, _SUCCEEDS),
        ("update-500", "ends in an unexpected error on update", EDIT, 500, "no-server-error"))),
    fault("duplicate-name-overwrites",
          "A creation with a name in use gives its description to the engagement that has the name, too.",
          before(CREATE, lambda at: at.store.edit_engagement(
              at.namesakes[0].id, {"description": at.values["description"]}, at.now), name_in_use),
          "update-engagement-takes-effect", _DUPLICATE, _LASTS),
    fault("duplicate-name-gives-the-first", "A creation with a name in use answers with the engagement that has it.",
          instead(CREATE, lambda at: at.success(at.service.view_created(at.namesakes[-1])), name_in_use), _DUPLICATE),
    fault("duplicate-name-refused-and-created",
          "A name in use is refused with 409 on create, and the engagement is there.",
          done_yet(CREATE, 409, _is_namesake), _DUPLICATE),
    fault("duplicate-name-refused-and-renamed",
          "A name in use is refused with 409 on update, and the engagement has it.",
          done_yet(EDIT, 409, name_in_use), "update-engagement-refused-changes-nothing"),
    fault("duplicate-name-refused-and-described",
          "A name in use is refused with 409 on update, and the description beside it is kept.",
          after(EDIT, lambda at: at.edit(name=at.engagement.name), name_in_use) | done_yet(EDIT, 409, name_in_use),
          "update-engagement-refused-changes-nothing"),
    fault("name-in-use-numbered-on-create", "A new engagement whose name is in use gets a number, and says so.",
          new_engagement(_numbered, name_in_use), _RESPONSE),
    fault("name-of-archived-numbered", "A new engagement with the name of an archived one gets a number, and says so.",
          new_engagement(_numbered, name_of_archived), _RESPONSE),
    fault("name-in-use-numbered-unsaid", "A new engagement whose name is in use gets a number that only reads show.",
          after(CREATE, lambda at: _edit_new(at, name=f"{at.values['name']} (1)"), _is_namesake), _LASTS),
    fault("name-in-use-numbered-on-update", "An engagement that is renamed to a name in use gets a number.",
          before(EDIT, lambda at: at.values.update(name=f"{at.values['name']} (1)"), name_in_use), _EDITED),
    fault("edit-of-namesake-lost",
          "An edit of the description is taken and lost where an older engagement has the same name.",
          instead(EDIT, lambda at: show_edited(at, **at.values),
                  lambda at: _has_older_namesake(at) and "name" not in at.values), _EDITED),
    fault("archive-of-namesake-lost",
          "An engagement is archived and stays active where an older one has the same name.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), _has_older_namesake),
          "archive-sets-status", "archived-edit-refused"),
)  # fmt: skip
