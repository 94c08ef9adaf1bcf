"""Targets whose valid responses are changed at random, by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any, Final

from tests.fakes.target import Behaviour, Reply, Turn
from tests.hostile.cases import Case

ODD: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 7, 2**70, 1e300, 0.5, "", " ", "x", "\ud800", "\0", "é" * 50, "2026-02-30T00:00:00.000Z",
    "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", [], {}, [[]], [None],
    {"": None}, {"id": []}, [{"id": {}}], "archived", "active", "owner", "NaN", "__proto__",
)  # fmt: skip
TEXTS: Final = (
    "", " ", "-1", "0", "1", "nan", "inf", "1e9", "\xff", "9" * 30, "0x10", "1,1", "Thu, 01 Jan 1970 00:00:00 GMT",
    "Mon, 32 Foo 2026 25:61:61 GMT", "application/json;", "text/html", "application/json; charset=utf-16", "*/*",
    ";", "=",
)  # fmt: skip


def changing(seed: object, rate: float = 0.15) -> Behaviour:
    """Change a share of the valid responses at random."""
    chance = random.Random(str(seed))

    async def behave(turn: Turn) -> None:
        reply = await turn.honest()
        await turn.send(changed(reply, chance) if chance.random() < rate else reply)

    return behave


def changed(reply: Reply, chance: random.Random) -> Reply:
    """Return the response with one or several changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        reply = chance.choice((_with_value, _with_value, _with_value, _with_header, _with_status, _with_bytes))(
            reply, chance
        )
    return reply


def _with_value(reply: Reply, chance: random.Random) -> Reply:
    try:
        value = json.loads(reply.body)
    except ValueError:
        return reply
    return Reply(reply.status, reply.headers, json.dumps(_replaced(value, chance)).encode())


def _replaced(value: Any, chance: random.Random) -> Any:
    """Return the value with a random part replaced or removed."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(sorted(value))
        new = _replaced(value[name], chance)
        return {k: v for k, v in value.items() if k != name} if chance.random() < 0.15 else value | {name: new}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        middle = chance.choice(([], [value[place]] * 2, [_replaced(value[place], chance)]))
        return [*value[:place], *middle, *value[place + 1 :]]
    return chance.choice(ODD)


def _with_header(reply: Reply, chance: random.Random) -> Reply:
    name = chance.choice(
        ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Date", "Content-Type", "Retry-After")
    )
    if chance.random() < 0.2:
        return Reply(reply.status, tuple(pair for pair in reply.headers if pair[0].lower() != name.lower()), reply.body)
    return reply.with_headers(**{name.replace("-", "_"): chance.choice(TEXTS)})


def _with_status(reply: Reply, chance: random.Random) -> Reply:
    status = chance.choice(
        (200, 201, 202, 206, 226, 300, 304, 400, 401, 403, 404, 405, 409, 418, 422, 500, 501, 599, 700)
    )
    return Reply(status, reply.headers, reply.body)


def _with_bytes(reply: Reply, chance: random.Random) -> Reply:
    body = bytearray(reply.body)
    for _ in range(chance.randint(1, 4)):
        if body:
            body[chance.randrange(len(body))] = chance.randrange(256)
    return Reply(reply.status, reply.headers, bytes(body[: chance.choice((len(body), len(body), 20))]))


CASES: Final[Mapping[str, Case]] = {
    f"answers changed at random, {rate:.0%} of them ({seed})": Case(
        behaviour=changing(seed, rate), status=(0, 1, 3), seconds=120, timeout=5, clean=False,
        verdict=("conformant", "non-conformant", "inconclusive"),
    )
    for seed, rate in (("first", 0.02), ("second", 0.15), ("third", 0.6))
}  # fmt: skip
