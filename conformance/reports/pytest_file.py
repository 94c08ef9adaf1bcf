"""pytest files that reproduce a fault: requests of a run from a creation on, and an assertion of what failed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from conformance.json_text import ABSENT
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.reports.curl import SECRET, connection, readable, sent_headers, url_options, variable
from conformance.reports.symptoms import TIME, literal_of, permitted
from conformance.reports.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reports.steps import Steps
    from conformance.reports.symptoms import Symptom
    from conformance.wire.exchange import Exchange

_LONGEST_TEXT: Final = 500
_STABLE: Final = re.compile(r"/error/|/meta/(?:page|perPage)\Z")
"""The places of numbers that do not depend on what else the organization contains."""

_HEAD: Final = '''"""Reproduces a fault that breaks {requirement}, with requests of the run.

Needs pytest and curl. Keys come from the environment. At its end, the test deletes everything that it created.
"""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

FAULT = r"""
{fault}
"""
PREFIX = {prefix}
CURL = ["curl", "-sS", "-i", "--suppress-connect-headers"{options}]


class Secret(str):
    """A text that pytest shows without its content."""

    def __repr__(self):
        return "<secret>"


class Response:
    """A response: its status, its headers by lower-case names, and its body."""

    def __init__(self, received):
        head = b"HTTP/1.1 100"
        while re.match(rb"HTTP/\\S+ 1\\d\\d", head):
            head, _, received = received.partition(b"\\r\\n\\r\\n")
        first, *lines = head.decode("latin-1").split("\\r\\n")
        self.status = int(first.split()[1])
        self.headers = {{name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}}
        self.body = received

    def json(self):
        return json.loads(self.body)

    def items(self):
        """The items of a list by their ids."""
        return {{item["id"]: item for item in self.json()["data"]}}


def send(*arguments, body=None):
    """Send a request with curl, and return the response."""
    __tracebackhide__ = True  # pytest would show the keys among the words
    words = [*CURL, *arguments, *([] if body is None else ["--data-binary", "@-"])]
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    done = subprocess.run(encoded, input=body or b"", stdout=subprocess.PIPE)
    if done.returncode:
        pytest.fail(f"curl ended with status {{done.returncode}}, without a response.")
    return Response(done.stdout)


def together(*requests):
    """Send requests at the same time, and return their responses."""
    with ThreadPoolExecutor(len(requests)) as threads:
        return [future.result() for future in [threads.submit(request) for request in requests]]


def at(value, pointer):
    """Return the value at a JSON pointer; Ellipsis if there is none."""
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (LookupError, TypeError, ValueError):
            return ...
    return value


def id_of(response):
    """Return the id in the response to a creation."""
    found = response.json()["data"]["id"]
    assert re.fullmatch(r"(?!\\.{{1,2}}\\Z)[A-Za-z0-9._~-]+", found), "The response to the creation has no usable id."
    return found


def is_own(address, *headers):
    """Whether an engagement is one that this test created."""
    return PREFIX.encode() in send("-X", "GET", *headers, address).body


@pytest.fixture
def made():
    """The addresses of created engagements with the headers of their creation; deletes them."""
    created = []
    yield created
    for words in created:
        if is_own(*words):
            send("-X", "DELETE", *words[1:], words[0])


def {name}(made):
'''


def pytest_file(requirement: str, steps: Steps, symptom: Symptom, fault: Sequence[str]) -> str | None:
    """Return the content of a pytest file that fails while a service has a fault; None if no response shows it alone.

    Args:
        requirement: The id of the broken requirement.
        steps: The requests.
        symptom: The symptom, in one of their responses.
        fault: Sentences that describe the fault.
    """
    writer = _Writer(steps)
    body = list(writer.lines())
    condition = writer.condition(symptom, fault[1].partition(": ")[2])
    if condition is None:
        return None
    options = connection(steps.variables)
    head = _HEAD.format(
        requirement=requirement,
        fault="\n".join(one_line(text)[:_LONGEST_TEXT] for text in fault).replace('"""', "'''"),
        prefix=literal(steps.prefix),
        options="".join(
            f', "{option}"' + (f', os.environ["{name}"]' if name else "") for option, name in options.items()
        ),
        name="test_" + re.sub(r"\W", "_", requirement, flags=re.ASCII),
    )
    return head + "\n".join(f"    {line}" if line else "" for line in [*body, f"assert {condition}, FAULT"]) + "\n"


class _Writer:
    """Writer of the lines of a test."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._ids: dict[str, str] = {}
        self._responses: dict[int, str] = {}

    def lines(self) -> Iterator[str]:
        own: set[str] = set()
        for group in self._steps.groups():
            for exchange in group:
                self._responses[exchange.number] = f"response_{len(self._responses) + 1}"
                yield f"# in the run, exchange {exchange.number}: {exchange.status_text}"
                identifier = exchange.request.identifier or ""
                if identifier in self._ids and identifier not in own and exchange.sent_request.method != "GET":
                    own.add(identifier)
                    yield f'assert is_own(*made[{list(self._ids).index(identifier)}]), "This id is not of this test."'
            names = [self._responses[exchange.number] for exchange in group]
            if len(group) > 1:
                yield f"{', '.join(names)} = together("
                yield from (f"    lambda: {self._sent(exchange)}," for exchange in group)
                yield ")"
            else:
                yield f"{names[0]} = {self._sent(group[0])}"
            yield from (line for exchange in group for line in self._created(exchange))
            yield ""

    def condition(self, symptom: Symptom, expected: str) -> str | None:
        """Return the condition that the faulty response breaks; None if only several responses show the fault."""
        response, condition = self._responses[symptom.exchange.number], None
        match symptom.kind:
            case "status":
                condition = permitted(expected)(f"{response}.status") or f"{response}.status != {symptom.value}"
            case "body":
                condition = f"{response}.json() is not None"
            case "header" if symptom.value is None:
                condition = f"{literal(symptom.name.lower())} in {response}.headers"
            case "header":
                condition = f"{response}.headers.get({literal(symptom.name.lower())}) != {literal(symptom.value)}"
            case "listed" if self._id_of(symptom.value):
                condition = f"{self._id_of(symptom.value)} not in {response}.items()"
            case "missing":
                shown = {read.id_of(item) for item in readable_resources(symptom.exchange)}
                lost = [symptom.value] if symptom.value else [made for made in self._ids if made not in shown]
                absent = next(filter(None, map(self._id_of, lost)), None)
                condition = absent and f"{absent} in {response}.items()"
            case "member":
                condition = self._member(symptom, self._place(symptom, response), expected)
        return condition

    def _member(self, symptom: Symptom, shown: str, expected: str) -> str | None:
        if symptom.value is ABSENT:
            return f"{shown} is not ..."
        if isinstance(symptom.value, str) and TIME.fullmatch(symptom.value):
            return self._time(symptom, shown, expected)
        literal = literal_of(expected)
        if isinstance(literal, int | float) and not isinstance(literal, bool) and not _STABLE.match(symptom.name):
            return None
        if literal is None or literal == "":  # an empty description may be absent or null
            return f'{shown} in (..., None, "")' if symptom.value else None
        if literal is ABSENT or literal == symptom.value:
            return f"{shown} != {self._text(symptom.value)}"
        return f"{shown} == {self._text(literal)}"

    def _time(self, symptom: Symptom, shown: str, expected: str) -> str | None:
        """Return the condition of a time, which must relate to that in an earlier response or have another form."""
        named = TIME.search(expected)
        if named is None:
            form = re.sub(r"\d", "0", symptom.value)
            return f're.sub("[0-9]", "0", {shown}) != {literal(form)}'
        fields = dict.fromkeys([symptom.name.rpartition("/")[2], "createdAt", "updatedAt"])
        before = (
            f'at({self._responses[exchange.number]}.json(), "/data/{field}")'
            for exchange in self._steps.exchanges
            for field in fields
            if exchange.number != symptom.exchange.number and exchange.value_at(f"/data/{field}") == named[0]
        )
        relation = ">=" if "or later" in expected else ">" if "later" in expected else "=="
        return next((f"{shown} {'!=' if named[0] == symptom.value else relation} {place}" for place in before), None)

    def _id_of(self, value: object) -> str | None:
        """Return the name of the variable that holds an id; None if a value is no id of the test."""
        return self._ids.get(value) if isinstance(value, str) else None

    def _place(self, symptom: Symptom, response: str) -> str:
        """Return the expression of a member; an item of a list is found by its id."""
        found = re.fullmatch(r"(/data/\d+)(/.*)", symptom.name)
        name = found and self._id_of(symptom.exchange.value_at(f"{found[1]}/id"))
        if found and name:
            return f"at({response}.items()[{name}], {literal(found[2])})"
        return f"at({response}.json(), {literal(symptom.name)})"

    def _created(self, exchange: Exchange) -> Iterator[str]:
        identifier = self._steps.made(exchange)
        if identifier is None:
            return
        name = self._ids[identifier] = f"id_{len(self._ids) + 1}"
        creation, url = self._steps.reading(exchange)
        headers = self._headers(creation)
        indent = ""
        if not exchange.accepted:
            yield f"if 200 <= {self._responses[exchange.number]}.status < 300:"
            indent = "    "
        yield f"{indent}{name} = id_of({self._responses[exchange.number]})"
        yield f"{indent}made.append(({self._text(url)} + {name}, {', '.join(headers)}))"

    def _sent(self, exchange: Exchange) -> str:
        sent = exchange.sent_request
        words = ['"-X"', literal(sent.method), *map(literal, url_options(sent.url)), *self._headers(exchange)]
        words.append(self._text(sent.url, self._steps.parts(exchange)))
        text = readable(sent.body)
        body = [f"body={sent.body!r}" if text is None else f"body={literal(text)}.encode()"] if sent.body else []
        return f"send({', '.join([*words, *body])})"

    def _headers(self, exchange: Exchange) -> list[str]:
        headers = [
            f"{name}:" if value is None else f"{name}: {value}" if value else f"{name};"
            for name, value in sent_headers(exchange.sent_request)
        ]
        return [word for header in headers for word in ('"-H"', self._secrets(header))]

    def _secrets(self, text: str) -> str:
        """Return the expression of a text in which names of secrets stand for environment variables."""
        pieces = SECRET.split(text.replace("\0", ""))
        words = [
            f'os.environ["{variable(piece, self._steps.variables)}"]' if place % 2 else literal(piece)
            for place, piece in enumerate(pieces)
            if piece
        ]
        joined = " + ".join(words)
        return f"Secret({joined})" if len(pieces) > 1 else joined

    def _text(self, value: Any, parts: tuple[str, str, str] | None = None) -> str:  # noqa: ANN401 - any JSON value
        """Return the expression of a value, in which ids of the run stand for those of the test."""
        if parts is not None and parts[1] in self._ids:
            return " + ".join([literal(parts[0]), self._ids[parts[1]], *([literal(parts[2])] if parts[2] else [])])
        if (name := self._id_of(value)) is not None:
            return name
        return literal(value.replace("\0", "") if parts is not None else value)


def literal(value: object) -> str:
    """Return a value in Python's notation; a text in double quotes, with characters escaped that do not print."""
    if not isinstance(value, str):
        return repr(value)
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in quoted)
