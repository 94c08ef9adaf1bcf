"""Steps that reproduce a fault: recorded requests, and what they created."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import SCOPES
from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.outcomes import CheckOutcome
from conformance.wire.exchange import NoResponse, SentRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.wire.exchange import Exchange

_ID: Final = re.compile(r'"id"[ \t\r]*:[ \t\r]*"([^"]*)')
_USABLE: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,200}")


class Steps:
    """The requests that reproduce a fault.

    Args:
        exchanges: The exchanges, in order.
        variables: The environment variables of secrets and connection options, by their names in the record.
        prefix: The prefix of the names that the run gave.
    """

    def __init__(self, exchanges: Sequence[Exchange], variables: Mapping[str, str], prefix: str) -> None:
        self.exchanges = exchanges
        self.variables = variables
        self.prefix = prefix

    def are_own(self) -> bool:
        """Whether the steps write only to engagements that they create and recognize as theirs, or are refused."""
        prefix = self.prefix.encode()
        creations = {made: exchange for exchange in self.exchanges if (made := self.made(exchange)) is not None}
        if not all(prefix and prefix in exchange.sent_request.body for exchange in creations.values()):
            return False
        if not all(place_of_id(exchange) for exchange in creations.values() if exchange.accepted):
            return False
        writes = [exchange for exchange in self.exchanges if exchange.sent_request.method != "GET"]
        own = {*creations.values()} | {exchange for exchange in writes if exchange.request.identifier in creations}
        return all(exchange in own or exchange.refused for exchange in writes)

    def groups(self) -> list[list[Exchange]]:
        """Group overlapping exchanges of a scenario, to be sent together, except creations, whose ids others need."""
        groups: list[list[Exchange]] = []
        for exchange in self.exchanges:
            is_beside = bool(groups) and all(
                other.check == exchange.check and Interval.of(other).overlaps(Interval.of(exchange))
                for other in groups[-1]
            )
            operations = {exchange.operation_id, groups[-1][0].operation_id} if groups else set()
            if is_beside and "createEngagement" not in operations:
                groups[-1].append(exchange)
            else:
                groups.append([exchange])
        return groups

    def made(self, exchange: Exchange) -> str | None:
        """Return the id of an engagement that an exchange created, a name if it failed, or None for other exchanges."""
        if exchange.operation_id != "createEngagement":
            return None
        return made_by(exchange) if exchange.accepted else f"exchange {exchange.number}"

    def reading(self, creation: Exchange) -> tuple[Exchange, str]:
        """Return a read of a created engagement, without its id, and its address up to the id."""
        headers = [(key, value) for key, value in creation.sent_request.headers if key.lower() != "content-type"]
        whose = creation.request.credential
        if whose is not None and whose.name in SCOPES:  # which may lack permissions for that
            headers = [(key, "Bearer <api_key>" if key.lower() == "authorization" else value) for key, value in headers]
        url = f"{creation.sent_request.url.partition('?')[0].rstrip('/')}/"
        return replace(creation, sent_request=SentRequest("GET", url, tuple(headers), b"")), url

    def parts(self, exchange: Exchange) -> tuple[str, str, str]:
        """Return the parts of a sent URL before the identifier, the identifier, and the part after it, or all empty."""
        before, _, after = exchange.request.operation.path.partition(f"{{{exchange.request.operation.parameter}}}")
        identifier = re.escape(exchange.request.identifier or "")
        found = re.fullmatch(
            rf"([^?]*?{re.escape(before)})({identifier})({re.escape(after)}(?:\?.*)?)",
            exchange.sent_request.url,
            re.DOTALL,
        )
        return (found[1], found[2], found[3]) if found else ("", "", "")


def made_by(exchange: Exchange) -> str | None:
    """Return the id of a created engagement if a script can use it."""
    try:
        found = read.id_of(read.data(exchange))
    except (CheckOutcome, NoResponse):
        return None
    return found if isinstance(found, str) and _USABLE.fullmatch(found) else None


def place_of_id(exchange: Exchange) -> int:
    """Return the position of the engagement's id among the ids in a creation's response, from 1; 0 if absent."""
    body = b"" if exchange.received is None else exchange.received.body
    found = _ID.findall(body.decode("utf-8", "replace").replace("\n", ""))
    return found.index(made_by(exchange)) + 1 if made_by(exchange) in found else 0
