"""Subordinate records that are created and read through the service itself, by the target file's templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interface.operations import OPERATIONS
from conformance.json_text import Parsed, value_at
from conformance.targets.capabilities import MissingMeans
from conformance.targets.responses import GONE
from conformance.wire.exchange import SUCCESSES, NoResponse
from conformance.wire.requests import Request, encode, segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.targets.profile import SubordinateTemplate
    from conformance.wire.exchange import Exchange, Response


def create_request(template: SubordinateTemplate, engagement_id: str) -> Request:
    """Return the request that creates a record; it is outside of the interface, so its response is not judged."""
    path = template.create_path.replace("{engagementId}", segment(engagement_id))
    request = Request(operation=OPERATIONS["createEngagement"], probe=(template.create_method, path), unjudged=True)
    if template.create_body is None:
        return request
    return request.with_body(encode(_filled(template.create_body, engagement_id)))


def read_request(template: SubordinateTemplate, engagement_id: str, record_id: str) -> Request:
    """Return the request that shows whether a record exists."""
    path = template.read_path.replace("{engagementId}", segment(engagement_id))
    path = path.replace("{id}", segment(record_id))
    return Request(operation=OPERATIONS["getEngagement"], identifier=engagement_id, probe=("GET", path), unjudged=True)


def create(template: SubordinateTemplate, engagement_id: str, send: Callable[[Request], Exchange]) -> str:
    """Create a record and return its id.

    Raises:
        MissingMeans: The service created none, or its response has no id at the template's pointer.
    """
    need = f"subordinates:{template.kind}"
    response = _response(need, create_request(template, engagement_id), send)
    if response.status not in SUCCESSES:
        reason = f"The {template.kind} could not be created by the target file's template: status {response.status}."
        raise MissingMeans(need, reason)
    reading = response.reading
    found = value_at(reading.value, template.id_pointer) if isinstance(reading, Parsed) else None
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        raise MissingMeans(need, f"The response to creating the {template.kind} has no id at {template.id_pointer}.")
    return str(found)


def exists(
    template: SubordinateTemplate, engagement_id: str, record_id: str, send: Callable[[Request], Exchange]
) -> bool:
    """Whether a record exists: any 2xx is yes, 404 and 410 are no.

    Raises:
        MissingMeans: The status is neither.
    """
    need = f"subordinates:{template.kind}"
    status = _response(need, read_request(template, engagement_id, record_id), send).status
    if status not in GONE and status not in SUCCESSES:
        raise MissingMeans(need, f"The {template.kind} could not be read: status {status}.")
    return status not in GONE


def _response(need: str, request: Request, send: Callable[[Request], Exchange]) -> Response:
    try:
        return send(request).response
    except NoResponse as no_response:
        raise MissingMeans(need, f"The request for a subordinate record had no response: {no_response}.") from None


def _filled(body: object, engagement_id: str) -> object:
    if isinstance(body, str):
        return body.replace("{engagementId}", engagement_id)
    if isinstance(body, list):
        return [_filled(item, engagement_id) for item in body]
    if isinstance(body, dict):
        return {name: _filled(item, engagement_id) for name, item in body.items()}
    return body
