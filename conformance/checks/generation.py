"""Requests that Schemathesis generates from the OpenAPI document, made safe to send.

Together with ``test_contract`` the only module that imports Schemathesis. It draws cases and judges answers against the
document; what is sent goes through the run's one wire.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NOT_SET
from schemathesis.specs.openapi.checks import (
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from conformance.openapi import openapi_path
from conformance.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.wire.exchange import Exchange

_CHECKS: Final = [status_code_conformance, response_headers_conformance, response_schema_conformance]
"""The media type is left to our own law: Schemathesis would refuse what the interface leaves open."""

_DRAWING: Final = threading.Lock()
"""Schemathesis' strategies share caches that two threads must not fill at once."""

_ALL_CHECKS: Final = list(HealthCheck)


@cache
def _schema() -> Any:  # noqa: ANN401 - Schemathesis' schema class is not public
    logging.getLogger("schemathesis").setLevel(logging.ERROR)
    return schemathesis.openapi.from_path(openapi_path(), config=SchemathesisConfig())


class GivenUp(Exception):
    """Nobody wants the cases any more."""


def draw(
    operation: str, *, negative: bool, count: int, seeded: int, is_over: Callable[[], bool]
) -> list[dict[str, Any]]:
    """Generated cases of an operation, the same for the same seed.

    Args:
        operation: The operationId.
        negative: Whether the cases shall break the document.
        count: How many are drawn; some may be equal.
        seeded: The seed.
        is_over: Whether nobody wants the cases any more; asked before each one, since hundreds take many seconds.

    Returns:
        What the cases send, each as a JSON value: query parameters as pairs, and a JSON body or bytes as base64.

    Raises:
        GivenUp: Nobody wants them any more.
    """
    described = OPERATIONS[operation]
    mode = GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    drawn: list[dict[str, Any]] = []

    @seed(seeded)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_ALL_CHECKS,
        report_multiple_bugs=False,
    )
    @given(_schema()[described.path][described.method].as_strategy(generation_mode=mode))
    def collect(case: Any) -> None:  # noqa: ANN401 - see above
        ensure_wanted()
        drawn.append(_sent(case))

    def ensure_wanted() -> None:
        if is_over():
            raise GivenUp

    with _DRAWING, _without_storage():
        ensure_wanted()
        collect()
    return drawn


@contextmanager
def _without_storage() -> Iterator[None]:
    """Keep Hypothesis, which has its caches in the current folder otherwise, from writing anything."""
    before = storage_directory(intent_to_write=False).home_directory
    set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(before)


def _sent(case: Any) -> dict[str, Any]:  # noqa: ANN401 - Schemathesis' cases are not public
    """What a case sends; its headers and path parameters are left out."""
    query = [[name, text] for name, value in (case.query or {}).items() for text in _texts(value)]
    if case.body is NOT_SET:
        return {"query": query}
    if isinstance(case.body, bytes):
        return {"query": query, "base64": base64.b64encode(case.body).decode("ascii")}
    return {"query": query, "json": case.body}


def document_faults(exchange: Exchange) -> list[str]:
    """What of an answer the document does not allow, a sentence each; empty where it keeps the document."""
    operation = exchange.call.operation
    answer = exchange.answer
    request = httpx.Request(exchange.request.method, exchange.request.url)
    headers = [(name, value) for name, value in answer.headers if name.lower() not in _DECODED]
    response = schemathesis.Response(
        status_code=answer.status,
        headers=_grouped(headers),
        content=answer.body,
        request=request,  # type: ignore[arg-type]  # any request with a method and a URL serves
        elapsed=exchange.seconds,
        verify=True,
        http_version=answer.http_version.removeprefix("HTTP/"),
    )
    parameters = {} if operation.parameter is None else {operation.parameter: "any"}
    case = _schema()[operation.path][operation.method].Case(path_parameters=parameters)
    try:
        case.validate_response(response, checks=_CHECKS)
    except BaseExceptionGroup as found:
        return [str(failure).partition("\n")[0] for failure in found.exceptions]
    return []


_DECODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-type"})


def _grouped(headers: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Headers as Schemathesis takes them; the media type is JSON's, since others are judged elsewhere."""
    grouped: dict[str, list[str]] = {"content-type": ["application/json"]}
    for name, value in headers:
        grouped.setdefault(name.lower(), []).append(value)
    return grouped


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - any generated value
    """What a generated query value is as text, repeated where it is a list."""
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    if isinstance(value, str):
        return [value]
    return [json.dumps(value)]
