"""Validation of URLs, keys and headers, with errors that show no secret."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit

from conformance.spelling import suggestion
from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Collection

DAY: Final = 86_400
"""The most seconds of a duration, and the largest other number."""

_KEY: Final = re.compile(r"[!-~]+")
_LONGEST_KEY: Final = 16_384
_PLACEHOLDER: Final = re.compile(r"<[A-Za-z][\w :.-]*>", re.ASCII)
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE: Final = re.compile(r"[!-~](?:[\t -~]*[!-~])?")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\.?)+")
_HOST_AND_PORT: Final = re.compile(r"(?:localhost|[0-9.]{7,15}):[0-9]{1,5}")
"""An address that may be shown, as it is certainly no secret."""

_OWN_HEADERS: Final = re.compile(
    "authorization|host|connection|keep-alive|upgrade|te|trailer|expect|accept|accept-encoding|range|if-.*"
    "|(content|transfer)-(length|type|encoding)|x-(http-)?(method|verb)(-override)?"
    "|x-(original|rewrite|forwarded)-(url|uri|path|prefix|method|host)",
    re.IGNORECASE,
)
"""Headers that the suite sets itself or that would change the meaning of a request."""


class Refused(ValueError):
    """A value cannot be used; the message continues a sentence that begins with the value's key."""


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """The host root of a service, or a proxy.

    Attributes:
        url: Scheme, host and port, without a slash at the end: ``https://api.example.com``.
        host: The host, with the port if any.
        user_info: The part before ``@``; it is never sent, because Authorization has the API key.
        plain: Whether it is unencrypted HTTP to another machine.
    """

    url: str
    host: str
    user_info: Secret | None
    plain: bool

    @property
    def whole(self) -> str:
        """The URL with its user info."""
        return self.url if self.user_info is None else self._with(self.user_info.reveal())

    @property
    def shown(self) -> str:
        """The URL with a placeholder for its user info."""
        return self.url if self.user_info is None else self._with("<user_info>")

    def _with(self, user_info: str) -> str:
        scheme, _, host = self.url.partition("://")
        return f"{scheme}://{user_info}@{host}"


def base_url(text: str) -> BaseUrl:
    """Read a base URL.

    Raises:
        Refused: It is no URL of a host root.
    """
    return _root(
        text,
        ("http", "https"),
        "must end after the host and port: the interface's paths begin with /api/v1/",
    )


def proxy(text: str) -> BaseUrl:
    """Read the URL of a proxy.

    Raises:
        Refused: It is no URL of a proxy.
    """
    return _root(text, ("http", "https", "socks5"), "must end after the host and port")


def _root(text: str, schemes: tuple[str, ...], no_path: str) -> BaseUrl:
    parts = _split(text)
    if parts.scheme.lower() not in schemes:
        example = f" (did you mean http://{text}?)" if _HOST_AND_PORT.fullmatch(text) else ""
        raise Refused(f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}{example}")
    if not parts.hostname:
        raise Refused("must name a host, as in https://api.example.com")
    if parts.query or parts.fragment or text.rstrip().endswith(("?", "#")):
        raise Refused("must have neither a query (?) nor a fragment (#)")
    if parts.path.rstrip("/"):
        raise Refused(no_path)
    host = _host(parts)
    user_info = parts.netloc.rpartition("@")[0]
    plain = parts.scheme.lower() == "http" and not _is_loopback(parts.hostname)
    return BaseUrl(f"{parts.scheme.lower()}://{host}", host, Secret(user_info) if user_info else None, plain)


def _split(text: str) -> SplitResult:
    if re.search(r"[^!-~]", text) or "\\" in text:
        raise Refused("must be a URL in printable ASCII characters without spaces or backslashes")
    try:
        return urlsplit(text)
    except ValueError:
        raise Refused("must be a URL such as https://api.example.com") from None


def _host(parts: SplitResult) -> str:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0 or parts.netloc.endswith(":"):
        raise Refused("must have a port between 1 and 65535 after the colon")
    name = parts.hostname or ""
    if ":" in name:
        name = f"[{name}]"
    elif not _HOST.fullmatch(name):
        raise Refused("must name a host of letters, digits, hyphens and dots")
    return name if port is None else f"{name}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def passwords(user_info: Secret) -> list[str]:
    """Return the secrets of user info: all of it, and the password, each as written and unescaped."""
    text = user_info.reveal()
    user, colon, password = text.partition(":")
    return sorted({part for part in (text, unquote(text), password if colon else user, unquote(password)) if part})


def api_key(text: str) -> Secret:
    """Read a key for an Authorization header.

    Raises:
        Refused: It is empty or too long, has an invalid character, or is a placeholder.
    """
    if not text:
        raise Refused("must not be empty")
    if len(text) > _LONGEST_KEY:
        raise Refused(f"must be a key of {_LONGEST_KEY} characters at most")
    if text[:7].lower() == "bearer ":
        raise Refused("must be the key alone, without the word Bearer")
    if not _KEY.fullmatch(text):
        raise Refused("must be a key of visible ASCII characters, without spaces or line breaks")
    return _filled_in(text)


def header_name(text: str) -> str:
    """Read the name of an extra header.

    Raises:
        Refused: It is no header name, or a header that the suite sets.
    """
    if not _HEADER_NAME.fullmatch(text):
        raise Refused("is not a name that a header can have")
    if _OWN_HEADERS.fullmatch(text):
        raise Refused("is a header that the suite sets itself or that would change its requests")
    return text


def header_value(text: str) -> Secret:
    """Read the value of an extra header.

    Raises:
        Refused: It has an invalid character, or is a placeholder.
    """
    if not _HEADER_VALUE.fullmatch(text):
        raise Refused("must be a header value of printable ASCII characters that neither begins nor ends with a space")
    return _filled_in(text)


def user_agent(text: str) -> str:
    """Read a User-Agent, which outputs show.

    Raises:
        Refused: It cannot be the value of a header.
    """
    return header_value(text).reveal()


def header(text: str) -> tuple[str, Secret]:
    """Read an extra header, as in ``X-Gateway: staging``.

    Raises:
        Refused: It has another form, or cannot be sent.
    """
    name, colon, value = text.partition(":")
    if not colon or not _HEADER_NAME.fullmatch(name.strip()):
        raise Refused("must have the form 'NAME: VALUE'")
    return header_name(name.strip()), header_value(value.strip())


def seconds(text: str) -> float:
    """Read a number of seconds.

    Raises:
        Refused: It is no number above 0, or exceeds a day.
    """
    return _number(text, "seconds")


def rate(text: str) -> float:
    """Read a number of requests a second.

    Raises:
        Refused: It is no number above 0, or absurdly large.
    """
    return _number(text, "requests a second")


def _number(text: str, of: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number <= DAY:
        raise Refused(f"must be a number of {of} above 0, and {DAY} at most")
    return number


def _filled_in(text: str) -> Secret:
    """Return a secret, unless it is a placeholder of an example or a report."""
    if _PLACEHOLDER.fullmatch(text):
        raise Refused("is a placeholder in angle brackets: put the real value in its place")
    return Secret(text)


def socket_address(text: str) -> tuple[str, int]:
    """Read ``host:port``; port 0 lets the system choose a port.

    Raises:
        Refused: It has another form.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon or not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:  # noqa: PLR2004
        raise Refused("must be host:port, as in 127.0.0.1:1025")
    return host.removeprefix("[").removesuffix("]"), int(port)


def conformance_class(text: str, known: Collection[str]) -> str:
    """Read the id of a conformance class.

    Raises:
        Refused: There is no such class.
    """
    if text not in known:
        raise Refused(f"must be a class{suggestion(text, known, ': ' + ', '.join(known), 1)}")
    return text


def domain(text: str) -> str:
    """Read a domain of e-mail addresses.

    Raises:
        Refused: It has another form.
    """
    if not _HOST.fullmatch(text) or text.endswith("."):
        raise Refused("must be a domain such as example.com, without an @")
    return text
