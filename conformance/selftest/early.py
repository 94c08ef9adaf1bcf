"""Ending a trial as soon as an answer breaks the law that its fault is known to break."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle import error_laws, laws, rate_limit_laws
from conformance.oracle.findings import survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.oracle.laws import Law
    from conformance.running.run import Run
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

LAWS: Final[Mapping[str, Law]] = {
    "json-well-formed": laws.json_well_formed,
    "json-media-type": laws.json_media_type,
    "success-data-object": laws.success_data_object,
    "list-data-array": laws.list_data_array,
    "timestamp-format": laws.timestamp_format,
    "error-envelope": error_laws.error_envelope,
    "error-status-code-agrees": error_laws.error_status_code_agrees,
    **{f"error-code-{status}": error_laws.error_code(status) for status in error_laws.ERROR_CODES},
    "no-server-error": error_laws.no_server_error,
    "rate-limit-headers-present": rate_limit_laws.headers_present,
    "rate-limit-limit-positive": rate_limit_laws.limit_positive,
    "rate-limit-remaining-in-range": rate_limit_laws.remaining_in_range,
    "rate-limit-reset-is-time": rate_limit_laws.reset_is_time,
}
"""The requirements that are about each answer by itself, whatever was asked, with their laws.

Whether they hold can be told while a run goes on; their checks judge what was sent until then as they always do.
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

    def before(self, call: Call) -> None:
        """Let every call go."""

    def after(self, exchange: Exchange) -> None:
        """End the run where the answer breaks the law."""
        if survey(self._law, [exchange]).broken:
            self._run.wire.stop("what this run was to find was found")
