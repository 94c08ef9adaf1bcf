"""Parsers of the target file's sections ``provisioner`` and ``subordinates``."""

from __future__ import annotations

import posixpath
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote

from conformance.interface.operations import KINDS, OPERATIONS, SubordinateKind
from conformance.targets.profile import ProvisionerSettings, SubordinateTemplate
from conformance.targets.secret import Secret
from conformance.targets.validity import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.targets.yaml_entries import Entry

_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}")
_PATH: Final = re.compile(r"/(?!/)[!-~]*")
_OF_INTERFACE: Final = re.compile(
    r"(?:/.*)?(?:" + "|".join(re.sub(r"\{\w+\}", "[^/]+", operation.path) for operation in OPERATIONS.values()) + ")",
    re.IGNORECASE | re.DOTALL,
)
"""A path of the interface itself below any base path: its requests have guards and a journal that a template's lack."""
SHORTEST_SECRET: Final = 8
"""The fewest characters of a credential; hiding shorter texts would hide too much of a report."""


def provisioner(entry: Entry) -> ProvisionerSettings:
    """Read the ``provisioner`` section."""
    table = entry.table("command", "timeout", "environment")
    if "command" not in table:
        raise entry.problem("has no command: give the program and its arguments as a list")
    arguments = table["command"].items()
    if not arguments:
        raise table["command"].problem("must name a program")
    command = tuple(item.text() for item in arguments)
    hidden = [
        (f"provisioner:{number}", text)
        for number, (item, text) in enumerate(zip(arguments, command, strict=True))
        if not item.literal
    ]
    environment = _environment(table.get("environment"))
    hidden += [(f"environment:{name}", value) for name, value in environment.items()]
    return ProvisionerSettings(
        command=command,
        timeout=table["timeout"].number() if "timeout" in table else 30.0,
        environment=MappingProxyType(environment),
        secrets=tuple((name, Secret(text)) for name, text in hidden if len(text) >= SHORTEST_SECRET),
    )


def _environment(entry: Entry | None) -> dict[str, str]:
    """Return variables by name: those of a list from the suite's environment, those of a table with their values."""
    if entry is None:
        return {}
    if entry.is_table:
        environment = {}
        for name, item in entry.table().items():
            item.accept(name, _variable_name)
            environment[name] = item.text()
        return environment
    names = [(item, item.attempt(_variable_name)) for item in entry.items()]
    if missing := [pair for pair in names if pair[1] not in entry.source.environ]:
        raise missing[0][0].problem(f"names the environment variable {missing[0][1]}, which is not set")
    return {name: entry.source.environ[name] for _, name in names}


def _variable_name(text: str) -> str:
    if not _VARIABLE_NAME.fullmatch(text):
        raise Refused("must be the name of an environment variable")
    return text


def subordinates(entry: Entry) -> Mapping[SubordinateKind, SubordinateTemplate]:
    """Read the ``subordinates`` section: one template per kind."""
    templates: dict[SubordinateKind, SubordinateTemplate] = {}
    for item in entry.items():
        template = _template(item)
        if template.kind in templates:
            raise item.problem(f"describes the kind {template.kind}, which has been described before")
        templates[template.kind] = template
    return MappingProxyType(templates)


def _template(entry: Entry) -> SubordinateTemplate:
    table = _complete(entry, ("kind", "create", "read"), "id")
    create = _complete(table["create"], ("path",), "method", "body")
    read = _complete(table["read"], ("path",))
    template = SubordinateTemplate(
        kind=table["kind"].attempt(_kind),
        create_method=create["method"].attempt(_method) if "method" in create else "POST",
        create_path=create["path"].attempt(_creation_path),
        create_body=create["body"].json_value() if "body" in create else None,
        read_path=read["path"].attempt(lambda text: _path(text, {"{engagementId}", "{id}"})),
        id_pointer=table["id"].attempt(_pointer) if "id" in table else "/data/id",
    )
    if "{id}" not in template.read_path:
        raise read["path"].problem("must contain {id} in the place of the record's id")
    if "{engagementId}" not in f"{template.create_path}{template.create_body}":
        raise table["create"].problem("must contain {engagementId} in its path or body")
    return template


def _complete(entry: Entry, required: tuple[str, ...], *optional: str) -> dict[str, Entry]:
    table = entry.table(*required, *optional)
    if missing := [key for key in required if key not in table]:
        raise entry.problem(f"has no {missing[0]}")
    return table


def _kind(text: str) -> SubordinateKind:
    for kind in KINDS:
        if text == kind:
            return kind
    raise Refused(f"must be one of {', '.join(KINDS)}")


def _method(text: str) -> Literal["POST", "PUT"]:
    if text == "POST":
        return "POST"
    if text == "PUT":
        return "PUT"
    raise Refused("must be POST or PUT")


def _path(text: str, placeholders: set[str]) -> str:
    if not _PATH.fullmatch(text) or "#" in text:
        raise Refused("must be a path that begins with one / and has no spaces")
    rest = text
    for placeholder in placeholders:
        rest = rest.replace(placeholder, "")
    if "{" in rest or "}" in rest:
        unknown = _PLACEHOLDER.search(rest)
        found = unknown[0] if unknown else "a single brace"
        raise Refused(f"may contain {' and '.join(sorted(placeholders))}, but not {found}")
    return text


def _creation_path(text: str) -> str:
    path = _path(text, {"{engagementId}"})
    if _OF_INTERFACE.fullmatch(posixpath.normpath(unquote(path.partition("?")[0]))):
        raise Refused("must not be a path of the interface itself, such as that of an invitation or an archiving")
    return path


def _pointer(text: str) -> str:
    if not re.fullmatch(r"(?:/(?:[^~/]|~[01])*)+", text):
        raise Refused("must be a JSON pointer such as /data/id")
    return text
