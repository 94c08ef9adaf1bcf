"""Names of engagements, which decide whether a conflict can be with a name in use."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.json_text import text_or_none

if TYPE_CHECKING:
    from conformance.oracle.effects import Interval
    from conformance.oracle.ledger.histories import History
    from conformance.wire.exchange import Exchange


@dataclass(slots=True)
class Names:
    """The engagements that got a name, by everything that may make it the same name for a service."""

    bearers: dict[str, list[History | None]] = field(default_factory=dict)

    def record(self, exchange: Exchange, history: History | None) -> None:
        """Record a creation or an edit that may have given a name.

        Args:
            exchange: The request.
            history: The engagement; None if it is not known well enough.
        """
        name = sent_name(exchange)
        if name is not None and not exchange.refused:
            self.bearers.setdefault(_key(name), []).append(history)

    def may_be_in_use(self, name: str, interval: Interval, but: History | None = None) -> bool:
        """Whether an engagement of the run other than ``but`` may have, or reserve, a name in an interval.

        A service may reserve the former names of an engagement until its deletion. No other user's engagement has a
        name of the run.
        """
        return any(
            bearer is None or (bearer is not but and (bearer.broken or not bearer.deletion(interval)))
            for bearer in self.bearers.get(_key(name), [])
        )


def sent_name(exchange: Exchange) -> str | None:
    """Return the name that a creation or an edit sent; None without a readable one."""
    return text_or_none(exchange.sent_fields.get("name"))


def _key(name: str) -> str:
    """Return what remains of a name if letter case, blanks and compatible characters do not count."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
