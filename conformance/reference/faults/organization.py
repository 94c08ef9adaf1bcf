"""Faults of the organization: its renaming, its counts, what clients cannot set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import instead, made, overwrite, shown
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Organization
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

# Renaming


@fault("rename-not-kept", "update-organization-takes-effect")
class RenameNotKept(Service):
    """A renaming answers as if it had been done."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Show it and forget it."""
        before = self.store.organization(context.organization_id)
        named = replace(before, name=context.values.get("name", before.name), updated_at=self.now())
        return self.resource(context, self.view_renamed(named))


@fault("rename-answers-old-name", "update-organization-answers-new-name")
class RenameSaysOldName(Service):
    """The answer to a renaming carries the name from before."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Show what was."""
        before = self.store.organization(context.organization_id)
        reply = super().update_organization(context)
        reply.content["data"]["name"] = before.name
        return reply


@fault("rename-refused", "update-organization-succeeds")
class RenameRefused(Service):
    """A renaming is refused."""

    def check_organization_update(self, context: RequestContext) -> dict[str, Any]:
        """Object to what is valid."""
        if super().check_organization_update(context):
            raise Refusal(409, "The organization cannot be renamed.")
        return {}


RENAMINGS = (
    shown(
        "rename-answers-other-slug",
        "The answer to a renaming carries a slug that is not the organization's.",
        "view_renamed",
        instead(("slug",), lambda slug: f"{slug}-2"),
        "update-organization-answers-new-name",
        "update-organization-keeps-the-rest",
    ),
    shown(
        "rename-answers-other-id",
        "The answer to a renaming carries another identifier.",
        "view_renamed",
        instead(("id",), lambda text: f"{text}0"),
        "update-organization-answers-new-name",
        "update-organization-keeps-the-rest",
    ),
    shown(
        "slug-with-blanks",
        "The slug of the organization has blanks.",
        "view_organization",
        instead(("slug",), lambda slug: slug.replace("-", " ")),
        "organization-slug-url-safe",
        "update-organization-answers-new-name",
    ),
    shown(
        "slug-percent",
        "The slug of the organization has a percent sign and a letter with an accent.",
        "view_renamed",
        instead(("slug",), lambda slug: f"é%{slug}"),
        "organization-slug-url-safe",
        "update-organization-answers-new-name",
    ),
)


def _moving(column: str, words: str, value: Callable[[Organization, str, int], Any], *breaks: str) -> Fault:
    """A renaming that changes something else, too; ``value`` is given the organization, the name and the time."""

    def update_organization(self: Service, context: RequestContext) -> Reply:
        before = self.store.organization(context.organization_id)
        if (name := context.values.get("name")) and name != before.name:
            overwrite(self, "organizations", before.id, **{column: value(before, name, self.now())})
        return Service.update_organization(self, context)

    label = column.replace("_", "-")
    return made(f"rename-changes-{label}", f"A renaming {words}.", *breaks, update_organization=update_organization)


_REST = "update-organization-keeps-the-rest"

MOVED = (
    _moving(
        "slug",
        "makes a new slug from the name",
        lambda _, name, __: "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower()),
        _REST,
        "update-organization-answers-new-name",
    ),
    _moving("plan", "resets the plan", lambda *_: "free", _REST),
    _moving("created_at", "moves createdAt", lambda _, __, now: now, _REST),
    _moving("require_two_factor", "switches requireTwoFactor", lambda before, *_: not before.require_two_factor, _REST),
    _moving("domain_auto_join", "switches domainAutoJoin", lambda before, *_: not before.domain_auto_join, _REST),
    _moving("sso_enabled", "switches ssoEnabled", lambda before, *_: not before.sso_enabled, _REST),
)

# What clients cannot set


def _assigning(field: str, column: str, value: Callable[[Any], Any]) -> Fault:
    """An update that lets the client set more than the name."""

    def check_organization_update(self: Service, context: RequestContext) -> dict[str, Any]:
        checked = Service.check_organization_update(self, context)
        sent = self.parse(context.content)
        if isinstance(sent, dict) and sent.get(field) is not None:
            overwrite(self, "organizations", context.organization_id, **{column: value(sent[field])})
        return checked

    return made(
        f"organization-assigns-{field.lower()}",
        f"An update of the organization takes {field} from the client.",
        "update-organization-only-name",
        check_organization_update=check_organization_update,
    )


ASSIGNED = (
    _assigning("slug", "slug", str),
    _assigning("plan", "plan", str),
    _assigning("createdAt", "created_at", lambda _: 1_000_000_000_000),
    _assigning("settings", "sso_enabled", lambda sent: bool(isinstance(sent, dict) and sent.get("ssoEnabled"))),
)


def _showing(field: str) -> Fault:
    """An update whose value of a field is shown from then on."""

    def check_organization_update(self: Service, context: RequestContext) -> dict[str, Any]:
        checked = Service.check_organization_update(self, context)
        sent = self.parse(context.content)
        if isinstance(sent, dict) and sent.get(field) is not None:
            self.memory["sent"] = sent[field]
        return checked

    def view_organization(self: Service, organization: Organization) -> View:
        view = Service.view_organization(self, organization)
        return {**view, field: self.memory.get("sent", view[field])}

    return made(
        f"organization-assigns-{field.lower()}",
        f"An update of the organization takes {field} from the client.",
        "update-organization-only-name",
        check_organization_update=check_organization_update,
        view_organization=view_organization,
    )


SHOWN = tuple(_showing(field) for field in ("id", "memberCount", "engagementCount"))

# Counts and keys

COUNTS = (
    made(
        "member-count-without-owner",
        "The organization counts its members without one.",
        "member-count-agrees",
        count_members=lambda self, organization: Service.count_members(self, organization) - 1,
    ),
    made(
        "member-count-of-everybody",
        "The organization counts the members of all organizations.",
        "member-count-agrees",
        "isolation-counts",
        count_members=lambda self, _: sum(self.store.count_members(one) for one in self.store.organization_ids()),
    ),
    made(
        "engagement-count-one-more",
        "The organization counts one engagement too many.",
        "engagement-count-agrees",
        count_engagements=lambda self, organization: Service.count_engagements(self, organization) + 1,
    ),
    made(
        "engagement-count-as-members",
        "The organization shows the number of its members as that of its engagements.",
        "engagement-count-agrees",
        "create-engagement-counted",
        "deleted-uncounted",
        count_engagements=Service.count_members,
    ),
)


@fault("key-changes-organization", "key-stays-with-organization")
class KeyChangesOrganization(Service):
    """Every fifth read of the organization shows another one."""

    _reads = 0

    def get_organization(self, context: RequestContext) -> Reply:
        """Show another one now and then."""
        self._reads += 1
        if self._reads % 5:
            return super().get_organization(context)
        other = next(one for one in self.store.organization_ids() if one != context.organization_id)
        return self.resource(context, self.view_organization(self.store.organization(other)))
