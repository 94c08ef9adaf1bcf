"""Writing and reading of exchanges.har."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.reports.har import har_bytes, har_pieces
from conformance.reports.har_reading import InvalidRecording, read_har
from conformance.reports.html import html_bytes
from conformance.wire import requests
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

ENTRY = {"startedDateTime", "time", "request", "response", "cache", "timings"}
REQUEST = {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"}
RESPONSE = {
    "status",
    "statusText",
    "httpVersion",
    "cookies",
    "headers",
    "content",
    "redirectURL",
    "headersSize",
    "bodySize",
}


def _entries(exchanges: list[Exchange]) -> list[dict[str, Any]]:
    log = json.loads(har_bytes(exchanges))["log"]
    assert log["version"] == "1.2"
    assert set(log["creator"]) == {"name", "version"}
    return log["entries"]  # type: ignore[no-any-return]


def test_every_entry_has_what_har_requires(run: tuple[Report, list[Exchange]]) -> None:
    """Every entry has all members, because browser tools require them."""
    for entry in _entries(run[1]):
        assert set(entry) >= ENTRY
        assert set(entry["request"]) >= REQUEST
        assert set(entry["response"]) >= RESPONSE
        assert set(entry["response"]["content"]) >= {"size", "mimeType"}
        assert set(entry["timings"]) >= {"send", "wait", "receive"}
        assert set(entry["request"].get("postData", {"mimeType", "text"})) >= {"mimeType", "text"}


def test_entry_n_minus_1_is_exchange_n_in_any_order(samples: ModuleType) -> None:
    """Cited numbers lead to their entries, and unrecorded numbers are marked."""
    exchanges = [exchange for exchange in reversed(samples.exchanges(9)) if exchange.number not in {1, 4, 5}]

    entries = _entries(exchanges)

    assert [entry["_number"] for entry in entries] == list(range(1, 10))
    assert [entry["_number"] for entry in entries if entry.get("_missing")] == [1, 4, 5]


def test_an_exchange_without_a_response_has_status_0_and_the_trouble(samples: ModuleType) -> None:
    """Tools show it as failed, with the reason."""
    (entry,) = _entries([samples.exchange(1, status=None, error="the connection broke")])

    assert entry["response"]["status"] == 0
    assert entry["response"]["comment"] == entry["_trouble"] == "the connection broke"


def test_bodies_are_text_or_base64(samples: ModuleType) -> None:
    """UTF-8 is written as text, other bytes as base64."""
    text, octets = _entries([samples.exchange(1, body="ü🚀"), samples.exchange(2, body=b"\xff\x00")])

    assert text["response"]["content"]["text"] == '{"data": "ü🚀"}'
    assert "encoding" not in text["response"]["content"]
    assert octets["response"]["content"] == {
        "size": 2,
        "mimeType": "application/json",
        "text": "/wA=",
        "encoding": "base64",
    }


def test_runs_read_back_exactly(run: tuple[Report, list[Exchange]], tmp_path: Path) -> None:
    """Requests, responses, times and errors read back unchanged, with the names of secrets."""
    path = tmp_path / "exchanges.har"
    path.write_bytes(har_bytes(run[1]))

    read = read_har(path)

    expected = [_as_recorded(exchange) for exchange in run[1]]
    assert [replace(found, started_at=two.started_at) for found, two in zip(read, expected, strict=True)] == expected
    assert [exchange.started_at for exchange in read] == [exchange.started_at for exchange in expected]


def _as_recorded(exchange: Exchange) -> Exchange:
    """Times are kept to the microsecond, and text that cannot be encoded reads back in its visible form."""
    rounded = replace(exchange, seconds=round(exchange.seconds, 6))
    return _shown(rounded)


def _shown(exchange: Exchange) -> Exchange:
    received = exchange.received
    if received is not None:
        headers = tuple((name, value.replace("\ud800", r"\ud800")) for name, value in received.headers)
        received = replace(received, headers=headers)
    error = exchange.error and exchange.error.replace("\ud800", r"\ud800")
    return replace(exchange, received=received, error=error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    body=st.none() | st.binary(max_size=60),
    response=st.binary(max_size=60),
    identifier=st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20),
    status=st.integers(100, 999),
)
def test_any_bytes_survive(
    samples: ModuleType, tmp_path: Path, body: bytes | None, response: bytes, identifier: str, status: int
) -> None:
    """Bodies, identifiers and statuses of any kind read back unchanged."""
    meant = requests.update_engagement(identifier, {}).with_body(body)
    exchange = samples.exchange(1, meant, body=response, status=status)
    path = tmp_path / "exchanges.har"
    path.write_bytes(har_bytes([exchange]))

    (read,) = read_har(path)

    assert read == _as_recorded(exchange)


@pytest.mark.parametrize(
    "credential", [None, Credential("none", None), Credential("unknown", "Basic x"), Credential("empty", "")]
)
def test_credentials_read_back(samples: ModuleType, tmp_path: Path, credential: Credential | None) -> None:
    """Requests without a key, with a wrong key and with the main key are distinguished."""
    exchange = samples.exchange(1, credential=credential)
    path = tmp_path / "exchanges.har"
    path.write_bytes(har_bytes([exchange]))

    (read,) = read_har(path)

    assert read.request.credential == credential


def test_properties_of_requests_read_back(samples: ModuleType, tmp_path: Path) -> None:
    """Probes, the retry flags, and whether the request was sent read back."""
    probe = requests.get_organization().as_probe("PUT", "/api/v1/nowhere?x=%20y")
    sent = [
        samples.exchange(1, probe),
        samples.exchange(
            2, replace(requests.archive_engagement("e"), repeatable=True, expects_429=True, unjudged=True)
        ),
        replace(samples.exchange(3, status=None, error="refused"), was_sent=False),
        replace(samples.exchange(4), head_seconds=0.011, attempt=3),
    ]
    path = tmp_path / "exchanges.har"
    path.write_bytes(har_bytes(sent))

    read = read_har(path)

    assert [(exchange.request.method, exchange.request.path) for exchange in read] == [
        (exchange.request.method, exchange.request.path) for exchange in sent
    ]
    assert read[1:] == [_as_recorded(exchange) for exchange in sent[1:]]


def test_the_key_itself_is_taken_from_the_redacted_request_only(samples: ModuleType) -> None:
    """An unredacted key of the intended request is not in the archive."""
    exchange = samples.exchange(1)
    unredacted = replace(exchange, request=exchange.request.with_key(Credential.bearer("api_key", "sk-verysecret")))

    assert b"sk-verysecret" not in har_bytes([unredacted])


def test_large_runs_are_written_in_pieces(samples: ModuleType) -> None:
    """Each piece is bounded, so memory stays bounded."""
    sizes = [len(piece) for piece in har_pieces(samples.exchanges(5_000))]

    assert max(sizes) < 2**18
    assert len(sizes) > 20
    assert len(json.loads(har_bytes(samples.exchanges(5_000)))["log"]["entries"]) == 5_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'{"log": {"entries": [1]}}',
        b'{"log": {"entries": [{}]}}',
        b'{"log": {"entries": 5}}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_is_not_a_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    """Any bytes cause one sentence and no other error."""
    path = tmp_path / "exchanges.har"
    path.write_bytes(content)

    with pytest.raises(InvalidRecording, match=r"is not a recording of this suite"):
        read_har(path)


ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    1.5,
    10**400,
    float("inf"),
    "",
    "x",
    "0001-01-01T00:00:00-14:00",
    "2026-01-01T00:00:00",
    [],
    {},
    [{}],
)


def _places(node: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every place in a JSON value, from the root to the leaves."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [at, *(place for name, member in inside for place in _places(member, (*at, name)))]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_recording_with_one_odd_value_is_refused_or_shown(
    data: st.DataObject, samples: ModuleType, tmp_path: Path
) -> None:
    """An altered recording is refused in a sentence, or can be rendered as a page and an archive."""
    report, exchanges = samples.failing()
    archive = json.loads(har_bytes(exchanges[:6]))
    *way, last = data.draw(st.sampled_from(_places(archive)[1:]))
    node = archive
    for name in way:
        node = node[name]
    node[last] = data.draw(st.sampled_from(ODD))
    path = tmp_path / "exchanges.har"
    path.write_text(json.dumps(archive).replace("Infinity", "1e999"))

    with suppress(InvalidRecording):
        read = read_har(path)
        assert har_bytes(read)
        assert html_bytes(report, read)


def test_a_number_far_beyond_the_entries_is_refused(samples: ModuleType, tmp_path: Path) -> None:
    """A number cannot imply millions of missing exchanges."""
    path = tmp_path / "exchanges.har"
    path.write_bytes(har_bytes(samples.exchanges(2)).replace(b'"_number": 2', b'"_number": 2000000000'))

    with pytest.raises(InvalidRecording, match="an exchange number is out of range"):
        read_har(path)


def test_a_browsers_archive_is_refused(tmp_path: Path, samples: ModuleType) -> None:
    """An archive of another tool lacks the facts about the requests."""
    archive = json.loads(har_bytes(samples.exchanges(1)))
    del archive["log"]["entries"][0]["_call"]
    path = tmp_path / "other.har"
    path.write_text(json.dumps(archive))

    with pytest.raises(InvalidRecording):
        read_har(path)


def test_a_missing_recording_is_an_error(tmp_path: Path) -> None:
    """The message says that the file cannot be read."""
    with pytest.raises(InvalidRecording, match="cannot be read"):
        read_har(tmp_path / "none.har")
