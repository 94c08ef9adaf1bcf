"""Engagements of earlier runs whose journals are lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from conformance.targets.journal import Journal
from conformance.targets.journal_file import JOURNAL, JournalError
from conformance.targets.names import PREFIX
from conformance.targets.queries import latest_items
from conformance.targets.responses import data_of, describe_result, identifier_of, is_gone
from conformance.wire.exchange import SUCCESSES
from conformance.wire.rate_limit_headers import date_of
from conformance.wire.requests import delete_engagement, get_engagement, get_organization

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.targets.queries import QueryClient

_PAGES: Final = 100
"""The most pages of engagements that are searched, the latest first."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """An engagement of an earlier run.

    Attributes:
        id: Its id.
        name: Its name.
        created_at: Its creation time, as the service writes it.
        journal: The folder of the run's journal; None if it is lost.
    """

    id: str
    name: str
    created_at: str
    journal: Path | None


def find_orphans(queries: QueryClient, older_than: timedelta, reports: Path) -> tuple[list[Orphan], bool] | str:
    """Return the engagements whose name begins with the prefix of a run and that are old enough.

    Args:
        queries: Sends requests with the main key.
        older_than: The lowest age, by the service's clock.
        reports: The folder whose subfolders may hold the journals of runs.

    Returns:
        The engagements, the latest first, and whether none can be missing; or why there is no list, as a clause.
    """
    organization = queries.send(get_organization())
    if isinstance(organization, str):
        return organization
    now = date_of(organization)
    if now is None:
        return "the service sends no Date header, so the ages of engagements are unknown"
    listed = latest_items(queries, pages=_PAGES)
    if isinstance(listed, str):
        return listed
    journals = _journals(reports)
    found = []
    for item in listed.items:
        identifier, prefix = identifier_of(item), _prefix(item)
        if identifier is not None and prefix is not None and _age(item, now) >= older_than.total_seconds():
            found.append(Orphan(identifier, str(item["name"]), str(item["createdAt"]), journals.get(prefix)))
    return found, listed.complete


def delete_orphan(queries: QueryClient, orphan: Orphan) -> str | None:
    """Read an engagement again and delete it if it is still the same; return why it is left, as a clause, or None."""
    read = queries.send(get_engagement(orphan.id))
    if isinstance(read, str) or read.status not in SUCCESSES:
        return None if is_gone(read) else f"it could not be read: {describe_result(read)}"
    data = data_of(read)
    if (identifier_of(data), data.get("createdAt")) != (orphan.id, orphan.created_at) or _prefix(data) is None:
        return "a read shows another engagement, or another name"
    deleted = queries.send(delete_engagement(orphan.id))
    if is_gone(deleted) or is_gone(queries.send(get_engagement(orphan.id))):
        return None
    return f"the deletion had no effect: {describe_result(deleted)}"


def _prefix(engagement: Mapping[str, object]) -> str | None:
    """Return the prefix of a run at the beginning of an engagement's name, or None.

    It must stand as runs write it: "CF - Pentest 2 - API" only has its letters.
    """
    name = engagement.get("name")
    found = PREFIX.match(name) if isinstance(name, str) else None
    return None if found is None else found[0]


def _age(engagement: Mapping[str, object], now: float) -> float:
    """Return the age of an engagement in seconds; minus infinity if its creation time cannot be read."""
    try:
        created = datetime.fromisoformat(str(engagement.get("createdAt")))
    except ValueError:
        return -math.inf
    return -math.inf if created.tzinfo is None else now - created.timestamp()


def _journals(reports: Path) -> dict[str, Path]:
    """Return the folders of the journals in a folder of reports, by the prefixes of their runs."""
    found: dict[str, Path] = {}
    for path in sorted(reports.glob(f"*/{JOURNAL}")):
        try:
            found[Journal.read(path.parent).names.prefix] = path.parent
        except JournalError:
            continue
    return found
