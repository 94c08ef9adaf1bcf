"""Section 4: certainly invalid requests are refused with 400 or 422, and change nothing."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import bulk, expect, read
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.access import invalid_requests
from conformance.scenarios.access.every_operation import member_of
from conformance.scenarios.access.invalid_inputs import Kind
from conformance.scenarios.access.invalid_requests import invalid_creations, invalid_invitations, invalid_queries
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.oracle.read import JsonObject
    from conformance.running.run import Run
    from conformance.scenarios.access.invalid_requests import Refusals
    from conformance.wire.exchange import Exchange

Queries = dict[str, tuple[Sent, ...]]

_NO_NAMES: Final = frozenset({"", "null", "none", "undefined", "12345", "true", "[]"})
"""Possible results of a body without a name."""


# --- engagements


@requirement("create-engagement-refuses-invalid")
def test_invalid_creations_are_refused(invalid_creations: Refusals) -> None:
    """Creating an engagement with a certainly invalid body gives 400 or 422."""
    bulk.every_invalid_refused(invalid_creations.sent)


@requirement("create-engagement-refused-creates-nothing")
def test_refused_creations_create_nothing(invalid_creations: Refusals, run: Run) -> None:
    """Refused creations leave no engagement that could be from one of them."""
    bulk.none_created(invalid_creations.sent, invalid_creations.after)

    confirm.stable(
        run,
        invalid_creations,
        _expect_no_nameless,
        lambda: invalid_requests.unlabelled_creations(run),
        same=lambda refusals: [item.get("id") for item in _new(refusals) if not _is_from_this_run(run, item)],
    )


@requirement("update-engagement-refuses-invalid")
def test_invalid_updates_are_refused(invalid_updates: Refusals) -> None:
    """Updating an engagement with a certainly invalid body gives 400 or 422."""
    bulk.every_invalid_refused(invalid_updates.sent)


@requirement("update-engagement-refused-changes-nothing")
def test_refused_updates_change_nothing(run: Run, invalid_updates: Refusals) -> None:
    """Refused updates leave the engagement unchanged, updatedAt included."""
    try:
        _require_untouched(invalid_updates)
    except NonConformity:
        _require_untouched(invalid_requests.single_cause(run, invalid_updates))


def _require_untouched(tried: Refusals) -> None:
    bulk.engagement_untouched(tried.before[0], tried.after[0], tried.sent)


@requirement("list-engagements-refuses-invalid")
def test_invalid_engagement_queries_are_refused(run: Run, invalid_queries: Queries) -> None:
    """Listing engagements with a certainly invalid parameter gives 400 or 422."""
    sent = invalid_queries["listEngagements"]
    forbidden = [query for query in sent if query.exchange.judgeable and query.exchange.status == HTTPStatus.FORBIDDEN]
    if forbidden and run.send(requests.list_engagements()).status == HTTPStatus.FORBIDDEN:
        # The service may validate some parameters before the permission, and others after it.
        bulk.every_invalid_refused(tuple(query for query in sent if query not in forbidden))
        raise CantTell("the main key may not list engagements", forbidden[0].exchange)

    bulk.every_invalid_refused(sent)


# --- the organization


@requirement("update-organization-refuses-invalid")
def test_invalid_organization_updates_are_refused(invalid_organization_updates: Refusals) -> None:
    """Updating the organization with a certainly invalid body gives 400 or 422."""
    bulk.every_invalid_refused(invalid_organization_updates.sent)


# --- members


@requirement("invite-refuses-invalid")
def test_invalid_invitations_are_refused(invalid_invitations: tuple[Sent, ...]) -> None:
    """Inviting with a certainly invalid body gives 400 or 422."""
    bulk.every_invalid_refused(invalid_invitations)


@requirement("update-role-refuses-invalid")
def test_invalid_role_changes_are_refused(invalid_role_changes: Refusals) -> None:
    """Changing a role with a certainly invalid body gives 400 or 422."""
    tried = invalid_role_changes
    if member_of(tried.after, tried.target) is None:
        raise CantTell("the target member of the role changes is not in the list", *tried.after)

    bulk.every_invalid_refused(tried.sent)


@requirement("list-members-refuses-invalid")
def test_invalid_member_queries_are_refused(invalid_queries: Queries) -> None:
    """Listing members with a certainly invalid parameter gives 400 or 422."""
    bulk.every_invalid_refused(invalid_queries["listMembers"])


# --- creations without a recognizable name


def _expect_no_nameless(refusals: Refusals) -> None:
    """Expect no new engagement without a name, as a body that cannot carry one would create."""
    nameless = [item for item in _new(refusals) if _is_nameless(item)]
    actual = f"{len(nameless)} new engagements without a name of their own"
    judge = partial(
        expect.holds,
        not nameless,
        "refused creations without a name have left engagements",
        *refusals.exchanges,
        expected="no new engagement",
        actual=actual,
    )
    bulk.only_if_refused([sent for sent in refusals.sent if not sent.label], judge)


def _is_nameless(item: JsonObject) -> bool:
    """Whether an engagement has no name and no description, so that nothing shows who created it."""
    name = item.get("name")
    return (not isinstance(name, str) or name.strip().lower() in _NO_NAMES) and not read.description(item)


def _is_from_this_run(run: Run, item: JsonObject) -> bool:
    """Whether the run made an engagement, or could have made it."""
    return run.names.owns(item.get("name")) or _is_nameless(item)


def _new(refusals: Refusals) -> list[JsonObject]:
    """Return the engagements that the list shows afterwards and not before."""
    known = [item.get("id") for page in refusals.before for item in read.items(page)]
    return [item for page in refusals.after for item in read.items(page) if item.get("id") not in known]


# --- 400 or 422


def _of(kind: str, sent: Iterable[Sent]) -> list[Exchange]:
    return [attempt.exchange for attempt in sent if attempt.kind == kind]


OBSERVATIONS: Final = (
    observing("validation-status-malformed", invalid_creations, lambda seen: _of(Kind.MALFORMED, seen.sent)),
    observing("validation-status-no-object", invalid_creations, lambda seen: _of(Kind.NO_OBJECT, seen.sent)),
    observing("validation-status-missing", invalid_creations, lambda seen: _of(Kind.MISSING, seen.sent)),
    observing("validation-status-type", invalid_creations, lambda seen: _of(Kind.TYPE, seen.sent)),
    observing("validation-status-value", invalid_invitations, partial(_of, Kind.VALUE)),
    observing(
        "validation-status-query",
        invalid_queries,
        lambda seen: [query.exchange for sent in seen.values() for query in sent],
    ),
)
