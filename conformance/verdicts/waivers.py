"""Waivers: failures that somebody answers for, for a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import yaml

from conformance.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.reports import model

_MEMBERS = {"requirement", "reason", "owner", "expires", "check"}


class WaiverError(ValueError):
    """The file of waivers cannot be used; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver.

    Attributes:
        requirement: The id of the requirement that may fail.
        reason: Why.
        owner: Who answers for it.
        expires: The last day that it holds.
        check: A pattern of the checks whose failures it covers; a failure of another check is not waived.
    """

    requirement: str
    reason: str
    owner: str
    expires: date
    check: str = "*"

    def covers(self, failures: Iterable[model.Failure]) -> bool:
        """Whether every failure is one that this waiver speaks of."""
        return all(fnmatchcase(failure["check"], self.check) for failure in failures)


def load_waivers(path: Path) -> list[Waiver]:
    """The waivers of a YAML file: a list of {requirement, reason, owner, expires, check}, ``check`` optional.

    Raises:
        WaiverError: The file cannot be read, or an entry is not of that form.
    """
    try:
        entries = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise WaiverError(f"{path} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, ValueError):  # the latter for what is no UTF-8, and for days that never were
        raise WaiverError(f"{path} is not YAML, or has a date that is none.") from None
    if not isinstance(entries, list):
        raise WaiverError(f"{path}: expected a list of waivers.")
    return [_waiver(entry, f"{path}, waiver {number}") for number, entry in enumerate(entries, start=1)]


def apply_waivers(requirements: Sequence[model.Requirement], waivers: Sequence[Waiver], today: date) -> list[str]:
    """Mark failed requirements that are waived.

    Args:
        requirements: What the run found; changed in place.
        waivers: The waivers.
        today: The day of the run.

    Returns:
        What is wrong with the waivers themselves, a sentence each: expired, unused, or too narrow for what failed.
    """
    by_id = {entry["id"]: entry for entry in requirements}
    problems = []
    for waiver in waivers:
        entry = by_id[waiver.requirement]
        if waiver.expires < today:
            problems.append(f"The waiver of {waiver.requirement} expired on {waiver.expires} (owner: {waiver.owner}).")
        elif entry["outcome"] in {"cantTell", "untested"}:
            continue
        elif entry["outcome"] != "failed":
            problems.append(f"The waiver of {waiver.requirement} is unused: the outcome is {entry['outcome']}.")
        elif not waiver.covers(entry["failures"]):
            problems.append(f"The waiver of {waiver.requirement} does not cover all that failed.")
        else:
            entry["waived"] = True
            entry["reason"] = f"Waived by {waiver.owner} until {waiver.expires}: {waiver.reason}"
    return problems


def _waiver(entry: Any, where: str) -> Waiver:  # noqa: ANN401 - any YAML value
    if not isinstance(entry, dict):
        raise WaiverError(f"{where}: expected requirement, reason, owner and expires.")
    if unknown := sorted(str(name) for name in set(entry) - _MEMBERS):
        raise WaiverError(f"{where}: unknown key {unknown[0]}.")
    for name in ("requirement", "reason", "owner"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise WaiverError(f"{where}: {name} must be a text.")
    if entry["requirement"] not in load_catalogue().requirements:
        raise WaiverError(f"{where}: there is no requirement {entry['requirement']}.")
    if not isinstance(entry.get("check", "*"), str):
        raise WaiverError(f"{where}: check must be a text.")
    if type(entry.get("expires")) is not date:
        raise WaiverError(f"{where}: expires must be a date such as 2026-12-31.")
    return Waiver(**entry)
