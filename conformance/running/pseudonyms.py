"""Pseudonyms of people and of other users' engagements, for outputs that can be published."""

from __future__ import annotations

import hmac
import html
import json
import random
import re
import secrets
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus

from conformance.interface.list_parameters import ROLES, STATUSES
from conformance.json_text import Parsed, read_json
from conformance.reports.text import json_bytes, with_texts
from conformance.running.common_words import ordinary_words
from conformance.targets.names import normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conformance.targets.names import RunNames
    from conformance.wire.exchange import Exchange

_LITERAL: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_NAMED: Final = frozenset({"name", "email", "description"})
"""The members of a person or an engagement whose values are replaced in every output."""
_KEPT: Final = frozenset(
    {"id", "userId", "role", "status", "createdAt", "updatedAt", "joinedAt", "lastSeenAt", "expiresAt"}
)
"""The members of a person or an engagement that checks judge by their values, and that identify no person."""
_MAIL, _MEMBER = "the mail to ", "a member as "
"""The beginnings of recorded inputs that show people."""
_CLOSED: Final = frozenset({*ROLES, *STATUSES, "pending", "null", "true", "false"})
_DISTINCTIVE: Final = 6
"""Characters from which a text does not occur by chance."""
_CUT: Final = 200
"""Characters of a long text that messages show."""
_TRIES: Final = 50
"""Tries for a pseudonym of a length before it gets longer."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_BEFORE, _AFTER = "ab", "defghijklmnopqrstuvwxyz"
"""First letters that sort before and after the names of runs, which begin with c."""
_WIDE: Final = {2: "äëïöüåæçðñøþ", 3: "名前山川田中木村林森石水", 4: "𠀋𠂉𠂢𠃌𠄀𠅘𠆢𠇇𠈓𠉀𠊛𠋥"}
"""Letters in place of those beyond ASCII, by their bytes in UTF-8."""
_FORMS: Final[Sequence[Callable[[str], str]]] = (
    str,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    html.escape,
    lambda text: quote(text, safe="", errors="replace"),
    lambda text: quote_plus(text, errors="replace"),
    lambda text: text.replace("'", "'\\''"),
)
"""The forms in which outputs show a text."""


class _Table(list[tuple[str, Any]]):
    """The members of a JSON object in order, duplicates included."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of a text, its replacement, and where its first word begins in it."""

    text: str
    replacement: str
    offset: int
    exact: bool

    def at(self, text: str, begin: int) -> str | None:
        """Return what replaces the form at a place in a text, in the letter case there; None if it is not there."""
        found = text[begin : begin + len(self.text)] if begin >= 0 else ""
        is_alike = found == self.text or (not self.exact and found.lower() == self.text.lower())
        after = text[begin + len(self.text) : begin + len(self.text) + 1]
        if not is_alike or (_is_word(self.text[-1]) and _is_word(after)):
            return None
        return _in_case_of(found, self.replacement)


_Index = defaultdict[str, list[_Form]]


class Pseudonyms:
    """Replaces names and addresses of members, and texts of other users' engagements, alike everywhere.

    A pseudonym keeps what judgements depend on: length, letter case, digits, signs and blanks, and whether a text sorts
    before the run's own names. Equal texts have equal pseudonyms, others have different ones. They differ in each run.

    In a person or an engagement every text is replaced. Elsewhere, a text is replaced if it is distinctive: neither the
    suite's vocabulary nor its requests have it. A text that the run itself sends as a whole, such as ``active``, stays.

    Args:
        exchanges: The exchanges of the run.
        inputs: Its other recorded inputs.
        names: Its names: what has one is the run's own.
    """

    def __init__(self, exchanges: Sequence[Exchange], inputs: Sequence[Mapping[str, object]], names: RunNames) -> None:
        self._names = names
        self._key = secrets.token_bytes(32)
        self._tries: dict[str, int] = {}
        self._taken: set[str] = set()
        self._own = set(_created(exchanges))
        bodies = [exchange.sent_request.body.decode("utf-8", "replace") for exchange in exchanges]
        self._sent = {_value(literal).lower() for body in set(bodies) for literal in _LITERAL.findall(body)}
        vocabulary = ordinary_words().decode("utf-8", "replace")
        self._vocabulary = "\n".join(
            [vocabulary, *bodies, *{exchange.sent_request.url for exchange in exchanges}]
        ).lower()
        self._everywhere, self._in_report, self._in_prose = _Index(list), _Index(list), _Index(list)
        for text in sorted({*self._found(exchanges, inputs)}, key=lambda text: (-len(text), text)):
            self._learn(text)

    def text(self, text: str) -> str:
        """Return a text of the report with pseudonyms."""
        return _replaced(text, self._in_report)

    def prose(self, text: str) -> str:
        """Return a text that the service or a program wrote, with pseudonyms for short names too."""
        return _replaced(text, self._everywhere if self._names.prefix in text.lower() else self._in_prose)

    def line(self, line: Mapping[str, object]) -> Mapping[str, object]:
        """Return a recorded input with pseudonyms."""
        change = self.prose if str(line.get("asked")).startswith(_MAIL) else self._anywhere
        return {**line, **{name: with_texts(line[name], change) for name in ("asked", "told") if name in line}}

    def exchange(self, exchange: Exchange) -> Exchange:
        """Return an exchange with pseudonyms."""
        sent, received = exchange.sent_request, exchange.received
        sent = replace(
            sent, url=self._anywhere(sent.url), headers=self._headers(sent.headers), body=self._bytes(sent.body)
        )
        if received is not None:
            received = replace(received, headers=self._headers(received.headers), body=self._body(exchange))
        return replace(exchange, sent_request=sent, received=received)

    def _learn(self, text: str) -> None:
        is_address = "@" in text
        if not any(map(str.isalnum, text)) or (not is_address and text.strip().lower() in self._sent | _CLOSED):
            return
        pseudonym = self._pseudonym(text)
        is_word = len(text) < _DISTINCTIVE or text.lower() in self._vocabulary
        if is_word and not is_address:
            _add(self._in_report, json.dumps(text), json.dumps(pseudonym), exact=True)
            _add(self._in_prose, text, pseudonym, exact=True)
            return
        cuts = [(text, pseudonym), *([(text[:_CUT], pseudonym[:_CUT])] if len(text) > _CUT else [])]
        for index in (self._everywhere, self._in_report, self._in_prose):
            for whole, other in cuts:
                for form in dict.fromkeys(form(whole) for form in _FORMS):
                    other_form = next(make(other) for make in _FORMS if make(whole) == form)
                    _add(index, form, other_form, exact=False)

    def _pseudonym(self, text: str) -> str:
        """Return the pseudonym of a text; texts that differ in blanks and letter case alone have similar ones."""
        key = normalized(text)
        if key not in self._tries:
            found = next(number for number in count() if normalized(self._made(text, key, number)) not in self._taken)
            self._tries[key] = found
            self._taken.add(normalized(self._made(text, key, found)))
        return self._made(text, key, self._tries[key])

    def _made(self, text: str, key: str, number: int) -> str:
        digest = hmac.digest(self._key, f"{number}:{key}".encode("utf-8", "surrogatepass"), "sha256")
        draw = random.Random(int.from_bytes(digest))  # noqa: S311 - the key is random, and its digest the seed
        made: list[str] = []
        first = _BEFORE if text.casefold() < self._names.prefix else _AFTER
        for character in text:
            size = len(character.encode("utf-8", "surrogatepass"))
            if not character.isalnum():
                made.append(character)
            elif size > 1:
                made.append(_in_case_of(character, draw.choice(_WIDE[size])))
            elif character.isdigit():
                made.append(draw.choice("0123456789"))
            else:
                made.append(_in_case_of(character, draw.choice(_LETTERS if any(map(str.isalnum, made)) else first)))
        return "".join([*made, *draw.choices(_LETTERS, k=number // _TRIES)])

    def _found(self, exchanges: Iterable[Exchange], inputs: Iterable[Mapping[str, object]]) -> Iterator[str]:
        """Yield the texts to replace."""
        bodies = [(exchange.received.body, exchange.operation_id) for exchange in exchanges if exchange.received]
        bodies += [(json_bytes(line["told"]), "") for line in inputs if str(line["asked"]).startswith(_MEMBER)]
        for body, operation in dict.fromkeys(bodies):
            for _, text, name, is_hidden in self._strings(body, operation):
                if is_hidden and name in _NAMED:
                    yield text

    def _strings(self, body: bytes, operation: str) -> list[tuple[int, str, str, bool]]:
        """Return the string values of a JSON text.

        Returns:
            For each string: its number in the text, its value, the name of its member, and whether it belongs to a
            person or to another user's engagement.
        """
        if not isinstance(read_json(body), Parsed):
            return []
        value = json.loads(body, object_pairs_hook=_Table)
        return list(self._walk(value, "", count(), operation, is_hidden=False, in_data=False))

    def _walk(
        self, value: object, name: str, numbers: Iterator[int], operation: str, *, is_hidden: bool, in_data: bool
    ) -> Iterator[tuple[int, str, str, bool]]:
        if isinstance(value, str):
            yield next(numbers), value, name, is_hidden
        elif isinstance(value, _Table):
            is_hidden = is_hidden or self._is_others(dict(value), operation if in_data else "")
            for key, member in value:
                next(numbers)
                inside = {"is_hidden": is_hidden, "in_data": in_data or key == "data"}
                yield from self._walk(member, key, numbers, operation, **inside)
        elif isinstance(value, list):
            for member in value:
                yield from self._walk(member, name, numbers, operation, is_hidden=is_hidden, in_data=in_data)

    def _is_others(self, fields: Mapping[str, object], operation: str) -> bool:
        """Whether an object is a person, or an engagement of another user."""
        address = fields.get("email")
        if operation == "inviteMember":  # an address that the run invited; one of a member is known from a list
            return False
        if isinstance(address, str) and "@" in address:
            return not self._names.owns(address)
        if operation == "listMembers":
            return "name" in fields
        if "Engagement" not in operation or not fields.keys() & _NAMED:
            return False
        return not self._names.owns_engagement(fields) and (fields.get("id"), fields.get("createdAt")) not in self._own

    def _body(self, exchange: Exchange) -> bytes:
        body = b"" if exchange.received is None else exchange.received.body
        strings = self._strings(body, exchange.operation_id)
        if not strings:
            return self._bytes(body)
        changed = {
            number: new
            for number, text, name, is_hidden in strings
            if (new := self._value(text, name, is_hidden=is_hidden)) != text
        }
        numbers = count()

        def change(literal: re.Match[str]) -> str:
            new = changed.get(next(numbers))
            return literal[0] if new is None else json.dumps(new, ensure_ascii="\\u" in literal[0])

        return _LITERAL.sub(change, body.decode("utf-8")).encode("utf-8", "surrogatepass")

    def _value(self, text: str, name: str, *, is_hidden: bool) -> str:
        if not is_hidden or name in _KEPT:
            is_own = text.lower() in self._sent or not any(map(str.isspace, text))
            return self._anywhere(text) if is_own else self.prose(text)
        if name not in _NAMED or normalized(text) in self._tries:
            return self._pseudonym(text)
        return text

    def _headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self._anywhere(value)) for name, value in headers)

    def _bytes(self, data: bytes) -> bytes:
        return self._anywhere(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _anywhere(self, text: str) -> str:
        return _replaced(text, self._everywhere)


def _created(exchanges: Iterable[Exchange]) -> Iterator[tuple[object, object]]:
    """Yield the ids and the creation times of the engagements that the run created."""
    for exchange in exchanges:
        if exchange.operation_id == "createEngagement" and exchange.accepted:
            made = exchange.value_at("/data/id"), exchange.value_at("/data/createdAt")
            if all(isinstance(value, str) for value in made):
                yield made


def _value(literal: str) -> str:
    """Return the value of a JSON string; the string itself if it is none, as in a malformed body."""
    try:
        value = json.loads(literal)
    except ValueError:
        return literal
    return str(value)


def _add(index: _Index, text: str, replacement: str, *, exact: bool) -> None:
    word = _WORD.search(text)
    if word is not None:
        index[word[0].lower()].append(_Form(text, replacement, word.start(), exact))


def _replaced(text: str, index: _Index) -> str:
    """Return a text with the forms of an index replaced where they are whole words."""
    pieces: list[str] = []
    end = 0
    for word in _WORD.finditer(text):
        for form in index.get(word[0].lower(), ()):
            begin = word.start() - form.offset
            if begin >= end and (new := form.at(text, begin)) is not None:
                pieces += [text[end:begin], new]
                end = begin + len(form.text)
                break
    return "".join([*pieces, text[end:]]) if pieces else text


def _in_case_of(model: str, text: str) -> str:
    """Return a text in the letter case of another one of the same length."""
    if len(model) != len(text):
        return text
    return "".join(
        new.upper() if old.isupper() else new.lower() if old.islower() else new
        for old, new in zip(model, text, strict=True)
    )


def _is_word(character: str) -> bool:
    return _WORD.fullmatch(character) is not None
