"""Settings of the wire: the target and the limits of a run."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

import certifi
import httpx
import truststore

from conformance import __version__
from conformance.files import DOCUMENT, open_file
from conformance.wire.proxies import Proxy

if TYPE_CHECKING:
    from conformance.wire.requests import Credential

USER_AGENT = f"conformance/{__version__}"


@dataclass(frozen=True, kw_only=True)
class WireSettings:
    """Connection settings of a target, and limits of the run.

    Attributes:
        base_url: The http or https URL of the host root. Its user info is a secret and never sent.
        credential: The main key.
        headers: Headers sent with every request; their values are secrets. ``Authorization`` is not among them.
        user_agent: The User-Agent of every request that no header replaces.
        timeout: Seconds that a whole request may take, connecting and reading included.
        verify: Whether TLS certificates are verified.
        ca_file: A PEM file of the certificate authorities to trust instead of those of the system and of certifi.
        cert: A PEM file of the client certificate, which may also hold its key; or None.
        cert_key: The PEM file of the client certificate's key, or None.
        proxy: The URL of an http, https or socks5 proxy, or None. Its user info goes to the proxy and into no record.
        rate: The maximum number of requests per second, retries and undoing included; None for any number.
        workers: The most concurrent requests.
        max_requests: The most requests, retries included; None for any number.
        max_seconds: The most seconds of the run; None for any time.
        first_wait: Seconds until a service that has never responded is given up; if 0, after three attempts.
        longest_wait: The longest wait for a rate-limit window, in seconds.
        undo_seconds: Seconds that undoing may take beside those that the rate demands.
        hurried_undo_seconds: Seconds that undoing may take after ``Wire.stop``.

    Raises:
        ValueError: A value makes no sense; the message names it.
    """

    base_url: str = field(repr=False)
    credential: Credential
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    user_agent: str = USER_AGENT
    timeout: float = 10
    verify: bool = True
    ca_file: str | None = None
    cert: str | None = None
    cert_key: str | None = None
    proxy: str | None = field(default=None, repr=False)
    rate: float | None = None
    workers: int = 8
    max_requests: int | None = None
    max_seconds: float | None = None
    first_wait: float = 0
    longest_wait: float = 90
    undo_seconds: float = 60
    hurried_undo_seconds: float = 8

    def __post_init__(self) -> None:
        if self._parts.scheme not in {"http", "https"} or not self._parts.hostname:
            raise ValueError("base_url: expected an http or https address with a host")
        if any(name.lower() == "authorization" for name, _ in self.headers):
            raise ValueError("headers: Authorization belongs to the keys and cannot be set for every request")
        if self.timeout <= 0 or self.workers < 1:
            raise ValueError("timeout and workers: expected numbers above 0")

    @cached_property
    def _parts(self) -> SplitResult:
        parts = urlsplit(self.base_url)
        _ = parts.port  # an impossible port is a ValueError here rather than at the first request
        return parts

    @cached_property
    def root(self) -> str:
        """The base URL without user info, query and closing slash."""
        host = self._parts.netloc.rpartition("@")[2]
        return f"{self._parts.scheme}://{host}{self._parts.path.rstrip('/')}"

    @cached_property
    def secrets(self) -> tuple[tuple[str, str], ...]:
        """Names and values of all secrets in these settings."""
        found = [(self.credential.name, self.credential.key)]
        found += [(f"header {name}", value) for name, value in self.headers]
        found += [(f"URL {part}", value) for part, value in self._user_info()]
        return tuple((name, value) for name, value in found if value)

    def _user_info(self) -> list[tuple[str, str]]:
        given = [("user", self._parts.username or ""), ("password", self._parts.password or "")]
        return given + [(part, unquote(value)) for part, value in given if unquote(value) != value]

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context; None for plain HTTP.

        Raises:
            ValueError: A file of certificates or keys cannot be used.
        """
        if self._parts.scheme == "http":
            return None
        context = self._trusting()
        if self.cert is not None:
            try:
                _try_to_open(self.cert, self.cert_key)
                context.load_cert_chain(self.cert, self.cert_key, password="")  # without it, OpenSSL would ask
            except (OSError, ValueError) as error:
                files = self.cert if self.cert_key is None else f"{self.cert} with {self.cert_key}"
                raise ValueError(f"cert: {files} is no certificate with its unencrypted key") from error
        return context

    def proxy_server(self) -> Proxy | None:
        """Return the proxy; None without.

        Raises:
            ValueError: The file of certificate authorities cannot be used.
        """
        if self.proxy is None:
            return None
        return Proxy.of(self.proxy, self._trusting() if self.proxy.startswith("https:") else None)

    def _trusting(self) -> ssl.SSLContext:
        """Return a TLS context for clients that trusts the authorities of the file, or the system's and certifi's."""
        if not self.verify:
            return httpx.create_ssl_context(verify=False, trust_env=False)
        if self.ca_file is None:
            context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(certifi.where())
            return context
        try:
            _try_to_open(self.ca_file)
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"ca_file: {self.ca_file} holds no certificates that can be used") from error


def _try_to_open(*paths: str | None) -> None:
    """Raise ``OSError`` if a file cannot be read; OpenSSL would wait for a pipe, and read without end."""
    for path in paths:
        if path is not None:
            open_file(Path(path), DOCUMENT).close()
