"""Requests outside the interface, and with content types that it does not state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_NEVER_ISSUED: Final = "~never~issued~"
"""An identifier of a shape that services do not use, and that is safe in a URL."""


@dataclass(frozen=True, slots=True)
class UnspecifiedResponses:
    """Responses to requests outside the interface.

    Attributes:
        unknown_path: The response to an unknown path.
        never_issued: The response to an identifier that no service would issue.
        put: The response to a method that a path does not have; None if the mode forbids writing.
        options: The response to OPTIONS; None if the mode forbids writing, and in quick runs.
    """

    unknown_path: Exchange
    never_issued: Exchange
    put: Exchange | None
    options: Exchange | None


@scenario
def unspecified(run: Run) -> UnspecifiedResponses:
    """Request two paths, an identifier and a method that the interface does not have."""
    known = requests.list_engagements()
    below = known.as_probe("GET", f"{known.path}/{_NEVER_ISSUED}/no-such-path")  # for the laws of every response
    batch = [known.as_probe("GET", "/api/v1/no-such-path"), below, requests.get_engagement(_NEVER_ISSUED)]
    if run.mode is not Mode.READ_ONLY:
        # Of an id that nothing has, because PUT of the collection could replace it.
        batch.append(known.as_probe("PUT", f"{known.path}/{_NEVER_ISSUED}"))
        batch += [] if run.effort is Effort.QUICK else [known.as_probe("OPTIONS", known.path)]
    unknown_path, _, never_issued, *methods = run.send_all(batch)
    return UnspecifiedResponses(unknown_path, never_issued, *[*methods, None, None][:2])


@scenario
def content_types(run: Run) -> tuple[Exchange, Exchange]:
    """Create engagements with a body that is announced as text, and with one that is not announced."""
    body = [requests.encode({"name": run.name("type")}) for _ in range(2)]
    proper = requests.create_engagement({})
    batch = [proper.with_body(body[0], "text/plain"), proper.with_body(body[1], None)]
    as_text, unannounced = run.send_all(batch)
    return as_text, unannounced
