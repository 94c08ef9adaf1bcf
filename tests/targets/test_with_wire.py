from __future__ import annotations

import dataclasses
import json
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from conformance.targets.census import take_census
from conformance.targets.journal import Journal
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership
from conformance.targets.profile import Profile
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.targets.undo import undo
from conformance.wire import requests
from conformance.wire.client import Wire
from conformance.wire.redaction import Redactor
from conformance.wire.requests import Credential
from conformance.wire.run_limits import RunStopped
from conformance.wire.settings import WireSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROFILE = Profile.from_options("http://service.test", "main-key-0001")
NAMES = RunNames("cf-abcdefg2-")


def _response(status: int, body: object) -> httpx.Response:
    """A response with a stream as its body."""
    return httpx.Response(status, stream=httpx.ByteStream(json.dumps(body).encode()))


class Target(httpx.AsyncBaseTransport):
    """A service behind the wire, which can lose the responses to creations."""

    def __init__(self) -> None:
        self.engagements = {"f_1": "Quarterly audit"}
        self.name = "Acme"
        self.lost = False
        self.made = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a request out."""
        body = json.loads(await request.aread() or b"{}")
        if request.url.path.endswith("/organizations/current"):
            self.name = body.get("name", self.name)
            return _response(200, {"data": {"id": "org_1", "name": self.name}})
        if request.method == "POST":
            self.made += 1
            made_id = f"e_{self.made}"
            self.engagements[made_id] = body["name"]
            if self.lost:
                raise httpx.ReadError("lost")
            return _response(201, {"data": {"id": made_id, "name": body["name"]}})
        if request.method == "DELETE":
            gone = self.engagements.pop(request.url.path.rpartition("/")[2], None)
            return _response(404 if gone is None else 200, {"data": {"deleted": True}})
        if (found := request.url.path.rpartition("/")[2]) != "engagements":
            shown = {"data": {"id": found, "name": self.engagements.get(found)}}
            return _response(200, shown) if found in self.engagements else _response(404, {})
        return _response(200, {"data": [{"id": key, "name": name} for key, name in self.engagements.items()]})


@pytest.fixture
def target() -> Target:
    """A service with another user's engagement."""
    return Target()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """The journal of the run."""
    return Journal.open(tmp_path, NAMES, PROFILE.base_url, PROFILE.api_key.reveal())


@pytest.fixture
def wire(target: Target, journal: Journal) -> Iterator[Wire]:
    """The wire to the service, with the journal's recorder and the guards."""
    settings = WireSettings(
        base_url=PROFILE.base_url, credential=Credential.bearer("api_key", PROFILE.api_key.reveal())
    )
    with closing(Wire(settings, Redactor(), transport=target)) as opened:
        ownership = Ownership(journal.names, opened.send_all)
        opened.guard(ownership.ensure)
        opened.observe(ownership)
        opened.observe(JournalRecorder(journal))
        yield opened


def test_a_run_is_undone_over_the_wire(wire: Wire, target: Target, journal: Journal) -> None:
    """After a stop exactly the run's creations and its renaming are undone."""
    before, _ = take_census(QueryClient(wire.send), NAMES)
    wire.send_all([requests.create_engagement({"name": NAMES.name(str(number))}) for number in range(20)])
    target.lost = True
    wire.send(requests.create_engagement({"name": NAMES.name("lost")}))
    wire.send(requests.update_organization({"name": NAMES.name("renamed")}))
    wire.stop("somebody wants it")
    with pytest.raises(RunStopped):
        wire.send(requests.create_engagement({"name": NAMES.name("late")}))

    with wire.undoing():
        queries, ownership = QueryClient(wire.send, wire.send_all), Ownership(NAMES, wire.send_all)
        wire.observe(ownership)
        result = undo(journal, ownership, Membership(wire.send_all), queries)
        after, _ = take_census(queries, NAMES)

    assert (result.left, target.engagements, target.name) == ([], {"f_1": "Quarterly audit"}, "Acme")
    assert after == before | {"ownEngagements": 0}
    assert Journal.read(journal._file.path.parent).pending() == []


def test_a_change_that_cannot_be_written_down_is_not_sent(
    wire: Wire, target: Target, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a line in the journal nothing is sent."""
    monkeypatch.setattr(journal._file, "path", journal._file.path.parent / "gone" / "journal.jsonl")
    journal.close()

    with pytest.raises(Exception, match="cannot be written"):
        wire.send(requests.create_engagement({"name": NAMES.name("a")}))

    assert len(target.engagements) == 1


def test_profile_values_fit_the_wire() -> None:
    """A profile's values are accepted as settings of the wire."""
    profile = dataclasses.replace(PROFILE, timeout=3.0)

    settings = WireSettings(
        base_url=profile.base_url,
        credential=Credential.bearer("api_key", profile.api_key.reveal()),
        headers=tuple((name, value.reveal()) for name, value in profile.headers.items()),
        timeout=profile.timeout,
        verify=profile.tls.verify,
        ca_file=None if profile.tls.ca_file is None else str(profile.tls.ca_file),
    )

    assert settings.root == "http://service.test"
