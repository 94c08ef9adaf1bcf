"""Requests that Schemathesis generates from the OpenAPI document, made safe to send.

Only this module and ``document``, which validates responses, import Schemathesis. Requests go through the run's one
wire.
"""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import threading
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.internal.charmap import charmap_file, intervals_from_codec
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, CONSTANTS_CACHE, HypothesisProvider
from hypothesis.internal.constants_ast import Constants
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NOT_SET

from conformance.interface.openapi import openapi_path
from conformance.interface.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_DRAWING: Final = threading.Lock()
"""Schemathesis' strategies share caches that two threads must not fill at once."""

_ALL_CHECKS: Final = list(HealthCheck)

_UTF_8: Final = ((0x0, 0xD7FF), (0xE000, 0x10FFFF))
"""All characters but the surrogates."""


_BACKEND: Final = "conformance"
_Case = Any
"""A case of Schemathesis, whose class is not public."""


class _Reproducible(HypothesisProvider):
    """Hypothesis' own choices without constants of loaded modules, so that a seed gives the same cases anywhere.

    As another backend it also skips Hypothesis' mutations, which mostly repeat cases.
    """

    def __init__(self, data: Any, /) -> None:  # noqa: ANN401 - not public
        super().__init__(data)
        self._local_constants = Constants()


AVAILABLE_PROVIDERS[_BACKEND] = _Reproducible


@cache
def schema() -> Any:  # noqa: ANN401 - Schemathesis' schema class is not public
    """Return the OpenAPI document, loaded by Schemathesis."""
    logging.getLogger("schemathesis").setLevel(logging.ERROR)
    return schemathesis.openapi.from_path(openapi_path(), config=SchemathesisConfig())


class GivenUp(Exception):
    """Raised when the cases are no longer wanted."""


def draw(
    operation: str, *, negative: bool, count: int, seeded: int, is_over: Callable[[], bool]
) -> list[dict[str, Any]]:
    """Return generated cases of an operation, the same for the same seed.

    Args:
        operation: The operationId.
        negative: Whether the cases must break the document.
        count: Number of cases to draw; some may be equal.
        seeded: The seed.
        is_over: Whether the cases are no longer wanted; called before each case, since hundreds take many seconds.

    Returns:
        The requests of the cases as JSON values: query parameters as pairs, and a JSON body or bytes as base64.

    Raises:
        GivenUp: The cases are no longer wanted.
    """
    described = OPERATIONS[operation]
    mode = GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    drawn: list[dict[str, Any]] = []

    @seed(seeded)
    @settings(
        max_examples=count,
        backend=_BACKEND,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_ALL_CHECKS,
        report_multiple_bugs=False,
    )
    @given(schema()[described.path][described.method].as_strategy(generation_mode=mode))
    def collect(case: _Case) -> None:
        ensure_wanted()
        drawn.append(_sent(case))

    def ensure_wanted() -> None:
        if is_over():
            raise GivenUp

    with _DRAWING, _hypothesis_home(Path(os.devnull) / "hypothesis"):
        ensure_wanted()
        _load_utf_8()
        CONSTANTS_CACHE.cache.clear()  # another user of Hypothesis in this process may have filled it
        collect()
    return drawn


@contextmanager
def _hypothesis_home(folder: Path) -> Iterator[None]:
    """Let Hypothesis, which otherwise writes caches into the current folder, keep them in another one."""
    before = storage_directory(intent_to_write=False).home_directory
    set_hypothesis_home_dir(folder)
    try:
        yield
    finally:
        set_hypothesis_home_dir(before)


@cache
def _load_utf_8() -> None:
    """Give Hypothesis the ranges of the characters that UTF-8 can encode, which it needs a second to find."""
    with suppress(OSError), TemporaryDirectory() as home, _hypothesis_home(Path(home)):
        ranges = charmap_file("codec-v2-utf-8")
        ranges.parent.mkdir(parents=True)
        ranges.write_bytes(gzip.compress(json.dumps([_UTF_8, []]).encode()))
        intervals_from_codec("utf-8")


def _sent(case: _Case) -> dict[str, Any]:
    """Return the request of a case, without headers and path parameters."""
    query = [[name, text] for name, value in (case.query or {}).items() for text in _texts(value)]
    if case.body is NOT_SET:
        return {"query": query}
    if isinstance(case.body, bytes):
        return {"query": query, "base64": base64.b64encode(case.body).decode("ascii")}
    return {"query": query, "json": case.body}


def _texts(value: object) -> list[str]:
    """Return a generated query value as text, repeated if it is a list."""
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, str):
        return [value]
    return [json.dumps(value)]
