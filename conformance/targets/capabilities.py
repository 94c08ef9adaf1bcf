"""Needs of the catalogue, and the line of a target file that meets each."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import KINDS, SCOPES
from conformance.targets.profile import Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from conformance.targets.profile import Profile

_ANY: Final = ":any"


def key_variable(scope: str) -> str:
    """Return ``KEY_ORGANIZATIONS_READ`` for ``organizations:read``."""
    return f"KEY_{scope.upper().replace(':', '_')}"


def _template_line(kind: str) -> str:
    return (
        f"subordinates: [{{kind: {kind}, create: {{method: POST, path: PATH, body: BODY}}, read: {{path: PATH}}}}], "
        "or a provisioner with create_subordinate and subordinate_exists"
    )


UNLOCKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "writes": "run without --read-only",
        "disposable": "disposable: true (or --disposable), for an organization that no user depends on",
        "key:any": f"keys: {{{SCOPES[0]}: ${{{key_variable(SCOPES[0])}}}}}, or a provisioner with create_key",
        **{
            f"key:{scope}": f"keys: {{{scope}: ${{{key_variable(scope)}}}}}, or a provisioner with create_key"
            for scope in SCOPES
        },
        "other_organization": "keys: {other_organization: ${KEY_OTHER}}, or a provisioner with create_organization",
        "member": "members: [{user_id: ID}], or a provisioner with create_member",
        "member_key": (
            "members: [{user_id: ID, key: ${KEY_MEMBER}}], or a provisioner with create_member that returns a key"
        ),
        "subordinates:any": _template_line(KINDS[0]),
        **{f"subordinates:{kind}": _template_line(kind) for kind in KINDS},
        "mailbox": "mailbox: {smtp: 127.0.0.1:1025}, or a provisioner with read_mail",
        "throttled": "keys: {throttled: ${KEY_SLOW}}, or a provisioner with create_throttled_key, or disposable: true",
    }
)
"""Every need with the line of the target file, or the option, that meets it."""

_FAMILY_LINES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "key": "keys: {PERMISSION: ${KEY}} for %s, or a provisioner with create_key",
        "subordinates": (
            "subordinates: [{kind: KIND, create: {...}, read: {...}}] for %s, "
            "or a provisioner with create_subordinate and subordinate_exists"
        ),
    }
)

PROVISIONER_METHODS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "key": ("create_key",),
        "other_organization": ("create_organization",),
        "member": ("create_member",),
        "member_key": ("create_member",),
        "subordinates": ("create_subordinate", "subordinate_exists"),
        "mailbox": ("read_mail",),
        "throttled": ("create_throttled_key",),
    }
)
"""Provisioner methods that meet a need; needs of a family share an entry."""

_CHANGES_ORGANIZATION: Final = frozenset({"member", "member_key", "subordinates"})
"""Needs that a provisioner does not meet in a read-only run, because they change the organization."""


class MissingMeans(Exception):
    """The target lacks means that a check needs, so that the check cannot decide.

    Attributes:
        need: The unmet need.
        reason: The reason, as a sentence.
    """

    def __init__(self, need: str, reason: str) -> None:
        super().__init__(reason)
        self.need = need
        self.reason = reason


def missing_means(need: str) -> MissingMeans:
    """Return the exception for a need that the target file does not meet."""
    return MissingMeans(need, f"The target file has no entry for this; to unlock it: {UNLOCKS[need]}.")


def is_met(profile: Profile, need: str, *, missing_methods: Collection[str] = ()) -> bool:
    """Whether the profile meets a need.

    Args:
        profile: The target.
        need: A need of the catalogue.
        missing_methods: Methods that the provisioner is known to lack.

    Raises:
        KeyError: There is no such need.
    """
    if need not in UNLOCKS:
        raise KeyError(f"there is no need {need!r}; conformance/targets/capabilities.py has all")
    if need == "writes":
        return profile.mode is not Mode.READ_ONLY
    if need == "disposable":
        return profile.mode is Mode.DISPOSABLE
    return _in_file(profile, need) or _provisioned(profile, need.partition(":")[0], missing_methods)


def are_met(profile: Profile, needs: Iterable[str]) -> bool:
    """Whether the profile meets all needs."""
    return all(is_met(profile, need) for need in needs)


def _in_file(profile: Profile, need: str) -> bool:
    family, _, which = need.partition(":")
    if family == "key":
        return any(scope in profile.keys for scope in SCOPES) if which == "any" else which in profile.keys
    if family == "subordinates":
        return bool(profile.subordinates) if which == "any" else which in profile.subordinates
    if family == "member":
        return bool(profile.members)
    if family == "member_key":
        return any(member.key for member in profile.members)
    if family == "mailbox":
        return profile.mailbox is not None
    return family in profile.keys or (family == "throttled" and profile.mode is Mode.DISPOSABLE)


def _provisioned(profile: Profile, family: str, missing_methods: Collection[str]) -> bool:
    if profile.provisioner is None or (profile.mode is Mode.READ_ONLY and family in _CHANGES_ORGANIZATION):
        return False
    return not any(method in missing_methods for method in PROVISIONER_METHODS[family])


def missing(profile: Profile, *, missing_methods: Collection[str] = ()) -> dict[str, str]:
    """Return the unmet needs, each with the line that unlocks it; ``:any`` needs are left out."""
    return {
        need: line
        for need, line in UNLOCKS.items()
        if not need.endswith(_ANY) and not is_met(profile, need, missing_methods=missing_methods)
    }


def family_line(need: str, needs: Collection[str]) -> str:
    """Return the line that unlocks a need; several needs of one family share a shorter line.

    Args:
        need: One of the needs.
        needs: All unmet needs.
    """
    family = need.partition(":")[0]
    names = [name for kind, _, name in (other.partition(":") for other in needs) if kind == family and name]
    return _FAMILY_LINES[family] % ", ".join(names) if len(names) > 1 else UNLOCKS[need]
