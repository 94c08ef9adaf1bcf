"""Reader of untrusted YAML texts, which returns a value or a reason in bounded time."""

from __future__ import annotations

from typing import Any, Final

import yaml

_MOST_LEVELS: Final = 100
_MOST_NODES: Final = 20_000
_LONGEST_NUMBER: Final = 1000
"""YAML has numbers to the base of 60, which are slow to parse if they are long."""
_NUMBERS: Final = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

_OF_CONSTRUCTORS: Final = (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""The exceptions that PyYAML's constructors raise for a scalar that does not fit its tag."""


class YamlRefused(Exception):
    """A text is refused; the message continues a sentence that begins with the name of its file."""


class _Bounded(yaml.SafeLoader):
    """Loader with limits: PyYAML's scanner is slow for many open brackets, and aliases multiply."""

    levels = 0
    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node within the limits."""
        if self.check_event(yaml.AliasEvent):
            raise YamlRefused(" uses an alias (*name), which this suite does not accept")
        self.nodes += 1
        self.levels += 1
        if self.levels > _MOST_LEVELS:
            raise YamlRefused(" is nested too deeply")
        if self.nodes > _MOST_NODES:
            raise YamlRefused(f" has more than {_MOST_NODES} values")
        node = super().compose_node(parent, index)
        self.levels -= 1
        return node

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:  # noqa: ANN401 - as PyYAML has it
        """Return the text of a scalar, unless it is a number of too many digits."""
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise YamlRefused(f" has a number of more than {_LONGEST_NUMBER} digits")
        return super().construct_scalar(node)


def compose(text: str) -> yaml.Node | None:
    """Return the root of the one document of a YAML text; None if there is none.

    Raises:
        YamlRefused: It is no YAML, has several documents or an alias, or is nested too deeply or too large.
    """
    try:
        return _Bounded(text).get_single_node()
    except yaml.YAMLError as error:
        # The parser's own message may quote a key, so only the position is shown.
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise YamlRefused(f"{place}: this is not valid YAML") from None


def value_of(node: yaml.Node) -> Any:  # noqa: ANN401 - any YAML value
    """Return the value of a node.

    Raises:
        YamlRefused: A scalar does not fit its tag, such as an impossible date.
    """
    try:
        return _Bounded("").construct_document(node)
    except _OF_CONSTRUCTORS:
        raise YamlRefused(" is not YAML, or has an impossible date") from None
