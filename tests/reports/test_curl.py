"""The curl command of an exchange, run in a real shell with a fake curl that records its arguments."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.reports.curl import LONGEST_BODY, curl, shell_word, variable
from conformance.reports.har import har_bytes
from conformance.wire import requests
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Shell = Callable[[str], tuple[list[str], bytes]]

KEYS = {"CONFORMANCE_API_KEY": "k$(touch hacked)`x`", "CONFORMANCE_KEY_ORGANIZATIONS_READ": "read key"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a function that runs a command line in sh and returns curl's arguments and standard input."""
    program = tmp_path / "curl"
    program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" > arguments\ncase \"$*\" in *'@-'*) cat > input;; esac\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def run(command: str) -> tuple[list[str], bytes]:
        (tmp_path / "input").write_bytes(b"")
        environment = KEYS | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        script = tmp_path / "script.sh"
        script.write_text(command, encoding="utf-8")
        subprocess.run(["/bin/sh", str(script)], cwd=tmp_path, env=environment, check=True)
        arguments = (tmp_path / "arguments").read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
        assert not (tmp_path / "hacked").exists()
        return arguments, (tmp_path / "input").read_bytes()

    return run


def _after(arguments: list[str], option: str) -> list[str]:
    return [following for given, following in pairwise(arguments) if given == option]


def test_a_plain_request(shell: Shell, samples: ModuleType) -> None:
    """Method, headers, body and URL are those of the exchange, and the key comes from the environment."""
    exchange = samples.exchange(1, requests.create_engagement({"name": 'it\'s "odd" $HOME `x` !'}))

    arguments, _ = shell(curl(exchange))

    assert _after(arguments, "-X") == ["POST"]
    assert _after(arguments, "-H") == [
        "Content-Type: application/json",
        f"Authorization: Bearer {KEYS['CONFORMANCE_API_KEY']}",
    ]
    assert _after(arguments, "--data-raw") == [exchange.sent_request.body.decode()]
    assert arguments[-1] == exchange.sent_request.url


def test_the_command_reads_well(samples: ModuleType) -> None:
    """An ordinary request has a readable command line."""
    assert curl(samples.exchange(1, requests.get_organization())) == (
        'curl -i -X GET -H "Authorization: Bearer $CONFORMANCE_API_KEY"'
        " https://staging.example.com/api/v1/organizations/current"
    )


@pytest.mark.parametrize(
    ("credential", "headers"),
    [
        (Credential("organizations:read", "Bearer <organizations:read>"), ["Authorization: Bearer read key"]),
        (Credential("none", None), []),
        (Credential("unknown", "Bearer not-a-key"), ["Authorization: Bearer not-a-key"]),
        (Credential("cut", "Bearer <api_key>x"), [f"Authorization: Bearer {KEYS['CONFORMANCE_API_KEY']}x"]),
        (Credential("odd", "Bearer '<api_key>'"), [f"Authorization: Bearer '{KEYS['CONFORMANCE_API_KEY']}'"]),
        (Credential("empty", ""), ["Authorization;"]),
        (
            Credential("hostile", "Bearer $(touch hacked)`touch hacked`"),
            ["Authorization: Bearer $(touch hacked)`touch hacked`"],
        ),
    ],
)
def test_keys(shell: Shell, samples: ModuleType, credential: Credential, headers: list[str]) -> None:
    """Each key has its own variable, a wrong key is sent as it was, and no key is added."""
    arguments, _ = shell(curl(samples.exchange(1, credential=credential)))

    assert _after(arguments, "-H") == headers


def test_a_content_type_that_was_not_sent_is_taken_away(shell: Shell, samples: ModuleType) -> None:
    """By default, curl would send any body as a form."""
    meant = requests.create_engagement({}).with_body(b"{}", content_type=None)

    arguments, _ = shell(curl(samples.exchange(1, meant, credential=None)))

    assert _after(arguments, "-H") == ["Content-Type:"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(body=st.binary(min_size=1, max_size=40) | st.text(st.characters(codec="utf-8"), min_size=1).map(str.encode))
def test_bodies_of_any_bytes(shell: Shell, samples: ModuleType, body: bytes) -> None:
    """Curl would send the same bytes as the run."""
    arguments, piped = shell(curl(samples.exchange(1, requests.create_engagement({}).with_body(body))))

    raw = _after(arguments, "--data-raw")
    assert (raw[0].encode("utf-8", "surrogateescape") if raw else piped) == body
    assert raw or _after(arguments, "--data-binary") == ["@-"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=30))
def test_words_of_any_text(shell: Shell, text: str) -> None:
    """A word means exactly its text, except NUL and trailing line feeds."""
    arguments, _ = shell(f"curl {shell_word(text)}")

    assert arguments[0].rstrip("\n") == text.replace("\0", "").rstrip("\n")
    assert shell_word(text).isprintable()


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("body", [b"x" * (LONGEST_BODY + 1), b"\xff" * (LONGEST_BODY + 1)])
def test_long_bodies_come_from_the_archive(shell: Shell, samples: ModuleType, tmp_path: Path, body: bytes) -> None:
    """A long body is read from the archive, because a command line cannot contain it."""
    exchange = samples.exchange(2, requests.create_engagement({}).with_body(body))
    (tmp_path / "exchanges.har").write_bytes(har_bytes([samples.exchange(1), exchange]))

    _, piped = shell(curl(exchange))

    assert piped == body


def test_long_bodies_keep_the_command_short(samples: ModuleType) -> None:
    """The command names the entry of the archive."""
    exchange = samples.exchange(7, requests.create_engagement({}).with_body(b"x" * 5_000_000))

    assert ".log.entries[6]" in curl(exchange)
    assert len(curl(exchange)) < 500


@pytest.mark.parametrize(
    ("url", "options"),
    [("https://h/a?x=[1]{2}", ["--globoff"]), ("https://h/a/../b", ["--path-as-is"]), ("https://h/a", [])],
)
def test_addresses_are_sent_as_they_stand(samples: ModuleType, url: str, options: list[str]) -> None:
    """By default, curl would expand brackets and resolve dots."""
    exchange = samples.exchange(1, credential=None)
    object.__setattr__(exchange.sent_request, "url", url)

    assert [word for word in shlex.split(curl(exchange)) if word.startswith("--")] == options


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("api_key", "CONFORMANCE_API_KEY"),
        ("organizations:read", "CONFORMANCE_KEY_ORGANIZATIONS_READ"),
        ("keys.other_organization", "CONFORMANCE_KEY_OTHER_ORGANIZATION"),
        ("member-1", "CONFORMANCE_KEY_MEMBER_1"),
    ],
)
def test_variables(name: str, expected: str) -> None:
    """Names of keys become valid names of shell variables."""
    assert variable(name) == expected


def test_hostile_exchanges_make_one_printable_command(hostile: tuple[Any, list[Any]]) -> None:
    """The command contains no characters that control a terminal."""
    for exchange in hostile[1]:
        assert curl(exchange).replace("\n", "").isprintable()
