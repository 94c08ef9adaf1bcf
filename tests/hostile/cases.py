"""What a behaviour must end in, and the words that behaviours are made of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.hostile.target import Behaviour, Reply, Turn, honestly

CORE: Final = (
    "get-organization-*", "create-engagement-*", "archive-*", "list-engagements-*", "json-*", "rate-limit-headers-*",
    "key-missing-refused", "no-redirect", "success-data-object", "error-envelope",
)  # fmt: skip
"""Requirements enough for a behaviour that needs no whole run."""

UNTESTABLE: Final = "could not be tested"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A hostile behaviour and what a run against it must end in.

    Attributes:
        behaviour: What the target does with a request.
        parts: Further parts of the target.
        status: The exit status; several where it depends on what was seen by then.
        verdict: The verdict of the report; several likewise.
        says: A piece of what people are told.
        failed: Requirements that must have failed.
        cant_tell: Requirements that must be undecided.
        only_failed: The only ones that may fail besides; None for any.
        decided: Whether nothing may be undecided.
        seconds: How long it may take at most.
        words: Further words of the command line.
        only: Patterns of requirements; empty for the whole suite.
        lines: Further lines of the target file.
        timeout: Its timeout.
        clean: Whether nothing of the run may be left on the target.
    """

    behaviour: Behaviour = honestly
    parts: Callable[[], dict[str, Any]] = dict
    status: tuple[int, ...] = (3,)
    verdict: tuple[str, ...] = ("inconclusive",)
    says: str = ""
    failed: tuple[str, ...] = ()
    cant_tell: tuple[str, ...] = ()
    only_failed: tuple[str, ...] | None = None
    decided: bool = False
    seconds: float = 20
    words: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    timeout: float = 1
    clean: bool = True


def untestable(behaviour: Behaviour, says: str, **parts: Any) -> Case:
    """No complete answer ever comes."""
    return Case(behaviour=behaviour, says=says, **parts)


def conformant(behaviour: Behaviour = honestly, **parts: Any) -> Case:
    """The service keeps the contract, through whatever it does."""
    verdict = "inconclusive" if "only" in parts else "conformant"
    standing: dict[str, Any] = {
        "status": (0,),
        "verdict": (verdict,),
        "only_failed": (),
        "decided": True,
        "seconds": 60,
        "timeout": 5,
    }
    return Case(behaviour=behaviour, **standing | parts)


def broken(behaviour: Behaviour, *failed: str, **parts: Any) -> Case:
    """The service breaks these requirements."""
    standing: dict[str, Any] = {"status": (1,), "verdict": ("non-conformant",), "seconds": 60, "timeout": 5}
    return Case(behaviour=behaviour, failed=failed, **standing | parts)


def undecided(behaviour: Behaviour, *cant_tell: str, **parts: Any) -> Case:
    """Nothing can be held against the service, and not everything be said for it."""
    standing: dict[str, Any] = {"status": (0,), "only_failed": (), "seconds": 60, "timeout": 2}
    return Case(behaviour=behaviour, cant_tell=cant_tell, **standing | parts)


# --- what behaviours are made of


def raw(*parts: bytes, then: str = "close", pause: float = 0.0) -> Behaviour:
    """Send these bytes, then close, reset or stall."""

    async def behave(turn: Turn) -> None:
        for part in parts:
            await turn.say(part)
            await asyncio.sleep(pause)
        if then == "stall":
            await turn.stall()
        elif then == "reset":
            await asyncio.sleep(0.05)
            turn.reset()
        elif then == "close":
            turn.close()

    return behave


def endless(first: bytes, again: bytes, pause: float = 0.0) -> Behaviour:
    """Send the first bytes, then the same others for ever."""

    async def behave(turn: Turn) -> None:
        await turn.say(first)
        while True:
            await turn.say(again)
            await asyncio.sleep(pause)

    return behave


def always(reply: Callable[[Turn], Reply]) -> Behaviour:
    """Answer everything by one function."""

    async def behave(turn: Turn) -> None:
        await turn.send(reply(turn))

    return behave


def changed(change: Callable[[Turn, Reply], Reply]) -> Behaviour:
    """Answer what the reference service does, changed."""

    async def behave(turn: Turn) -> None:
        await turn.send(change(turn, await turn.honest()))

    return behave


def changed_body(change: Callable[[bytes], bytes]) -> Behaviour:
    """Answer what the reference service does, with another body."""
    return changed(lambda turn, reply: Reply(reply.status, reply.headers, change(reply.body)) if reply.body else reply)


def changed_json(change: Callable[[Any], None]) -> Behaviour:
    """Answer what the reference service does, with its JSON changed in place."""

    def rewrite(body: bytes) -> bytes:
        value = json.loads(body)
        change(value)
        return json.dumps(value).encode()

    return changed_body(rewrite)


def resources(value: Any) -> list[dict[str, Any]]:
    """The resources of an answer."""
    data = value.get("data")
    return data if isinstance(data, list) else [data] if isinstance(data, dict) else []


def written(write: Callable[[Turn, Reply], bytes], *, close: bool = False) -> Behaviour:
    """Write what the reference service answers in another way."""

    async def behave(turn: Turn) -> None:
        await turn.say(write(turn, await turn.honest()))
        if close:
            turn.close()

    return behave


@dataclass
class Every:
    """Do something else with every n-th request of a kind, and otherwise what is usual.

    Attributes:
        times: n.
        special: What is done then.
        methods: The methods that are counted; empty for all.
        usual: What is done with the others.
        after: How many are passed over first.
    """

    times: int
    special: Behaviour
    methods: tuple[str, ...] = ()
    usual: Behaviour = honestly
    after: int = 0
    _seen: dict[int, int] = field(default_factory=dict)

    async def __call__(self, turn: Turn) -> None:
        """Behave."""
        counted = not self.methods or turn.method in self.methods
        key = id(turn.target)
        self._seen[key] = self._seen.get(key, 0) + counted
        special = counted and self._seen[key] > self.after and self._seen[key] % self.times == 0
        await (self.special if special else self.usual)(turn)
