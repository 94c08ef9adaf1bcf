"""Visibility of every choice at the open points of transport."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from conformance.reference.latitude.transport import TRANSPORT_POINTS
from tests.reference.probes import ENGAGEMENTS, NONE, ORGANIZATION, Probe, expect_every_value_to_show, headers

if TYPE_CHECKING:
    from conformance.reference.latitude.point import Point
    from tests.reference.conftest import Visitor


def gateway(visitor: Visitor) -> object:
    """Send requests that strict gateways refuse: too long, or with unusual escapes."""
    responses = [
        visitor.get(f"{ENGAGEMENTS}?unknown={'x' * 2048}"),
        visitor.get(ENGAGEMENTS, headers={"X-Long": "x" * 8192}),
        visitor.post(ENGAGEMENTS, {"name": "x" * 32 * 1024}),
        visitor.get(f"{ENGAGEMENTS}/a%2Fb"),
    ]
    return [(response.status_code, response.headers["Content-Type"], len(response.headers)) for response in responses]


def pace(visitor: Visitor) -> object:
    """Return whether the service sleeps, and whether unevenly."""
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    with patch.object(asyncio, "sleep", nap):
        for _ in range(5):
            visitor.get(ORGANIZATION)
    return len(naps) > 0, len(set(naps)) > 1


def service_clock(visitor: Visitor) -> object:
    """Compare the times of the service with the right time."""
    visitor.clock.step = 0
    moment = f"{visitor.engagement()['createdAt'][:10]}", visitor.engagement()["createdAt"][14:16]
    return moment, visitor.get(ORGANIZATION).headers.get("Date", "")[-12:-7]


def rate_window(visitor: Visitor) -> object:
    """Return the format of the reset and its distance."""
    reset = visitor.get(ORGANIZATION).headers["X-RateLimit-Reset"]
    return "." in reset, round((float(reset) - visitor.clock.seconds) / 10)


def refused_requests(visitor: Visitor) -> object:
    """Return by how much a refused request reduces X-RateLimit-Remaining."""
    first, second = (int(visitor.get(path).headers["X-RateLimit-Remaining"]) for path in (ORGANIZATION, NONE))
    third = int(visitor.get(ORGANIZATION).headers["X-RateLimit-Remaining"])
    return first - second, first - third


def retry_after(visitor: Visitor) -> object:
    """Return Retry-After of a success and of a 429."""
    key = visitor.rpc("create_throttled_key")["key"]
    waits = [visitor.get(ORGANIZATION, key=key).headers.get("Retry-After", "") for _ in range(21)]
    return waits[0], re.sub("[0-9]+", "9", waits[-1])


def json_text(visitor: Visitor) -> object:
    """Return features of the JSON text of a response."""
    text = visitor.post(ENGAGEMENTS, {"name": "ü"}).text
    assert json.loads(text)["data"]["name"] == "ü"
    return "\\u" in text, "\n" in text, text.index("id") < text.index("name"), text.count('"id"')


PROBES: dict[str, Probe] = {
    "media_type": headers("Content-Type"),
    "error_media_type": headers("Content-Type"),
    "json_text": json_text,
    "content_coding": headers("Content-Encoding"),
    "framing": lambda visitor: "Content-Length" in visitor.get(ORGANIZATION).headers,
    "connection": headers("Connection"),
    "header_case": lambda visitor: {name for name, _ in visitor.get(ORGANIZATION).headers.raw},
    "extra_headers": headers("ETag"),
    "gateway": gateway,
    "pace": pace,
    "service_clock": service_clock,
    "rate_window": rate_window,
    "rate_limit": headers("X-RateLimit-Limit"),
    "rate_reset": rate_window,
    "refused_requests": refused_requests,
    "retry_after": retry_after,
    "head_requests": lambda visitor: visitor.send("HEAD", ENGAGEMENTS).status_code,
    "options_requests": lambda visitor: visitor.send("OPTIONS", ENGAGEMENTS).status_code,
    "other_method": lambda visitor: visitor.send("PUT", ENGAGEMENTS).status_code,
    "trailing_slash": lambda visitor: visitor.get(f"{ENGAGEMENTS}/").status_code,
}


@pytest.mark.parametrize("point", TRANSPORT_POINTS, ids=lambda point: point.name)
def test_every_value_shows(visit: Callable[..., Visitor], point: Point) -> None:
    """No two values of a point give the same result."""
    expect_every_value_to_show(visit, point, PROBES[point.name])
