"""Context of a request within the service, and its reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from conformance.reference.limiting import Allowance, Quota
    from conformance.reference.records import Engagement, Key, Member
    from conformance.reference.routes import Operation


@dataclass(slots=True)
class RequestContext:
    """A request; each step of the service adds its result.

    Args:
        request: The request as received.
        allowance: The rate limit of its client.
        quota: The rate limit's values after this request.
        key: Its key.
        operation: Its operation.
        resource_id: The identifier in its path.
        content: The bytes of its body.
        values: Its valid body or parameters, by their names in the interface.
        engagement: The engagement that its path names.
        member: The member that its path names.
        afterwards: Actions for the time after its changes are stored.
        counted: The number of items that was counted before; None if the list is counted when it is read.
    """

    request: Request
    allowance: Allowance = field(init=False)
    quota: Quota = field(init=False)
    key: Key = field(init=False)
    operation: Operation = field(init=False)
    resource_id: str = field(init=False)
    content: bytes = b""
    values: dict[str, Any] = field(default_factory=dict)
    engagement: Engagement = field(init=False)
    member: Member = field(init=False)
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    counted: int | None = None

    @property
    def organization_id(self) -> str:
        """The organization of the key."""
        return self.key.organization_id


@dataclass(slots=True)
class Reply:
    """The service's reply to a request.

    Args:
        status: The HTTP status.
        content: The value to write as JSON.
        headers: Headers besides those of every response.
    """

    status: int
    content: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        """Whether the request was refused."""
        return self.status >= HTTPStatus.BAD_REQUEST
