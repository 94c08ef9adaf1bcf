"""Scenarios of lists with filters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.confirm.pages import total_of
from conformance.interface.list_parameters import DEFAULT_PER_PAGE, MAX_PER_PAGE, ROLES, page_count
from conformance.oracle import read
from conformance.oracle.lists.listing import Listing
from conformance.oracle.lists.paging import MOST_PAGES
from conformance.oracle.outcomes import CheckOutcome
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.finding import NEWEST
from conformance.scenarios.lists.seeded_engagements import LISTS_BY_STATUS, SeededEngagements, seeded_engagements
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_COMMON_ROLE: Final = "member"


@dataclass(frozen=True, slots=True)
class FilteredLists:
    """Engagements of each status, and all of them.

    Attributes:
        snapshot: Pages of the lists of active, archived and all engagements, as many as show the seeded ones.
        seeded: The seeded engagements, which must be in them.
    """

    snapshot: Snapshot
    seeded: SeededEngagements


@scenario(alone=True)
def engagements_by_status(run: Run) -> FilteredLists:
    """List engagements by status, 100 a page; archived ones without a page size if they are few."""
    seeded = run.scenarios.result(seeded_engagements)
    if run.effort is not Effort.QUICK and run.mode is not Mode.READ_ONLY:
        _fill_page_of_archived(run)
    active = until_seen(run, seeded.active, status="active", **NEWEST)
    archived = _in_one(run, LISTS_BY_STATUS["archived"], seeded.archived)
    archived = archived or until_seen(run, seeded.archived, status="archived", sort="updatedAt")
    everything = until_seen(run, (*seeded.active, *seeded.archived), **NEWEST)
    return FilteredLists((*active, *archived, *everything), seeded)


def _fill_page_of_archived(run: Run) -> None:
    """Archive new engagements until the archived ones fill a page of the default size, if there are fewer."""
    missing = DEFAULT_PER_PAGE - total_of(run.send(requests.list_engagements(status="archived", perPage=1)))
    bodies = [{"name": run.name("filling")} for _ in range(missing)]
    made = read.identifiers(run.send_all([requests.create_engagement(body) for body in bodies]))
    run.send_all([requests.archive_engagement(identifier) for identifier in made if identifier])


def _in_one(run: Run, listing: Request, owned: Collection[str]) -> Snapshot:
    """Read a list as a single page of the default size; return nothing if that does not contain all wanted ids."""
    response = run.send(listing)
    items = readable((response,))
    return (response,) if _is_whole(response) and {read.id_of(item) for item in items} >= {*owned} else ()


def _is_whole(response: Exchange) -> bool:
    """Whether a response counts no more items than it shows, and these are few."""
    try:
        return read.number(response, "total") == len(read.items(response)) <= DEFAULT_PER_PAGE
    except CheckOutcome:
        return False


def listing_with_status(snapshot: Snapshot, status: str | None) -> Listing:
    """Return the pages of a snapshot that were requested with a status, or with None those without a filter."""
    return Listing(tuple(page for page in snapshot if dict(page.request.query).get("status") == status))


def until_seen(run: Run, owned: Collection[str], **query: str) -> Snapshot:
    """Read pages of 100 until all wanted ids were seen or the list ends, a dozen at most."""
    pages: list[Exchange] = []
    missing = set(owned)
    for page in range(1, MOST_PAGES + 1):
        place = {} if page == 1 else {"page": page}
        pages.append(run.send(requests.list_engagements(**query, **place, perPage=MAX_PER_PAGE)))
        items = readable((pages[-1],))
        missing -= {str(item.get("id")) for item in items}
        if not missing or len(items) < MAX_PER_PAGE:
            break
    return tuple(pages)


def readable(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the readable items of responses: a scenario judges nothing."""
    found: list[dict[str, Any]] = []
    for response in snapshot:
        try:
            found += read.items(response)
        except CheckOutcome:
            break
    return found


def _make_members_of_each_role(run: Run) -> None:
    """Make an admin, and a member that becomes one; beside a quick run also more members than fit on a page."""
    with suppress(MissingMeans):
        run.fixtures.member("admin")
        promoted = run.fixtures.member(_COMMON_ROLE)
        if promoted.is_new:
            run.send(requests.update_member_role(promoted.user_id, {"role": "admin"}))
        if run.effort is not Effort.QUICK:
            present = total_of(run.send(requests.list_members(role=_COMMON_ROLE, perPage=1)))
            for _ in range(present, DEFAULT_PER_PAGE + 1):
                run.fixtures.member(_COMMON_ROLE)


@scenario(alone=True)
def members_by_role(run: Run) -> Snapshot:
    """List all members, and those of each role; some short lists without a page size."""
    if run.profile.provisioner is not None:
        _make_members_of_each_role(run)
    unfiltered = run.send(requests.list_members(perPage=MAX_PER_PAGE))
    size = {} if _is_whole(unfiltered) else {"perPage": MAX_PER_PAGE}
    sizes: dict[str, dict[str, int]] = dict.fromkeys(ROLES, size) | {ROLES[0]: {"perPage": MAX_PER_PAGE}}
    return (unfiltered, *run.send_all([requests.list_members(role=role, **sizes[role]) for role in ROLES]))


@scenario(alone=True)
def pages_of_role(run: Run) -> tuple[Snapshot, ...]:
    """Read pages of a role: two neighbouring pages of a single member, and all pages of other sizes if there are many.

    If no role has two members, it is one page of a role that the unfiltered list does not begin with; nothing if there
    is none. If possible, the later of two pages is one that the list without the filter would fill with a member of
    another role.
    """
    unfiltered, *responses = (readable((response,)) for response in run.scenarios.result(members_by_role))
    places = [
        (place < len(unfiltered) and unfiltered[place].get("role") == role, role, place)
        for role, members in zip(ROLES, responses, strict=True)
        for place in range(1, len(members))
    ]
    if not places:
        first = {item.get("role") for item in unfiltered[:1]}
        single = [role for role, members in zip(ROLES, responses, strict=True) if members and role not in first]
        return tuple((run.send(requests.list_members(role=role, perPage=1)),) for role in single[-1:])
    _, role, place = min(places)
    batches = [[requests.list_members(role=role, perPage=1, page=page) for page in (place, place + 1)]]
    many = len(responses[ROLES.index(_COMMON_ROLE)])
    for size in (DEFAULT_PER_PAGE // 2, None, many - 1, many) if many > DEFAULT_PER_PAGE else ():
        pages = range(1, page_count(many, size or DEFAULT_PER_PAGE) + 1)
        batches.append([requests.list_members(role=_COMMON_ROLE, perPage=size, page=page) for page in pages])
    return tuple(tuple(run.send_all(batch)) for batch in batches)
