"""One request on its way through the service, and what it is answered with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from conformance.reference.limiting import Allowance, Quota
    from conformance.reference.records import Engagement, Key, Member
    from conformance.reference.routes import Operation


@dataclass(slots=True)
class RequestContext:
    """One request; each step of the service adds what it finds out.

    Args:
        request: The request as it came.
        allowance: The requests of its sender.
        quota: How much its sender may still send.
        key: The key it was sent with.
        operation: What it asks for.
        resource_id: The identifier in its path.
        content: The bytes of its body.
        values: Its body or its parameters once they are found valid, by their names in the interface.
        engagement: The engagement that its path names.
        member: The member whom its path names.
        afterwards: What is done once its changes are kept.
        counted: How many items its list had a moment ago; None if they are counted when they are read.
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
    """What a call is answered with.

    Args:
        status: The HTTP status.
        content: What is written as JSON.
        headers: Headers besides those that every answer has.
    """

    status: int
    content: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        """Whether the request was refused."""
        return self.status >= 400  # noqa: PLR2004 - where HTTP draws the line
