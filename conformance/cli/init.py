"""``conformance init``: the first target file, with the skeleton of a provisioner."""

from __future__ import annotations

import os
import re
import sys
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.cli.doctor import doctor
from conformance.cli.options import FOUND
from conformance.cli.schema import schema_text
from conformance.exits import Exit
from conformance.files import DOCUMENT, read_file
from conformance.targets.profile import checked
from conformance.targets.validity import base_url as read_base_url
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA: Final = Path("conformance.schema.json")
_COMMANDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "python": ("provision.py", "python3, provision.py"),
        "node": ("provision.mjs", "node, provision.mjs"),
        "go": ("provision.go", "go, run, provision.go"),
        "shell": ("provision.sh", "sh, provision.sh"),
    }
)
"""The skeleton of a provisioner and its command, by language."""
_LANGUAGES: Final = click.Choice([*_COMMANDS, "none"])


@click.command()
@click.option("--base-url", help="Base URL of the service.")
@click.option("--key-variable", metavar="NAME", help="The environment variable that has the full API key.")
@click.option("--disposable/--no-disposable", default=None, help="Whether runs may change organization and members.")
@click.option("--provisioner", type=_LANGUAGES, help="The language of the provisioner's skeleton.")
@click.pass_context
def init(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - the values of click's options
    """Write conformance.yaml, its JSON Schema and a provisioner's skeleton here, and check them with doctor.

    Asks for the values that no option gives. Exit status: 0 written; 2 an answer cannot be used, or a file exists;
    if the key's variable is set, the status of conformance doctor.
    """
    url = _asked(given, "base_url", "Base URL of the service")
    name = _asked(given, "key_variable", "Environment variable with a full API key", default="CONFORMANCE_API_KEY")
    is_disposable = _asked(given, "disposable", "May runs change the organization and its members?", default=False)
    language = _asked(given, "provisioner", "Language of the provisioner", default="none", type=_LANGUAGES)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise click.UsageError("--key-variable must be the name of an environment variable.")
    try:
        lines = _lines(checked("base_url", url, read_base_url).url, name, language, is_disposable=is_disposable)
    except TargetFileError as error:
        raise click.UsageError(str(error)) from None
    files = {FOUND: "\n".join(lines) + "\n"}
    if language in _COMMANDS:
        program = _COMMANDS[language][0]
        files[Path(program)] = resources.files("conformance").joinpath("cli/skeletons", program).read_text("utf-8")
    existing = [str(path) for path in files if os.path.lexists(path)]
    existing += [str(_SCHEMA)] if os.path.lexists(_SCHEMA) and not _is_written_schema() else []
    if existing:
        raise click.UsageError(f"{existing[0]} exists, and is not replaced.")
    for path, text in {**files, _SCHEMA: schema_text("target")}.items():
        path.write_text(text, "utf-8")
        click.echo(f"Written: {path}")
    if name not in os.environ:
        click.echo(f"Set {name}, then run: conformance doctor --target {FOUND}")
        sys.exit(Exit.OK)
    context.invoke(doctor, target=FOUND)


def _is_written_schema() -> bool:
    """Whether an earlier ``init`` wrote the schema, so that it may be replaced."""
    head = schema_text("target").partition('"title"')[0].encode()
    try:
        return not _SCHEMA.is_symlink() and read_file(_SCHEMA, DOCUMENT).startswith(head)
    except OSError:
        return False


def _asked(given: Mapping[str, Any], name: str, question: str, **settings: Any) -> Any:  # noqa: ANN401 - any option's
    """Return the value of an option, or ask for it.

    Raises:
        click.UsageError: There is no answer.
    """
    if given[name] is not None:
        return given[name]
    try:
        if isinstance(settings.get("default"), bool):
            return click.confirm(question, **settings)
        return click.prompt(question, **settings)
    except click.Abort:
        raise click.UsageError(f"An answer is missing: give it as --{name.replace('_', '-')}.") from None


def _lines(url: str, variable: str, language: str, *, is_disposable: bool) -> list[str]:
    """Return the lines of the target file."""
    lines = [
        f"# yaml-language-server: $schema={_SCHEMA}",
        f"# What each further line unlocks: conformance doctor --target {FOUND}",
        f"base_url: {url}",
        f"api_key: ${{{variable}}}",
        f"disposable: {str(is_disposable).lower()}",
    ]
    if language in _COMMANDS:
        lines += [
            "provisioner:",
            f"  command: [{_COMMANDS[language][1]}]",
            "  environment: []  # variables that it needs",
        ]
    return lines
