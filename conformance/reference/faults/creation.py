"""Faults of creating engagements, and of names in use."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from conformance.reference.queries import EngagementQuery

from .changes import drop, edit, put, set_fields
from .conditions import archived, name_in_use, name_of_archived
from .mutations import (
    Mutation,
    after,
    at_step,
    before,
    done_yet,
    fault,
    instead,
    new_engagement,
    override,
    receive,
    refuse,
)
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
    fault("create-keeps-escaped-slash", "A creation keeps the backslash of an escaped slash in its JSON.",
          receive(CREATE, lambda content: content.replace(rb"\/", rb"\\/")), _TEXT),
    fault("create-drops-description-like-name", "A creation whose description is its name loses the description.",
          before(CREATE, lambda at: at.values.update(description=None),
                 lambda at: at.values.get("description") == at.values["name"]), _RESPONSE, _TEXT),
    fault("created-archived", "A new engagement is archived.", new_engagement(set_fields(status="archived")), _ACTIVE),
    fault("created-undescribed-archived", "A new engagement without a description is archived.",
          new_engagement(set_fields(status="archived"), _undescribed), _ACTIVE),
    fault("created-undescribed-named", "A new engagement without a description gets its name as the description.",
          new_engagement(lambda new: replace(new, description=new.description or new.name)), _LASTS),
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
          page(lambda find, query: cut(query, tuple(each for each in whole(find, query) if each.description)))
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
    *(fault(f"name-of-deleted-{label}", f"{subject} the name of a deleted engagement {words}.",
            before(DELETE, lambda at: at.remembered("deleted", set()).add(at.engagement.name))
            | refuse(operation, status, _name_of_deleted), *breaks)
      for label, subject, words, operation, status, *breaks in (
        ("create-409", "A creation with", "is refused with 409", CREATE, 409, _SUCCEEDS),
        ("update-500", "A renaming to", "causes a 500", EDIT, 500, "no-server-error"))),
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
