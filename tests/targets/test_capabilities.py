from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.catalogue import load_catalogue
from conformance.catalogue.entries import OpenPoint, Requirement
from conformance.targets.capabilities import UNLOCKS, is_met, missing, missing_means
from conformance.targets.profile import Mode, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

FULL = """
disposable: true
keys: {organizations:read: k1, organizations:write: k2, engagements:read: k3, engagements:write: k4,
       engagements:delete: k5, other_organization: k6, throttled: k7}
members: [{user_id: u_1, key: k8}]
mailbox: {smtp: 127.0.0.1:1025}
subordinates:
"""
TEMPLATE = "  - {kind: %s, create: {path: '/{engagementId}'}, read: {path: '/{id}'}}\n"
KINDS = ("target", "task", "wikiPage", "report", "threatModel", "apiRequest")


def test_every_need_of_the_catalogue_is_known() -> None:
    """Every need of the catalogue can be met by a target."""
    catalogue = load_catalogue()
    entries: list[Requirement | OpenPoint] = [*catalogue.requirements.values(), *catalogue.open_points.values()]
    needs = {need for entry in entries for need in entry.needs}

    assert needs <= set(UNLOCKS)


def test_a_full_target_file_lacks_nothing(load: Callable[..., Profile]) -> None:
    """The lines that unlock needs meet them."""
    profile = load(FULL + "".join(TEMPLATE % kind for kind in KINDS))

    assert missing(profile) == {}
    assert all(is_met(profile, need) for need in UNLOCKS)


def test_a_provisioner_meets_everything_but_the_mode(load: Callable[..., Profile]) -> None:
    """With a provisioner only the needs of the mode are unmet."""
    profile = load("provisioner: {command: [p]}")

    assert set(missing(profile)) == {"disposable"}


def test_base_url_and_key_meet_nothing_but_writing(load: Callable[..., Profile]) -> None:
    """A minimal target file only meets the need for writes."""
    met = {need for need in UNLOCKS if is_met(load(""), need)}

    assert met == {"writes"}


@pytest.mark.parametrize(
    ("method", "needs"),
    [
        ("create_key", {"key:engagements:read", "key:any"}),
        ("create_member", {"member", "member_key"}),
        ("read_mail", {"mailbox"}),
        ("subordinate_exists", {"subordinates:task", "subordinates:any"}),
        ("create_throttled_key", {"throttled"}),
    ],
)
def test_a_missing_method_leaves_its_needs_unmet(load: Callable[..., Profile], method: str, needs: set[str]) -> None:
    """A missing method leaves its needs unmet."""
    profile = load("provisioner: {command: [p]}")

    assert not any(is_met(profile, need, missing_methods={method}) for need in needs)


def test_a_read_only_run_makes_neither_members_nor_records(load: Callable[..., Profile]) -> None:
    """In a read-only run the provisioner creates keys and changes nothing in the organization."""
    profile = load("provisioner: {command: [p]}", options={"mode": Mode.READ_ONLY})

    assert is_met(profile, "key:any")
    assert is_met(profile, "other_organization")
    assert not is_met(profile, "member")
    assert not is_met(profile, "subordinates:task")
    assert not is_met(profile, "writes")


def test_the_main_key_may_be_throttled_in_a_disposable_organization(load: Callable[..., Profile]) -> None:
    """A disposable organization needs no separate key for the rate limit."""
    assert is_met(load("disposable: true"), "throttled")
    assert not is_met(load(""), "throttled")


def test_a_member_without_a_key_is_no_member_with_one(load: Callable[..., Profile]) -> None:
    """Members and members with keys are different needs."""
    profile = load("members: [{user_id: u_1}]")

    assert is_met(profile, "member")
    assert not is_met(profile, "member_key")


def test_each_unlocking_line_is_one_line() -> None:
    """The text to add is one line that can be copied."""
    assert all("\n" not in line and line for line in UNLOCKS.values())


@pytest.mark.parametrize("need", [need for need in UNLOCKS if need.startswith("key:") and need != "key:any"])
def test_the_line_for_a_key_can_be_copied(load: Callable[..., Profile], need: str) -> None:
    """The line that unlocks a single-permission key is a line of a target file."""
    line, _, _ = UNLOCKS[need].partition(", or")
    variable = re.search(r"\$\{(\w+)\}", line)
    assert variable is not None

    assert is_met(load(line, **{variable[1]: "a-scoped-key"}), need)


def test_an_unknown_need_is_an_error_of_ours(load: Callable[..., Profile]) -> None:
    """An unknown need is an error."""
    with pytest.raises(KeyError, match="there is no need 'nonsense'"):
        is_met(load(""), "nonsense")


def test_a_missing_need_reports_the_line_to_add() -> None:
    """A check without its need reports the line to add."""
    unavailable = missing_means("other_organization")

    assert unavailable.need == "other_organization"
    assert "keys: {other_organization: ${KEY_OTHER}}" in str(unavailable)
