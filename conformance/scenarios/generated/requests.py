"""Sending generated requests, and shrinking a request that got a wrong response."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from conformance.interface.operations import OPERATIONS
from conformance.oracle.input_validity import Validity, validity
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.running.options import Effort
from conformance.running.run import seeded
from conformance.scenarios.basics import create_engagements
from conformance.wire.gateways import LARGE_BODY, MAX_TARGET
from conformance.wire.requests import JSON_HEADERS, Request, encode
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_VALID: Final = {Effort.STANDARD: 18, Effort.DEEP: 150}
"""Cases drawn for each operation that follow the document."""
_INVALID: Final = {Effort.STANDARD: 40, Effort.DEEP: 120}
"""Cases drawn for each operation that break the document; a third of them is certainly invalid."""
_MOST_SENT: Final = {Effort.STANDARD: 16, Effort.DEEP: 120}
"""Most cases of the latter that are sent, the certainly invalid ones first."""

GENERATED: Final = "generated "
"""The beginning of the name of recorded cases, before the operationId."""

_MOST_SHRINKING: Final = 30
_MOST_QUERY: Final = MAX_TARGET - 400
"""Bytes of a query, which leaves room for the path before it."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Generated requests of an operation and their exchanges, by validity."""

    by_validity: dict[Validity, tuple[Exchange, ...]]

    def of(self, kind: Validity) -> tuple[Exchange, ...]:
        """Return the exchanges whose request is certainly of a kind."""
        return self.by_validity.get(kind, ())


@dataclass(frozen=True, slots=True)
class Generator:
    """Everything in a run on which generated requests depend.

    Attributes:
        seed: The seed of the run.
        effort: The effort, standard or deep.
        prefix: The beginning of the run's names.
        domain: The domain of invited addresses.
    """

    seed: int
    effort: Effort
    prefix: str
    domain: str

    def cases(self, operation: str, is_over: Callable[[], bool] = lambda: False) -> list[dict[str, Any]] | None:
        """Return generated cases of an operation, valid and invalid ones, or None if the run ended first."""
        from conformance.scenarios.generated import schemathesis_cases  # noqa: PLC0415 - Schemathesis takes half a second to load

        seed = seeded(self.seed, f"{GENERATED}{operation}").getrandbits(32)

        def drawn(count: int, *, negative: bool) -> list[dict[str, Any]]:
            return schemathesis_cases.draw(operation, negative=negative, count=count, seeded=seed, is_over=is_over)

        try:
            valid, invalid = drawn(_VALID[self.effort], negative=False), drawn(_INVALID[self.effort], negative=True)
        except schemathesis_cases.GivenUp:
            return None
        return [*valid, *self._invalid_first(operation, invalid)]

    def draws(self, number: int) -> bool:
        """Whether the effort draws this number of cases for an operation."""
        fewest = _VALID[self.effort]
        return fewest < number <= fewest + _MOST_SENT[self.effort]

    def request(self, operation: str, case: dict[str, Any], identifier: str | None) -> Request:
        """Return the request of a case as it goes over the wire, with names and addresses of the run's own."""
        content: bytes | None = None
        if "base64" in case:
            content = base64.b64decode(case["base64"])
        elif "json" in case:
            content = encode(self._renamed(case["json"]))
        return Request(
            operation=OPERATIONS[operation],
            identifier=identifier,
            query=_short([(name, text) for name, text in case["query"]]),
            body=content,
            headers=() if content is None else JSON_HEADERS,
        )

    def _invalid_first(self, operation: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the cases to send of those that break the document, without repetitions."""
        by_request = {self.request(operation, case, "any"): case for case in cases}
        requests = sorted(by_request, key=lambda request: validity(request) is not Validity.INVALID)
        return [by_request[request] for request in requests[: _MOST_SENT[self.effort]]]

    def _renamed(self, body: object) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(body, dict):
            return body
        return {name: self._own(name, value) if isinstance(value, str) else value for name, value in body.items()}

    def _own(self, field: str, text: str) -> str:
        """Return a generated name or address as the run's: with its prefix, or under the domain for invitations."""
        if field == "name":
            return self.prefix + text
        if field == "email" and "@" in text:
            return f"{self.prefix}{text.partition('@')[0]}@{self.domain}"
        return text


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
    generator = Generator(run.options.seed, run.effort, run.names.beginning, run.profile.invitation_domain)
    cases = run.recorded_value(f"{GENERATED}{operation}", lambda: generator.cases(operation, lambda: run.wire.is_over))
    if cases is None:
        raise RunStopped("the run was over before requests were generated")
    requests = dict.fromkeys(generator.request(operation, case, identifier) for case in cases)
    kinds = {request: validity(request) for request in requests if validity(request) in only and _is_small(request)}
    by_validity: defaultdict[Validity, list[Exchange]] = defaultdict(list)
    send = run.send_in_turn if operation.startswith("update") else run.send_all
    responses = send(list(kinds))
    for request, exchange in zip(kinds, responses, strict=True):
        by_validity[kinds[request]].append(exchange)
    return Generated({kind: tuple(found) for kind, found in by_validity.items()})


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


def expect_statuses(run: Run, exchanges: tuple[Exchange, ...], permitted: Callable[[int], bool], expected: str) -> None:
    """Expect a permitted status of every response; shrink and report the first that has another.

    Raises:
        Inapplicable: The generated requests of this run include none of the kind.
        CantTell: None got a response.
    """
    if not exchanges:
        raise Inapplicable("no generated request of this run was of this kind")
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
        f"{least.operation_id} with {what} got {least.status}",
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
