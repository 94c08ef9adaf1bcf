"""Shell scripts and pytest files that reproduce a fault from a creation, because a run deletes what it creates."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome
from conformance.reports.curl import LONGEST_BODY, curl, shell_word, variables_of
from conformance.reports.pytest_file import pytest_file
from conformance.reports.steps import Steps, made_by, place_of_id
from conformance.reports.symptoms import is_success, symptom_of
from conformance.reports.text import one_line
from conformance.reports.wording import counted
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

MOST: Final = 20
"""Most requests of a script; a longer one would have no advantage over a run."""

_GONE_BY: Final = {"deleteEngagement": "deleted the engagement", "removeMember": "removed the member"}
_PARAMETERS: Final = {OPERATIONS[operation].parameter: operation for operation in _GONE_BY}
_OF_ENGAGEMENTS: Final = OPERATIONS["deleteEngagement"].parameter
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
  {otherwise} ;;
esac"""
_OWN: Final = """{own}() {{ {read} | grep -qF {mark}; }}
{end}() {{ [ -z "${name}" ] || ! {own} || {delete} -o /dev/null; }}
"""


class Reproductions:
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
        if operation.id == "createEngagement" and (made := made_by(exchange)) is not None:
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
        return f"The run has deleted {counted(number, 'engagement')} of this list since." if number else None

    def reproduction(
        self,
        requirement: str,
        cited: Sequence[Exchange],
        *,
        message: str,
        expected: str,
        actual: str,
        pointer: str | None,
    ) -> dict[str, str]:
        """Return the ``script`` and the ``test`` that reproduce a failure, as far as they are possible.

        There is no script if it would be long or could not recognize what it created. There is no test if no single
        response shows the fault.

        Args:
            requirement: The id of the broken requirement.
            cited: The exchanges that show the fault, at least one.
            message: The message of the failure.
            expected: Every permitted behaviour, in words.
            actual: The actual behaviour.
            pointer: The place in the body, or None.
        """
        symptom = symptom_of(cited, expected, actual, pointer)
        chosen = self._steps_to(cited, symptom.exchange)
        if not chosen or any(len(exchange.sent_request.body) > LONGEST_BODY for exchange in chosen):
            return {}
        clean = {exchange.number: self._clean(exchange) for exchange in chosen}
        steps = Steps(list(clean.values()), self._variables, self._prefix)
        fault = [self._text(text) for text in (f"In the run: {message}", f"Expected: {expected}", f"Actual: {actual}")]
        if not (steps.are_own() and (len(chosen) > 1 or _is_harmless(chosen[0], expected))):
            return {}
        test = pytest_file(requirement, steps, replace(symptom, exchange=clean[symptom.exchange.number]), fault)
        return {"script": _Script(steps).text(requirement, fault), **({"test": test} if test else {})}

    def _steps_to(self, cited: Sequence[Exchange], shown: Exchange) -> list[Exchange]:
        """Return the exchanges that a fault depends on, or a request that depends on none; empty if there are many."""
        for exchanges in (cited, [shown]):
            for with_refused in (True, False):
                way = self._chosen(exchanges, with_refused=with_refused)
                if 0 < len(way) <= MOST and shown in way:
                    return way
        is_lasting = self.gone(shown) is None or shown.request.identifier is None
        return [shown] if is_lasting else []

    def _subjects(self, cited: Sequence[Exchange]) -> list[str]:
        """Return the run's engagements that the exchanges are about; if there are none, those in their lists."""
        proper = [exchange for exchange in cited if exchange.request.is_proper]
        named = [
            exchange.request.identifier
            for exchange in proper
            if exchange.request.operation.parameter == _OF_ENGAGEMENTS
        ]
        named += [
            made_by(exchange)
            for exchange in proper
            if exchange.operation_id == "createEngagement" and exchange.accepted
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
        if exchange.operation_id != "listEngagements":
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

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._names: dict[str, str] = {}
        self._own: set[str] = set()

    def text(self, requirement: str, closing: Sequence[str]) -> str:
        """Return the script."""
        functions, ends = [], []
        for creation in self._steps.exchanges:
            if (made := self._steps.made(creation)) is not None:
                self._names[made] = name = f"E{len(self._names) + 1}"
                functions.append(f"{name}=\n{self._ownership(creation, name)}")
                ends.append(f"end_{name}")
        used = dict.fromkeys(
            name for exchange in self._steps.exchanges for name in variables_of(exchange, self._steps.variables)
        )
        head = _HEAD.replace("{requirement}", requirement).replace(
            "{variables}", "\n".join(f': "${{{variable}:?must be set, as for the run}}"' for variable in used)
        )
        trap = f"trap {shell_word('; '.join(ends))} EXIT\ntrap 'exit 130' INT TERM HUP\n" if ends else ""
        steps = "\n".join(self._lines())
        end = "\n".join(f"printf '%s\\n' {shell_word(one_line(text)[:_LONGEST_TEXT])}" for text in closing)
        return "\n".join([head, *functions, trap, steps, end]) + "\n"

    def _ownership(self, creation: Exchange, name: str) -> str:
        """Return shell functions that check whether an engagement is the script's, and delete it if so."""
        reading, url = self._steps.reading(creation)
        deletion = replace(reading, sent_request=replace(reading.sent_request, method="DELETE"))
        address = f'{shell_word(url)}"${name}"'
        return _OWN.format(
            name=name,
            own=f"own_{name}",
            end=f"end_{name}",
            read=self._command(reading, address),
            delete=self._command(deletion, address),
            mark=shell_word(self._steps.prefix),
        )

    def _lines(self) -> Iterator[str]:
        number = 0
        for group in self._steps.groups():
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
        name, path = self._names.get(exchange.request.identifier or ""), exchange.request.path
        if name is not None and exchange.request.is_proper:
            path = exchange.request.operation.path.replace(f"{{{exchange.request.operation.parameter}}}", name)
        seen = f"in the run, exchange {exchange.number}: {exchange.status_text}"
        return f"# {number}. {exchange.sent_request.method} {path} ({seen})"

    def _guard(self, exchange: Exchange) -> Iterator[str]:
        """Yield the check before the first write to an engagement that the script created it."""
        name = self._names.get(exchange.request.identifier or "")
        if name is not None and exchange.sent_request.method != "GET" and name not in self._own:
            self._own.add(name)
            yield f"own_{name} || stop 'This id is not that of an engagement of this script.'"

    def _step(self, exchange: Exchange) -> str:
        made = self._steps.made(exchange)
        if made is not None:
            otherwise = "stop 'The response to the creation has no usable id.'" if exchange.accepted else ":"
            return _CREATED.format(
                name=self._names[made],
                place=place_of_id(exchange) or 1,
                command=self._command(exchange),
                otherwise=otherwise,
            )
        name = self._names.get(exchange.request.identifier or "", "")
        before, found, after = self._steps.parts(exchange) if name else ("", "", "")
        address = f'{shell_word(before)}"${name}"{shell_word(after) if after else ""}' if found else None
        return self._command(exchange, address, "show curl -sS -i")

    def _command(self, exchange: Exchange, address: str | None = None, command: str = "curl -sS") -> str:
        source, _, rest = curl(exchange, self._steps.variables, address).rpartition("curl -i ")
        return f"{source}{command} {rest}"


def _is_harmless(exchange: Exchange, expected: str) -> bool:
    """Whether a request creates, is a read, or was refused by a service whose success would be wrong too."""
    is_refused = exchange.refused and not is_success(expected)
    return is_refused or exchange.sent_request.method == "GET" or exchange.operation_id == "createEngagement"
