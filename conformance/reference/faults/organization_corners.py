"""Faults of the organization, of its counts and of its role filter that show only for some values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import fault
from conformance.reference.faults.making import instead, made, overwrite, shown
from conformance.reference.queries import MemberQuery
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Member, Organization, Page
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View


# Invitations


# The organization


def _assigning_with_name(field: str, column: str, value: str) -> Fault:
    """An update that takes a field from the client only together with the name."""

    def update_organization(self: Service, context: RequestContext) -> Reply:
        body: Any = self.parse(context.content)
        if isinstance(body, dict) and field in body and "name" in body:
            self.store.execute(
                f"UPDATE organizations SET {column} = ? WHERE id = ?",  # noqa: S608 - literals of this package
                value,
                context.organization_id,
            )
        return Service.update_organization(self, context)

    return made(
        f"organization-loses-{field}".lower(), f"An update of the organization that sends {field} resets it.",
        "update-organization-only-name", update_organization=update_organization,
    )  # fmt: skip


ASSIGNED = (_assigning_with_name("slug", "slug", "reset"), _assigning_with_name("plan", "plan", "free"))


@fault("organization-takes-flat-settings", "update-organization-only-name")
class OrganizationTakesFlatSettings(Service):
    """An update of the organization takes settings that stand by themselves."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Set them."""
        body: Any = self.parse(context.content)
        columns = {"requireTwoFactor": "require_two_factor", "ssoEnabled": "sso_enabled"}
        for field, column in columns.items():
            if isinstance(value := body.get(field), bool):
                overwrite(self, "organizations", context.organization_id, **{column: int(value)})
        return super().update_organization(context)


@fault("organization-echoes-what-was-sent", "update-organization-only-name")
class OrganizationEchoesWhatWasSent(Service):
    """The answer to an update of the organization holds the id and the slug that were sent."""

    def update_organization(self, context: RequestContext) -> Reply:
        """Put them in."""
        reply = super().update_organization(context)
        body: Any = self.parse(context.content)
        sent = {name: body[name] for name in ("id", "slug") if name in body}
        return replace(reply, content={**reply.content, "data": {**reply.content["data"], **sent}})


@fault("rename-lost-beside-others", "update-organization-only-name", "update-organization-takes-effect")
class RenameLostBesideOthers(Service):
    """An update of the organization that sends other fields beside the name changes nothing."""

    def check_organization_update(self, context: RequestContext) -> dict[str, Any]:
        """Take the name only where it stands alone."""
        values = super().check_organization_update(context)
        body: Any = self.parse(context.content)
        return {} if set(body) - {"name"} else values


@fault("rename-once", "update-organization-takes-effect")
class RenameOnceOnly(Service):
    """Only the first renaming of an organization is kept."""

    _renamed: frozenset[str] = frozenset()

    def update_organization(self, context: RequestContext) -> Reply:
        """Forget a second one."""
        if context.organization_id in self._renamed:
            organization = replace(
                self.store.organization(context.organization_id), name=context.values.get("name", "")
            )
            return self.resource(context, self.view_renamed(organization))
        self._renamed |= {context.organization_id}
        return super().update_organization(context)


COUNTS = (
    made("member-count-of-members-only", "The organization counts those whose role is member.", "member-count-agrees",
         count_members=lambda self, organization: self.store.members(
             MemberQuery(organization.id, 0, 1, role="member")).total),
    made("member-count-without-admins", "The organization counts its members without the admins.",
         "member-count-agrees",
         count_members=lambda self, organization: Service.count_members(self, organization) - self.store.members(
             MemberQuery(organization.id, 0, 1, role="admin")).total),
    made("member-count-fixed", "The organization always has five members.", "member-count-agrees",
         count_members=lambda _, __: 5),
)  # fmt: skip


def _filtered(identifier: str, says: str, change: Callable[[MemberQuery], MemberQuery]) -> Fault:
    def find_members(self: Service, query: MemberQuery) -> Page[Member]:
        return Service.find_members(self, change(query))

    return made(identifier, f"The list of members {says}.", "list-members-role-filter", find_members=find_members)


ROLE_FILTERS = (
    _filtered("role-filter-owner-ignored", "shows everybody when asked for owners",
              lambda query: replace(query, role=None) if query.role == "owner" else query),
    _filtered("role-filter-admin-ignored", "shows everybody when asked for admins",
              lambda query: replace(query, role=None) if query.role == "admin" else query),
    _filtered("role-filter-member-ignored", "shows everybody when asked for the role member",
              lambda query: replace(query, role=None) if query.role == "member" else query),
    _filtered("role-filter-member-shows-admins", "shows admins when asked for the role member",
              lambda query: replace(query, role="admin") if query.role == "member" else query),
    _filtered("role-filter-ignored-on-small-pages", "forgets its role filter on pages of less than 20",
              lambda query: replace(query, role=None) if query.limit < 20 else query),  # noqa: PLR2004
    _filtered("role-filter-forgets-page", "gives the first page for every page where it has a role filter",
              lambda query: replace(query, offset=0) if query.role else query),
)  # fmt: skip


@fault("role-filter-shows-one-admin", "list-members-role-filter")
class RoleFilterShowsOneAdmin(Service):
    """The list of members counts all admins when asked for them, and shows one."""

    def find_members(self, query: MemberQuery) -> Page[Member]:
        """Leave the others out."""
        page = super().find_members(query)
        return replace(page, items=page.items[:1]) if query.role == "admin" else page


def _settings(name: str) -> Fault:
    """A setting that is a number."""
    return shown(f"setting-{name}-number".lower(), f"The setting {name} is 0 or 1.", "view_settings",
                 instead((name,), int), "get-organization-fields")  # fmt: skip


SETTINGS = tuple(_settings(name) for name in ("requireTwoFactor", "domainAutoJoin", "ssoEnabled"))


@fault("organization-created-now", "update-organization-keeps-the-rest")
class OrganizationCreatedNow(Service):
    """The organization always shows the present time as that of its creation."""

    def view_organization(self, organization: Organization) -> View:
        """Show now."""
        return {**super().view_organization(organization), "createdAt": self.timestamp(self.now())}
