"""Section 1: times in UTC, and observations of requests and headers that the interface does not state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.oracle import time_zones
from conformance.oracle.laws import extras
from conformance.oracle.observe import describe_response
from conformance.scenarios.access.unspecified import content_types, unspecified
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.access.unspecified import UnspecifiedResponses


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@requirement("timestamps-are-utc")
@pytest.mark.usefixtures("new_engagements")
def test_new_times_are_utc(run: Run) -> None:
    """A createdAt is the time of its response, and not a time zone, a day or a month away."""
    time_zones.expect_utc(run.wire.exchanges)


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("head-requests")
def test_head_requests(run: Run) -> None:
    """Observe whether an Allow header lists HEAD."""
    exchange = next((exchange for exchange in run.wire.exchanges if extras.allowed(exchange)), None)

    if exchange is not None:
        allows = "HEAD" in extras.allowed(exchange)
        run.observe("head-requests", "listed in Allow" if allows else "not listed in Allow", exchange)


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("extra-members")
def test_extra_members(run: Run) -> None:
    """Observe the members of responses beyond the named ones."""
    found = extras.extra_members(run.wire.exchanges)

    run.observe("extra-members", ", ".join(sorted(found)[:20]) or "none", *list(found.values())[:3])


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("duplicate-json-names")
def test_duplicate_names(run: Run) -> None:
    """Observe whether responses repeat a name within a JSON object."""
    found = extras.duplicate_names(run.wire.exchanges)

    run.observe("duplicate-json-names", ", ".join(sorted(found)[:20]) or "no", *list(found.values())[:3])


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("json-media-type-parameters")
def test_media_types(run: Run) -> None:
    """Observe the media types of responses and their parameters."""
    found = extras.media_types(run.wire.exchanges)

    run.observe("json-media-type-parameters", "; ".join(sorted(found)[:10]) or "none", *list(found.values())[:3])


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@observes("service-clock")
def test_service_clock(run: Run) -> None:
    """Observe the difference between the service's clock, by its Date header, and the suite's."""
    run.observe("service-clock", extras.clock_offset(run.wire.service_clock), *run.wire.exchanges[-1:])


def _other_method(seen: UnspecifiedResponses) -> list[Described]:
    return [] if seen.put is None else [(f"PUT: {describe_response(seen.put)}", seen.put)]


OBSERVATIONS: Final = (
    observing("request-content-type-wrong", content_types, lambda seen: seen[0]),
    observing("request-content-type-missing", content_types, lambda seen: seen[1]),
    observing("other-methods", unspecified, _other_method),
    observing("options-requests", unspecified, lambda seen: [] if seen.options is None else [seen.options]),
    observing("unknown-path", unspecified, lambda seen: seen.unknown_path),
)
