"""Requests with odd bodies, queries, paths and headers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_LEVELS: Final = 90
_DIGITS: Final = 400
_LONG: Final = 220
"""Characters of an identifier; some gateways refuse a path segment with more than 255."""
_AT_ONCE: Final = 2
_LINES: Final = "A first line,\r\nand a second\tone."
_CHANGES: Final = (b'{"description": "\\ud800"}', b"")
_UNHEARD_OF: Final = b'{"unheardOf": "x"}'
_ODD_IDENTIFIER: Final = "0000-\u00e9'"


@scenario
def odd_requests(run: Run) -> list[Exchange]:
    """Create and update an engagement with odd JSON, and list with odd parameters."""
    name = run.name("odd")
    nested = "[" * _LEVELS + "]" * _LEVELS
    lines = json.dumps(_LINES)
    texts = (
        f'{{"name": "{name} \udcff\udcfe"}}',  # bytes that are no UTF-8
        f'{{"name": "{name} other", "other": {nested}, "": {"9" * _DIGITS}, "more": 1e400, "description": {lines}}}',
        f'{{"name": "{name} \\u0000"}}',
    )
    bodies = [] if run.mode is Mode.READ_ONLY else [text.encode(errors="surrogateescape") for text in texts]
    sent = [requests.create_engagement({}).with_body(body) for body in bodies]
    creations = run.send_all(sent)
    made = next((found for creation in creations if (found := read.identifier_or_none(creation)) is not None), None)
    reads = [
        requests.list_engagements(page="9" * 30),
        requests.get_engagement("\u00e9\U0001f600'\"--" + "x" * _LONG),
    ]
    changes = [] if made is None else [requests.update_engagement(made, {}).with_body(content) for content in _CHANGES]
    odd = run.send_all([*reads, *changes])
    return [*creations, *odd, *([] if run.effort is Effort.QUICK else _thoroughly(run))]


def _thoroughly(run: Run) -> list[Exchange]:
    """Send odd requests that most services handle alike in all operations, with those that a quick run omits."""
    responses = run.send_all(_more(run))
    if run.mode is Mode.READ_ONLY or (made := read.identifier_or_none(run.send(_creation(run)))) is None:
        return responses
    responses += run.send_in_turn(_more_of(made))
    for request in (requests.archive_engagement(made), requests.delete_engagement(made)):
        responses += run.send_all([request] * _AT_ONCE)
    return responses


def _creation(run: Run) -> Request:
    return requests.create_engagement({"name": run.name("oddly")})


def _more(run: Run) -> list[Request]:
    """Return lists with odd parameters, identifiers of an unknown shape, and bodies that are announced as text."""
    batch = [requests.list_members(role=""), requests.list_members(page=""), requests.list_members(unheard_of="x")]
    batch.append(replace(requests.list_members(), query=(("page", "1"), ("page", "2"))))
    if run.mode is Mode.READ_ONLY:
        return batch
    marked = b"\xef\xbb\xbf" + requests.encode({"name": run.name("odd")})  # a byte order mark
    batch += [requests.create_engagement({}).with_body(body) for body in (marked, b'{"name": NaN}')]
    batch.append(requests.update_engagement(_ODD_IDENTIFIER, {"name": run.name("odd")}))
    batch += [requests.archive_engagement(_ODD_IDENTIFIER), requests.unarchive_engagement(_ODD_IDENTIFIER)]
    batch += [requests.delete_engagement(_ODD_IDENTIFIER)]
    if run.mode is Mode.DISPOSABLE:
        invited = {"email": run.address("odd"), "role": "member"}
        batch.append(requests.invite_member({"email": run.address("odd"), "role": "Admin"}))
        batch.append(requests.invite_member({}).with_body(requests.encode(invited), "text/plain"))
        batch.append(requests.update_organization({}).with_body(b"{}", "text/plain"))
    return batch


def _more_of(made: str) -> list[Request]:
    """Return edits of an engagement to several lines, or not announced as JSON, and unexpected bodies."""
    return [
        requests.update_engagement(made, {"description": f"{_LINES}\u202e"}),
        requests.update_engagement(made, {}).with_body(b"{}", "text/plain"),
        requests.update_engagement(made, {}).with_body(b"{}", None),
        requests.archive_engagement(made).with_body(_UNHEARD_OF),
        requests.unarchive_engagement(made).with_body(_UNHEARD_OF),
        requests.delete_engagement(_ODD_IDENTIFIER).with_body(_UNHEARD_OF),
    ]
