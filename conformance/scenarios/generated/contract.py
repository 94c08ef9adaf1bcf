"""Scenarios of generated requests, and of all responses of the run held against the OpenAPI document."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.json_text import Parsed
from conformance.oracle.input_validity import Validity
from conformance.oracle.laws.no_ops import no_op_changes
from conformance.running.scenarios import scenario
from conformance.scenarios.generated.requests import Generated, send_generated
from conformance.scenarios.renaming import name_before, restored_name
from conformance.wire import requests
from conformance.wire.exchange import TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.generated.document import DocumentFault
    from conformance.wire.exchange import Exchange

    Held = dict[Exchange, list[DocumentFault]]

_LARGEST: Final = 1 << 20
_SURE: Final = frozenset({Validity.INVALID})


@scenario
def generated_creations(run: Run) -> Generated:
    """Create engagements with generated bodies."""
    return send_generated(run, "createEngagement")


@scenario
def generated_updates(run: Run) -> Generated:
    """Update an engagement with generated bodies."""
    return send_generated(run, "updateEngagement")


@scenario
def generated_engagement_lists(run: Run) -> Generated:
    """List engagements with generated parameters."""
    return send_generated(run, "listEngagements")


@scenario
def generated_member_lists(run: Run) -> Generated:
    """List members with generated parameters."""
    return send_generated(run, "listMembers")


@scenario
def generated_invitations(run: Run) -> Generated:
    """Invite with generated bodies that are certainly invalid, since others would send e-mails."""
    return send_generated(run, "inviteMember", only=_SURE)


@scenario(alone=True)
def generated_renamings(run: Run) -> Generated:
    """Update the organization with generated bodies, and restore its name."""
    before = run.send(requests.get_organization())
    with restored_name(run, name_before(run, before)):
        return send_generated(run, "updateCurrentOrganization")


@scenario(alone=True)
def held_against_document(run: Run) -> Held:
    """Validate the readable responses of the run against the OpenAPI document."""
    from conformance.scenarios.generated.document import document_faults  # noqa: PLC0415 - Schemathesis takes half a second to load

    free = no_op_changes(run.wire.exchanges)
    readable = [
        candidate for candidate in run.wire.exchanges if candidate.number not in free and _is_readable(candidate)
    ]
    return {exchange: document_faults(exchange) for exchange in readable}


def _is_readable(exchange: Exchange) -> bool:
    """Whether a response can be validated against the document; laws judge the rest."""
    if exchange.as_received is None or not exchange.request.is_proper or exchange.received is None:
        return False
    if exchange.received.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return False  # the document describes no server error
    if exchange.received.status == TOO_MANY_REQUESTS and not exchange.request.expects_429:
        return False  # the run waited and sent it again
    reading = exchange.received.reading
    if len(exchange.received.body) >= _LARGEST or not isinstance(reading, Parsed) or reading.duplicates:
        return False
    try:
        json.loads(exchange.received.body)
    except ValueError:  # an integer of thousands of digits, which JSON permits and the library does not
        return False
    return True
