"""Strict parser for JSON bodies."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


Json = dict[str, Any] | list[Any] | str | int | float | bool | None
"""Any JSON value."""


class RepeatedMemberError(ValueError):
    """An object has two members with the same name."""


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _none_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise RepeatedMemberError("an object has two members with the same name")
    return members


_DECODERS = {
    "last": json.JSONDecoder(parse_constant=_refuse_constant),
    "first": json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_first_wins),
    "refused": json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_none_repeated),
}


def read_json(content: bytes, repeated: str = "last") -> Json:
    """Parse JSON in UTF-8 without a byte order mark.

    Args:
        content: The bytes of a body.
        repeated: Which of two members with the same name counts: ``last``, ``first``, or they are ``refused``.

    Raises:
        RepeatedMemberError: Two members have the same name and are refused.
        ValueError: The body is not JSON, is nested too deeply, or has too long a number.
    """
    try:
        value: Json = _DECODERS[repeated].decode(content.decode())
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem
    return value
