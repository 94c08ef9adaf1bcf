"""Services whose process ends and restarts, and gateways that break connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.target import Behaviour, Turn, honestly
from tests.hostile.cases import Case, broken, undecided

_RESTART: Final = 0.5
"""Seconds until the restart of the process."""


def _ends_after(fatal: Callable[[Turn], bool], seconds: float | None = _RESTART) -> Behaviour:
    """End the process and its connections at certain requests."""

    async def behave(turn: Turn) -> None:
        if fatal(turn):
            turn.target.vanish(seconds)
            turn.reset()
        else:
            await honestly(turn)

    return behave


def _breaks(fatal: Callable[[Turn], bool]) -> Behaviour:
    """Break the connection at certain requests; the service continues."""

    async def behave(turn: Turn) -> None:
        if fatal(turn):
            turn.reset()
        else:
            await honestly(turn)

    return behave


class _At:
    """Requests with certain numbers."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = numbers

    def __call__(self, turn: Turn) -> bool:
        """Whether a request has one of the numbers."""
        return turn.number in self._numbers


def _sorts_by_name(turn: Turn) -> bool:
    return turn.method == "GET" and "sort=name" in turn.path


def _empties(turn: Turn) -> bool:
    return turn.method == "PATCH" and turn.body == b'{"description": ""}'


def _creates_in_greek(turn: Turn) -> bool:
    return turn.method == "POST" and "\u03a3\u03af\u03c3".encode() in turn.body


def _invites_admin(turn: Turn) -> bool:
    return turn.method == "POST" and turn.path.endswith("/invite") and turn.body.endswith(b'"role": "admin"}')


_SORTS: Final = ("sort-*", "no-server-error")
_GONE: Final[dict[str, Any]] = {"says": "the service was gone after", "only_failed": ("no-server-error",)}

CASES: Final[Mapping[str, Case]] = {
    "ends at lists by name, and is started again": broken(
        _ends_after(_sorts_by_name), "no-server-error", timeout=5, seconds=60, only=_SORTS, **_GONE
    ),
    "ends at a creation in Greek, and is started again": broken(
        _ends_after(_creates_in_greek), "no-server-error", timeout=5, seconds=120, **_GONE
    ),
    "ends at an edit that empties the description, and is started again": broken(
        _ends_after(_empties), "no-server-error", timeout=5, seconds=120, **_GONE
    ),
    "ends at the invitation of an admin, which is not sent again": undecided(
        _ends_after(_invites_admin), "invite-succeeds", "no-server-error", timeout=5, seconds=60,
        words=("--disposable",), only=("invite-*", "no-server-error"), verdict=("inconclusive",),
        says="was gone after POST /api/v1/organizations/current/members/invite",
    ),
    "ends at an edit that empties the description, for good": Case(
        behaviour=_ends_after(_empties, None), says="was lost after PATCH /api/v1/engagements/", seconds=60, timeout=5,
        clean=False,
    ),
    "is started anew three times": undecided(
        _ends_after(_At(60, 140, 300)), verdict=("conformant", "inconclusive"), timeout=5, seconds=90
    ),
    "a gateway that breaks lists by name": undecided(
        _breaks(_sorts_by_name), "sort-by-name", verdict=("inconclusive",), timeout=5, only=_SORTS,
        says="GET /api/v1/engagements (request",
    ),
}  # fmt: skip
