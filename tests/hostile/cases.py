"""Expected ends of runs against hostile behaviours, and building blocks of behaviours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.target import Behaviour, Reply, Turn, honestly

CORE: Final = (
    "get-organization-*", "create-engagement-*", "archive-*", "list-engagements-*", "json-*", "rate-limit-headers-*",
    "key-missing-refused", "no-redirect", "success-data-object", "error-envelope",
)  # fmt: skip
"""Requirements for a behaviour that needs no whole run."""

UNTESTABLE: Final = "could not be tested"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A hostile behaviour and the expected end of a run against it.

    Attributes:
        behaviour: The target's reaction to a request.
        parts: Further parts of the target.
        status: The exit status; several if it depends on timing.
        verdict: The verdict of the report; several if it depends on timing.
        says: A part of the messages to people.
        failed: Requirements that must have failed.
        cant_tell: Requirements that must be undecided.
        only_failed: The only other requirements that may fail; None for any.
        decided: Whether all requirements must be decided.
        seconds: The longest duration of the run.
        words: Further arguments of the command line.
        only: Patterns of requirements; empty for the whole suite.
        lines: Further lines of the target file.
        timeout: The timeout in the target file.
        clean: Whether the run must leave the target as it was.
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
    """Return a case without any complete response."""
    return Case(behaviour=behaviour, says=says, **parts)


def conformant(behaviour: Behaviour = honestly, **parts: Any) -> Case:
    """Return a case that conforms despite its behaviour."""
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
    """Return a case that fails these requirements."""
    standing: dict[str, Any] = {"status": (1,), "verdict": ("non-conformant",), "seconds": 60, "timeout": 5}
    return Case(behaviour=behaviour, failed=failed, **standing | parts)


def undecided(behaviour: Behaviour, *cant_tell: str, **parts: Any) -> Case:
    """Return a case that fails no requirement, and leaves some undecided."""
    standing: dict[str, Any] = {"status": (0,), "only_failed": (), "seconds": 60, "timeout": 2}
    return Case(behaviour=behaviour, cant_tell=cant_tell, **standing | parts)


# --- building blocks of behaviours


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


def always(reply: Callable[[Turn], Reply]) -> Behaviour:
    """Send the reply of a function to every request."""

    async def behave(turn: Turn) -> None:
        await turn.send(reply(turn))

    return behave


def changed(change: Callable[[Turn, Reply], Reply]) -> Behaviour:
    """Change the replies of the reference service."""

    async def behave(turn: Turn) -> None:
        await turn.send(change(turn, await turn.honest()))

    return behave


def changed_body(change: Callable[[bytes], bytes]) -> Behaviour:
    """Change the bodies of the reference service's replies."""
    return changed(lambda turn, reply: Reply(reply.status, reply.headers, change(reply.body)) if reply.body else reply)


def with_member(text: bytes) -> Behaviour:
    """Add a raw member to the object in the body."""
    return changed_body(lambda body: body[:-1].rstrip() + b', "further": ' + text + b"}")


def changed_json(change: Callable[[Any], None]) -> Behaviour:
    """Change the JSON of the reference service's replies in place."""

    def rewrite(body: bytes) -> bytes:
        value = json.loads(body)
        change(value)
        return json.dumps(value).encode()

    return changed_body(rewrite)


def resources(value: Any) -> list[dict[str, Any]]:
    """Return the resources in a response."""
    data = value.get("data")
    return data if isinstance(data, list) else [data] if isinstance(data, dict) else []


def written(write: Callable[[Turn, Reply], bytes], *, close: bool = False) -> Behaviour:
    """Write the replies of the reference service in another form."""

    async def behave(turn: Turn) -> None:
        await turn.say(write(turn, await turn.honest()))
        if close:
            turn.close()

    return behave


@dataclass
class Every:
    """Use a special behaviour for every n-th request of some methods.

    Attributes:
        times: The n of every n-th request.
        special: The behaviour for every n-th request.
        methods: The counted methods; empty for all.
        usual: The behaviour for the other requests.
        after: The number of requests before the first special one.
    """

    times: int
    special: Behaviour
    methods: tuple[str, ...] = ()
    usual: Behaviour = honestly
    after: int = 0
    _seen: dict[int, int] = field(default_factory=dict)

    async def __call__(self, turn: Turn) -> None:
        """React to a request."""
        counted = not self.methods or turn.method in self.methods
        key = id(turn.target)
        self._seen[key] = self._seen.get(key, 0) + counted
        special = counted and self._seen[key] > self.after and self._seen[key] % self.times == 0
        await (self.special if special else self.usual)(turn)
