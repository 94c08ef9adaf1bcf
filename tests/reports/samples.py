"""Realistic sample runs: a passing run, a failing run, and a run against a hostile target."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from conformance.reports.curl import curl
from conformance.wire import requests
from conformance.wire.exchange import Exchange, Response, SentRequest
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from conformance.reports.model import Failure, Report, Requirement

BASE = "https://staging.example.com"
STARTED = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
RATE = (("X-RateLimit-Limit", "600"), ("X-RateLimit-Remaining", "571"), ("X-RateLimit-Reset", "1772616660"))
KEY = Credential("api_key", "Bearer <api_key>")

HOSTILE = (
    "<script>window.marked=1</script><img src=x onerror=window.marked=2>\"'>]]></style></script></title>"
    '\x1b[31mred\x00\ud800\ufffe\u202egnp.exe\u2066 =HYPERLINK("http://evil.example") `code` ``` | '
    "[a](javascript:x) @all {{7*7}}"
)


def exchange(
    number: int,
    what: requests.Request | None = None,
    *,
    status: int | None = 200,
    body: bytes | object = None,
    credential: Credential | None = KEY,
    headers: tuple[tuple[str, str], ...] = RATE,
    error: str | None = None,
) -> Exchange:
    """Return an exchange as the wire records it; the status None means no response."""
    what = what or requests.list_engagements(status="active", perPage=20)
    if credential is not None:
        what = what.with_key(credential)
    shown = (
        () if credential is None or credential.authorization is None else (("Authorization", credential.authorization),)
    )
    sent_headers = (("Host", "staging.example.com"), ("Accept-Encoding", "gzip"), *what.headers, *shown)
    octets = (
        body
        if isinstance(body, bytes)
        else json.dumps({"data": body}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
    response = None if status is None else Response(status, (("Content-Type", "application/json"), *headers), octets)
    return Exchange(
        number=number,
        check=f"test_s3_states.py::test_step[{number % 7}]",
        request=what,
        sent_request=SentRequest(what.method, BASE + what.path, sent_headers, what.body or b""),
        received=response,
        error=error if status is None else None,
        started_at=STARTED + timedelta(milliseconds=40 * number),
        seconds=0.012345 + number % 9 / 1000,
    )


def engagement(number: int, **changes: object) -> dict[str, object]:
    """Return an engagement in the form of the interface."""
    return {
        "id": f"eng_{number:04}",
        "name": f"cf-7f3a Quarterly review {number}",
        "description": "Perimeter and mail gateway — “phase two”, Ünïcode 🚀",
        "status": "active",
        "createdAt": "2026-03-04T09:30:01.120Z",
        "updatedAt": "2026-03-04T09:30:01.120Z",
    } | changes


def failure(exchanges: list[Exchange], **changes: object) -> Failure:
    """Return a failure that cites these exchanges."""
    found: Any = {
        "check": "conformance/checks/test_s3_states.py::test_archived_engagement_refuses_edits",
        "message": "An archived engagement was edited.",
        "expected": "a 4xx other than 401, 404 and 429, and no change",
        "actual": "200; the name became “renamed after archiving”",
        "exchanges": [exchange.number for exchange in exchanges],
        "curl": curl(exchanges[-1]) if exchanges else "",
        "pointer": "/data/name",
    }
    changed: Failure = found | changes
    return changed


def requirement(identifier: str, title: str, **changes: object) -> Requirement:
    """Return a requirement, passed by default."""
    made: Any = {
        "id": identifier,
        "title": title,
        "section": "3",
        "operations": ["archiveEngagement", "updateEngagement"],
        "class": "core",
        "outcome": "passed",
        "waived": False,
        "reason": None,
        "failures": [],
        "checks": [
            {
                "name": f"test_s3_states.py::test_{identifier.replace('-', '_')}",
                "outcome": "passed",
                "seconds": 0.04,
                "exchanges": [1, 2],
            }
        ],
    }
    changed: Requirement = made | changes
    return changed


_CLASSES = {
    "core": "Base URL and one key",
    "organization": "Renaming, invitations, the owner's role",
    "permissions": "Keys with a single permission",
    "membership": "Members that may be removed",
    "isolation": "A second organization",
    "cascade": "Subordinate records",
    "mail": "Invitation mail",
    "throttling": "Rate limiting",
}
_UNLOCK = {
    "permissions": [
        "keys: {organizations:read: ..., engagements:read: ...} in the target file, or a provisioner with create_key"
    ],
    "mail": ["a provisioner with read_mail"],
    "throttling": ["keys: {throttled: ...} in the target file"],
    "cascade": ["a provisioner with create_subordinate and subordinate_exists"],
}
_TITLES = {
    "1": [
        "A success is a JSON object with the member data",
        "Timestamps are UTC with milliseconds and a trailing Z",
        "Paths begin with /api/v1/",
    ],
    "2": [
        "createdAt of an engagement never changes",
        "A new engagement's updatedAt equals its createdAt",
        "A member's role is owner, admin or member",
    ],
    "3": [
        "An archived engagement can be read",
        "Archiving moves updatedAt on",
        "A deleted engagement is gone from every list",
        "A new engagement is active",
    ],
    "4": [
        "The list of engagements is sorted as asked",
        "The filter status=archived finds archived engagements alone",
        "The response to a deletion contains deleted and the id",
        "An invitation's address reads back",
    ],
    "5": [
        "A request without a key is refused with 401 on every operation",
        "A key with one permission may do what that permission is for",
    ],
    "7": ["Every error has the envelope with code, message and statusCode", "statusCode equals the HTTP status"],
    "8": [
        "meta.total counts every matching item",
        "perPage is 20 by default",
        "Every response carries the three rate-limit headers",
    ],
}


def requirements() -> list[Requirement]:
    """Return requirements of every section, all passed."""
    made = []
    for section, titles in _TITLES.items():
        for index, title in enumerate(titles):
            identifier = "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()[:5])
            made.append(requirement(f"{identifier}-{section}{index}", title, section=section))
    return made


def report(listed: list[Requirement] | None = None, **changes: object) -> Report:
    """Return the report of a run, conformant by default."""
    listed = requirements() if listed is None else listed
    made: Any = {
        "format": "conformance-report/1",
        "suite": {
            "name": "engagement-conformance",
            "version": "1.0.0",
            "commit": "0d" * 20,
            "openapi_sha256": "9f" * 32,
        },
        "target": {"name": "staging-eu", "base_url": BASE},
        "run": {
            "started_at": "2026-03-04T09:30:00.000Z",
            "finished_at": "2026-03-04T09:30:12.300Z",
            "seconds": 12.3,
            "seed": 1,
            "effort": "standard",
            "requests": 412,
            "mode": "default",
            "interrupted": False,
            "workers": 4,
            "warnings": [],
        },
        "verdict": "conformant",
        "classes": [
            {
                "id": name,
                "title": title,
                "requirements": sum(requirement["class"] == name for requirement in listed),
                "outcome": _class_outcome(
                    [requirement["outcome"] for requirement in listed if requirement["class"] == name]
                ),
                "unlock": _UNLOCK.get(name, []),
            }
            for name, title in _CLASSES.items()
        ],
        "requirements": listed,
        "observations": [
            {
                "id": "duplicate-name",
                "section": "7",
                "question": "Is a duplicate name accepted on creation?",
                "observed": "rejected with 409 CONFLICT",
                "exchanges": [2],
            },
            {
                "id": "page-past-the-end",
                "section": "8",
                "question": "How does the service respond to a page past the end?",
                "observed": "200 with an empty array",
                "exchanges": [3, 4],
            },
            {
                "id": "success-status-create",
                "section": "4",
                "question": "With which 2xx does creating an engagement succeed?",
                "observed": "201",
                "exchanges": [1],
            },
        ],
        "census": {"before": {"members": 14, "engagements": 37}, "after": {"members": 14, "engagements": 37}},
        "journal": [
            {"made": "engagement", "id": "eng_0001", "undone": True},
            {"made": "engagement", "id": "eng_0002", "undone": True},
        ],
        "not_undone": [],
    }
    changed: Report = made | changes
    return changed


def _class_outcome(outcomes: list[str]) -> str:
    return next((outcome for outcome in ("failed", "cantTell", "passed") if outcome in outcomes), "untested")


def passing() -> tuple[Report, list[Exchange]]:
    """Return the run of a conforming service, with some classes untested."""
    listed = requirements()
    for name, reason in (
        ("permissions", "single-permission keys are needed"),
        ("mail", "a readable mailbox is needed"),
    ):
        listed += [
            requirement(
                f"{name}-{n}",
                f"{_CLASSES[name]}: statement {n}",
                section="5",
                outcome="untested",
                reason=reason,
                checks=[],
                **{"class": name},
            )
            for n in (1, 2, 3)
        ]
    listed += [
        requirement(
            f"organization-{n}", f"Renaming keeps the slug, statement {n}", section="4", **{"class": "organization"}
        )
        for n in (1, 2)
    ]
    return report(listed), exchanges(40)


def exchanges(count: int) -> list[Exchange]:
    """Return exchanges of many kinds."""
    return [_nth(number) for number in range(1, count + 1)]


def _nth(number: int) -> Exchange:
    kinds = number % 5
    if kinds == 0:
        return exchange(
            number,
            requests.archive_engagement(f"eng_{number:04}"),
            body={"id": f"eng_{number:04}", "status": "archived", "updatedAt": "2026-03-04T09:30:03.001Z"},
        )
    if kinds == 1:
        return exchange(
            number,
            requests.create_engagement({"name": f"cf-7f3a Quarterly review {number}"}),
            status=201,
            body=engagement(number),
        )
    if kinds == 2:
        return exchange(
            number,
            requests.get_engagement("eng_none"),
            status=404,
            body=b'{"error":{"code":"NOT_FOUND","message":"Engagement not found","statusCode":404}}',
        )
    return exchange(number, body=[engagement(place) for place in range(3)])


def failing() -> tuple[Report, list[Exchange]]:
    """Return the run of a service with several faults, one waived, and with undecided requirements."""
    sent = exchanges(60)
    sent[19] = exchange(
        20,
        requests.update_engagement("eng_0020", {"name": "renamed after archiving"}),
        body=engagement(20, status="archived"),
    )
    sent[29] = exchange(30, status=None, error="no complete response within 10 s")
    listed = requirements()
    listed[6] |= {
        "title": "An archived engagement refuses every edit",
        "outcome": "failed",
        "failures": [failure([sent[18], sent[19]])],
    }
    listed[10] |= {
        "outcome": "failed",
        "failures": [
            failure(
                [sent[2]],
                message="An item of the list is not archived.",
                expected="status “archived” in every item",
                actual="“active” in 3 of 3 items",
                pointer="/data/0/status",
            ),
            failure(
                sent[3:50],
                message="meta.total counts what does not match.",
                expected="0",
                actual="3",
                pointer="/meta/total",
            ),
        ],
    }
    listed[16] |= {
        "outcome": "failed",
        "waived": True,
        "reason": "Waived until 1 June by the platform team: the gateway rewrites it.",
        "failures": [
            failure(
                [sent[1]],
                message="statusCode is a string.",
                expected="the integer 404",
                actual='"404"',
                pointer="/error/statusCode",
            )
        ],
    }
    listed[8] |= {
        "outcome": "cantTell",
        "reason": "No complete response within 10 s, three times in a row (exchanges 30, 31, 32).",
    }
    listed += [
        requirement(
            f"mail-{n}",
            f"An invitation reaches its address, statement {n}",
            section="4",
            outcome="untested",
            reason="a readable mailbox is needed",
            checks=[],
            **{"class": "mail"},
        )
        for n in (1, 2)
    ]
    made = report(listed, verdict="non-conformant")
    made["run"]["warnings"] = ["TLS certificates were not verified: the target file switches that off."]
    return made, sent


def hostile() -> tuple[Report, list[Exchange]]:
    """Return the run of a target with dangerous text in every place."""
    long = HOSTILE + "A" * 1_000_000
    sent = [
        exchange(
            1,
            requests.create_engagement({"name": HOSTILE.replace("\ud800", "")}),
            body={"name": HOSTILE.replace("\ud800", "")},
        ),
        exchange(2, body=HOSTILE.encode("utf-8", "surrogatepass"), headers=(("X-Odd", HOSTILE),)),
        exchange(3, body=b"\xff\xfe\x00" * 1000),
        exchange(4, body=b'{"data":"' + b"B" * 1_000_000 + b'","a\\u202eb":1e400,"a":NaN}'),
        exchange(5, body=b"[" * 5000),
        exchange(6, status=None, error=HOSTILE),
        exchange(
            7,
            requests.get_engagement("../../x?y#z " + HOSTILE.replace("\ud800", "")),
            body=b'{"__proto__":{"x":1},"__proto__":2}',
        ),
    ]
    listed = [
        requirement(
            HOSTILE,
            long,
            outcome="failed",
            reason=HOSTILE,
            failures=[failure(sent, check=HOSTILE, message=long, expected=long, actual=HOSTILE, pointer=HOSTILE)],
        ),
        requirement("undecided", HOSTILE, outcome="cantTell", reason=long),
        requirement("idle", HOSTILE, outcome="untested", reason=HOSTILE),
    ]
    made = report(
        listed, verdict="non-conformant", target={"name": HOSTILE, "base_url": "https://x.example/" + HOSTILE}
    )
    made["run"]["warnings"] = [HOSTILE]
    made["not_undone"] = [HOSTILE, HOSTILE]
    made["census"] = {HOSTILE: [HOSTILE, float("inf")]}
    made["journal"] = [{"id": HOSTILE}, HOSTILE]
    for entry in made["classes"]:
        entry["title"], entry["unlock"] = HOSTILE, [HOSTILE]
    made["observations"] = [
        {"id": HOSTILE, "section": "3", "question": HOSTILE, "observed": long, "exchanges": [1, 99]}
    ]
    return made, sent
