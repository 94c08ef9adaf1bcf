"""Section 1: the conventions for every response of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.oracle import time_zones
from conformance.oracle.laws import extras
from conformance.oracle.laws import responses as laws
from conformance.oracle.observe import describe_response
from conformance.scenarios.access.unspecified import content_types, unspecified
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.access.unspecified import Beside


@pytest.mark.stage(Stage.LAWS)
@requirement("json-well-formed")
def test_bodies_are_json(run: Run) -> None:
    """Every body is a JSON text that a strict parser accepts."""
    expect_law(run, laws.json_well_formed)


@pytest.mark.stage(Stage.LAWS)
@requirement("json-media-type")
def test_bodies_are_announced_as_json(run: Run) -> None:
    """Every response with a body has the Content-Type application/json."""
    expect_law(run, laws.json_media_type)


@pytest.mark.stage(Stage.LAWS)
@requirement("success-data-object")
def test_successes_have_an_object_data(run: Run) -> None:
    """Every success for one resource is an object whose data is an object."""
    expect_law(run, laws.success_data_object)


@pytest.mark.stage(Stage.LAWS)
@requirement("list-data-array")
def test_lists_have_an_array_data(run: Run) -> None:
    """Every successful list is an object whose data is an array."""
    expect_law(run, laws.list_data_array)


@pytest.mark.stage(Stage.LAWS)
@requirement("list-meta-object")
def test_lists_have_an_object_meta(run: Run) -> None:
    """Every successful list has an object meta beside its data."""
    expect_law(run, laws.list_meta_object)


@pytest.mark.stage(Stage.LAWS)
@requirement("timestamp-format")
def test_timestamps_have_their_form(run: Run) -> None:
    """Every timestamp has the form YYYY-MM-DDTHH:MM:SS.mmmZ and is a real date."""
    expect_law(run, laws.timestamp_format)


@pytest.mark.stage(Stage.LAWS)
@requirement("timestamps-are-utc")
@pytest.mark.usefixtures("new_engagements")
def test_new_times_are_utc(run: Run) -> None:
    """A createdAt is the time of its response, and not a time zone, a day or a month away."""
    time_zones.expect_utc(run.wire.exchanges)


@pytest.mark.stage(Stage.LAWS)
@requirement("no-redirect")
def test_no_redirects(run: Run) -> None:
    """Every operation gets a success or an error, and no redirect."""
    expect_law(run, laws.no_redirect)


@pytest.mark.stage(Stage.LAWS)
@observes("head-requests")
def test_head_requests(run: Run) -> None:
    """Observe whether an Allow header lists HEAD."""
    exchange = next((exchange for exchange in run.wire.exchanges if extras.allowed(exchange)), None)

    if exchange is not None:
        allows = "HEAD" in extras.allowed(exchange)
        run.observe("head-requests", "listed in Allow" if allows else "not listed in Allow", exchange)


@pytest.mark.stage(Stage.LAWS)
@observes("extra-members")
def test_extra_members(run: Run) -> None:
    """Observe the members of responses beyond the named ones."""
    found = extras.extra_members(run.wire.exchanges)

    run.observe("extra-members", ", ".join(sorted(found)[:20]) or "none", *list(found.values())[:3])


@pytest.mark.stage(Stage.LAWS)
@observes("duplicate-json-names")
def test_duplicate_names(run: Run) -> None:
    """Observe whether responses repeat a name within a JSON object."""
    found = extras.duplicate_names(run.wire.exchanges)

    run.observe("duplicate-json-names", ", ".join(sorted(found)[:20]) or "no", *list(found.values())[:3])


@pytest.mark.stage(Stage.LAWS)
@observes("json-media-type-parameters")
def test_media_types(run: Run) -> None:
    """Observe the media types of responses and their parameters."""
    found = extras.media_types(run.wire.exchanges)

    run.observe("json-media-type-parameters", "; ".join(sorted(found)[:10]) or "none", *list(found.values())[:3])


@pytest.mark.stage(Stage.LAWS)
@observes("service-clock")
def test_service_clock(run: Run) -> None:
    """Observe the difference between the service's clock, by its Date header, and the suite's."""
    run.observe("service-clock", extras.clock_offset(run.wire.service_clock), *run.wire.exchanges[-1:])


def _other_method(seen: Beside) -> list[Described]:
    return [] if seen.put is None else [(f"PUT: {describe_response(seen.put)}", seen.put)]


OBSERVATIONS: Final = (
    observing("request-content-type-wrong", content_types, lambda seen: seen[0]),
    observing("request-content-type-missing", content_types, lambda seen: seen[1]),
    observing("other-methods", unspecified, _other_method),
    observing("options-requests", unspecified, lambda seen: [] if seen.options is None else [seen.options]),
    observing("unknown-path", unspecified, lambda seen: seen.unknown_path),
)
