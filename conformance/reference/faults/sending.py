"""Contents of a request for faults of odd input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.reference.request_context import RequestContext

NOTHING: Final = object()
"""What is not there, or is no JSON."""


def content(context: RequestContext) -> object:
    """The parsed body; ``NOTHING`` if it is no JSON."""
    try:
        return json.loads(context.content)
    except ValueError:
        return NOTHING


def field(context: RequestContext, name: str) -> object:
    """A member of the body; ``NOTHING`` where it is not there."""
    sent = content(context)
    return sent.get(name, NOTHING) if isinstance(sent, dict) else NOTHING
