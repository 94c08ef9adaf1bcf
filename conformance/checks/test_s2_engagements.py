"""Section 2, engagements: identifiers and times in every response that shows an engagement of the run."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.outcomes import CantTell
from conformance.oracle.timestamps import parse_timestamp
from conformance.scenarios.basics import field_or_none
from conformance.targets.responses import object_in
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from conformance.running.run import Run
    from conformance.scenarios.engagements.creating import Creating
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.AFTER_SCENARIOS)


@requirement("engagement-ids-distinct")
def test_engagements_have_identifiers_of_their_own(run: Run, creating: Creating) -> None:
    """No two engagements that exist at the same time share an identifier."""
    read.success(creating.bare.response)

    made = _creations(run)
    if not made:
        raise CantTell("no response to a creation has an identifier", *_created(run))

    for identifier, creations in made.items():
        again = [later for later in creations[1:] if _is_another(run, creations[0], later)]
        expected = "a separate identifier for each"
        expect.holds(not again, "two engagements share an identifier", *creations, expected=expected, actual=identifier)
    for page in _successes(run, "listEngagements"):
        _expect_distinct_ids(page)


@requirement("created-updated-at-equals-created-at")
def test_new_engagement_was_updated_when_it_was_created(run: Run, creating: Creating) -> None:
    """Right after its creation an engagement's updatedAt is its createdAt."""
    read.success(creating.bare.response)
    known = []
    for response in _first_creations(run):
        made, changed = (parse_timestamp(field_or_none(response, name)) for name in ("createdAt", "updatedAt"))
        if made is not None and changed is not None:
            known.append((response, made, changed))
    if not known:
        raise CantTell("no response to a creation has both times", *_created(run))

    for response, made, changed in known:
        expected, actual = (
            f"{field_or_none(response, 'createdAt')}, as createdAt",
            str(field_or_none(response, "updatedAt")),
        )
        expect.holds(
            made == changed,
            "updatedAt is not createdAt",
            response,
            expected=expected,
            actual=actual,
            pointer="/data/updatedAt",
        )


def _successes(run: Run, operation: str) -> list[Exchange]:
    """Return the successes of an operation with the main key."""
    sent = of_operation(run.wire.exchanges, operation)
    return [exchange for exchange in sent if exchange.by_main_key and exchange.accepted]


def _created(run: Run) -> list[Exchange]:
    return _successes(run, "createEngagement")


def _creations(run: Run) -> dict[str, list[Exchange]]:
    """Return the creations of the run by identifier."""
    found: dict[str, list[Exchange]] = defaultdict(list)
    for response in _created(run):
        if (identifier := read.identifier_or_none(response)) is not None:
            found[identifier].append(response)
    return found


def _first_creations(run: Run) -> Iterator[Exchange]:
    """Yield the first creation of each identifier, and those after its deletion; others may show an older one."""
    deletions = _deletions(run)
    for identifier, creations in _creations(run).items():
        gone = deletions.get(identifier)
        yield creations[0]
        yield from (later for later in creations[1:] if gone is not None and gone < later.started_at)


def _is_another(run: Run, first: Exchange, second: Exchange) -> bool:
    """Whether two creations with the same identifier are of two engagements that exist at the same time.

    A second creation of a name may return the first engagement; the check of duplicate names judges that.
    """
    gone = _deletions(run).get(read.identifier_or_none(first) or "")
    return _sent_name(first) != _sent_name(second) and not (gone is not None and gone < second.ended_at)


def _sent_name(creation: Exchange) -> object:
    return object_in(creation.request.body).get("name")


def _deletions(run: Run) -> dict[str, datetime]:
    """Return the start of the first successful deletion of each engagement."""
    found: dict[str, datetime] = {}
    for deletion in _successes(run, "deleteEngagement"):
        found.setdefault(deletion.request.identifier or "", deletion.started_at)
    return found


def _expect_distinct_ids(page: Exchange) -> None:
    """Expect that no two different engagements of a page share an identifier; checks of paging judge repeated items."""
    seen: dict[str, dict[str, Any]] = {}
    for place, item in enumerate(read.or_none(read.items, page) or ()):
        if (identifier := read.id_of(item)) is not None:
            other = seen.setdefault(identifier, item)
            same = all(other.get(name) == item.get(name) for name in ("name", "createdAt"))
            expect.holds(
                same,
                "two engagements of the list have the same identifier",
                page,
                expected="a separate identifier for each",
                actual=identifier,
                pointer=f"/data/{place}/id",
            )
