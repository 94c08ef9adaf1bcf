"""Laws of the response to a change: the fields in which it repeats the request.

A law returns False if it does not apply, for instance because the field is missing; other laws judge that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import ASSIGNABLE_ROLES
from conformance.oracle import expect, read
from conformance.oracle.effects import TEXTS, Interval, must_be_accepted, must_be_echoed
from conformance.oracle.laws.no_ops import no_op_changes
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.outcomes import CantTell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_LIFE: Final = timedelta(days=7)
_TOLERANCE: Final = timedelta(seconds=1)
_ADDRESS: Final = re.compile(r"[A-Za-z0-9.+'-]+@[A-Za-z0-9.-]+")


def renaming_repeats_name(exchange: Exchange) -> bool:
    """Require the sent name in the response to a renaming of the organization, if every service must accept it."""
    sent = _body_of(exchange, "updateCurrentOrganization")
    name = {"name": sent["name"]} if must_be_accepted(sent.get("name")) else {}
    return _same(exchange, _resource_of(exchange, "updateCurrentOrganization"), name)


def creation_repeats_texts(exchange: Exchange) -> bool:
    """Require the sent name and description in the response to a creation, if they must be echoed."""
    sent, resource = _body_of(exchange, "createEngagement"), _resource_of(exchange, "createEngagement")
    texts = [name for name in TEXTS if must_be_echoed(sent.get(name)) and isinstance(resource.get(name), str)]
    return _same(exchange, resource, {name: sent[name] for name in texts})


def creation_is_active(exchange: Exchange) -> bool:
    """Require the status active in the response to a creation that sends nothing but texts."""
    if not _body_of(exchange, "createEngagement").keys() <= set(TEXTS):
        return False
    return _same(exchange, _resource_of(exchange, "createEngagement"), {"status": "active"})


def archiving_repeats_id(exchange: Exchange) -> bool:
    """Require the engagement's id in the response to an archive."""
    return _same(exchange, _resource_of(exchange, "archiveEngagement"), {"id": exchange.request.identifier})


def archiving_states_archived(exchange: Exchange) -> bool:
    """Require the status archived in the response to an archive."""
    return _same(exchange, _resource_of(exchange, "archiveEngagement"), {"status": "archived"})


def role_change_repeats_role(exchange: Exchange) -> bool:
    """Require the member's id and the sent role in the response to a role change."""
    sent = _body_of(exchange, "updateMemberRole")
    if sent.get("role") not in ASSIGNABLE_ROLES:
        return False
    resource = _resource_of(exchange, "updateMemberRole")
    return _same(exchange, resource, {"id": exchange.request.identifier, "role": sent["role"]})


def removal_repeats_id(exchange: Exchange) -> bool:
    """Require removed true and the member's id in the response to a removal."""
    resource = _resource_of(exchange, "removeMember")
    return _same(exchange, resource, {"removed": True, "userId": exchange.request.identifier})


def invitation_repeats(exchange: Exchange) -> bool:
    """Require the sent address, in any letter case, and the sent role in the response to an invitation."""
    sent = _body_of(exchange, "inviteMember")
    email, role = sent.get("email"), sent.get("role")
    if role not in ASSIGNABLE_ROLES or not isinstance(email, str) or not _ADDRESS.fullmatch(email):
        return False
    resource = _resource_of(exchange, "inviteMember")
    if isinstance(address := resource.get("email"), str):
        resource["email"] = address.casefold()
    return _same(exchange, resource, {"email": email.casefold(), "role": role})


def invitation_is_pending(exchange: Exchange) -> bool:
    """Require the status pending of a new invitation."""
    return _same(exchange, _resource_of(exchange, "inviteMember"), {"status": "pending"})


def invitation_expires_in_seven_days(exchange: Exchange) -> bool:
    """Require that an invitation expires seven days after its creation, within a second."""
    resource = _resource_of(exchange, "inviteMember")
    if not isinstance(resource.get("createdAt"), str) or not isinstance(resource.get("expiresAt"), str):
        return False
    life = expect.moment(resource["expiresAt"], exchange) - expect.moment(resource["createdAt"], exchange)
    expect.holds(
        abs(life - _LIFE) <= _TOLERANCE,
        "the invitation does not expire seven days after its creation",
        exchange,
        expected="createdAt plus 7 days, within a second",
        actual=f"createdAt plus {life}",
        pointer="/data/expiresAt",
    )
    return True


def deletion_repeats_id(exchange: Exchange) -> bool:
    """Require deleted true and the engagement's id in the response to a deletion."""
    if not exchange.request.is_proper or not exchange.succeeded:
        return False
    data = read.data(exchange)
    if not isinstance(data.get("deleted"), bool):
        raise CantTell("deleted is not a boolean", exchange)
    expect.equal("deleted", data["deleted"], True, exchange, pointer="/data/deleted")
    expect.equal("id", read.text(data, "id", exchange), exchange.request.identifier, exchange, pointer="/data/id")
    return True


def open_responses(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """Return the numbers of the changes whose responses need not repeat the request.

    These are:

    - changes of an engagement, a member or an organization that overlapped another change of it;
    - archivings of an engagement that was archived or unarchived before, whatever its status is now;
    - invitations of a user who is a member or was invited before.
    """
    exchanges = list(exchanges)
    return frozenset(_disturbed(exchanges) | _archived_before(exchanges)) | no_op_changes(exchanges, "inviteMember")


def _disturbed(exchanges: list[Exchange]) -> set[int]:
    at_once: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        changed = exchange.request.identifier
        if exchange.operation_id == "updateCurrentOrganization":
            changed = exchange.operation_id
        if changed is not None and exchange.request.method != "GET" and not exchange.refused:
            at_once[changed].append(exchange)
    pairs = (pair for several in at_once.values() for pair in combinations(several, 2))
    return {change.number for pair in pairs if Interval.of(pair[0]).overlaps(Interval.of(pair[1])) for change in pair}


def _archived_before(exchanges: list[Exchange]) -> set[int]:
    touched: set[str | None] = set()
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.operation_id in {"archiveEngagement", "unarchiveEngagement"} and not exchange.refused:
            if exchange.request.identifier in touched:
                again.add(exchange.number)
            touched.add(exchange.request.identifier)
    return again


def _body_of(exchange: Exchange, operation: str) -> dict[str, Any]:
    """Return the object that a request of this operation carried; an empty one if there is none or it is ambiguous."""
    is_of_it = exchange.operation_id == operation and exchange.request.is_proper
    return exchange.sent_fields if is_of_it else {}


def _resource_of(exchange: Exchange, operation: str) -> dict[str, Any]:
    """Return the resource in a success of this operation; an empty one if it cannot be read."""
    is_of_it = exchange.operation_id == operation and exchange.request.is_proper
    return dict(first_resource(exchange) or {}) if is_of_it else {}


def _same(exchange: Exchange, resource: dict[str, Any], right: dict[str, Any]) -> bool:
    """Compare the fields that are present with the right type; return False if there are none.

    Raises:
        NonConformity: A field has another value.
    """
    given = [name for name, value in right.items() if name in resource and type(resource[name]) is type(value)]
    for name in given:
        expect.equal(name, resource[name], right[name], exchange, pointer=f"/data/{name}")
    return bool(given)
