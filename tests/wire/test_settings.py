"""Tests of the settings of the wire and their secrets."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from conformance.wire.requests import Credential
from conformance.wire.settings import WireSettings

KEY = Credential.bearer("api_key", "key-of-the-target")


def settings(base_url: str = "https://service.test", **others: Any) -> WireSettings:
    """Return settings for a base URL."""
    usual: dict[str, Any] = {"base_url": base_url, "credential": KEY}
    return WireSettings(**(usual | others))


@pytest.mark.parametrize(
    ("base_url", "root"),
    [
        ("http://service.test", "http://service.test"),
        ("https://service.test:8443/", "https://service.test:8443"),
        ("https://service.test/under/a/path//", "https://service.test/under/a/path"),
        ("https://us@er:secret@service.test/x?key=1#there", "https://service.test/x"),
    ],
)
def test_paths_begin_at_the_root(base_url: str, root: str) -> None:
    """Without user info, query, fragment and closing slash."""
    assert settings(base_url).root == root


@pytest.mark.parametrize("base_url", ["ftp://service.test", "service.test", "https://", "https:///x"])
def test_an_address_of_another_kind_is_refused(base_url: str) -> None:
    """The base URL needs a host and a known scheme."""
    with pytest.raises(ValueError, match=r"^base_url: expected an http or https address with a host$"):
        settings(base_url)


def test_an_impossible_port_is_refused_at_once() -> None:
    """The error is raised at once and not at the first request."""
    with pytest.raises(ValueError, match="ort"):
        settings("https://service.test:99999")


@pytest.mark.parametrize("name", ["Authorization", "AUTHORIZATION", "authorization"])
def test_a_header_for_every_request_is_no_key(name: str) -> None:
    """Requests without a key must be possible."""
    with pytest.raises(ValueError, match=r"^headers: Authorization belongs to the keys"):
        settings(headers=(("X-Gateway", "g"), (name, "Bearer k")))


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": -1.5}, {"workers": 0}])
def test_numbers_without_sense_are_refused(wrong: dict[str, Any]) -> None:
    """Zero workers or seconds are refused."""
    with pytest.raises(ValueError, match=r"^timeout and workers: expected numbers above 0$"):
        settings(**wrong)
    assert settings(timeout=0.5, workers=1).workers == 1


def test_keys_headers_and_user_info_are_secrets() -> None:
    """User info is a secret as written and unescaped."""
    given = settings("https://us%40er:p%2Fw@service.test", headers=(("X-Gateway", "staging"), ("X-Empty", "")))

    assert sorted(given.secrets) == [
        ("URL password", "p%2Fw"), ("URL password", "p/w"), ("URL user", "us%40er"), ("URL user", "us@er"),
        ("api_key", "key-of-the-target"), ("header X-Gateway", "staging"),
    ]  # fmt: skip


@pytest.mark.parametrize("base_url", ["https://service.test", "https://:@service.test"])
def test_without_secrets_nothing_is_searched_for(base_url: str) -> None:
    """Empty texts are no secrets."""
    assert settings(base_url, credential=Credential("none", None)).secrets == ()


def test_user_info_that_reads_as_it_is_written_is_one_secret() -> None:
    """User info may have no password."""
    assert settings("https://plain@service.test").secrets[1:] == (("URL user", "plain"),)


def test_settings_show_no_secret() -> None:
    """The repr shows no secret."""
    shown = repr(settings("https://user:password@service.test", headers=(("X-Gateway", "staging"),)))

    assert not any(value in shown for value in ("key-of-the-target", "user:", "password", "staging"))


def test_a_file_without_authorities_is_refused(tmp_path: Path) -> None:
    """A missing or invalid CA file is an error, except for plain HTTP."""
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate")

    for ca_file in (str(empty), str(tmp_path / "absent.pem")):
        with pytest.raises(ValueError, match=r"^ca_file: .+\.pem holds no certificates that can be used$"):
            settings(ca_file=ca_file).ssl_context()
    assert settings("http://service.test", ca_file=str(empty)).ssl_context() is None


def test_certificates_are_verified_unless_that_is_switched_off() -> None:
    """Disabled verification ignores the CA file."""
    verified = settings().ssl_context()
    unverified = [settings(verify=False, ca_file=file).ssl_context() for file in (None, "absent.pem")]

    assert verified is not None
    assert (verified.verify_mode, verified.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert [None if context is None else context.verify_mode for context in unverified] == [ssl.CERT_NONE] * 2
