"""The command line that repeats an exchange, fit to be pasted into a shell."""

from __future__ import annotations

import base64
import re
import shlex
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.wire.exchange import Exchange, SentRequest

LONGEST_BODY: Final = 16_384
"""Bytes of a body that are written into the command; longer ones are taken from exchanges.har."""

_OWN_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-length", "user-agent", "transfer-encoding"}
)
_SECRET: Final = re.compile(r"<([A-Za-z][\w:.-]*)>")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_PLAIN: Final = re.compile(r"[\w :.,/+=-]*", re.ASCII)


def curl(exchange: Exchange, variables: Mapping[str, str] = _NONE, address: str | None = None) -> str:
    """The curl command that sends an exchange's request again.

    Keys are taken from environment variables: those that the target file names, else the run's own from
    ``$CONFORMANCE_API_KEY`` and any other from ``$CONFORMANCE_KEY_`` and its name in capitals. The command holds
    nothing that a terminal would obey.

    Args:
        exchange: The exchange.
        variables: The variables that the target file names, by the names of the secrets.
        address: A word of the shell to take in place of the address.
    """
    source, data = _body(exchange)
    words = ["curl -i -X", shell_word(exchange.sent_request.method), *_url_options(exchange.sent_request.url)]
    words += [f"-H {_header(name, value, variables)}" for name, value in _told(exchange.sent_request)]
    words += data
    return source + " ".join([*words, address or shell_word(exchange.sent_request.url)])


def variables_of(exchange: Exchange, variables: Mapping[str, str] = _NONE) -> list[str]:
    """The environment variables that the curl command of an exchange takes its secrets from."""
    values = [value for _, value in _told(exchange.sent_request) if value]
    return [variable(name, variables) for value in values for name in _SECRET.findall(value)]


def shell_word(text: str) -> str:
    """One word of a POSIX shell that means exactly this text, without characters that a terminal would obey.

    NUL, which no argument can hold, is left out; so are line feeds at the end of text with unprintable characters.
    """
    if text.isprintable():
        return shlex.quote(text)
    octets = "".join(map(_printf, text.encode("utf-8", "surrogatepass").replace(b"\0", b"")))
    return f"\"$(printf '{octets}')\""


def _printf(octet: int) -> str:
    """An octet as printf takes it, unambiguous within single quotes."""
    plain = chr(octet).isalnum() and octet < 128  # noqa: PLR2004
    return chr(octet) if plain or octet in b" _.:/=" else f"\\{octet:03o}"


def variable(name: str, variables: Mapping[str, str] = _NONE) -> str:
    """The environment variable that a key is taken from, by the key's name."""
    if name in variables:
        return variables[name]
    if name == "api_key":
        return "CONFORMANCE_API_KEY"
    return "CONFORMANCE_KEY_" + re.sub(r"\W+", "_", name.removeprefix("keys."), flags=re.ASCII).strip("_").upper()


def _url_options(url: str) -> Iterator[str]:
    if re.search(r"[][{}]", url):
        yield "--globoff"
    if "/." in url:
        yield "--path-as-is"


def _told(request: SentRequest) -> Iterator[tuple[str, str | None]]:
    """The headers that curl must be told; None takes away one that it would add by itself."""
    sent = [(name, value) for name, value in request.headers if name.lower() not in _OWN_HEADERS]
    yield from sent
    if request.body and not any(name.lower() == "content-type" for name, _ in sent):
        yield "Content-Type", None


def _header(name: str, value: str | None, variables: Mapping[str, str]) -> str:
    if value is None:
        return shell_word(f"{name}:")
    if not value:
        return shell_word(f"{name};")
    return _with_variables(f"{name}: {value}", variables)


def _with_variables(text: str, given: Mapping[str, str]) -> str:
    """The text as one shell word, the names of secrets replaced by variables."""
    pieces = _SECRET.split(text)
    literals, names = pieces[::2], pieces[1::2]
    variables = [
        f"${{{found}}}" if following[:1].isalnum() or following[:1] == "_" else f"${found}"
        for found, following in zip((variable(name, given) for name in names), literals[1:], strict=True)
    ]
    if names and all(_PLAIN.fullmatch(literal) for literal in literals):
        return '"' + "".join(_interleaved(literals, variables)) + '"'
    quoted = [shell_word(literal) if literal else "" for literal in literals]
    return "".join(_interleaved(quoted, [f'"{name}"' for name in variables]))


def _interleaved(literals: list[str], between: list[str]) -> Iterator[str]:
    for literal, following in zip(literals, [*between, ""], strict=True):
        yield literal
        yield following


def _body(exchange: Exchange) -> tuple[str, list[str]]:
    """What must run before curl, and curl's own options for the body."""
    body = exchange.sent_request.body
    if not body:
        return "", []
    if len(body) > LONGEST_BODY:
        return _from_archive(exchange), ["--data-binary @-"]
    text = _readable(body)
    if text is not None:
        return "", [f"--data-raw {shlex.quote(text)}"]
    return f"printf %s {base64.b64encode(body).decode()} | base64 -d | ", ["--data-binary @-"]


def _readable(body: bytes) -> str | None:
    """The body as text, if it can be pasted into a terminal without harm."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").isprintable() else None


def _from_archive(exchange: Exchange) -> str:
    """Long bodies would exceed what a command line may hold."""
    extract = f"jq -j '.log.entries[{exchange.number - 1}].request.postData.text' exchanges.har | "
    return extract if _is_text(exchange.sent_request.body) else extract + "base64 -d | "


def _is_text(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
