"""Targets with hostile, invalid or equal identifiers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote

from tests.fakes.target import Reply, Turn
from tests.hostile.cases import CORE, Case, broken, conformant, resources

_ENGAGEMENTS: Final = "/api/v1/engagements"


@dataclass
class Given:
    """A behaviour that replaces the identifiers of engagements, and resolves them in requests.

    Attributes:
        make: Returns the identifier from the number of the engagement and its real id.
    """

    make: Callable[[int, str], object]
    _proper: dict[str, str] = field(default_factory=dict)
    _given: dict[str, object] = field(default_factory=dict)

    async def __call__(self, turn: Turn) -> None:
        """React to a request."""
        path, mark, query = turn.path.partition("?")
        if path.startswith(f"{_ENGAGEMENTS}/"):
            parts = path.split("/")
            parts[4] = quote(self._proper.get(unquote(parts[4]), unquote(parts[4])), safe="")
            turn.path = "/".join(parts) + mark + query
        reply = await turn.honest()
        if path.startswith(_ENGAGEMENTS) and reply.body.startswith(b"{"):
            value = reply.data
            for resource in resources(value):
                if "id" in resource:
                    resource["id"] = self._give(resource["id"])
            reply = Reply(reply.status, reply.headers, json.dumps(value).encode())
        await turn.send(reply)

    def _give(self, proper: str) -> object:
        if proper not in self._given:
            given = self._given[proper] = self.make(len(self._given) + 1, proper)
            self._proper[str(given)] = proper
        return self._given[proper]


def _prefixed(prefix: str) -> Given:
    return Given(lambda _, proper: prefix + proper)


def _numbered(**parts: Any) -> Case:
    return broken(Given(lambda number, _: number), "create-engagement-fields", only=CORE, **parts)


CASES: Final[Mapping[str, Case]] = {
    "identifiers with line breaks": conformant(_prefixed("a\r\n\t\0b "), only=CORE),
    "identifiers that are addresses": conformant(_prefixed("http://127.0.0.1:1/x?y#"), only=CORE),
    "identifiers with markup": conformant(_prefixed("<script>document.title='acted'</script>=1+1|"), only=CORE),
    "identifiers of other alphabets": conformant(_prefixed("\u202e\u0660é\U0001f600"), only=CORE),
    "identifiers that are numbers": _numbered(),
    "identifiers that are objects": broken(
        Given(lambda _, proper: {"id": proper}), "create-engagement-fields", only=CORE, clean=False
    ),
    "empty identifiers": broken(Given(lambda *_: ""), "engagement-ids-distinct", clean=False),
    "one identifier for all": broken(Given(lambda *_: "same"), "engagement-ids-distinct", clean=False),
}
