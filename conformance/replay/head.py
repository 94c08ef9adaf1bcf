"""Schema of the first line of provisioned.jsonl, which allows only valid options and target files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from conformance.catalogue import RELEASES
from conformance.interface.operations import KINDS
from conformance.reports.limits import SHARES
from conformance.reports.text import one_line
from conformance.running.options import Effort
from conformance.suite import versions
from conformance.targets import validity
from conformance.targets.challenge import CHALLENGE
from conformance.targets.loading import KEY_NAMES
from conformance.targets.profile import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_SHOWN: Final = 200
_TEXT: Final = {"type": "string", "maxLength": 10_000}
_SECONDS: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400}
_SOME: Final = {"type": ["integer", "null"], "minimum": 1, "maximum": 10**9}


def _table(members: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these members and no others."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "maxItems": 1000}


_TARGET: Final = _table(
    {
        "name": _TEXT,
        "base_url": _TEXT,
        "certificate_sha256": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"},
        "api_key": _table(
            {
                "prefix": {"enum": [0, *range(2, 19)]},
                "length": {"type": "integer", "minimum": 1, "maximum": 64},
                "alphabet": {"enum": ["both cases", "one case", "not ASCII"]},
            }
        ),
        "keys": _list({"enum": list(KEY_NAMES)}),
        "variables": {"type": "object", "additionalProperties": _TEXT, "maxProperties": 1000},
        "warnings": _list(_TEXT),
        "limits": {
            "type": "object",
            "propertyNames": {"enum": list(SHARES)},
            "additionalProperties": _SECONDS | {"maximum": 10**9},
        },
        "members": _list(_table({"user_id": _TEXT, "key": {"type": "boolean"}})),
        "provisioner": {"type": "boolean"},
        "invitation_domain": _TEXT,
        "headers": _list(_TEXT),
        "user_agent": _TEXT | {"type": ["string", "null"]},
        "timeout": _SECONDS,
        "patience": _SECONDS,
        "mailbox": {"type": "boolean"},
        "organization": _TEXT | {"type": ["string", "null"]},
        "subordinates": _list({"enum": list(KINDS)}),
    }
)

_HEAD: Final = Draft202012Validator(
    _table(
        {
            "format": _TEXT,
            "suite_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "versions": _table(dict.fromkeys(versions(), _TEXT)),
            "prefix": {"type": "string", "maxLength": 12, "pattern": "^cf-[a-z2-7]{8}-$"},
            "challenge": {"type": ["string", "null"], "pattern": f"^{CHALLENGE.pattern}$"},
            "seed": {"type": "integer"},
            "effort": {"enum": [effort.value for effort in Effort]},
            "mode": {"enum": [mode.value for mode in Mode]},
            "workers": {"type": "integer", "minimum": 1, "maximum": 1000},
            "max_requests": _SOME,
            "max_seconds": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 10**9},
            "only": _list(_TEXT),
            "catalogue": {"enum": [*RELEASES, None]},
            "stopped": _TEXT | {"type": ["string", "null"]},
            "target": _TARGET,
        }
    )
)


def ensure_head(head: Any) -> None:  # noqa: ANN401 - any JSON value
    """Validate the head against the schema and the rules of target files.

    Raises:
        ValueError: A member is invalid; the message is a clause that names it.
    """
    for error in _HEAD.iter_errors(head):
        where = "/".join(map(str, error.absolute_path)) or "its first line"
        raise ValueError(f"{one_line(where)}: {one_line(error.message[:_MOST_SHOWN])}")
    target = head["target"]
    read: list[tuple[str, Callable[[str], object], str]] = [("base_url", validity.base_url, target["base_url"])]
    read += [("invitation_domain", validity.domain, target["invitation_domain"])]
    read += [("headers", validity.header_name, name) for name in target["headers"]]
    read += [("user_agent", validity.user_agent, text) for text in [target["user_agent"]] if text is not None]
    for member, check, text in read:
        try:
            check(text)
        except validity.Refused as refusal:
            raise ValueError(f"target/{member} {refusal}") from None
