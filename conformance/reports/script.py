"""A shell script that leads from a creation to the fault: what a run has made is gone when its report is read."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.operations import OPERATIONS, SCOPES
from conformance.oracle import read
from conformance.oracle.effects import Interval, accepted
from conformance.oracle.outcomes import CheckOutcome
from conformance.reports.curl import LONGEST_BODY, curl, shell_word, variables_of
from conformance.reports.text import one_line
from conformance.wire.exchange import NoResponse, SentRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

MOST: Final = 20
"""Requests of a script; more would be no shorter way than the run itself."""

_GONE_BY: Final = {"deleteEngagement": "deleted the engagement", "removeMember": "removed the member"}
_PARAMETERS: Final = {OPERATIONS[operation].parameter: operation for operation in _GONE_BY}
_OF_ENGAGEMENTS: Final = OPERATIONS["deleteEngagement"].parameter
_ID: Final = re.compile(r'"id"[ \t\r]*:[ \t\r]*"([^"]*)')
_USABLE: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,200}")
_LONGEST_TEXT: Final = 500
_HEAD: Final = """#!/bin/sh
# Leads to what breaks {requirement}, by requests of the run's.
# Needs curl. Keys come from the environment. What it creates it deletes when it ends.
set -u
LC_ALL=C
export LC_ALL
{variables}
show() { # a command
  shown=$("$@" 2>&1)
  printf '%s\\n\\n' "$shown"
}
id_in() { # a response, and which of the ids in it
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
  stop 'The response to the creation has no id that can be used.' ;;
esac"""
_OWN: Final = """{own}() {{ {read} | grep -qF {mark}; }}
{end}() {{ [ -z "${name}" ] || ! {own} || {delete} -o /dev/null; }}
"""


class Recording:
    """What was sent in a run, for repeating what failures cite.

    Args:
        exchanges: Everything that was sent.
        prefix: How the names begin that the run gave.
        variables: The environment variables that hold keys and headers, by their names in the record, where the target
            file names one.
        redactor: Takes secrets that became known late out of exchanges and texts.
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
        if operation.id in _GONE_BY and accepted(exchange):
            self._gone[operation.id, identifier] = exchange.number
        if operation.parameter == _OF_ENGAGEMENTS:
            self._writes[identifier].append(exchange)

    def curl(self, exchange: Exchange) -> str:
        """The curl command that sends an exchange's request again."""
        return curl(self._clean(exchange), self._variables)

    def gone(self, exchange: Exchange) -> str | None:
        """What the run has deleted since, so that the same request shows something else now, as a sentence."""
        operation, identifier = exchange.request.operation, exchange.request.identifier
        if not exchange.request.is_proper:
            return None
        deletion = _PARAMETERS.get(operation.parameter)
        if identifier is not None and deletion is not None:
            if self._gone.get((deletion, identifier), 0) <= exchange.number:
                return None
            told = one_line(identifier)[:_LONGEST_TEXT]
            return f"The run has {_GONE_BY[deletion]} {told} since."
        number = len(self._listed(exchange, since=exchange.number))
        engagements = "1 engagement" if number == 1 else f"{number:,} engagements"
        return f"The run has deleted {engagements} of this list since." if number else None

    def script(self, requirement: str, cited: Sequence[Exchange], *told: str) -> str | None:
        """The script that leads to a fault; None where the last request alone shows it, or no short one would do.

        Args:
            requirement: The id of the requirement that is broken.
            cited: The exchanges that show it.
            told: What it says at its end.
        """
        ways = (
            self._chosen(exchanges, with_refused=with_refused)
            for exchanges in (cited, cited[-1:])
            for with_refused in (True, False)
        )
        # One request is what the curl command sends.
        chosen = next((way for way in ways if 1 < len(way) <= MOST), [])
        if not chosen or any(len(one.sent_request.body) > LONGEST_BODY for one in chosen):
            return None
        return _Script(self._variables, self._prefix).text(
            requirement, list(map(self._clean, chosen)), [self._text(one) for one in told]
        )

    def _subjects(self, cited: Sequence[Exchange]) -> list[str]:
        """The engagements of the run that exchanges are about; those of their lists where they are about no other."""
        proper = [one for one in cited if one.request.is_proper]
        named = [one.request.identifier for one in proper if one.request.operation.parameter == _OF_ENGAGEMENTS]
        named += [_made(one) for one in proper if one.request.operation.id == "createEngagement" and accepted(one)]
        if not any(one in self._created for one in named):
            named += [item for one in proper for item in self._listed(one)]
        return [one for one in dict.fromkeys(named) if one is not None and one in self._created]

    def _clean(self, exchange: Exchange) -> Exchange:
        return exchange if self._redactor is None else exchange.without_secrets(self._redactor)

    def _text(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.text(text)

    def _chosen(self, cited: Sequence[Exchange], *, with_refused: bool) -> list[Exchange]:
        """What a fault depends on, in order: creations, what wrote to the same engagements, and what is cited.

        Nothing where no creation is among that.

        Args:
            cited: What shows the fault.
            with_refused: Whether writes that were refused, and may have changed something all the same, are among that.
        """
        subjects = self._subjects(cited)
        if not subjects:
            return []
        last = max(one.number for one in cited)
        needed = [self._created[one] for one in subjects]
        needed += [write for one in subjects for write in self._writes[one] if with_refused or accepted(write)]
        chosen = {one.number: one for one in [*needed, *cited] if one.number <= last}
        return [chosen[number] for number in sorted(chosen)]

    def _listed(self, exchange: Exchange, since: int | None = None) -> list[str]:
        """The engagements of a list that the run has made; only those that it has deleted since, if that is asked."""
        if exchange.request.operation.id != "listEngagements":
            return []
        try:
            found = [read.id_of(item) for item in read.items(exchange)]
        except (CheckOutcome, NoResponse):
            return []
        ids = [one for one in found if one in self._created]
        return ids if since is None else [one for one in ids if self._gone.get(("deleteEngagement", one), 0) > since]


class _Script:
    """Writes a script.

    No text of the service's is anything but a quoted word in it. Ids come from the responses to its own creations; they
    are used only if they consist of letters, digits and ``. _ ~ -``, and nothing is written to what does not show the
    run's prefix when it is read.
    """

    def __init__(self, variables: Mapping[str, str], prefix: str) -> None:
        self._variables = variables
        self._prefix = prefix
        self._names: dict[str, str] = {}
        self._own: set[str] = set()

    def text(self, requirement: str, chosen: Sequence[Exchange], told: Sequence[str]) -> str | None:
        """The whole script; None where the id of a creation could not be told in it, or whose an engagement is."""
        creations = [one for one in chosen if one.request.operation.id == "createEngagement" and _made(one) is not None]
        if not all(_place_of_id(one) for one in creations):
            return None
        if not all(self._prefix and self._prefix.encode() in one.sent_request.body for one in creations):
            return None
        functions, ends = [], []
        for number, creation in enumerate(creations, 1):
            self._names[_made(creation) or ""] = name = f"E{number}"
            functions.append(f"{name}=\n{self._ownership(creation, name)}")
            ends.append(f"end_{name}")
        used = dict.fromkeys(one for exchange in chosen for one in variables_of(exchange, self._variables))
        head = _HEAD.replace("{requirement}", requirement).replace(
            "{variables}", "\n".join(f': "${{{one}:?must hold a key of the service}}"' for one in used)
        )
        trap = f"trap {shell_word('; '.join(ends))} EXIT\ntrap 'exit 130' INT TERM HUP\n"
        steps = "\n".join(self._steps(chosen))
        end = "\n".join(f"printf '%s\\n' {shell_word(one_line(text)[:_LONGEST_TEXT])}" for text in told)
        return "\n".join([head, *functions, trap, steps, end]) + "\n"

    def _ownership(self, creation: Exchange, name: str) -> str:
        """Functions that say whether an engagement is the script's, and delete it if so."""
        headers = [(key, value) for key, value in creation.sent_request.headers if key.lower() != "content-type"]
        whose = creation.request.credential
        if whose is not None and whose.name in SCOPES:  # which may not do all of that
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
            for one in group:
                number += 1
                yield f"printf '%s\\n' {shell_word(self._heading(number, one))}"
                yield from self._guard(one)
            for one in group:
                yield self._step(one) + (" &" if len(group) > 1 else "")
            if len(group) > 1:
                yield "wait"
            yield ""

    def _heading(self, number: int, exchange: Exchange) -> str:
        came = "no answer" if exchange.received is None else str(exchange.received.status)
        name, path = self._names.get(exchange.request.identifier or ""), exchange.request.path
        if name is not None and exchange.request.is_proper:
            path = exchange.request.operation.path.replace(f"{{{exchange.request.operation.parameter}}}", name)
        return f"# {number}. {exchange.sent_request.method} {path} (in the run, exchange {exchange.number}: {came})"

    def _guard(self, exchange: Exchange) -> Iterator[str]:
        """Before the first write to an engagement: it is the one that the script has created."""
        name = self._names.get(exchange.request.identifier or "")
        if name is not None and exchange.sent_request.method != "GET" and name not in self._own:
            self._own.add(name)
            yield f"own_{name} || stop 'The id is not that of what was created here.'"

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
    """Exchanges of one scenario that overlapped are sent together; creations, whose ids others need, are not."""
    groups: list[list[Exchange]] = []
    for one in chosen:
        is_beside = bool(groups) and all(
            other.check == one.check and Interval.of(other).meets(Interval.of(one)) for other in groups[-1]
        )
        if is_beside and "createEngagement" not in {one.request.operation.id, groups[-1][0].request.operation.id}:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _with(exchange: Exchange, method: str, url: str, headers: Sequence[tuple[str, str]]) -> Exchange:
    return replace(exchange, sent_request=SentRequest(method, url, tuple(headers), b""))


def _around(exchange: Exchange) -> tuple[str, str, str]:
    """What stands before and after the identifier in an address, as it was sent."""
    before, _, after = exchange.request.operation.path.partition(f"{{{exchange.request.operation.parameter}}}")
    found = re.fullmatch(
        rf"([^?]*?{re.escape(before)})({re.escape(exchange.request.identifier or '')})({re.escape(after)}(?:\?.*)?)",
        exchange.sent_request.url,
        re.DOTALL,
    )
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _made(exchange: Exchange) -> str | None:
    """The id of what a creation made, if a script can use it."""
    try:
        found = read.id_of(read.data(exchange))
    except (CheckOutcome, NoResponse):
        return None
    return found if isinstance(found, str) and _USABLE.fullmatch(found) else None


def _place_of_id(exchange: Exchange) -> int:
    """Which of the ids in the body of a creation's response is that of the engagement, from 1; 0 where none is."""
    body = b"" if exchange.received is None else exchange.received.body
    found = _ID.findall(body.decode("utf-8", "replace").replace("\n", ""))
    return found.index(_made(exchange)) + 1 if _made(exchange) in found else 0
