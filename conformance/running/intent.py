"""Whether a run without a target is meant to test the embedded reference service."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

BASE_URL: Final = "CONFORMANCE_BASE_URL"
API_KEY: Final = "CONFORMANCE_API_KEY"

_VARIABLES: Final = (BASE_URL, API_KEY)
_PREFIX: Final = "CONFORMANCE_"
_NO: Final = frozenset({"", "0", "false", "no"})
_REMEDY: Final = "Give --base-url URL or --target FILE, or --embedded to test the embedded reference service"


def why_not_embedded(environ: Mapping[str, str], given: Collection[str]) -> str | None:
    """Return why the embedded service is most likely not meant, and what to add; None if nothing speaks against it.

    Args:
        environ: The environment's variables.
        given: Options that only make sense for a service of the user's, as they are written.
    """
    for name in sorted(environ):
        if name.startswith(_PREFIX) and name not in _VARIABLES:
            return f"{name} is no variable of this suite{_nearest(name)}. {_REMEDY}."
    if BASE_URL in environ and not environ[BASE_URL]:
        return f"{BASE_URL} is empty. {_REMEDY}."
    signs = [*sorted(given), *((f"${API_KEY}",) if environ.get(API_KEY) else ())]
    if environ.get("CI", "").lower() not in _NO:
        signs.append("$CI")
    if not signs:
        return None
    return f"No service is named, although {' and '.join(signs)} {'is' if len(signs) == 1 else 'are'} set. {_REMEDY}."


def _nearest(name: str) -> str:
    nearest = get_close_matches(name, _VARIABLES, 1)
    return f" (did you mean {nearest[0]}?)" if nearest else ""
