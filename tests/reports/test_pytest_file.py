"""The pytest file that reproduces a fault, run with responses in place of a service."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.curl import curl, variables_of
from conformance.reports.pytest_file import literal
from conformance.reports.script import Reproductions
from conformance.reports.symptoms import permitted
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from conformance.wire.exchange import Exchange

PREFIX = "cf-k3vq7t2a-"
NAME = f"{PREFIX}a name"
EARLY, LATE = "2026-03-04T09:30:01.120Z", "2026-03-04T09:30:02.250Z"
CONNECTION = {
    "ca_file": "CONFORMANCE_CA_FILE",
    "cert": "CONFORMANCE_CERT",
    "cert_key": "CONFORMANCE_CERT_KEY",
    "proxy": "CONFORMANCE_PROXY",
    "insecure": "",
}


def created(samples: ModuleType, **shown: object) -> Exchange:
    """Return the creation of an engagement."""
    body = {"id": "eng_1", "name": NAME, "createdAt": EARLY, "updatedAt": EARLY} | shown
    return samples.exchange(1, requests.create_engagement({"name": NAME}), status=201, body=body)  # type: ignore[no-any-return]


def shown(samples: ModuleType, number: int = 2, **data: object) -> Exchange:
    """Return a read of the engagement."""
    body = {"id": "eng_1", "name": NAME, "createdAt": EARLY, "updatedAt": EARLY} | data
    return samples.exchange(number, requests.get_engagement("eng_1"), body=body)  # type: ignore[no-any-return]


def listed(samples: ModuleType, *ids: str, **data: object) -> Exchange:
    """Return a list of engagements."""
    body = [{"id": identifier, "name": NAME} | data for identifier in ids]
    return samples.exchange(3, requests.list_engagements(perPage=100), body=body)  # type: ignore[no-any-return]


def content(exchanges: list[Exchange], words: tuple[str, str, str | None], **variables: str) -> str | None:
    """Return the pytest file of a failure that cites all exchanges."""
    expected, actual, pointer = words
    recording = Reproductions(exchanges, PREFIX, variables)
    facts: Any = {"message": "it is wrong", "expected": expected, "actual": actual, "pointer": pointer}
    return recording.reproduction("a-requirement", exchanges, **facts).get("test")


def fails(text: str, exchanges: list[Exchange], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the test fails if the service answers with these responses, with an id of its own."""
    monkeypatch.setenv("CONFORMANCE_API_KEY", "a-key")
    module: dict[str, Any] = {}
    exec(compile(text, "test_a-requirement.py", "exec"), module)  # noqa: S102 - the file under test
    replies = iter(exchanges)

    def send(*words: str, body: bytes | None = None) -> Any:
        assert not any("eng_1" in word for word in words)
        received = next(replies).received
        assert received is not None
        response = object.__new__(module["Response"])
        response.status = received.status
        response.headers = {name.lower(): value for name, value in received.headers}
        response.body = received.body.replace(b"eng_1", b"eng_new")
        return response

    module["send"] = send
    try:
        module["test_a_requirement"]([])
    except (AssertionError, ValueError):  # the latter for a body that is not JSON
        return True
    assert next(replies, None) is None
    return False


Cases = list[tuple["Callable[..., list[Exchange]]", "Callable[..., Exchange]", tuple[str, str, "str | None"]]]
CASES: Cases = [
    (lambda s: [s.exchange(1, status=500)], lambda s: s.exchange(1), ("any 2xx", "500", None)),
    (
        lambda s: [s.exchange(1, body=b"<p>")],
        lambda s: s.exchange(1),
        ("a JSON text", "Expecting value: line 1 column 1 (char 0)", None),
    ),
    (
        lambda s: [s.exchange(1, headers=())],
        lambda s: s.exchange(1),
        ("X-RateLimit-Limit", "no X-RateLimit-Limit", None),
    ),
    (
        lambda s: [s.exchange(1, headers=(("X-RateLimit-Limit", "-1"),))],
        lambda s: s.exchange(1),
        ("X-RateLimit-Limit above 0", '"-1"', None),
    ),
    (
        lambda s: [created(s), shown(s, name="odd")],
        shown,
        (json.dumps(NAME), '"odd"', "/data/name"),
    ),
    (
        lambda s: [created(s), shown(s, status="odd")],
        lambda s: shown(s, status="active"),
        ("active", '"odd"', "/data/status"),
    ),
    (lambda s: [created(s), shown(s)], lambda s: shown(s, status="active"), ("a string", "absent", "/data/status")),
    (lambda s: [created(s), shown(s, description="x")], shown, ("null", '"x"', "/data/description")),
    (lambda s: [created(s), shown(s, createdAt=LATE)], shown, (EARLY, LATE, "/data/createdAt")),
    (lambda s: [created(s), shown(s)], lambda s: shown(s, updatedAt=LATE), (EARLY, EARLY, "/data/updatedAt")),
    (
        lambda s: [created(s), shown(s)],
        lambda s: shown(s, updatedAt=LATE),
        (f"later than {EARLY}", EARLY, "/data/updatedAt"),
    ),
    (
        lambda s: [created(s, updatedAt=LATE), shown(s)],
        lambda s: shown(s, updatedAt=LATE),
        (f"{LATE} or later", EARLY, "/data/updatedAt"),
    ),
    (
        lambda s: [created(s), shown(s, createdAt="2026-03-04T09:30:01Z")],
        shown,
        ("YYYY-MM-DDTHH:MM:SS.mmmZ", '"2026-03-04T09:30:01Z"', "/data/createdAt"),
    ),
    (
        lambda s: [created(s), listed(s, "eng_2", "eng_1", name="odd")],
        lambda s: listed(s, "eng_1"),
        (json.dumps(NAME), '"odd"', "/data/1/name"),
    ),
    (
        lambda s: [created(s), listed(s, "eng_2")],
        lambda s: listed(s, "eng_2", "eng_1"),
        ("every one", '1 missing, the first is "eng_1"', "/data"),
    ),
    (
        lambda s: [created(s), listed(s, "eng_1")],
        lambda s: listed(s, "eng_2"),
        ("no deleted engagement", "eng_1", "/data/0"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{words[0]}, not {words[1]}" for _, _, words in CASES])
def test_only_the_fault_fails(samples: ModuleType, monkeypatch: pytest.MonkeyPatch, case: Any) -> None:
    """The recorded responses fail, and the right one passes."""
    make, right, words = case
    exchanges = make(samples)
    text = content(exchanges, words)

    assert text is not None
    assert "In the run: it is wrong" in text
    assert fails(text, exchanges, monkeypatch)
    assert not fails(text, [*exchanges[:-1], right(samples)], monkeypatch)


@given(st.text(st.characters()))
def test_texts_stay_texts(text: str) -> None:
    """A literal is the text again, in printable characters of one line."""
    assert ast.literal_eval(literal(text)) == text
    assert literal(text).isprintable()


@pytest.mark.parametrize("odd", ['"""\nimport os', "\\", "{0}", "'\"", "\x1b[31m", "größer\u202e"])
def test_no_text_of_a_service_is_code(samples: ModuleType, odd: str) -> None:
    """Messages and values have no effect on the statements of the file."""
    exchanges = [created(samples), shown(samples, name=odd)]
    plain, text = (content(exchanges, (json.dumps(NAME), said, "/data/name")) for said in (json.dumps(odd), odd))

    assert plain is not None
    assert text is not None
    assert len(ast.parse(plain).body) == len(ast.parse(text).body) == len(ast.parse(_plain(samples)).body)


def _plain(samples: ModuleType) -> str:
    return content([created(samples), shown(samples, name="x")], (json.dumps(NAME), '"x"', "/data/name")) or ""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s: [created(s), shown(s)], ("some order", "no order", None)),
        (lambda s: [created(s), shown(s, createdAt=LATE)], ("2020-01-01T00:00:00.000Z", LATE, "/data/createdAt")),
        (lambda s: [created(s), listed(s, "eng_1")], ("all of them", "1 missing", "/data")),
        (lambda s: [s.exchange(1, body={"engagementCount": 3})], ("4", "3", "/data/engagementCount")),
    ],
)
def test_without_a_telling_response_there_is_no_test(samples: ModuleType, make: Any, words: Any) -> None:
    """A test that could not fail, or would fail for a service with other content, is not written."""
    assert content(make(samples), words) is None


def test_requests_that_were_sent_together(samples: ModuleType) -> None:
    """They are sent at the same time; the test writes only to what it created."""
    edits = [
        replace(
            samples.exchange(number, requests.update_engagement("eng_1", {"name": NAME}), status=status, body={}),
            check="racing",
            started_at=samples.STARTED,
            seconds=1.0,
        )
        for number, status in ((2, 200), (3, 500))
    ]

    text = content([created(samples), *edits], ("any 2xx", "500", None)) or ""

    assert "response_2, response_3 = together(" in text
    assert text.count("assert is_own(*made[0])") == 1


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("200", [200], [201, 404]),
        ("any 2xx or 409", [200, 204, 409], [400, 500]),
        ("400 or 422", [400, 422], [200, 404]),
        ("a 4xx other than 401, 404 and 429", [400, 409], [401, 404, 429, 200, 500]),
        ("any 2xx, or a 4xx other than 401, 404, 405 and 429", [200, 400, 409], [401, 405, 500]),
        ("a success, with engagements:read alone", [200], [403]),
        ("no 5xx", [200, 404], [500, 503]),
    ],
)
def test_permitted_statuses(expected: str, right: list[int], wrong: list[int]) -> None:
    """The words of the assertions name exactly these statuses."""
    condition = compile(permitted(expected)("status"), "condition", "eval")

    assert all(eval(condition, {"status": status}) for status in right)  # noqa: S307 - the condition under test
    assert not any(eval(condition, {"status": status}) for status in wrong)  # noqa: S307 - as above


def test_the_connection_of_the_run(samples: ModuleType) -> None:
    """Commands and tests name the files and the proxy of the connection by variables."""
    exchange = samples.exchange(1, status=500)

    assert (
        '--cacert "$CONFORMANCE_CA_FILE" --cert "$CONFORMANCE_CERT" --key "$CONFORMANCE_CERT_KEY" '
        '--proxy "$CONFORMANCE_PROXY" --insecure -H'
    ) in curl(exchange, CONNECTION)
    assert variables_of(exchange, CONNECTION) == ["CONFORMANCE_API_KEY", *list(CONNECTION.values())[:-1]]
    text = content([exchange], ("any 2xx", "500", None), **CONNECTION) or ""
    assert '"--cacert", os.environ["CONFORMANCE_CA_FILE"], "--cert", ' in text
    assert 'os.environ["CONFORMANCE_PROXY"], "--insecure"]' in text


@pytest.mark.parametrize(
    ("curl_does", "shown_by_pytest"),
    [
        ("""printf 'HTTP/1.1 200\\r\\n\\r\\n{"data": {"id": "eng_new", "name": "odd"}}'""", "In the run: it is wrong"),
        ("exit 7", "curl ended with status 7, without a response."),
    ],
    ids=["the fault", "no service"],
)
def test_pytest_shows_no_key(samples: ModuleType, tmp_path: Path, curl_does: str, shown_by_pytest: str) -> None:
    """A traceback has the sentence that says what failed, and not the key of the requests."""
    exchanges = [created(samples), shown(samples, name="odd")]
    (tmp_path / "test_it.py").write_text(content(exchanges, (json.dumps(NAME), '"odd"', "/data/name")) or "")
    (tmp_path / "curl").write_text(f"#!/bin/sh\n{curl_does}\n")
    (tmp_path / "curl").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CONFORMANCE_API_KEY": "key_of_a_user"}

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--showlocals", "test_it.py"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert shown_by_pytest in ended.stdout
    assert "key_of_a_user" not in ended.stdout
