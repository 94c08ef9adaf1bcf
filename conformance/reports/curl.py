"""Curl commands that repeat an exchange, safe to paste into a shell."""

from __future__ import annotations

import base64
import re
import shlex
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.wire.redaction import is_text
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.wire.exchange import Exchange, SentRequest

LONGEST_BODY: Final = 16_384
"""Most bytes of a body within the command; longer bodies are read from exchanges.har."""

OWN_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-length", "user-agent", "transfer-encoding"}
)
SECRET: Final = re.compile(r"<([A-Za-z][\w:.-]*)>")
"""The name of a secret in a recorded text."""

_CONNECTION: Final = {
    "ca_file": "--cacert",
    "cert": "--cert",
    "cert_key": "--key",
    "proxy": "--proxy",
    "insecure": "--insecure",
}
"""The options of curl for those of a run's connection, by their names among the variables."""
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_PLAIN: Final = re.compile(r"[\w :.,/+=-]*", re.ASCII)


def curl(exchange: Exchange, variables: Mapping[str, str] = _NONE, address: str | None = None) -> str:
    """Return the curl command that repeats an exchange's request.

    Keys come from the environment variables that the target file names. Without a name, the main key comes from
    ``$CONFORMANCE_API_KEY``, and any other key from ``$CONFORMANCE_KEY_`` and its name in capitals. The command
    contains no characters that control a terminal.

    Args:
        exchange: The exchange.
        variables: The variables that the target file names, by the names of the secrets and connection options.
        address: A shell word that replaces the address.
    """
    source, data = _body(exchange)
    words = ["curl -i -X", shell_word(exchange.sent_request.method), *url_options(exchange.sent_request.url)]
    words += [f'{option} "${name}"' if name else option for option, name in connection(variables).items()]
    words += [f"-H {_header(name, value, variables)}" for name, value in sent_headers(exchange.sent_request)]
    words += data
    return source + " ".join([*words, address or shell_word(exchange.sent_request.url)])


def variables_of(exchange: Exchange, variables: Mapping[str, str]) -> list[str]:
    """Return the environment variables from which the curl command of an exchange takes secrets and files."""
    values = [value for _, value in sent_headers(exchange.sent_request) if value]
    secrets = [variable(name, variables) for value in values for name in SECRET.findall(value)]
    return [*secrets, *filter(None, connection(variables).values())]


def connection(variables: Mapping[str, str]) -> dict[str, str]:
    """Return curl's options for the connection of a run, each with the variable of its value; empty without a value."""
    return {option: variables[name] for name, option in _CONNECTION.items() if name in variables}


def shell_word(text: str) -> str:
    """Return a word of a POSIX shell that means exactly this text, without characters that control a terminal.

    NUL, which no argument can contain, is left out. So are line feeds at the end of text with unprintable characters.
    """
    if text.isprintable():
        return shlex.quote(text)
    octets = "".join(map(_printf, text.encode("utf-8", "surrogatepass").replace(b"\0", b"")))
    return f"\"$(printf '{octets}')\""


def _printf(octet: int) -> str:
    """Return an octet in printf notation, unambiguous within single quotes."""
    character = chr(octet)
    is_plain = character.isascii() and character.isalnum()
    return character if is_plain or octet in b" _.:/=" else f"\\{octet:03o}"


def variable(name: str, variables: Mapping[str, str] = _NONE) -> str:
    """Return the environment variable of a key, by the key's name."""
    if name in variables:
        return variables[name]
    if name == MAIN_KEY:
        return "CONFORMANCE_API_KEY"
    return "CONFORMANCE_KEY_" + re.sub(r"\W+", "_", name.removeprefix("keys."), flags=re.ASCII).strip("_").upper()


def url_options(url: str) -> Iterator[str]:
    """Yield the options for a URL that curl would change."""
    if re.search(r"[][{}]", url):
        yield "--globoff"
    if "/." in url:
        yield "--path-as-is"


def sent_headers(request: SentRequest) -> Iterator[tuple[str, str | None]]:
    """Yield the headers to pass to curl; the value None removes a header that curl would add."""
    sent = [(name, value) for name, value in request.headers if name.lower() not in OWN_HEADERS]
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
    """Return the text as one shell word, with the names of secrets replaced by variables."""
    pieces = SECRET.split(text)
    literals, names = pieces[::2], pieces[1::2]
    variables = [
        f"${{{found}}}" if following[:1].isalnum() or following[:1] == "_" else f"${found}"
        for found, following in zip((variable(name, given) for name in names), literals[1:], strict=True)
    ]
    if names and all(_PLAIN.fullmatch(literal) for literal in literals):
        return f'"{_interleaved(literals, variables)}"'
    quoted = [shell_word(literal) if literal else "" for literal in literals]
    return _interleaved(quoted, [f'"{name}"' for name in variables])


def _interleaved(literals: list[str], between: list[str]) -> str:
    return "".join(chain.from_iterable(zip_longest(literals, between, fillvalue="")))


def _body(exchange: Exchange) -> tuple[str, list[str]]:
    """Return the command to run before curl, and curl's options for the body."""
    body = exchange.sent_request.body
    if not body:
        return "", []
    if len(body) > LONGEST_BODY:
        return _from_archive(exchange), ["--data-binary @-"]
    text = readable(body)
    if text is not None:
        return "", [f"--data-raw {shlex.quote(text)}"]
    return f"printf %s {base64.b64encode(body).decode()} | base64 -d | ", ["--data-binary @-"]


def readable(body: bytes) -> str | None:
    """Return the body as text if it is safe to paste into a terminal."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").isprintable() else None


def _from_archive(exchange: Exchange) -> str:
    """Return the command that extracts a long body, which would exceed the limit of a command line."""
    extract = f"jq -j '.log.entries[{exchange.number - 1}].request.postData.text' exchanges.har | "
    return extract if is_text(exchange.sent_request.body) else extract + "base64 -d | "
