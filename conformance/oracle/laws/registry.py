"""Registry of the laws of every response, by requirement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws import echoes, errors, lists, rate_limits, reads, responses
from conformance.oracle.laws.clock_set_back import was_set_back
from conformance.oracle.laws.no_ops import no_op_changes
from conformance.oracle.laws.responses import STATED
from conformance.oracle.laws.shapes import PROMISES
from conformance.oracle.outcomes import CantTell, NonConformity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.oracle.laws.responses import LawFunction
    from conformance.wire.exchange import Exchange

    InRun = Callable[[LawFunction, Sequence[Exchange]], LawFunction]


@dataclass(frozen=True, slots=True)
class Law:
    """A law of every response.

    Attributes:
        judge: Judges one exchange; its docstring describes the law.
        operations: The operations that it concerns; none for all.
        in_run: Returns the law for a response among all exchanges of a run, if they can excuse a response.
        confirmed: Whether other users may disturb it, so that failing requests are sent again.
        scenarios: The scenarios that send what it judges, if a run has no other checks.
        ends_trial: Whether a trial of the self-test may end once a response breaks it.
    """

    judge: LawFunction
    operations: tuple[str, ...] = ()
    in_run: InRun | None = None
    confirmed: bool = False
    scenarios: tuple[str, ...] = ()
    ends_trial: bool = False

    def concerns(self, exchange: Exchange) -> bool:
        """Whether an exchange has one of the operations; OPTIONS never counts, since it is for browsers."""
        request = exchange.request
        return (not self.operations or request.operation.id in self.operations) and request.method != "OPTIONS"

    def among(self, exchanges: Sequence[Exchange]) -> LawFunction:
        """Return the law for a response among all exchanges of a run."""
        return self.judge if self.in_run is None else self.in_run(self.judge, exchanges)


def _both(first: LawFunction, second: LawFunction) -> LawFunction:
    """Return two laws as one, which applies if either does."""

    def law(exchange: Exchange) -> bool:
        return first(exchange) | second(exchange)

    law.__doc__ = f"{first.__doc__} {second.__doc__}"
    return law


def _unless_no_op(*operations: str) -> InRun:
    """Return a form of laws that does not apply to no-op changes by the given operations, or by any."""

    def in_run(law: LawFunction, exchanges: Sequence[Exchange]) -> LawFunction:
        numbers = no_op_changes(exchanges, *operations)
        return lambda exchange: exchange.number not in numbers and law(exchange)

    return in_run


def _unless_open(law: LawFunction, exchanges: Sequence[Exchange]) -> LawFunction:
    """Return a law that a response need not keep if the interface leaves it open."""
    left_open = cache(lambda: echoes.open_responses(exchanges))

    def bound(exchange: Exchange) -> bool:
        try:
            return law(exchange)
        except NonConformity:
            if exchange.number in left_open():
                return False
            raise

    return bound


def _unless_set_back(law: LawFunction, exchanges: Sequence[Exchange]) -> LawFunction:
    """Return a law that is undecided if the service's clock was set back: a window may have begun before."""

    def bound(exchange: Exchange) -> bool:
        try:
            return law(exchange)
        except NonConformity as fault:
            if was_set_back(exchange, exchanges):
                raise CantTell("the service's clock was set back during the run", exchange) from fault
            raise

    return bound


def _echo(judge: LawFunction, operation: str, *scenarios: str) -> Law:
    return Law(judge, (operation,), in_run=_unless_open, scenarios=scenarios)


def _of_engagements(judge: LawFunction, *scenarios: str) -> Law:
    """Return a law of the list of engagements, which other users may disturb."""
    return Law(judge, _ENGAGEMENTS, confirmed=True, scenarios=(*_NEW, *scenarios))


def _of_both_lists(suffix: str, judge: LawFunction, *, confirmed: bool = False, pages: bool = False) -> dict[str, Law]:
    """Return a law for each list, under the requirements with this suffix."""
    scenarios = (*_NEW, "paged_engagements", "combined_lists", "paged_members") if pages else _NEW
    return {
        f"list-{kind}-{suffix}": Law(judge, operation, confirmed=confirmed, scenarios=scenarios)
        for kind, operation in (("engagements", _ENGAGEMENTS), ("members", _MEMBERS))
    }


_ORGANIZATION: Final = ("getCurrentOrganization",)
_ENGAGEMENTS: Final = ("listEngagements",)
_MEMBERS: Final = ("listMembers",)
_NEW: Final = ("new_engagements",)

LAWS: Final[Mapping[str, Law]] = MappingProxyType(
    {
        "json-well-formed": Law(responses.json_well_formed, ends_trial=True),
        "json-media-type": Law(responses.json_media_type, ends_trial=True),
        "success-data-object": Law(responses.success_data_object, ends_trial=True),
        "list-data-array": Law(responses.list_data_array, ends_trial=True),
        "list-meta-object": Law(responses.list_meta_object, ends_trial=True),
        "timestamp-format": Law(responses.timestamp_format, ends_trial=True),
        "no-redirect": Law(responses.no_redirect, ends_trial=True),
        **{
            promise: Law(responses.fields, (operation,), in_run=_unless_no_op(), ends_trial=True)
            for operation, promise in PROMISES.items()
        },
        "organization-slug-url-safe": Law(responses.slug_url_safe, ends_trial=True),
        "member-roles-known": Law(responses.member_roles_known, ends_trial=True),
        "member-email-is-address": Law(responses.member_email_is_address, ends_trial=True),
        "engagement-status-known": Law(
            responses.engagement_status_known, in_run=_unless_no_op("archiveEngagement"), ends_trial=True
        ),
        **{
            rule: Law(responses.stated_status, (operation,), in_run=_unless_no_op("updateMemberRole"))
            for operation, rule in STATED.items()
        },
        "get-organization-succeeds": Law(_both(responses.stated_status, reads.organization_read), _ORGANIZATION),
        "list-members-succeeds": Law(_both(responses.stated_status, reads.members_listed), _MEMBERS),
        "list-engagements-succeeds": Law(
            _both(responses.stated_status, reads.engagements_listed), _ENGAGEMENTS, scenarios=_NEW
        ),
        "update-organization-answers-new-name": _echo(echoes.renaming_repeats_name, "updateCurrentOrganization"),
        "create-engagement-answers-what-was-sent": _echo(echoes.creation_repeats_texts, "createEngagement", "creating"),
        "new-engagement-active": _echo(echoes.creation_is_active, "createEngagement", "creating"),
        "archive-engagement-answers-id": _echo(echoes.archiving_repeats_id, "archiveEngagement", "archiving"),
        "archive-sets-status": _echo(echoes.archiving_states_archived, "archiveEngagement"),
        "delete-engagement-answers-true": Law(
            echoes.deletion_repeats_id, ("deleteEngagement",), scenarios=("deletion",)
        ),
        "invite-answers-what-was-sent": _echo(echoes.invitation_repeats, "inviteMember", "inviting"),
        "invitation-begins-pending": _echo(echoes.invitation_is_pending, "inviteMember", "inviting"),
        "invitation-expires-in-seven-days": _echo(echoes.invitation_expires_in_seven_days, "inviteMember", "inviting"),
        "update-role-answers-what-was-sent": _echo(echoes.role_change_repeats_role, "updateMemberRole", "role_changes"),
        "remove-member-answers-true": _echo(echoes.removal_repeats_id, "removeMember", "removal"),
        "list-engagements-status-filter": _of_engagements(lists.status_filter),
        "list-engagements-filter-counts": _of_engagements(lists.filtered_total, "combined_lists"),
        "list-members-role-filter": Law(
            _both(lists.role_filter, lists.filtered_total),
            _MEMBERS,
            confirmed=True,
            scenarios=("members_by_role", "pages_of_role"),
        ),
        "sort-by-created-at": _of_engagements(lists.sorted_by_time("createdAt"), "combined_lists"),
        "sort-by-updated-at": _of_engagements(lists.sorted_by_time("updatedAt"), "combined_lists"),
        "sort-descending-by-default": _of_engagements(lists.descending_by_default, "combined_lists"),
        "error-envelope": Law(errors.error_envelope, ends_trial=True),
        "error-status-code-agrees": Law(errors.error_status_code_agrees, ends_trial=True),
        **{f"error-code-{status}": Law(errors.error_code(status), ends_trial=True) for status in errors.ERROR_CODES},
        "no-server-error": Law(errors.no_server_error, ends_trial=True),
        "list-meta-fields": Law(lists.meta_fields, (*_ENGAGEMENTS, *_MEMBERS), scenarios=_NEW),
        "list-past-the-end": Law(
            lists.empty_past_the_end, (*_ENGAGEMENTS, *_MEMBERS), confirmed=True, scenarios=("list_queries",)
        ),
        **_of_both_lists("total-pages", lists.total_pages, pages=True),
        **_of_both_lists("defaults", lists.defaults),
        **_of_both_lists("paging-honoured", lists.paging_honoured, pages=True),
        **_of_both_lists("page-length", _both(lists.page_length, lists.first_page_filled), confirmed=True),
        **_of_both_lists("total", lists.covering_total, confirmed=True),
        **_of_both_lists("pages-partition", lists.without_repeats, confirmed=True),
        "rate-limit-headers-present": Law(rate_limits.headers_present, ends_trial=True),
        "rate-limit-limit-positive": Law(rate_limits.limit_positive, ends_trial=True),
        "rate-limit-remaining-in-range": Law(rate_limits.remaining_in_range, ends_trial=True),
        "rate-limit-reset-is-time": Law(rate_limits.reset_is_time, in_run=_unless_set_back, ends_trial=True),
        "version-prefix-served": Law(reads.found_under_prefix, _ORGANIZATION),
    }
)
