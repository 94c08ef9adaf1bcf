"""Whether a run without a target is meant to test the embedded reference service."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

BASE_URL: Final = "CONFORMANCE_BASE_URL"
API_KEY: Final = "CONFORMANCE_API_KEY"

_VARIABLES: Final = (BASE_URL, API_KEY)
_OF_THE_SANDBOX: Final = ("CONFORMANCE_SANDBOX_URL", "CONFORMANCE_SANDBOX_TOKEN")
_PREFIX: Final = "CONFORMANCE_"
_MISSPELT: Final = 0.9
"""How alike a name with another prefix must be to a variable of the suite to be taken for it."""
_NO: Final = frozenset({"", "0", "false", "no"})
_REMEDY: Final = "Give --base-url URL or --target FILE, or --embedded to test the embedded reference service"


def why_not_embedded(environ: Mapping[str, str], given: Collection[str]) -> str | None:
    """Return why the embedded service is most likely not meant, and what to add; None if nothing speaks against it.

    Args:
        environ: The environment's variables.
        given: Options that only make sense for a service of the user's, as they are written.
    """
    for name in sorted(environ):
        if name not in (*_VARIABLES, *_OF_THE_SANDBOX) and _looks_like_ours(name):
            return f"{name} is no variable of this suite{_nearest(name)}. {_REMEDY}."
    if BASE_URL in environ and not environ[BASE_URL]:
        return f"{BASE_URL} is empty. {_REMEDY}."
    signs = [*sorted(given), *((f"${API_KEY}",) if API_KEY in environ else ())]
    if environ.get("CI", "").lower() not in _NO:
        signs.append("$CI")
    if not signs:
        return None
    return f"No service is named, although {' and '.join(signs)} {'is' if len(signs) == 1 else 'are'} set. {_REMEDY}."


def _looks_like_ours(name: str) -> bool:
    """Whether a variable is one of the suite's but for letter case, a slip or the words behind the prefix."""
    return name.upper().startswith(_PREFIX) or bool(get_close_matches(name.upper(), _VARIABLES, 1, _MISSPELT))


def _nearest(name: str) -> str:
    rest = {known.removeprefix(_PREFIX): known for known in _VARIABLES}  # the prefix alone makes all of them alike
    nearest = get_close_matches(name.upper().removeprefix(_PREFIX), rest, 1, 0.4)
    return f" (did you mean {rest[nearest[0]]}?)" if nearest else ""
