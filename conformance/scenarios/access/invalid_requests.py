"""Scenarios that send certainly invalid requests, and read their targets before and after."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.oracle import read
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import CheckOutcome
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access import invalid_inputs
from conformance.scenarios.access.every_operation import (
    OTHER_ROLE,
    ensure_not_owner,
    label,
    latest_engagements,
    member_of,
    member_pages,
    untouchable_member,
)
from conformance.scenarios.access.unauthenticated import wrong_keys
from conformance.scenarios.basics import or_with_plain_texts
from conformance.scenarios.renaming import name_before, restored_name
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.running.run import Run
    from conformance.scenarios.access.invalid_inputs import InvalidBody
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


@dataclass(frozen=True, slots=True)
class Refusals:
    """Certainly invalid requests for a resource, with reads of it, or of its list, before and after."""

    target: str
    before: tuple[Exchange, ...]
    sent: tuple[Sent, ...]
    after: tuple[Exchange, ...]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges in order."""
        return (*self.before, *[sent.exchange for sent in self.sent], *self.after)


@scenario
def invalid_creations(run: Run) -> Refusals:
    """Create engagements with every certainly invalid body."""
    return _creations(run, _bodies(run, "createEngagement"))


def unlabelled_creations(run: Run) -> Refusals:
    """Create engagements with the certainly invalid bodies that cannot carry a label."""
    return _creations(run, [body for body in _bodies(run, "createEngagement") if not body.carries_label])


def _creations(run: Run, bodies: list[InvalidBody]) -> Refusals:
    before = latest_engagements(run, status="active", sort="name", order="desc")
    tried = [(body, label(run, "invalid")) for body in bodies]
    sent = _sent(run.send_all, tried, requests.create_engagement({}))
    after = latest_engagements(run, status="active", sort="createdAt", order="asc")
    return Refusals("", tuple(before), sent, tuple(after))


@scenario
def invalid_updates(run: Run) -> Refusals:
    """Update an engagement with every certainly invalid body."""
    before = _engagement(run)
    engagement_id = read.identifier(before)
    tried = [(invalid, label(run, "invalid")) for invalid in _bodies(run, "updateEngagement")]
    sent = _sent(run.send_in_turn, tried, requests.update_engagement(engagement_id, {}))
    after = run.send(requests.get_engagement(engagement_id))
    # For the ledger: what was refused must not come with the next edit.
    run.send_in_turn(
        [requests.update_engagement(engagement_id, {"description": "It is edited afterwards"}), after.request]
    )
    return Refusals(engagement_id, (before,), sent, (after,))


def _engagement(run: Run) -> Exchange:
    """Return a read of a new engagement, after a time in which a changed updatedAt shows."""
    body = {"name": run.name("valid"), "description": "It stays exactly as it is"}
    run.send(requests.create_engagement(body | {"description": 5}))  # which must not reserve the name
    created = or_with_plain_texts(run, run.send(requests.create_engagement(body)))
    run.sleep(ONE_SECOND_TICK)
    return run.send(requests.get_engagement(read.identifier(created)))


def single_cause(run: Run, refused: Refusals) -> Refusals:
    """Repeat refused updates one by one on another engagement; return the first that changes it.

    Returns:
        The reads right before and after that update; the given ones if none changes it alone, or the limit of requests
        does not allow the repetition.
    """
    with suppress(CheckOutcome, NoResponse):
        before = _engagement(run)
        for sent in refused.sent:
            target = read.identifier(before)
            update = run.send(replace(sent.exchange.request, identifier=target))
            after = run.send(requests.get_engagement(target))
            if read.data(after) != read.data(before):
                return Refusals(target, (before,), (replace(sent, exchange=update),), (after,))
            before = after
    return refused


@scenario(alone=True)
def invalid_organization_updates(run: Run) -> Refusals:
    """Update the organization with every certainly invalid body."""
    before = run.send(requests.get_organization())
    tried = [(body, label(run, "invalid")) for body in _bodies(run, "updateCurrentOrganization")]
    sent = _sent(run.send_in_turn, tried, requests.update_organization({}))
    return Refusals("", (before,), sent, (run.send(requests.get_organization()),))


def invalid_organization_updates_again(run: Run) -> Refusals:
    """Repeat the updates while the organization has a name of the run, and restore its own."""
    before = run.send(requests.get_organization())
    with restored_name(run, name_before(run, before)):
        run.send(requests.update_organization({"name": run.name("organization")}))
        return invalid_organization_updates(run)


@scenario
def invalid_invitations(run: Run) -> tuple[Sent, ...]:
    """Invite with every certainly invalid body."""
    tried = [(body, label(run, "invalid")) for body in _bodies(run, "inviteMember")]
    return _sent(run.send_all, tried, requests.invite_member({}), domain=run.profile.invitation_domain)


@scenario(alone=True)
def invalid_role_changes(run: Run) -> Refusals:
    """Change a member's role with every certainly invalid body.

    Raises:
        Untested: The member is an owner, whose role the suite never changes.
    """
    user_id = run.scenarios.result(untouchable_member).user_id
    run.scenarios.wait_for(wrong_keys)  # they send another role for the same member
    before = member_pages(run)
    has = (member_of(before, user_id) or {}).get("role")
    ensure_not_owner(has)
    role = OTHER_ROLE.get(str(has), "admin")
    tried = [(body, label(run, "invalid")) for body in _bodies(run, "updateMemberRole")]
    sent = _sent(run.send_in_turn, tried, requests.update_member_role(user_id, {}), role=role)
    return Refusals(user_id, tuple(before), sent, tuple(member_pages(run)))


@scenario
def invalid_queries(run: Run) -> dict[str, tuple[Sent, ...]]:
    """List engagements and members with every certainly invalid parameter."""
    lists = {"listMembers": requests.list_members(), "listEngagements": requests.list_engagements()}
    asked = [(name, query) for name in lists for query in invalid_inputs.QUERIES[name]]
    exchanges = run.send_all([replace(lists[name], query=query.query) for name, query in asked])
    responses = list(zip(asked, exchanges, strict=True))
    return {name: tuple(Sent(query.what, sent) for (of, query), sent in responses if of == name) for name in lists}


def _sent(
    send: Callable[[list[Request]], Iterable[Exchange]],
    tried: list[tuple[InvalidBody, str]],
    proper: Request,
    *,
    domain: str = "",
    role: str = "",
) -> tuple[Sent, ...]:
    """Send a request with each body in place of its own, and with the first one again.

    Each must be refused, also the second time, so a retry is harmless.
    """
    tried = [*tried, *tried[:1]]
    bodies = [invalid.wire(label=text, domain=domain, role=role) for invalid, text in tried]
    exchanges = send([replace(proper.with_body(body), repeatable=True) for body in bodies])
    return tuple(
        Sent(invalid.what, exchange, text if invalid.carries_label else "", invalid.kind)
        for (invalid, text), exchange in zip(tried, exchanges, strict=True)
    )


def _bodies(run: Run, operation: str) -> list[InvalidBody]:
    return invalid_inputs.bodies(operation, thorough=run.effort is not Effort.QUICK)
