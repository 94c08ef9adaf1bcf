"""Reading of exchanges.har: the exchanges of a recorded run."""

from __future__ import annotations

import base64
import re
from collections import defaultdict, deque
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from conformance.files import RECORDING, read_file
from conformance.interface.operations import OPERATIONS, Operation
from conformance.json_text import SharedValues
from conformance.reports.text import load_json, one_line
from conformance.wire.exchange import Exchange, Response, SentRequest
from conformance.wire.requests import Credential, Request

if TYPE_CHECKING:
    from collections.abc import Callable

_Headers = tuple[tuple[str, str], ...]

_T = TypeVar("_T")

_MOST_MISSING: Final = 1000
"""Most numbers beyond the count of entries: a recording with removed entries can still be read."""

_LONGEST: Final = 10**12
_YEARS: Final = (1970, 9000)
_OMITTED: Final = frozenset({"accept", "content-type"})
"""Headers that requests with odd headers lack on purpose."""


class InvalidRecording(ValueError):
    """The file is not a recording of a run; the message is one plain sentence."""


def read_har(path: Path | str) -> list[Exchange]:
    """Return the exchanges of a run, in the order of their numbers.

    Requests are restored from the record; the names of secrets replace the secrets.

    Raises:
        InvalidRecording: The file cannot be read, or the suite did not write it.
    """
    name = one_line(str(path))
    try:
        return _exchanges(load_json(read_file(Path(path), RECORDING))["log"]["entries"])
    except OSError as error:
        raise InvalidRecording(f"The recording {name} cannot be read: {error.strerror}.") from error
    except MemoryError:
        raise InvalidRecording(f"The recording {name} needs more memory than is available.") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidRecording(
            f"The file {name} is not a recording of this suite: {one_line(repr(error))[:200]}."
        ) from error


def _exchanges(entries: list[dict[str, Any]]) -> list[Exchange]:
    numbers = range(1, len(entries) + _MOST_MISSING)
    shared = SharedValues()
    found = [_exchange(entry, shared) for entry in entries if not entry.get("_missing")]
    if any(exchange.number not in numbers for exchange in found):
        raise ValueError("an exchange number is out of range")
    if len({exchange.number for exchange in found}) < len(found):
        raise ValueError("two exchanges have the same number")
    return found


def _exchange(entry: dict[str, Any], shared: SharedValues) -> Exchange:
    sent, received, error = _request(entry["request"]), _response(entry["response"], shared), entry["_trouble"]
    if (received is None) is (error is None):
        raise ValueError("an exchange has neither a response nor an error, or both")
    if received is not None and not entry["_sent"]:
        raise ValueError("an exchange that was not sent has a response")
    return Exchange(
        number=int(entry["_number"]),
        check=_text(entry["_check"]),
        request=_intended(entry, sent),
        sent_request=sent,
        received=received,
        error=_optional(error, _text),
        started_at=_moment(entry["startedDateTime"]),
        seconds=round(_duration(entry["time"]) / 1000, 6),
        attempt=int(entry["_attempt"]),
        was_sent=bool(entry["_sent"]),
        head_seconds=_optional(entry["_head_seconds"], _duration),
    )


def _request(request: dict[str, Any]) -> SentRequest:
    sent = request.get("postData")
    body = b"" if sent is None else _bytes(_text(sent["text"]), sent.get("_encoding"))
    return SentRequest(_text(request["method"]), _text(request["url"]), _headers(request["headers"]), body)


def _response(response: dict[str, Any], shared: SharedValues) -> Response | None:
    if response["status"] == 0:
        return None
    content = response["content"]
    body = _bytes(_text(content["text"]), content.get("encoding"))
    version = _text(response["httpVersion"])
    return Response(int(response["status"]), _headers(response["headers"]), body, version, shared=shared)


def _intended(entry: dict[str, Any], sent: SentRequest) -> Request:
    meant = entry["_call"]
    operation = OPERATIONS[meant["operation"]]
    parts = urlsplit(sent.url)
    request = Request(
        operation=operation,
        identifier=_identifier(operation, parts.path),
        query=tuple(parse_qsl(parts.query, keep_blank_values=True, errors="surrogatepass")),
        body=sent.body if "postData" in entry["request"] else None,
        headers=_own(meant["headers"], sent.headers),
        credential=_credential(_optional(meant["credential"], _text), sent.headers),
        repeatable=bool(meant["repeatable"]),
        expects_429=bool(meant["expects_429"]),
        unjudged=bool(meant.get("unjudged", False)),
    )
    return (
        request.as_probe(sent.method, urlunsplit(("", "", parts.path, parts.query, ""))) if meant["probe"] else request
    )


def _own(names: list[str], sent: _Headers) -> _Headers:
    """Return the headers of the request itself; those that it lacks on purpose, or was never sent with, have no value.

    Raises:
        ValueError: A request was sent without another of them.
    """
    values: defaultdict[str, deque[str]] = defaultdict(deque)
    for name, value in sent:
        values[name.lower()].append(value)
    found = [(name, values[name.lower()].popleft() if values[name.lower()] else None) for name in map(_text, names)]
    missing = [name for name, value in found if value is None and name.lower() not in _OMITTED]
    if sent and missing:
        raise ValueError(f"a request was sent without its header {missing[0][:40]}")
    return tuple((name, value or "") for name, value in found)


def _credential(name: str | None, headers: _Headers) -> Credential | None:
    if name is None:
        return None
    shown = [value for given, value in headers if given.lower() == "authorization"]
    return Credential(name, shown[0] if shown else None)


def _identifier(operation: Operation, path: str) -> str | None:
    if operation.parameter is None:
        return None
    before, _, rest = operation.path.partition("{")
    after = rest.partition("}")[2]
    found = re.search(rf"{re.escape(before)}([^/]*){re.escape(after)}\Z", path)
    return None if found is None else unquote(found[1], errors="surrogatepass")


def _headers(headers: list[dict[str, str]]) -> _Headers:
    return tuple((_text(header["name"]), _text(header["value"])) for header in headers)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]} is not text")
    return value


def _duration(value: object) -> float:
    """Return a plausible duration of a run, in seconds or milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST:
        raise ValueError(f"{str(value)[:40]} is not a duration")
    return float(value)


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None or not _YEARS[0] <= moment.year <= _YEARS[1]:
        raise ValueError(f"{moment} is not a time of a run")
    return moment


def _optional(value: object, read: Callable[[object], _T]) -> _T | None:
    return None if value is None else read(value)


def _bytes(text: str, encoding: str | None) -> bytes:
    return base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
