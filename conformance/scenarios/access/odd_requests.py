"""Requests with odd bodies, headers, parameters and identifiers."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle, product
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.samples import BROKEN, HEADERS, IDENTIFIERS, PARAMETERS, forms_of, shuffled
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.requests import CHARSET_HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

V = TypeVar("V")
P = TypeVar("P")

_LEVELS: Final = 90
_LONG: Final = 220
"""Characters of an identifier; some gateways refuse a path segment with more than 255."""
_LINES: Final = "A first line,\r\nand a second\tone."
_JSON: Final = (b'{"description": "\\ud800"}', b'{"description": "\\u0000"}', b"")
_UNHEARD_OF: Final = b'{"unheardOf": "x"}'
_ENGAGEMENTS: Final = ("status", "sort", "order", "page", "perPage")
_MEMBERS: Final = ("role", "page", "perPage")


@scenario
def odd_requests(run: Run) -> list[Exchange]:
    """Create, edit, read and list with odd JSON, headers, parameters and identifiers."""
    creations = [] if run.mode is Mode.READ_ONLY else run.send_all(_creations(run))
    made = next((found for creation in creations if (found := read.identifier_or_none(creation)) is not None), None)
    reads = run.send_all([*_queries(run), *_others(run, made)])
    return [*creations, *reads, *([] if made is None else _changed(run, made))]


def _covered(run: Run, what: str, values: Sequence[V], places: Sequence[P]) -> list[tuple[V, P]]:
    """Pair values with places: one pair in a quick run, each value once in another, and all pairs in a deep one."""
    if run.effort is Effort.DEEP:
        return [*product(values, places)]
    random = run.random(what)
    pairs = [*zip(shuffled(values, random), cycle(shuffled(places, random)), strict=False)]
    return pairs[: 1 if run.effort is Effort.QUICK else None]


def _creations(run: Run) -> list[Request]:
    """Return creations with odd JSON, of which a service should accept at least one."""
    name = run.name("odd")
    nested, lines = "[" * _LEVELS + "]" * _LEVELS, json.dumps(_LINES)
    texts = [
        f'{{"name": "{name} \udcff\udcfe"}}',  # bytes that are no UTF-8
        f'{{"name": "{name} other", "other": {nested}, "": {"9" * 400}, "more": 1e400, "description": {lines}}}',
        f'{{"name": "{name} \\u0000"}}',
    ]
    if run.effort is not Effort.QUICK:
        texts += [f'\udcef\udcbb\udcbf{{"name": "{name}"}}', f'{{"name": "{name}", "description": NaN}}']
    return [requests.create_engagement({}).with_body(text.encode(errors="surrogateescape")) for text in texts]


def _queries(run: Run) -> list[Request]:
    """Return lists in which every parameter is odd, and some in which a single one is."""
    lists = ((requests.list_engagements(), _ENGAGEMENTS), (requests.list_members(), _MEMBERS))
    places = [(asked, name) for asked, names in lists for name in names]
    values = cycle(shuffled(PARAMETERS, run.random("parameters")))
    queries = [(asked, tuple((name, next(values)) for name in names)) for asked, names in lists]
    if run.effort is not Effort.QUICK:
        queries += [(asked, ((name, value),)) for value, (asked, name) in _covered(run, "query", PARAMETERS, places)]
        queries += [(asked, forms_of(name)[form]) for form, (asked, name) in _covered(run, "form", range(3), places)]
    far = requests.list_engagements(page="9" * 30, status="active")
    return [far, *(replace(asked, query=query) for asked, query in queries)]


def _others(run: Run, made: str | None) -> list[Request]:
    """Return requests with odd headers, and reads of odd identifiers."""
    asked = [requests.get_organization(), requests.list_members(), requests.list_engagements()]
    if made is not None:
        named = {"name": run.name("headed")}
        edit = requests.update_engagement(made, named)
        asked += [requests.get_engagement(made), edit, requests.create_engagement(named)]
    read_odd = requests.get_engagement("\u00e9\U0001f600'\"--" + "x" * _LONG)
    singly = [requests.get_engagement(identifier) for identifier in shuffled(IDENTIFIERS, run.random("read"))]
    unknown = _headed(requests.get_engagement(run.names.name("odd")), ("Accept", "text/html"))  # errors are JSON, too
    reads = [_headed(request, HEADERS[0]) for request in asked if request.method == "GET"]
    foreign = [_headed(request, ("Accept-Language", "de-CH, fr;q=0.5")) for request in (unknown, *reads)]
    headed = [_headed(request, header) for header, request in _covered(run, "headers", HEADERS, asked)]
    return [read_odd, *foreign, *headed, *(singly[:1] if run.effort is Effort.QUICK else singly)]


def _headed(request: Request, header: tuple[str, str]) -> Request:
    """Return a request with a header, which replaces the request's header of the same name."""
    return replace(request, headers=(*(own for own in request.headers if own[0] != header[0]), header))


def _changed(run: Run, made: str) -> list[Exchange]:
    """Send odd changes of an engagement, and of what does not exist."""
    edit = requests.update_engagement(made, {})
    spaced = f' \r\n\t{{ "n\\u0061me" : "{run.name("spaced")}" }}\n'.encode()  # the same to every JSON parser
    responses = [run.send(edit.with_body(spaced)), *run.send_all([edit.with_body(content) for content in _JSON])]
    described = requests.update_engagement(made, {"description": "Sent with a charset"})
    responses.append(run.send(replace(described, headers=CHARSET_HEADERS)))
    if run.effort is Effort.QUICK:
        return responses
    responses += run.send_in_turn([
        *(_broken(run, text, request, field) for text, (request, field) in _covered(
            run, "broken", BROKEN, [*product((requests.create_engagement({}), edit), ("name", "description"))])),
        requests.update_engagement(made, {"description": f"{_LINES}\u202e"}),
        edit.with_body(b"{}", "text/plain"),
        edit.with_body(b"{}", None),
        requests.archive_engagement(made).with_body(_UNHEARD_OF),
        requests.unarchive_engagement(made).with_body(_UNHEARD_OF),
    ])  # fmt: skip
    for asked in (*_unknown(run), *(_invitations(run) if run.mode is Mode.DISPOSABLE else ())):
        responses += [sent for sent in run.send_permitted([asked]) if sent is not None]
    return responses


def _broken(run: Run, text: str, request: Request, field: str) -> Request:
    """Return a creation or an edit with a broken text, escaped, beside or after the run's prefix."""
    texts = {"name": run.name("odd")} | {field: f"{run.name('odd')} {text}"}
    return request.with_body(json.dumps(texts).encode())


def _unknown(run: Run) -> list[Request]:
    """Return changes of what does not exist; the identifiers have the run's prefix, so that they name nothing else."""
    named: list[Callable[[str], Request]] = [
        lambda identifier: requests.update_engagement(identifier, {"name": run.name("odd")}),
        lambda identifier: requests.delete_engagement(identifier).with_body(_UNHEARD_OF),
        requests.archive_engagement,
        requests.unarchive_engagement,
    ]
    if run.mode is Mode.DISPOSABLE:
        named += [lambda identifier: requests.update_member_role(identifier, {"role": "member"})]
        named += [requests.remove_member]
    identifiers = [f"{run.names.name('odd')}{identifier}" for identifier in IDENTIFIERS]
    return [ask(identifier) for ask, identifier in _covered(run, "unknown", named, identifiers)]


def _invitations(run: Run) -> list[Request]:
    """Return an invitation with a role in another letter case, and requests that are not announced as JSON."""
    invited = {"email": run.address("odd"), "role": "member"}
    return [
        requests.invite_member({"email": run.address("odd"), "role": "Admin"}),
        requests.invite_member({}).with_body(requests.encode(invited), "text/plain"),
        requests.update_organization({}).with_body(b"{}", "text/plain"),
    ]
