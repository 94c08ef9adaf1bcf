"""Shell scripts that reproduce a fault from a creation, because a run deletes what it creates."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.operations import OPERATIONS, SCOPES
from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.outcomes import CheckOutcome
from conformance.reports.curl import LONGEST_BODY, curl, shell_word, variables_of
from conformance.reports.text import one_line
from conformance.wire.exchange import NoResponse, SentRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

MOST: Final = 20
"""Most requests of a script; a longer one would have no advantage over a run."""

_GONE_BY: Final = {"deleteEngagement": "deleted the engagement", "removeMember": "removed the member"}
_PARAMETERS: Final = {OPERATIONS[operation].parameter: operation for operation in _GONE_BY}
_OF_ENGAGEMENTS: Final = OPERATIONS["deleteEngagement"].parameter
_ID: Final = re.compile(r'"id"[ \t\r]*:[ \t\r]*"([^"]*)')
_USABLE: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,200}")
_LONGEST_TEXT: Final = 500
_HEAD: Final = """#!/bin/sh
# Reproduces a fault that breaks {requirement}, with requests of the run.
# Needs curl. Keys come from the environment. At its end, the script deletes everything that it created.
set -u
LC_ALL=C
export LC_ALL
{variables}
show() { # a command
  shown=$("$@" 2>&1)
  printf '%s\\n\\n' "$shown"
}
id_in() { # a response, and the number of the id in it
  printf '%s\\n' "$1" | awk -v n="$2" '{ text = text $0 } END {
    for (; n > 0; n--) { if (!match(text, /"id"[ \\t\\r]*:[ \\t\\r]*"/)) exit; text = substr(text, RSTART + RLENGTH) }
    sub(/".*/, "", text)
    print text
  }'
}
stop() { # a sentence
  printf '%s\\n' "$1" >&2
  exit 1
}
"""
_CREATED: Final = """response=$({command} -w '\\n(status %{{http_code}})')
printf '%s\\n\\n' "$response"
{name}=$(id_in "$response" {place})
case ${name} in '' | '.' | '..' | *[!A-Za-z0-9._~-]*)
  {name}=
  stop 'The response to the creation has no usable id.' ;;
esac"""
_OWN: Final = """{own}() {{ {read} | grep -qF {mark}; }}
{end}() {{ [ -z "${name}" ] || ! {own} || {delete} -o /dev/null; }}
"""


class Recording:
    """The exchanges of a run, for commands and scripts that repeat what failures cite.

    Args:
        exchanges: All exchanges.
        prefix: The prefix of the names that the run gave.
        variables: The environment variables that the target file names for keys and headers, by their names in the
            record.
        redactor: Redacts secrets that became known late in exchanges and texts.
    """

    def __init__(
        self,
        exchanges: Iterable[Exchange] = (),
        prefix: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
        redactor: Redactor | None = None,
    ) -> None:
        self._prefix = prefix
        self._variables = variables
        self._redactor = redactor
        self._created: dict[str, Exchange] = {}
        self._gone: dict[tuple[str, str], int] = {}
        self._writes: defaultdict[str, list[Exchange]] = defaultdict(list)
        for exchange in exchanges:
            if exchange.request.is_proper and exchange.was_sent:
                self._learn(exchange)

    def _learn(self, exchange: Exchange) -> None:
        operation, identifier = exchange.request.operation, exchange.request.identifier
        if operation.id == "createEngagement" and (made := _made(exchange)) is not None:
            self._created.setdefault(made, exchange)
        if identifier is None or operation.method == "GET":
            return
        if operation.id in _GONE_BY and exchange.accepted:
            self._gone[operation.id, identifier] = exchange.number
        if operation.parameter == _OF_ENGAGEMENTS:
            self._writes[identifier].append(exchange)

    def curl(self, exchange: Exchange) -> str:
        """Return the curl command that repeats an exchange's request."""
        return curl(self._clean(exchange), self._variables)

    def gone(self, exchange: Exchange) -> str | None:
        """Return a sentence about what the run has deleted since, so that the request now shows something else."""
        operation, identifier = exchange.request.operation, exchange.request.identifier
        if not exchange.request.is_proper:
            return None
        deletion = _PARAMETERS.get(operation.parameter)
        if identifier is not None and deletion is not None:
            if self._gone.get((deletion, identifier), 0) <= exchange.number:
                return None
            shown = one_line(identifier)[:_LONGEST_TEXT]
            return f"The run has {_GONE_BY[deletion]} {shown} since."
        number = len(self._listed(exchange, since=exchange.number))
        engagements = "1 engagement" if number == 1 else f"{number:,} engagements"
        return f"The run has deleted {engagements} of this list since." if number else None

    def script(self, requirement: str, cited: Sequence[Exchange], *closing: str) -> str | None:
        """Return the script that reproduces a fault; None if the last request suffices, or a script would be too long.

        Args:
            requirement: The id of the broken requirement.
            cited: The exchanges that show the fault.
            closing: The texts that the script prints at its end.
        """
        ways = (
            self._chosen(exchanges, with_refused=with_refused)
            for exchanges in (cited, cited[-1:])
            for with_refused in (True, False)
        )
        # The curl command suffices for a single request.
        chosen = next((way for way in ways if 1 < len(way) <= MOST), [])
        if not chosen or any(len(exchange.sent_request.body) > LONGEST_BODY for exchange in chosen):
            return None
        return _Script(self._variables, self._prefix).text(
            requirement, list(map(self._clean, chosen)), [self._text(text) for text in closing]
        )

    def _subjects(self, cited: Sequence[Exchange]) -> list[str]:
        """Return the run's engagements that the exchanges are about; if there are none, those in their lists."""
        proper = [exchange for exchange in cited if exchange.request.is_proper]
        named = [
            exchange.request.identifier
            for exchange in proper
            if exchange.request.operation.parameter == _OF_ENGAGEMENTS
        ]
        named += [
            _made(exchange)
            for exchange in proper
            if exchange.request.operation.id == "createEngagement" and exchange.accepted
        ]
        if not any(identifier in self._created for identifier in named):
            named += [item for exchange in proper for item in self._listed(exchange)]
        return [
            identifier for identifier in dict.fromkeys(named) if identifier is not None and identifier in self._created
        ]

    def _clean(self, exchange: Exchange) -> Exchange:
        return exchange if self._redactor is None else exchange.without_secrets(self._redactor)

    def _text(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.text(text)

    def _chosen(self, cited: Sequence[Exchange], *, with_refused: bool) -> list[Exchange]:
        """Return the exchanges that a fault depends on, in order: creations, writes to the engagements, cited ones.

        The result is empty if it would contain no creation.

        Args:
            cited: The exchanges that show the fault.
            with_refused: Whether to include refused writes, which may have changed something nevertheless.
        """
        subjects = self._subjects(cited)
        if not subjects:
            return []
        last = max(exchange.number for exchange in cited)
        needed = [self._created[subject] for subject in subjects]
        needed += [write for subject in subjects for write in self._writes[subject] if with_refused or write.accepted]
        chosen = {exchange.number: exchange for exchange in [*needed, *cited] if exchange.number <= last}
        return [chosen[number] for number in sorted(chosen)]

    def _listed(self, exchange: Exchange, since: int | None = None) -> list[str]:
        """Return the run's engagements in a list; with ``since``, only those that it deleted after that exchange."""
        if exchange.request.operation.id != "listEngagements":
            return []
        try:
            found = [read.id_of(item) for item in read.items(exchange)]
        except (CheckOutcome, NoResponse):
            return []
        ids = [identifier for identifier in found if identifier in self._created]
        return (
            ids
            if since is None
            else [identifier for identifier in ids if self._gone.get(("deleteEngagement", identifier), 0) > since]
        )


class _Script:
    """Writer of a script.

    Every text of the service is a quoted word in it. Ids come from the responses to the script's own creations, and
    are used only if they consist of letters, digits and ``. _ ~ -``. The script writes to an engagement only if a read
    of it shows the run's prefix.
    """

    def __init__(self, variables: Mapping[str, str], prefix: str) -> None:
        self._variables = variables
        self._prefix = prefix
        self._names: dict[str, str] = {}
        self._own: set[str] = set()

    def text(self, requirement: str, chosen: Sequence[Exchange], closing: Sequence[str]) -> str | None:
        """Return the script; None if it could not recognize the id or the ownership of a created engagement."""
        creations = [
            exchange
            for exchange in chosen
            if exchange.request.operation.id == "createEngagement" and _made(exchange) is not None
        ]
        if not all(_place_of_id(creation) for creation in creations):
            return None
        if not all(self._prefix and self._prefix.encode() in creation.sent_request.body for creation in creations):
            return None
        functions, ends = [], []
        for number, creation in enumerate(creations, 1):
            self._names[_made(creation) or ""] = name = f"E{number}"
            functions.append(f"{name}=\n{self._ownership(creation, name)}")
            ends.append(f"end_{name}")
        used = dict.fromkeys(variable for exchange in chosen for variable in variables_of(exchange, self._variables))
        head = _HEAD.replace("{requirement}", requirement).replace(
            "{variables}", "\n".join(f': "${{{variable}:?must hold a key of the service}}"' for variable in used)
        )
        trap = f"trap {shell_word('; '.join(ends))} EXIT\ntrap 'exit 130' INT TERM HUP\n"
        steps = "\n".join(self._steps(chosen))
        end = "\n".join(f"printf '%s\\n' {shell_word(one_line(text)[:_LONGEST_TEXT])}" for text in closing)
        return "\n".join([head, *functions, trap, steps, end]) + "\n"

    def _ownership(self, creation: Exchange, name: str) -> str:
        """Return shell functions that check whether an engagement is the script's, and delete it if so."""
        headers = [(key, value) for key, value in creation.sent_request.headers if key.lower() != "content-type"]
        whose = creation.request.credential
        if whose is not None and whose.name in SCOPES:  # which may lack permissions for that
            headers = [(key, "Bearer <api_key>" if key.lower() == "authorization" else value) for key, value in headers]
        url = f"{creation.sent_request.url.partition('?')[0].rstrip('/')}/"
        return _OWN.format(
            name=name,
            own=f"own_{name}",
            end=f"end_{name}",
            read=self._command(_with(creation, "GET", url, headers), f'{shell_word(url)}"${name}"'),
            delete=self._command(_with(creation, "DELETE", url, headers), f'{shell_word(url)}"${name}"'),
            mark=shell_word(self._prefix),
        )

    def _steps(self, chosen: Sequence[Exchange]) -> Iterator[str]:
        number = 0
        for group in _groups(chosen):
            for exchange in group:
                number += 1
                yield f"printf '%s\\n' {shell_word(self._heading(number, exchange))}"
                yield from self._guard(exchange)
            for exchange in group:
                yield self._step(exchange) + (" &" if len(group) > 1 else "")
            if len(group) > 1:
                yield "wait"
            yield ""

    def _heading(self, number: int, exchange: Exchange) -> str:
        came = "no response" if exchange.received is None else str(exchange.received.status)
        name, path = self._names.get(exchange.request.identifier or ""), exchange.request.path
        if name is not None and exchange.request.is_proper:
            path = exchange.request.operation.path.replace(f"{{{exchange.request.operation.parameter}}}", name)
        return f"# {number}. {exchange.sent_request.method} {path} (in the run, exchange {exchange.number}: {came})"

    def _guard(self, exchange: Exchange) -> Iterator[str]:
        """Yield the check before the first write to an engagement that the script created it."""
        name = self._names.get(exchange.request.identifier or "")
        if name is not None and exchange.sent_request.method != "GET" and name not in self._own:
            self._own.add(name)
            yield f"own_{name} || stop 'This id is not that of an engagement of this script.'"

    def _step(self, exchange: Exchange) -> str:
        made = _made(exchange) if exchange.request.operation.id == "createEngagement" else None
        if made is not None:
            name, place = self._names[made], _place_of_id(exchange)
            return _CREATED.format(name=name, place=place, command=self._command(exchange))
        name = self._names.get(exchange.request.identifier or "", "")
        before, found, after = _around(exchange) if name else ("", "", "")
        address = f'{shell_word(before)}"${name}"{shell_word(after) if after else ""}' if found else None
        source, _, rest = curl(exchange, self._variables, address).rpartition("curl -i ")
        return f"{source}show curl -sS -i {rest}"

    def _command(self, exchange: Exchange, address: str | None = None) -> str:
        source, _, rest = curl(exchange, self._variables, address).rpartition("curl -i ")
        return f"{source}curl -sS {rest}"


def _groups(chosen: Sequence[Exchange]) -> list[list[Exchange]]:
    """Group overlapping exchanges of a scenario, to be sent together, except creations, whose ids others need."""
    groups: list[list[Exchange]] = []
    for exchange in chosen:
        is_beside = bool(groups) and all(
            other.check == exchange.check and Interval.of(other).meets(Interval.of(exchange)) for other in groups[-1]
        )
        if is_beside and "createEngagement" not in {exchange.request.operation.id, groups[-1][0].request.operation.id}:
            groups[-1].append(exchange)
        else:
            groups.append([exchange])
    return groups


def _with(exchange: Exchange, method: str, url: str, headers: Sequence[tuple[str, str]]) -> Exchange:
    return replace(exchange, sent_request=SentRequest(method, url, tuple(headers), b""))


def _around(exchange: Exchange) -> tuple[str, str, str]:
    """Return the parts of a sent URL before the identifier, the identifier, and the part after it."""
    before, _, after = exchange.request.operation.path.partition(f"{{{exchange.request.operation.parameter}}}")
    found = re.fullmatch(
        rf"([^?]*?{re.escape(before)})({re.escape(exchange.request.identifier or '')})({re.escape(after)}(?:\?.*)?)",
        exchange.sent_request.url,
        re.DOTALL,
    )
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _made(exchange: Exchange) -> str | None:
    """Return the id of a created engagement if a script can use it."""
    try:
        found = read.id_of(read.data(exchange))
    except (CheckOutcome, NoResponse):
        return None
    return found if isinstance(found, str) and _USABLE.fullmatch(found) else None


def _place_of_id(exchange: Exchange) -> int:
    """Return the position of the engagement's id among the ids in a creation's response, from 1; 0 if absent."""
    body = b"" if exchange.received is None else exchange.received.body
    found = _ID.findall(body.decode("utf-8", "replace").replace("\n", ""))
    return found.index(_made(exchange)) + 1 if _made(exchange) in found else 0
