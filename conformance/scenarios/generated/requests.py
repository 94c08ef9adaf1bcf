"""Sending generated requests, and shrinking a request that got a wrong response."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from conformance.operations import OPERATIONS
from conformance.oracle.input_validity import Validity, validity
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.running.options import Effort
from conformance.scenarios.basics import create_engagements
from conformance.wire.gateways import LARGE_BODY, MAX_TARGET
from conformance.wire.requests import JSON_HEADERS, Request, encode
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_VALID: Final = {Effort.STANDARD: 25, Effort.DEEP: 200}
"""Cases drawn for each operation that follow the document."""
_INVALID: Final = {Effort.STANDARD: 75, Effort.DEEP: 200}
"""Cases drawn for each operation that break the document; few of them are certainly invalid."""
_MOST_SENT: Final = {Effort.STANDARD: 16, Effort.DEEP: 200}
"""Most cases of the latter that are sent, the certainly invalid ones first."""

_MOST_SHRINKING: Final = 30
_MOST_QUERY: Final = MAX_TARGET - 400
"""Bytes of a query, which leaves room for the path before it."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Generated requests of an operation and their exchanges, by validity."""

    operation: str
    by_validity: dict[Validity, tuple[Exchange, ...]]

    def of(self, kind: Validity) -> tuple[Exchange, ...]:
        """Return the exchanges whose request is certainly of a kind."""
        return self.by_validity.get(kind, ())


def send_generated(run: Run, operation: str, *, only: frozenset[Validity] = frozenset(Validity)) -> Generated:
    """Draw requests of an operation, make them safe and send them.

    Args:
        run: The run.
        operation: The operationId.
        only: The kinds that may be sent.

    Raises:
        RunStopped: The run ended before the requests were drawn.
    """
    identifier = create_engagements(run, "generated")[0]["id"] if operation == "updateEngagement" else None
    cases = run.recorded_value(f"generated {operation}", lambda: _drawn(run, operation))
    if cases is None:
        raise RunStopped("the run was over before requests were generated")
    requests = dict.fromkeys(_safe_request(run, operation, case, identifier) for case in cases)
    kinds = {request: validity(request) for request in requests if validity(request) in only and _is_small(request)}
    by_validity: defaultdict[Validity, list[Exchange]] = defaultdict(list)
    send = run.send_in_turn if operation.startswith("update") else run.send_all
    responses = send(list(kinds))
    for request, exchange in zip(kinds, responses, strict=True):
        by_validity[kinds[request]].append(exchange)
    return Generated(operation, {kind: tuple(found) for kind, found in by_validity.items()})


def _drawn(run: Run, operation: str) -> list[dict[str, Any]] | None:
    """Return generated cases, valid and invalid ones, or None if the run ended first.

    The cases depend on more than the seed, so the run keeps them.
    """
    from conformance.scenarios.generated import schemathesis_cases  # noqa: PLC0415 - Schemathesis takes half a second to load

    seeded = run.random(f"generated {operation}").getrandbits(32)

    def drawn(count: int, *, negative: bool) -> list[dict[str, Any]]:
        return schemathesis_cases.draw(
            operation, negative=negative, count=count, seeded=seeded, is_over=lambda: run.wire.is_over
        )

    try:
        valid, invalid = drawn(_VALID[run.effort], negative=False), drawn(_INVALID[run.effort], negative=True)
    except schemathesis_cases.GivenUp:
        return None
    return [*valid, *_most_telling(run, operation, invalid)]


def _most_telling(run: Run, operation: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cases to send of those that break the document, without repetitions."""
    by_request = {_safe_request(run, operation, case, "any"): case for case in cases}
    requests = sorted(by_request, key=lambda request: validity(request) is not Validity.INVALID)
    return [by_request[request] for request in requests[: _MOST_SENT[run.effort]]]


def _safe_request(run: Run, operation: str, case: dict[str, Any], identifier: str | None) -> Request:
    """Return the request of a case as it goes over the wire, with names and addresses of the run's own."""
    content: bytes | None = None
    if "base64" in case:
        content = base64.b64decode(case["base64"])
    elif "json" in case:
        content = encode(_renamed(run, case["json"]))
    return Request(
        operation=OPERATIONS[operation],
        identifier=identifier,
        query=_short([(name, text) for name, text in case["query"]]),
        body=content,
        headers=() if content is None else JSON_HEADERS,
    )


def _short(query: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Shorten parameters until gateways accept them in a request target: cut long values, drop the last ones."""
    while len(urlencode(query, errors="surrogatepass")) > _MOST_QUERY:
        place = max(range(len(query)), key=lambda place: len(query[place][1]))
        name, text = query[place]
        if len(text) > 1:
            query[place] = (name, text[: len(text) // 2])
        else:
            query.pop()
    return tuple(query)


def _is_small(request: Request) -> bool:
    """Whether a body is small enough for gateways."""
    return len(request.body or b"") <= LARGE_BODY


def _renamed(run: Run, body: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(body, dict):
        return body
    return {name: _own(run, name, value) if isinstance(value, str) else value for name, value in body.items()}


def expect_statuses(run: Run, exchanges: tuple[Exchange, ...], permitted: Callable[[int], bool], expected: str) -> None:
    """Expect a permitted status of every response; shrink and report the first that has another.

    Raises:
        Inapplicable: The generated requests of this run include none of the kind.
        CantTell: None got a response.
    """
    if not exchanges:
        raise Inapplicable("No generated request of this run was of this kind")
    judgeable = [exchange for exchange in exchanges if exchange.judgeable]
    if not judgeable:
        raise CantTell("no generated request of this kind got a response")
    evidence(*judgeable)
    wrong = [exchange for exchange in judgeable if not permitted(exchange.status)]
    if not wrong:
        return
    least = _shrunk(
        run,
        min(wrong, key=lambda candidate: len(candidate.request.body or b"") + len(candidate.request.path)),
        permitted,
    )
    what = (least.request.body or b"").decode("utf-8", "replace") or least.request.path
    raise NonConformity(
        f"{least.request.operation.id} with {what} got {least.status}",
        least,
        expected=expected,
        actual=describe_response(least),
    )


def _shrunk(run: Run, exchange: Exchange, permitted: Callable[[int], bool]) -> Exchange:
    """Return a smaller request of the same kind that gets a wrong response too, found in a few attempts."""
    kind, tries = validity(exchange.request), 0
    improved = True
    while improved:
        improved = False
        for request in _smaller(exchange.request):
            if validity(request) is not kind or tries >= _MOST_SHRINKING:
                continue
            tries += 1
            again = run.send(request)
            if again.judgeable and not permitted(again.status):
                exchange, improved = again, True
                break
    return exchange


def _smaller(request: Request) -> Iterator[Request]:
    """Yield requests with a parameter less, a member of the body less, or half of a text."""
    for place in range(len(request.query)):
        yield replace(request, query=request.query[:place] + request.query[place + 1 :])
    for value in _smaller_objects(request.body):
        yield replace(request, body=encode(value))


def _smaller_objects(body: bytes | None) -> Iterator[dict[str, Any]]:
    try:
        value = json.loads(body or b"")
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    for name in value:
        yield {other: inner for other, inner in value.items() if other != name}
    for name, inner in value.items():
        if isinstance(inner, list | dict) and inner:
            yield value | {name: type(inner)()}


def _own(run: Run, field: str, text: str) -> str:
    """Return a generated name or address as the run's: with its prefix, or under the domain for invitations."""
    if field == "name":
        return run.names.prefix + text
    if field == "email" and "@" in text:
        return f"{run.names.prefix}{text.partition('@')[0]}@{run.profile.invitation_domain}"
    return text
