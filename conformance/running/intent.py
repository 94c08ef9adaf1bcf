"""Choice of the service under test, which is the embedded one only by intention."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from conformance.running.options import RunOptions
from conformance.targets.connection import VARIABLES, Connection
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path
    from typing import Any

BASE_URL: Final = "CONFORMANCE_BASE_URL"
API_KEY: Final = "CONFORMANCE_API_KEY"

MASK_PEOPLE: Final = "CONFORMANCE_MASK_PEOPLE"

_VARIABLES: Final = (BASE_URL, API_KEY, *VARIABLES.values())
_NO_SIGNS: Final = ("CONFORMANCE_SANDBOX_URL", "CONFORMANCE_SANDBOX_TOKEN", MASK_PEOPLE)
"""Variables that do not show which service is meant."""
_PREFIX: Final = "CONFORMANCE_"
_MISSPELT: Final = 0.9
"""Least similarity of a variable name with another prefix to count as a misspelling."""
_OTHERS: Final = ("base_url", "api_key", "target", *VARIABLES)
"""Options that contradict ``--embedded``."""
FOR_A_SERVICE: Final = (*_OTHERS, "read_only", "disposable", "wait", "strict", "baseline", "waivers", "challenge")
"""Options that only apply to a service of the user."""
_NO: Final = frozenset({"", "0", "false", "no"})
_REMEDY: Final = "Give --base-url URL or --target FILE, or --embedded to test the embedded reference service"


def selected_service(
    given: Mapping[str, Any], named: Sequence[str], environ: Mapping[str, str], found: Path | None = None
) -> RunOptions:
    """Return the options of a run that select the service under test.

    Args:
        given: The values of the options, or of the variables in their place.
        named: The options of ``FOR_A_SERVICE`` on the command line, in this order.
        environ: The environment variables.
        found: The target file of the current directory, if it is to be used.

    Raises:
        TargetFileError: They contradict each other, or select none although the user most likely meant one.
    """
    if given["embedded"]:
        if contradicting := [name for name in named if name in _OTHERS]:
            raise TargetFileError(f"--embedded and {_written(contradicting[0])} exclude each other.")
        return RunOptions()
    is_selected = (given["target"] or found or given["base_url"]) is not None
    if not is_selected and (why := _why_not_embedded(environ, [*map(_written, named)])):
        raise TargetFileError(why)
    return options_of(given, environ, found)


def options_of(given: Mapping[str, Any], environ: Mapping[str, str], found: Path | None) -> RunOptions:
    """Return the options of a run that select a service of the user.

    Raises:
        TargetFileError: A connection option cannot be used.
    """
    return RunOptions(
        base_url=given["base_url"],
        api_key=given["api_key"],
        target=given["target"] or found,
        is_file_found=found is not None,
        connection=Connection.of(environ, {name: given.get(name) for name in VARIABLES}),
    )


def _written(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _why_not_embedded(environ: Mapping[str, str], given: Collection[str]) -> str | None:
    """Return why the user most likely means another service, and what to add; None without such a sign.

    Args:
        environ: The environment variables.
        given: The given options that only apply to a service of the user, in their written form.
    """
    for name in sorted(environ):
        if name not in (*_VARIABLES, *_NO_SIGNS) and _looks_like_ours(name):
            return f"{name} is not a variable of this suite{_nearest(name)}. {_REMEDY}."
    if BASE_URL in environ and not environ[BASE_URL]:
        return f"{BASE_URL} is empty. {_REMEDY}."
    signs = [*sorted(given), *(f"${name}" for name in _VARIABLES if name in environ)]
    if environ.get("CI", "").lower() not in _NO:
        signs.append("$CI")
    if not signs:
        return None
    return f"No target is given, although {' and '.join(signs)} {'is' if len(signs) == 1 else 'are'} set. {_REMEDY}."


def _looks_like_ours(name: str) -> bool:
    """Whether a name differs from a variable of the suite by case, a typing error or the part after the prefix."""
    return name.upper().startswith(_PREFIX) or bool(get_close_matches(name.upper(), _VARIABLES, 1, _MISSPELT))


def _nearest(name: str) -> str:
    rest = {
        known.removeprefix(_PREFIX): known for known in (*_VARIABLES, MASK_PEOPLE)
    }  # the common prefix would make all of them similar
    nearest = get_close_matches(name.upper().removeprefix(_PREFIX), rest, 1, 0.4)
    return f" (did you mean {rest[nearest[0]]}?)" if nearest else ""
