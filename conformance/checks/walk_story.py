"""A walk that failed, told to people: a numbered story, and a script of curl commands that repeats it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from conformance.checks.engagements import identifier_of, shown
from conformance.oracle.describe import answered
from conformance.oracle.effects import accepted
from conformance.oracle.words import shown as in_words
from conformance.reports.curl import curl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.walking import Taken, Walk
    from conformance.oracle.judgement import NonConformity
    from conformance.oracle.ledger_findings import Finding
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_TOLD: Final = 15
_MARK: Final = "ENGAGEMENT{}X"
_HEAD: Final = """#!/bin/sh
# {title}
# Keys come from the environment: CONFORMANCE_API_KEY. Needs curl and jq. What it creates it leaves behind.
set -u
"""


@dataclass(frozen=True, slots=True)
class Story:
    """A failed walk.

    Attributes:
        finding: What was found.
        lines: Its steps in words, from the first to the one that shows the fault.
        script: The shell script that repeats it.
        exchanges: Its exchanges.
    """

    finding: Finding
    lines: tuple[str, ...]
    script: str
    exchanges: tuple[Exchange, ...]

    def as_fault(self) -> NonConformity:
        """The story as what ends a check."""
        left_out = len(self.lines) - _TOLD
        more = f"({left_out} steps before) " if left_out > 0 else ""
        steps = " ".join(f"{number}. {line}." for number, line in list(enumerate(self.lines, 1))[-_TOLD:])
        name = script_name(self.finding.requirement)
        return self.finding.as_fault(story=f", after this: {more}{steps} {name} repeats it")


def script_name(requirement: str) -> str:
    """The file of a script in the folder of the report."""
    return f"walk-{requirement}.sh"


def tell(run: Run, walk: Walk, finding: Finding) -> Story:
    """Tell a walk, and write its script into the folder of the report, if there is one."""
    letters = _letters(walk.taken)
    lines = tuple(f"{_sentence(one, letters)} ({answered(one.exchange)})" for one in walk.taken)
    script = _script(walk.taken, lines, finding)
    folder = run.options.report
    if folder is not None and folder.is_dir():
        (folder / script_name(finding.requirement)).write_text(script, "utf-8")
    return Story(finding, lines, script, tuple(one.exchange for one in walk.taken))


def _letters(taken: Sequence[Taken]) -> dict[str, str]:
    """Every engagement's letter, by id."""
    ids = [made for one in taken if one.step.kind == "create" and (made := _made(one.exchange))]
    return {identifier: f"{chr(ord('A') + place % 26)}{place // 26 or ''}" for place, identifier in enumerate(ids)}


def _made(exchange: Exchange) -> str | None:
    return identifier_of(exchange) if accepted(exchange) else None


def _sentence(one: Taken, letters: dict[str, str]) -> str:
    sent = one.exchange.call
    body = json.loads(sent.body) if sent.body else {}
    fields = " and ".join(f"the {name} {in_words(value)}" for name, value in body.items())
    subject = letters.get(sent.identifier or _made(one.exchange) or "", "?")
    asked = " and ".join(f"{name}={value}" for name, value in sent.query) or "no parameters"
    sentences = {
        "createEngagement": f"engagement {subject} is created with {fields}",
        "updateEngagement": f"{subject} gets {fields}",
        "archiveEngagement": f"{subject} is archived",
        "unarchiveEngagement": f"{subject} is unarchived",
        "deleteEngagement": f"{subject} is deleted",
        "getEngagement": f"{subject} is read{_state(one.exchange)}",
        "listEngagements": f"the list is read with {asked}",
    }
    return sentences[sent.operation.id]


def _state(exchange: Exchange) -> str:
    if not accepted(exchange):
        return ""
    return f" and is {shown(exchange, 'status')}, named {in_words(shown(exchange, 'name'))}"


def _script(taken: Sequence[Taken], lines: Sequence[str], finding: Finding) -> str:
    text = [_HEAD.format(title=f"Repeats what broke the requirement {finding.requirement}.")]
    numbers: dict[str, int] = {}
    for place, (one, line) in enumerate(zip(taken, lines, strict=True), 1):
        text.append(f"echo {_comment(f'{place}. {line}')}")
        command = _command(one.exchange, numbers)
        made = _made(one.exchange)
        if made is not None and one.step.kind == "create":
            numbers[made] = len(numbers) + 1
            name = f"E{numbers[made]}"
            quiet = command.replace("curl -i ", "curl -sS ", 1)
            command = f'answer=$({quiet})\necho "$answer"\n{name}=$(printf %s "$answer" | jq -r .data.id)'
        text.append(f"{command}\necho\n")
    text.append(f"echo {_comment(f'Expected: {finding.expected}. It was: {finding.actual}.')}")
    return "\n".join(text) + "\n"


def _comment(line: str) -> str:
    plain = "".join(sign if sign.isprintable() else "?" for sign in line)
    return "'" + plain.replace("'", "'\\''") + "'"


def _command(exchange: Exchange, numbers: dict[str, int]) -> str:
    """The curl command of an exchange, with a variable for what a creation of the script made."""
    number = numbers.get(exchange.call.identifier or "")
    if number is None:
        return curl(exchange)
    mark = _MARK.format(number)
    segment = quote(exchange.call.identifier or "", safe="", errors="surrogatepass")
    request = replace(exchange.request, url=exchange.request.url.replace(segment, mark, 1))
    text = curl(replace(exchange, request=request))
    quoted = f"'{request.url}'" in text
    return text.replace(mark, f"'\"$E{number}\"'" if quoted else f'"$E{number}"')
