"""What the wire must know about a target and the limits of a run."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

import httpx

from conformance import __version__
from conformance.files import DOCUMENT, open_file

if TYPE_CHECKING:
    from conformance.wire.requests import Credential

USER_AGENT = f"conformance/{__version__}"


@dataclass(frozen=True, kw_only=True)
class WireSettings:
    """How a target is reached, and how much may be asked of it.

    Attributes:
        base_url: Where the paths of the interface begin; http or https. User info in it is a secret and never sent.
        credential: The main key.
        headers: Headers sent with every request; their values are secrets. ``Authorization`` is not among them.
        timeout: Seconds that a request may take as a whole, connecting and reading included.
        verify: Whether TLS certificates are verified.
        ca_file: A PEM file of the certificate authorities to trust instead of the usual ones.
        workers: Requests that may be under way at once.
        max_requests: Requests that may be sent, repetitions included; None for any number.
        max_seconds: Seconds that the run may take; None for any time.
        first_wait: Seconds until a service that has never answered is given up; without them three attempts decide.
        longest_wait: Seconds that are waited for a rate-limit window at most.
        undo_seconds: Seconds that undoing may take where the caller names no other time.
        hurried_undo_seconds: Seconds that undoing may take once ``Wire.stop`` was called.

    Raises:
        ValueError: A value makes no sense; the message names it.
    """

    base_url: str = field(repr=False)
    credential: Credential
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    timeout: float = 10
    verify: bool = True
    ca_file: str | None = None
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
        """Names and values of all that these settings hold and that no output may show."""
        key = (self.credential.authorization or "").partition(" ")[2]
        found = [(self.credential.name, key)]
        found += [(f"header {name}", value) for name, value in self.headers]
        found += [(f"URL {part}", value) for part, value in self._user_info()]
        return tuple((name, value) for name, value in found if value)

    def _user_info(self) -> list[tuple[str, str]]:
        given = [("user", self._parts.username or ""), ("password", self._parts.password or "")]
        return given + [(part, unquote(value)) for part, value in given if unquote(value) != value]

    def ssl_context(self) -> ssl.SSLContext | None:
        """What TLS connections are made with; None for plain HTTP.

        Raises:
            ValueError: The file of authorities cannot be used.
        """
        if self._parts.scheme == "http":
            return None
        if not self.verify or self.ca_file is None:
            return httpx.create_ssl_context(verify=self.verify, trust_env=False)
        try:
            open_file(Path(self.ca_file), DOCUMENT).close()  # OpenSSL would wait for a pipe, and read without end
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"ca_file: {self.ca_file} holds no certificates that can be used") from error
