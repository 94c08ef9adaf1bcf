"""``conformance cleanup --orphans``."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from conformance.targets.journal import Journal
from conformance.targets.names import RunNames
from tests.cli.conftest import KEY, Responder, Service

Conformance = Callable[..., Any]
Serve = Callable[[Responder], AbstractContextManager[Service]]

PREFIX = "cf-k3vq7t2a-"
NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
"""The time of the service, whose clock is far from that of this machine."""


class Organization:
    """An organization with engagements of several owners, whose service has a clock of its own."""

    def __init__(self, base_headers: dict[str, str] | None = None) -> None:
        self.engagements = {
            "e_old": (f"{PREFIX}walk-babu", 25),
            "e_older": (f"{PREFIX} renamed", 30),
            "e_young": (f"{PREFIX}walk-bebu", 23),
            "e_quoted": (f"About {PREFIX}walk", 99),
            "e_word": ("cf-document-review", 99),
            "e_customer": ("CF - Pentest 2 - API", 99),
            "e_capitals": ("CF-Windows7-Assessment", 99),
            "e_other": ("Audit", 99),
        }
        self.headers = {"Date": format_datetime(NOW, usegmt=True)} if base_headers is None else base_headers
        self.on_read: Callable[[str], None] = lambda _: None
        self.refuses = False

    def respond(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        """Respond to a request."""
        status, body = self._result(method, path.partition("?")[0].removeprefix("/api/v1/"))
        return status, {"Content-Type": "application/json", **self.headers}, json.dumps(body).encode()

    def _result(self, method: str, path: str) -> tuple[int, object]:
        if path.startswith("engagements/"):
            identifier = path.partition("/")[2]
            if method == "GET":
                self.on_read(identifier)
            if identifier not in self.engagements:
                return 404, {"error": {}}
            if method == "GET":
                return 200, {"data": self._shown(identifier)}
            if not self.refuses:
                del self.engagements[identifier]
            return (403, {"error": {}}) if self.refuses else (200, {"data": {"deleted": True, "id": identifier}})
        if path == "engagements":
            items = [self._shown(identifier) for identifier in self.engagements]
            return 200, {"data": items, "meta": {"total": len(items)}}
        return 200, {"data": {"id": "org_1", "name": "Acme"}}

    def _shown(self, identifier: str) -> dict[str, str]:
        name, hours = self.engagements[identifier]
        created = (NOW - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return {"id": identifier, "name": name, "createdAt": created}


@pytest.fixture
def clean(conformance: Conformance, small_service: Serve) -> Callable[..., Any]:
    """Run ``cleanup --orphans`` on an organization; the result has the requests that are no reads."""

    def command(organization: Organization, *arguments: str) -> tuple[Any, list[str]]:
        with small_service(organization.respond) as service:
            ended = conformance(
                "cleanup", "--orphans", *arguments, "--base-url", service.base_url, CONFORMANCE_API_KEY=KEY
            )
        return ended, [request for request in service.asked if not request.startswith("GET")]

    return command


def test_nothing_is_deleted_in_another_organization_than_the_target_file_names(
    conformance: Conformance, small_service: Serve, tmp_path: Path
) -> None:
    """A key of production in the variable of staging's deletes nothing."""
    organization, target = Organization(), tmp_path / "target.yaml"
    with small_service(organization.respond) as service:
        target.write_text(f"base_url: {service.base_url}\napi_key: ${{KEY}}\norganization: org_2\n")
        ended = conformance("cleanup", "--orphans", "--yes", "--target", str(target), KEY=KEY)

    assert ended.status == 2
    assert "The organization must be org_2, but the key belongs to org_1." in ended.err
    assert {request.partition(" ")[0] for request in service.asked} == {"GET"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), {"e_old", "e_older"}),
        (("--older-than", "1d"), {"e_old", "e_older"}),
        (("--older-than", "26h"), {"e_older"}),
        (("--older-than", "1h"), {"e_old", "e_older", "e_young"}),
        (("--older-than", "9d"), set()),
    ],
)
def test_orphans_are_listed_and_deleted_only_when_confirmed(
    clean: Callable[..., Any], arguments: tuple[str, ...], found: set[str]
) -> None:
    """The age is that by the service's clock; names of others are no names of a run."""
    organization = Organization()
    before = set(organization.engagements)

    listed, writes = clean(organization, *arguments)
    assert listed.status == 0, listed.err
    assert {line.split()[0] for line in listed.out.splitlines()[:-1]} == found
    assert listed.out.splitlines()[-1].endswith("Nothing was deleted: add --yes to delete.")
    assert writes == []

    deleted, writes = clean(organization, *arguments, "--yes")
    assert deleted.status == 0, deleted.err
    assert before - set(organization.engagements) == found
    assert sorted(writes) == sorted(f"DELETE /api/v1/engagements/{identifier}" for identifier in found)


def test_an_engagement_that_was_renamed_since_is_left(clean: Callable[..., Any]) -> None:
    """It is read again before the deletion."""
    organization = Organization()

    def rename(identifier: str) -> None:
        organization.engagements[identifier] = ("Audit of a customer", organization.engagements[identifier][1])

    organization.on_read = rename
    ended, writes = clean(organization, "--yes")

    assert ended.status == 1
    assert "e_old was not deleted: a read shows another engagement, or another name." in ended.err
    assert writes == []


def test_an_engagement_that_cannot_be_deleted_is_named(clean: Callable[..., Any]) -> None:
    """The status is then 1."""
    organization = Organization()
    organization.refuses = True

    ended, _ = clean(organization, "--yes")

    assert ended.status == 1
    assert "e_old was not deleted: the deletion had no effect: status 403." in ended.err
    assert ended.out.endswith("Deleted: 0 engagements.\n")


def test_a_run_with_a_journal_is_left_to_it(clean: Callable[..., Any], tmp_path: Path) -> None:
    """The command that undoes the run is named."""
    organization = Organization()
    names = RunNames.fresh()
    Journal.open(tmp_path / "reports" / "one", names, "http://127.0.0.1:1", KEY).close()
    organization.engagements["e_known"] = (f"{names.prefix}walk-babu", 50)

    ended, _ = clean(organization, "--yes")

    assert "e_known" in organization.engagements
    assert "e_old" not in organization.engagements
    assert "its run has a journal: conformance cleanup reports/one" in ended.out


def test_without_a_clock_of_the_service_no_age_is_known(clean: Callable[..., Any]) -> None:
    """The clock of this machine is not used."""
    ended, writes = clean(Organization({"Date": "yesterday"}), "--yes")

    assert ended.status == 3
    assert "the service sends no Date header" in ended.err
    assert writes == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("cleanup",),
        ("cleanup", "report", "--yes"),
        ("cleanup", "report", "--older-than", "24h"),
        ("cleanup", "--orphans", "--moved"),
        ("cleanup", "--orphans", "--older-than", "0h"),
        ("cleanup", "--orphans", "--older-than", "30m"),
        ("cleanup", "--orphans", "--older-than", "1"),
    ],
)
def test_invalid_arguments_are_a_usage_error(conformance: Conformance, arguments: tuple[str, ...]) -> None:
    """An age of less than an hour could be that of a run in progress."""
    assert conformance(*arguments, CONFORMANCE_BASE_URL="http://127.0.0.1:1", CONFORMANCE_API_KEY=KEY).status == 2
