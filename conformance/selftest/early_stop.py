"""Early end of a trial once it has reported the requirement that its fault breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.oracle.laws import errors as error_laws
from conformance.oracle.laws import rate_limits as rate_limit_laws
from conformance.oracle.laws import responses as laws
from conformance.oracle.laws.shapes import PROMISES
from conformance.oracle.laws.survey import survey
from conformance.verdicts.items import requirement_of, stage_of
from conformance.verdicts.judge import Judge
from conformance.verdicts.stages import JUDGING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.oracle.laws.responses import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def _of(operation: str, law: Law) -> Law:
    """Return a law restricted to an operation."""
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
"""The requirements about single responses, with their laws; their checks send nothing.

Their laws are tested during a run; after a failure their checks judge the exchanges sent so far. If the checks do not
report the requirement, for example because they leave a response undecided, the fault counts as missed and is retried.
"""


class EarlyEnd:
    """A wire observer that stops the run once a law is broken.

    Args:
        law: The law.
        run: The run.
    """

    def __init__(self, law: Law, run: Run) -> None:
        self._law = law
        self._run = run

    def before(self, request: Request) -> None:
        """Do nothing before a request."""

    def after(self, exchange: Exchange) -> None:
        """Stop the run if the response breaks the law."""
        if survey(self._law, [exchange]).broken:
            self._run.wire.stop("the requirement of the fault was reported")


class EarlyJudge(Judge):
    """A judge that ends once a requirement has failed, and runs only its checks once the run has stopped sending.

    Of the checks that judge the exchanges of others, it runs only those of the requirement.

    Args:
        run: The run.
        requirement: The requirement's id.
    """

    def __init__(self, run: Run, requirement: str) -> None:
        super().__init__(run)
        self._requirement = requirement
        self._seen = 0
        self._narrowed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the checks that send, and those of the requirement."""
        super().pytest_collection_modifyitems(config, items)
        items[:] = [item for item in items if self._judges(item) or stage_of(item) not in JUDGING]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Remove the checks that need not run; pytest has already chosen the next item."""
        new, self._seen = self.results[self._seen :], len(self.results)
        found = any(result.requirement == self._requirement and result.failure is not None for result in new)
        if nextitem is None or not (found or (self.run.wire.is_over and not self._narrowed)):
            return
        self._narrowed = True
        items = item.session.items
        after = items.index(nextitem) + 1
        items[after:] = [later for later in items[after:] if not found and self._judges(later)]

    def _judges(self, item: pytest.Item) -> bool:
        return requirement_of(item) == self._requirement
