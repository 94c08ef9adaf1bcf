"""Waivers: failures accepted for a time, each with an owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from conformance.catalogue import load_catalogue
from conformance.files import TEXT, read_file
from conformance.spelling import suggestion
from conformance.yaml_text import YamlRefused, compose, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.reports import model

_MEMBERS = {"requirement", "reason", "owner", "expires", "check"}


class WaiverError(ValueError):
    """The file of waivers cannot be used; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A waiver.

    Attributes:
        requirement: The id of the waived requirement.
        reason: The reason.
        owner: The responsible person or team.
        expires: Its last valid day.
        check: A pattern of the checks whose failures it covers.
    """

    requirement: str
    reason: str
    owner: str
    expires: date
    check: str = "*"

    def waives(self, requirement: str, check: str, today: date) -> bool:
        """Whether the waiver covers a check of a requirement on a day."""
        return self.requirement == requirement and self.expires >= today and fnmatchcase(check, self.check)

    def covers(self, failure: model.Failure) -> bool:
        """Whether the waiver covers the check of a failure."""
        return fnmatchcase(failure["check"], self.check)


def load_waivers(path: Path) -> list[Waiver]:
    """Read the waivers of a YAML file: a list of {requirement, reason, owner, expires, check}, ``check`` optional.

    Raises:
        WaiverError: The file cannot be read, or an entry is invalid.
    """
    try:
        node = compose(read_file(path, TEXT, piped=True).decode("utf-8-sig"))
        entries = None if node is None else value_of(node)
    except OSError as error:
        raise WaiverError(f"{path} cannot be read: {error.strerror}.") from None
    except YamlRefused as refusal:
        raise WaiverError(f"{path}{refusal}.") from None
    except UnicodeDecodeError:
        raise WaiverError(f"{path} is not a text in UTF-8.") from None
    if not isinstance(entries, list):
        raise WaiverError(f"{path}: expected a list of waivers.")
    return [_waiver(entry, f"{path}, waiver {number}") for number, entry in enumerate(entries, start=1)]


def apply_waivers(requirements: Sequence[model.Requirement], waivers: Sequence[Waiver], today: date) -> list[str]:
    """Mark the failed requirements that are waived.

    Args:
        requirements: The requirements of the report; changed in place.
        waivers: The waivers.
        today: The day of the run.

    Returns:
        The problems of the waivers, a sentence each: expired, unused, or too narrow for the failures.
    """
    problems = [
        f"The waiver of {waiver.requirement} expired on {waiver.expires} (owner: {waiver.owner})."
        for waiver in waivers
        if waiver.expires < today
    ]
    for entry in requirements:
        given = [waiver for waiver in waivers if waiver.requirement == entry["id"] and waiver.expires >= today]
        problems += _applied(entry, given)
    return problems


def _applied(entry: model.Requirement, waivers: Sequence[Waiver]) -> Iterator[str]:
    """Mark a requirement if its waivers cover all failures; yield the problems of the waivers."""
    if not waivers or entry["outcome"] in {"cantTell", "untested"}:
        return
    used = [waiver for waiver in waivers if any(map(waiver.covers, entry["failures"]))]
    for waiver in waivers:
        if waiver not in used:
            failed = entry["outcome"] == "failed"
            why = f"no check that matches {waiver.check} failed" if failed else f"the outcome is {entry['outcome']}"
            yield f"The waiver of {waiver.requirement} is unused: {why}."
    if entry["outcome"] != "failed":
        return
    if all(any(waiver.covers(failure) for waiver in used) for failure in entry["failures"]):
        entry["waived"] = True
        entry["reason"] = " ".join(
            f"Waived by {waiver.owner} until {waiver.expires}: {waiver.reason}" for waiver in used
        )
    elif used:
        yield f"The waivers of {entry['id']} do not cover all of its failures."


def _waiver(entry: object, where: str) -> Waiver:
    if not isinstance(entry, dict):
        raise WaiverError(f"{where}: expected requirement, reason, owner and expires.")
    if unknown := sorted(str(name) for name in set(entry) - _MEMBERS):
        raise WaiverError(f"{where}: unknown key {unknown[0]}.")
    for name in ("requirement", "reason", "owner"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise WaiverError(f"{where}: {name} must be a text.")
    if entry["requirement"] not in load_catalogue().requirements:
        hint = suggestion(entry["requirement"], load_catalogue().requirements)
        raise WaiverError(f"{where}: there is no requirement {entry['requirement']}{hint}")
    if not isinstance(entry.get("check", "*"), str):
        raise WaiverError(f"{where}: check must be a text.")
    if type(entry.get("expires")) is not date:
        raise WaiverError(f"{where}: expires must be a date such as 2026-12-31.")
    return Waiver(**entry)
