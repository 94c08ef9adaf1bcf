"""Faults of creating engagements and of reading one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import instead, made, moment, shown, without
from conformance.reference.queries import EngagementQuery
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

_A_MOMENT = 0.004

# What a new engagement is


def _new(identifier: str, title: str, change: Callable[[Engagement], Engagement], *breaks: str) -> Fault:
    """A creation that makes another engagement than it should."""
    return made(
        identifier, title, *breaks, new_engagement=lambda self, context: change(Service.new_engagement(self, context))
    )


MADE = (
    _new(
        "created-archived",
        "A new engagement is archived.",
        lambda new: replace(new, status="archived"),
        "new-engagement-active",
    ),
    _new(
        "created-updated-earlier",
        "The updatedAt of a new engagement is before its createdAt.",
        lambda new: replace(new, updated_at=new.updated_at - 1000),
        "created-updated-at-equals-created-at",
    ),
    _new(
        "created-without-description",
        "The description of a new engagement is dropped.",
        lambda new: replace(new, description=None),
        "create-engagement-answers-what-was-sent",
        "create-engagement-keeps-text",
    ),
    _new(
        "created-name-numbered",
        "The name of a new engagement gets a number.",
        lambda new: replace(new, name=f"{new.name} (1)"),
        "create-engagement-answers-what-was-sent",
        "create-engagement-keeps-text",
    ),
    _new(
        "created-swapped",
        "Name and description of a new engagement change places.",
        lambda new: replace(new, name=new.description or new.name, description=new.name if new.description else None),
        "create-engagement-answers-what-was-sent",
        "create-engagement-keeps-text",
    ),
)

# What a creation answers

RESPONSES = (
    shown(
        "create-answers-pending",
        "The answer to a creation has the status pending.",
        "view_created",
        instead(("status",), lambda _: "pending"),
        "engagement-status-known",
        "new-engagement-active",
    ),
    shown(
        "create-answers-without-description",
        "The answer to a creation lacks the description.",
        "view_created",
        without(("description",)),
        "create-engagement-answers-what-was-sent",
        "create-engagement-fields",
    ),
    shown(
        "create-answers-other-id",
        "The answer to a creation carries an identifier that is not the engagement's.",
        "view_created",
        instead(("id",), lambda text: f"{text}0"),
        "create-engagement-lasts",
    ),
    shown(
        "create-answers-capitals",
        "The answer to a creation has the name in capitals.",
        "view_created",
        instead(("name",), str.upper),
        "create-engagement-answers-what-was-sent",
    ),
    shown(
        "create-answers-other-times",
        "The answer to a creation has its times a day ahead.",
        "view_created",
        lambda view: {**view, **{name: f"2099{view[name][4:]}" for name in ("createdAt", "updatedAt")}},
        "create-engagement-lasts",
        "created-at-never-changes",
        "updated-at-never-goes-back",
    ),
)

# What becomes of it


@fault("create-not-kept", "create-engagement-lasts", "create-engagement-listed", "create-engagement-counted")
class CreateNotKept(Service):
    """A creation answers as if it had been done."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Forget it at once."""
        return self.resource(context, self.view_created(self.new_engagement(context)))


@fault("create-twice", "create-engagement-counted")
class CreateTwice(Service):
    """A creation makes two engagements."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Do it once more."""
        self.store.add_engagement(self.new_engagement(context))
        return super().create_engagement(context)


@fault("create-unlisted", "create-engagement-listed")
class CreateUnlisted(Service):
    """Engagements without a description are left out of the list."""

    def find_engagements(self, query: EngagementQuery) -> Any:  # noqa: ANN401 - a page
        """Leave them out."""
        everything = super().find_engagements(replace(query, offset=0, limit=10_000))
        kept = tuple(item for item in everything.items if item.description)
        return replace(everything, items=kept[query.offset : query.offset + query.limit], total=len(kept))

    def count_engagements(self, organization: Any) -> int:  # noqa: ANN401 - as the parent's
        """Leave them out, too."""
        return int(self.find_engagements(EngagementQuery(organization.id, 0, 1)).total)


@fault("create-uncounted", "create-engagement-counted", "engagement-count-agrees")
class CreateUncounted(Service):
    """The organization counts the engagements that it had at first."""

    _counted: int | None = None

    def count_engagements(self, organization: Any) -> int:  # noqa: ANN401 - as the parent's
        """Count once."""
        if self._counted is None:
            self._counted = super().count_engagements(organization)
        return self._counted


@fault("create-needs-description", "create-engagement-succeeds")
class CreateNeedsDescription(Service):
    """A creation without a description is refused."""

    def check_creation(self, context: RequestContext) -> dict[str, Any]:
        """Require it."""
        values = super().check_creation(context)
        if not values["description"]:
            raise Refusal(422, "The field description is required.")
        return values


@fault("create-refuses-description", "create-engagement-succeeds")
class CreateRefusesDescription(Service):
    """A creation with a description is refused."""

    def check_creation(self, context: RequestContext) -> dict[str, Any]:
        """Object to it."""
        values = super().check_creation(context)
        if values["description"]:
            raise Refusal(422, "The field description is not known.")
        return values


def _honouring(field: str, change: Callable[[Engagement, Any], Engagement]) -> Fault:
    """A creation that lets the client set what is the service's."""

    def check_creation(self: Service, context: RequestContext) -> dict[str, Any]:
        sent = self.parse(context.content)
        values = Service.check_creation(self, context)
        return {**values, "own": sent.get(field) if isinstance(sent, dict) else None}

    def new_engagement(self: Service, context: RequestContext) -> Engagement:
        new, own = Service.new_engagement(self, context), context.values["own"]
        return change(new, own) if isinstance(own, str) and own else new

    return made(
        f"create-honours-{field.lower()}",
        f"A creation takes {field} from the client.",
        "create-engagement-own-values",
        check_creation=check_creation,
        new_engagement=new_engagement,
    )


HONOURED = (
    _honouring("id", lambda new, sent: replace(new, id=sent)),
    _honouring("status", lambda new, sent: replace(new, status=sent)),
    _honouring("createdAt", lambda new, sent: replace(new, created_at=moment(sent))),
    _honouring("updatedAt", lambda new, sent: replace(new, updated_at=moment(sent))),
)


def _refusing_names(status: int, operation: str, requirement: str) -> Fault:
    def check_name_free(self: Service, organization_id: str, name: str, besides: str | None = None) -> None:
        editing = besides is not None
        names = self.store.engagement_names(organization_id, besides=besides, status=None)
        if editing == (operation == "update") and name in names:
            raise Refusal(status, "The name is in use.")

    title = f"A name in use is refused with {status} on {operation}."
    return made(f"duplicate-name-{operation}-{status}", title, requirement, check_name_free=check_name_free)


DUPLICATES = (
    _refusing_names(400, "create", "create-engagement-duplicate-name"),
    _refusing_names(422, "create", "create-engagement-duplicate-name"),
    _refusing_names(422, "update", "update-engagement-duplicate-name"),
    _refusing_names(403, "update", "update-engagement-duplicate-name"),
)


@fault("duplicate-name-gives-the-first", "create-engagement-duplicate-name")
class DuplicateNameGivesTheFirst(Service):
    """A creation with a name in use answers with the engagement that has it."""

    def create_engagement(self, context: RequestContext) -> Reply:
        """Look for the name first."""
        for known in self.store.engagements(EngagementQuery(context.organization_id, 0, 10_000)).items:
            if known.name == context.values["name"]:
                return self.resource(context, self.view_created(known))
        return super().create_engagement(context)


# Several at once


class _Unhurried(Service):
    """A service that takes a moment over each creation, so that several are under way at once."""

    under_way: tuple[str, ...] = ()

    async def perform(self, context: RequestContext) -> Reply:
        """Wait between reading and writing."""
        if context.operation.id != "createEngagement":
            return await super().perform(context)
        alone = not self.under_way
        self.under_way += (context.content.decode("latin-1"),)
        try:
            await asyncio.sleep(_A_MOMENT)
            return self.finish(context, alone=alone)
        finally:
            self.under_way = self.under_way[:-1]

    def finish(self, context: RequestContext, *, alone: bool) -> Reply:
        """Carry the creation out."""
        raise NotImplementedError


@fault("parallel-creation-shares-id", "create-engagement-in-parallel", "engagement-ids-distinct")
class ParallelCreationSharesId(_Unhurried):
    """Of creations at the same time, all get the identifier of the first."""

    _first = ""

    def finish(self, context: RequestContext, *, alone: bool) -> Reply:
        """Take the identifier that was reserved last."""
        reply = self.act(context)
        if alone or not self._first:
            self._first = reply.content["data"]["id"]
        else:
            reply.content["data"]["id"] = self._first
        return reply


@fault("parallel-creation-lost", "create-engagement-lasts", "create-engagement-in-parallel")
class ParallelCreationLost(_Unhurried):
    """Of creations at the same time, only the first is kept."""

    def finish(self, context: RequestContext, *, alone: bool) -> Reply:
        """Overwrite what another one wrote."""
        reply = self.act(context)
        if not alone:
            self.store.delete_engagement(reply.content["data"]["id"])
        return reply
