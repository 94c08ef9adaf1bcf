"""What a request carries, as faults of odd input look at it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.reference.request_context import Call

NOTHING: Final = object()
"""What is not there, or is no JSON."""


def content(call: Call) -> object:
    """What the body says; ``NOTHING`` where it is no JSON."""
    try:
        return json.loads(call.content)
    except ValueError:
        return NOTHING


def field(call: Call, name: str) -> object:
    """A member of the body; ``NOTHING`` where it is not there."""
    sent = content(call)
    return sent.get(name, NOTHING) if isinstance(sent, dict) else NOTHING
