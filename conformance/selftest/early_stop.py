"""Ending a trial as soon as what its fault is known to break was found broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.oracle import error_laws, laws, rate_limit_laws
from conformance.oracle.shapes import PROMISES
from conformance.oracle.survey import survey
from conformance.verdicts.items import requirement_of, stage_of
from conformance.verdicts.judge import Judge
from conformance.verdicts.stages import JUDGING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.oracle.laws import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def _of(operation: str, law: Law) -> Law:
    """A law that is about one operation."""
    return lambda exchange: exchange.request.operation.id == operation and law(exchange)


LAWS: Final[Mapping[str, Law]] = {
    "json-well-formed": laws.json_well_formed,
    "json-media-type": laws.json_media_type,
    "success-data-object": laws.success_data_object,
    "list-data-array": laws.list_data_array,
    "list-meta-object": laws.list_meta_object,
    **{promise: _of(operation, laws.fields) for operation, promise in PROMISES.items()},
    "organization-slug-url-safe": laws.slug_url_safe,
    "member-roles-known": laws.member_roles_known,
    "member-email-is-address": laws.member_email_is_address,
    "engagement-status-known": laws.engagement_status_known,
    "timestamp-format": laws.timestamp_format,
    "no-redirect": laws.no_redirect,
    "error-envelope": error_laws.error_envelope,
    "error-status-code-agrees": error_laws.error_status_code_agrees,
    **{f"error-code-{status}": error_laws.error_code(status) for status in error_laws.ERROR_CODES},
    "no-server-error": error_laws.no_server_error,
    "rate-limit-headers-present": rate_limit_laws.headers_present,
    "rate-limit-limit-positive": rate_limit_laws.limit_positive,
    "rate-limit-remaining-in-range": rate_limit_laws.remaining_in_range,
    "rate-limit-reset-is-time": rate_limit_laws.reset_is_time,
}
"""The requirements that are about each answer by itself, with their laws, and whose checks send nothing.

Whether they hold can be told while a run goes on; their checks judge what was sent until then as they always do. Where
these leave an answer open, as of what is archived again, the fault counts as missed and is tried once more.
"""


class EarlyEnd:
    """An observer of a run that ends it once a law is broken.

    Args:
        law: The law.
        run: The run.
    """

    def __init__(self, law: Law, run: Run) -> None:
        self._law = law
        self._run = run

    def before(self, request: Request) -> None:
        """Let every call go."""

    def after(self, exchange: Exchange) -> None:
        """End the run where the answer breaks the law."""
        if survey(self._law, [exchange]).broken:
            self._run.wire.stop("what this run was to find was found")


class EarlyJudge(Judge):
    """A judge that ends once a requirement was found broken, and runs its checks alone once nothing is sent any more.

    Of the checks that judge what others have sent it runs none but those of the requirement.

    Args:
        run: The run.
        requirement: The requirement's id.
    """

    def __init__(self, run: Run, requirement: str) -> None:
        super().__init__(run)
        self._requirement = requirement
        self._looked_at = 0
        self._narrowed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep what sends, and what judges the requirement."""
        super().pytest_collection_modifyitems(config, items)
        items[:] = [one for one in items if requirement_of(one) == self._requirement or stage_of(one) not in JUDGING]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Take away what need not run any more; pytest has set its mind on the next item already."""
        new, self._looked_at = self.results[self._looked_at :], len(self.results)
        found = any(one.requirement == self._requirement and one.failure is not None for one in new)
        if nextitem is None or not (found or (self.run.wire.is_over and not self._narrowed)):
            return
        self._narrowed = True
        items = item.session.items
        after = items.index(nextitem) + 1
        items[after:] = [one for one in items[after:] if not found and requirement_of(one) == self._requirement]
