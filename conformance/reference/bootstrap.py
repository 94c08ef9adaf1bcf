"""First contents of a database: two organizations and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.reference.service import Service

_PEOPLE = (
    ("Amara Nwosu", "admin"),
    ("Björn Lindqvist", "member"),
    ("Chiara Rossi", "member"),
    ("Dmitri Volkov", "member"),
    ("Eun-ji Park", "admin"),
    ("Fátima Zahra", "member"),
)
_ENGAGEMENTS = (
    ("Customer portal, yearly penetration test", "Web application and API, grey box", "archived"),
    ("Mobile banking 4.2", "iOS and Android clients before release", "active"),
    ("Cloud tenancy review", None, "active"),
    ("Red team exercise, Q4", "Objectives agreed with the board; physical access excluded", "active"),
    ("Supplier onboarding: Nordwind GmbH", "Questionnaire and external scan", "archived"),
    ("Payment service retest", "Findings 3, 7 and 12 only", "active"),
)
_INVITED = (("grace.kim@example.com", "member"), ("hugo.martin@example.com", "admin"))


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The first organization and the keys of a service.

    Args:
        organization_id: The organization that the sandbox acts on.
        api_key: A full key of it.
        other_organization: A full key of another organization.
        sandbox_token: The operator's bearer token.
    """

    organization_id: str
    api_key: str
    other_organization: str
    sandbox_token: str


def bootstrap_service(service: Service, *, seed_data: bool) -> Bootstrap:
    """Create two organizations, or find those of the database, and add their keys.

    Args:
        service: The service whose store is used.
        seed_data: Whether a new database gets realistic members, engagements and invitations.
    """
    with service.store.transaction():
        known = service.store.organization_ids()
        ids = known[:2] or [
            service.add_organization("Acme Security", "acme-security"),
            service.add_organization("Borealis Labs", "borealis-labs"),
        ]
        if seed_data and not known:
            _add_seed_data(service, ids[0])
        return Bootstrap(
            ids[0],
            service.add_lasting_key(ids[0], "api_key"),
            service.add_lasting_key(ids[1], "other_organization"),
            service.store.secret("sandbox_token"),
        )


def _add_seed_data(service: Service, organization_id: str) -> None:
    """Add realistic members, engagements and invitations to an organization."""
    for name, role in _PEOPLE:
        email = f"{name.split()[0].lower()}@acme-security.example"
        service.add_member(organization_id, name, email, role, service.now())
    for name, description, status in _ENGAGEMENTS:
        service.add_engagement(organization_id, name, description, status)
    for email, role in _INVITED:
        service.add_invitation(organization_id, email, role)
