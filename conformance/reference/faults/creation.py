"""Faults of creating engagements, and of names in use."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.reference.queries import EngagementQuery
from conformance.reference.refusal import Refusal

from .changes import drop, edit, put
from .mutations import after, before, done_yet, fault, instead, new_engagement, put_methods, refuse, result, view, wrap
from .operations import ARCHIVE, CREATE, EDIT
from .pages import cut, page, whole
from .situations import Condition, Situation, moment, name_in_use, overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

    from .mutations import Method, Mutation

_SUCCEEDS, _RESPONSE, _LASTS = (
    "create-engagement-succeeds", "create-engagement-answers-what-was-sent", "create-engagement-lasts")  # fmt: skip
_TEXT, _LISTED, _COUNTED = "create-engagement-keeps-text", "create-engagement-listed", "create-engagement-counted"
_ACTIVE, _EQUAL_TIMES, _PARALLEL = (
    "new-engagement-active", "created-updated-at-equals-created-at", "create-engagement-in-parallel")  # fmt: skip
_DUPLICATE, _EDITED = "create-engagement-duplicate-name", "update-engagement-takes-effect"
_A_MOMENT = 0.004


def _numbered(new: Engagement) -> Engagement:
    return replace(new, name=f"{new.name} (1)")


def _refuse() -> NoReturn:
    raise Refusal(422, "Refused.")


def _honour(field: str, change: Callable[[Engagement, Any], Engagement]) -> Mutation:
    """Store what a creation sends in a read-only field, if it is text."""

    def new(_: Service, honest: Method, context: RequestContext) -> Engagement:
        engagement: Engagement = honest(context)
        sent = context.values["sent"].get(field)
        return change(engagement, sent) if isinstance(sent, str) and sent else engagement

    return wrap("new_engagement", new) | wrap("check_creation", lambda service, honest, context:
                                              {"sent": service.parse(context.content), **honest(context)})  # fmt: skip


def _page_of_described(find: Callable[[EngagementQuery], Any], query: EngagementQuery) -> Page[Engagement]:
    return cut(query, tuple(engagement for engagement in whole(find, query) if engagement.description))


def _only_show_new(at: Situation) -> Reply:
    return at.success(at.service.view_created(at.service.new_engagement(at.context)))


def _create_another(at: Situation) -> None:
    at.store.add_engagement(at.service.new_engagement(at.context))


def _edit_new(at: Situation, **columns: object) -> None:
    """Write columns of the engagement that was just created."""
    overwrite(at.service, "engagements", at.data["id"], **columns)


def _delay_times(at: Situation) -> None:
    late = at.now + 1
    _edit_new(at, created_at=late, updated_at=late)


CREATED = (
    fault("created-archived", "A new engagement is archived.",
          new_engagement(lambda new: replace(new, status="archived")), _ACTIVE),
    fault("created-undescribed-archived", "A new engagement without a description is archived.",
          new_engagement(lambda new: new if new.description else replace(new, status="archived")), _ACTIVE),
    fault("created-undescribed-named", "A new engagement without a description gets its name for one.",
          new_engagement(lambda new: replace(new, description=new.description or new.name)), _LASTS),
    fault("created-without-description", "The description of a new engagement is dropped.",
          new_engagement(lambda new: replace(new, description=None)), _RESPONSE, _TEXT),
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
          new_engagement(lambda new: new if new.description else replace(new, updated_at=new.created_at - 1000)),
          _EQUAL_TIMES),
    fault("created-read-a-moment-later",
          "The times of a new engagement are those of the next millisecond once it is read.",
          after(CREATE, _delay_times), _LASTS, _LISTED),
    *(fault(f"create-honours-{field.lower()}", f"A creation takes {field} from the client.",
            _honour(field, change), "create-engagement-own-values") for field, change in (
        ("id", lambda new, sent: replace(new, id=sent)),
        ("status", lambda new, sent: replace(new, status=sent)),
        ("createdAt", lambda new, sent: replace(new, created_at=moment(sent))),
        ("updatedAt", lambda new, sent: replace(new, updated_at=moment(sent))))),
)  # fmt: skip

RESPONSES = (
    fault("create-answers-pending", "The answer to a creation has the status pending.",
          view("created", put(status="pending")), "engagement-status-known", _ACTIVE),
    fault("create-answers-without-description", "The answer to a creation lacks the description.",
          view("created", drop("description")), _RESPONSE, "create-engagement-fields"),
    fault("create-answers-other-id", "The answer to a creation carries an identifier that is not the engagement's.",
          view("created", edit(id=lambda text: f"{text}0")), _LASTS),
    fault("create-answers-capitals", "The answer to a creation has the name in capitals.",
          view("created", edit(name=str.upper)), _RESPONSE),
    fault("create-answers-other-times", "The answer to a creation has its times a day ahead.",
          view("created", edit(**dict.fromkeys(("createdAt", "updatedAt"), lambda time: f"2099{time[4:]}"))),
          _LASTS, "created-at-never-changes", "updated-at-never-goes-back"),
)  # fmt: skip

KEPT = (
    fault("create-not-kept", "A creation answers as if it had been done.",
          instead(CREATE, _only_show_new), _LASTS, _LISTED, _COUNTED),
    fault("create-twice", "A creation makes two engagements.", before(CREATE, _create_another), _COUNTED),
    fault("create-unlisted", "Engagements without a description are left out of the list.",
          page(_page_of_described)
          | wrap("count_engagements", lambda service, _, organization:
                 service.find_engagements(EngagementQuery(organization.id, 0, 1)).total), _LISTED),
    fault("create-uncounted", "The organization counts the engagements that it had at first.",
          wrap("count_engagements", lambda service, honest, organization:
               service.memory.setdefault("count", honest(organization))), _COUNTED, "engagement-count-agrees"),
    fault("create-needs-description", "A creation without a description is refused.",
          result("check_creation", lambda values: values if values["description"] else _refuse()), _SUCCEEDS),
    fault("create-refuses-description", "A creation with a description is refused.",
          result("check_creation", lambda values: _refuse() if values["description"] else values), _SUCCEEDS),
)  # fmt: skip


def _refuse_name(status: int, operation: str) -> Mutation:
    """Refuse a name in use in creations or in edits, and permit it in the other operation."""

    def check(service: Service, organization_id: str, name: str, besides: str | None = None) -> None:
        names = service.store.engagement_names(organization_id, besides=besides, status=None)
        if operation == ("create" if besides is None else "update") and name in names:
            raise Refusal(status, "The name is in use.")

    return put_methods(check_name_free=check)


def _name_of_archived(at: Situation) -> bool:
    return at.values["name"] in {other.name for other in at.engagements if other.status == "archived"}


def _has_namesake(at: Situation) -> bool:
    """The engagement that was just created has a name that was in use before."""
    return [engagement.name for engagement in at.engagements].count(at.values["name"]) > 1


def _has_older_namesake(at: Situation) -> bool:
    this = at.engagement
    return any(other.name == this.name and other.created_at < this.created_at for other in at.engagements)


def _number_new(when: Condition) -> Mutation:
    """Store a new engagement with a number after its name."""
    return wrap("new_engagement", lambda service, honest, context:
                _numbered(honest(context)) if when(Situation(service, context)) else honest(context))  # fmt: skip


def _number_sent(at: Situation) -> None:
    at.values["name"] += " (1)"


def _describe_oldest_namesake(at: Situation) -> None:
    oldest = next(other for other in at.engagements if other.name == at.values["name"])
    at.store.edit_engagement(oldest.id, {"description": at.values["description"]}, at.now)


def _show_newest_namesake(at: Situation) -> Reply:
    newest = next(other for other in reversed(at.engagements) if other.name == at.values["name"])
    return at.success(at.service.view_created(newest))


def _only_show_edited(at: Situation) -> Reply:
    at.service.check_editable(at.engagement)
    return at.success(at.service.view_edited(replace(at.engagement, **at.values)))


NAMES_IN_USE = (
    *(fault(f"duplicate-name-create-{status}", f"A name in use is refused with {status} on create.",
            _refuse_name(status, "create"), _DUPLICATE) for status in (400, 422)),
    *(fault(f"duplicate-name-update-{status}", f"A name in use is refused with {status} on update.",
            _refuse_name(status, "update"), "update-engagement-duplicate-name") for status in (403, 422)),
    *(fault(f"duplicate-name-create-{status}", f"A name in use is refused with {status} on create.",
            refuse(CREATE, status, name_in_use), _DUPLICATE) for status in (403, 404)),
    fault("duplicate-name-create-500", "A name in use ends in an unexpected error on create.",
          refuse(CREATE, 500, name_in_use), "no-server-error", _DUPLICATE),
    fault("duplicate-name-overwrites",
          "A creation with a name in use gives its description to the engagement that has the name, too.",
          before(CREATE, _describe_oldest_namesake, name_in_use), _LASTS, _DUPLICATE),
    fault("duplicate-name-gives-the-first",
          "A creation with a name in use answers with the engagement that has it.",
          instead(CREATE, _show_newest_namesake, name_in_use), _DUPLICATE),
    fault("duplicate-name-refused-and-created",
          "A name in use is refused with 409 on create, and the engagement is there.",
          done_yet(CREATE, 409, _has_namesake), _DUPLICATE),
    *(fault(f"duplicate-name-refused-and-{what}", f"A name in use is refused with 409 on update, and {kept}.",
            mutation, "update-engagement-refused-changes-nothing") for what, kept, mutation in (
        ("renamed", "the engagement has it", done_yet(EDIT, 409, name_in_use)),
        ("described", "the description beside it is kept",
         after(EDIT, lambda at: at.edit(name=at.engagement.name), name_in_use)
         | done_yet(EDIT, 409, name_in_use)))),
    fault("name-in-use-numbered-on-create", "A new engagement whose name is in use gets a number, and says so.",
          _number_new(name_in_use), _RESPONSE),
    fault("name-of-archived-numbered", "A new engagement with the name of an archived one gets a number, and says so.",
          _number_new(_name_of_archived), _RESPONSE),
    fault("name-in-use-numbered-unsaid",
          "A new engagement whose name is in use gets a number that only reads show.",
          after(CREATE, lambda at: _edit_new(at, name=f"{at.values['name']} (1)"), _has_namesake), _LASTS),
    fault("name-in-use-numbered-on-update", "An engagement that is renamed to a name in use gets a number.",
          before(EDIT, _number_sent, name_in_use), _EDITED),
    fault("edit-of-namesake-lost",
          "An edit of the description is taken and lost where an older engagement has the same name.",
          instead(EDIT, _only_show_edited, lambda at: _has_older_namesake(at) and "name" not in at.values), _EDITED),
    fault("archive-of-namesake-lost",
          "An engagement is archived and stays active where an older one has the same name.",
          instead(ARCHIVE, lambda at: at.replied("archived", status="archived"), _has_older_namesake),
          "archive-sets-status", "archived-edit-refused"),
)  # fmt: skip


def _unhurried(disturb: Callable[[Service, dict[str, Any], str], object]) -> Mutation:
    """Take a moment over each creation.

    Args:
        disturb: Is called if another creation was under way; gets what this one shows, and the id of the first one.
    """

    async def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        if context.operation.id != CREATE:
            return await honest(context)
        memory = service.memory
        under_way = memory.get("under way", 0)
        memory["under way"] = under_way + 1
        try:
            await asyncio.sleep(_A_MOMENT)
            reply = await honest(context)
        finally:
            memory["under way"] -= 1
        new = reply.content["data"]
        if under_way:
            disturb(service, new, memory.setdefault("first", new["id"]))
        else:
            memory["first"] = new["id"]
        return reply

    return wrap("perform", around)


SIMULTANEOUS = (
    fault("parallel-creation-shares-id", "Of creations at the same time, all get the identifier of the first.",
          _unhurried(lambda _, new, first: new.update(id=first)), _PARALLEL, "engagement-ids-distinct"),
    fault("parallel-creation-lost", "Of creations at the same time, only the first is kept.",
          _unhurried(lambda service, new, _: service.store.delete_engagement(new["id"])), _LASTS, _PARALLEL),
)  # fmt: skip
