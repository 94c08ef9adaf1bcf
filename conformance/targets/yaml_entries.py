"""Strict reader of YAML files, whose values know their key and line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import yaml

from conformance.spelling import suggestion
from conformance.targets.validity import DAY, Refused
from conformance.yaml_text import YamlRefused, compose, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_T = TypeVar("_T")

# A plain YAML text inside braces cannot hold "${NAME}", so variables are read before YAML is.
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARKED: Final = re.compile(f"{_OPEN}([A-Za-z0-9_]+){_CLOSE}")
_TAG: Final = "tag:yaml.org,2002:"
_KINDS: Final = {
    "null": "nothing",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "timestamp": "a date",
}


class TargetFileError(Exception):
    """The target file, or an option for one of its keys, is invalid; the message is one sentence."""


@dataclass(frozen=True)
class Source:
    """Source of values.

    Attributes:
        name: The file's name in messages.
        environ: The environment variables that the file may name.
    """

    name: str
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """A value of a file with its key, such as ``keys.throttled``."""

    node: yaml.Node
    key: str
    source: Source

    def problem(self, sentence: str) -> TargetFileError:
        """Return an error about this value; ``sentence`` says what was expected and shows no value."""
        line = self.node.start_mark.line + 1
        key = "".join(character if character.isprintable() else "?" for character in self.key or "the file")
        end = "" if sentence.endswith("?") else "."
        return TargetFileError(f"{self.source.name}, line {line}: {key} {sentence}{end}")

    @property
    def given(self) -> bool:
        """Whether there is a value; a key without a value counts as absent."""
        return not self._tagged("null")

    def table(self, *known: str) -> dict[str, Entry]:
        """Return the values of a table by key, without empty ones.

        Raises:
            TargetFileError: It is no table, or has a duplicate key or, with ``known`` keys, an unknown key.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.problem(f"must be a table of keys and values, but is {self._kind()}")
        entries: dict[str, Entry] = {}
        for key_node, value_node in self.node.value:
            entry = self._member(key_node, value_node)
            name = str(key_node.value)
            if known and name not in known:
                hint = suggestion(name, known, f"; known here: {', '.join(known)}", 1)
                raise entry.problem(f"is not a known key{hint}")
            if name in entries:
                raise entry.problem("is given twice")
            entries[name] = entry
        return {name: entry for name, entry in entries.items() if entry.given}

    def _member(self, key_node: yaml.Node, value_node: yaml.Node) -> Entry:
        if not isinstance(key_node, yaml.ScalarNode) or _MARKED.search(key_node.value):
            raise Entry(key_node, self.key, self.source).problem("must have plain texts for keys")
        key = f"{self.key}.{key_node.value}" if self.key else key_node.value
        located = value_node if value_node.start_mark.line >= key_node.start_mark.line else key_node
        return Entry(located, key, self.source)

    def items(self) -> list[Entry]:
        """Return the values of a list.

        Raises:
            TargetFileError: It is no list.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.problem(f"must be a list, but is {self._kind()}")
        return [Entry(node, f"{self.key}[{number}]", self.source) for number, node in enumerate(self.node.value)]

    def text(self) -> str:
        """Return a text that is not empty, with its variables replaced.

        Raises:
            TargetFileError: It is no text, is empty, or names a variable that is not set.
        """
        if not self.literal and isinstance(self.node, yaml.ScalarNode):
            text = self._substituted()
        elif self._tagged("str"):
            text = str(self.node.value)
        else:
            quotes = " in quotes" * self._tagged("bool", "int", "float", "timestamp")
            raise self.problem(f"must be a text{quotes}, but is {self._kind()}")
        if "${" in text and self.literal:
            raise self.problem("contains ${ without the name of a variable and a closing brace: write ${NAME}")
        if not text.strip():
            raise self.problem("must not be empty")
        return text

    def number(self) -> float:
        """Return a number of seconds, above zero and within a day.

        Raises:
            TargetFileError: It has another form.
        """
        value = self._scalar_value(float)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.problem(f"must be a number above 0, but is {self._kind()}")
        if not 0 < value <= DAY:
            raise self.problem(f"must be a number above 0, and {DAY} at most")
        return float(value)

    def flag(self) -> bool:
        """Return true or false.

        Raises:
            TargetFileError: It has another form.
        """
        value = self._scalar_value(lambda text: {"true": True, "false": False}[text.lower()])
        if not isinstance(value, bool):
            raise self.problem(f"must be true or false, but is {self._kind()}")
        return value

    def json_value(self) -> object:
        """Return any JSON value, with variables in texts replaced.

        Raises:
            TargetFileError: A value has no counterpart in JSON, or a variable is not set.
        """
        if isinstance(self.node, yaml.MappingNode):
            names = [str(key_node.value) for key_node, _ in self.node.value]
            entries = self.table()
            return {name: entries[name].json_value() if name in entries else None for name in names}
        if isinstance(self.node, yaml.SequenceNode):
            return [entry.json_value() for entry in self.items()]
        if not self.literal or self._tagged("str"):
            return self._substituted()
        if not self._tagged("null", "bool", "int", "float"):
            raise self.problem(f"must be a JSON value, but is {self._kind()}")
        return self._constructed()

    @property
    def is_table(self) -> bool:
        """Whether the value is a table."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def literal(self) -> bool:
        """Whether the value names no variable."""
        return not (isinstance(self.node, yaml.ScalarNode) and _MARKED.search(self.node.value))

    @property
    def variable(self) -> str | None:
        """The variable that is the whole value, or None."""
        found = _MARKED.fullmatch(self.node.value) if isinstance(self.node, yaml.ScalarNode) else None
        return None if found is None else found[1]

    @property
    def variables(self) -> dict[str, str]:
        """The variables in the value and all values within it that are set, with their values."""
        nodes, names = [self.node], dict[str, None]()
        while nodes:
            node = nodes.pop()
            if isinstance(node, yaml.ScalarNode):
                names |= dict.fromkeys(_MARKED.findall(node.value))
            elif isinstance(node, yaml.MappingNode):
                nodes += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                nodes += node.value
        return {name: self.source.environ[name] for name in sorted(names) if name in self.source.environ}

    def differs_from(self, text: str) -> bool:
        """Whether the value differs from a text; False if its variable is not set."""
        try:
            return self.is_table or self.text() != text
        except TargetFileError:
            return False

    def attempt(self, check: Callable[[str], _T]) -> _T:
        """Return the text converted by a check.

        Raises:
            TargetFileError: It is no text, or the check refused it.
        """
        return self.accept(self.text(), check)

    def accept(self, text: str, check: Callable[[str], _T]) -> _T:
        """Return another text converted by a check, whose refusal becomes an error about this value."""
        try:
            return check(text)
        except Refused as refusal:
            raise self.problem(str(refusal)) from None

    def _scalar_value(self, read: Callable[[str], object]) -> object:
        if self.literal:
            return self._constructed() if self._tagged("bool", "int", "float") else None
        try:
            return read(self._substituted())
        except (ValueError, KeyError):
            return None

    def _constructed(self) -> object:
        try:
            value: object = value_of(self.node)
        except YamlRefused:
            return None
        return value

    def _substituted(self) -> str:
        return _MARKED.sub(lambda match: self._variable(match[1]), str(self.node.value))

    def _variable(self, name: str) -> str:
        if name not in self.source.environ:
            raise self.problem(f"names the environment variable {name}, which is not set")
        return self.source.environ[name]

    def _tagged(self, *tags: str) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag in {_TAG + tag for tag in tags}

    def _kind(self) -> str:
        if self.is_table:
            return "a table"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return _KINDS.get(self.node.tag.removeprefix(_TAG), "a text")


def read_yaml(text: str, source: Source) -> Entry:
    """Read the one document of a YAML text.

    Raises:
        TargetFileError: It is no YAML, or holds no document or several.
    """
    try:
        node = compose(_VARIABLE.sub(f"{_OPEN}\\1{_CLOSE}", text))
    except YamlRefused as refusal:
        raise TargetFileError(f"{source.name}{refusal}.") from None
    if node is None:
        raise TargetFileError(f"{source.name} is empty; it needs at least base_url and api_key.")
    return Entry(node, "", source)
