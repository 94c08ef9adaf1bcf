"""Waivers: files, validity and coverage."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from conformance.verdicts.waivers import Waiver, WaiverError, apply_waivers, load_waivers

TODAY = date(2026, 6, 1)
WHOLE = """
- requirement: json-well-formed
  reason: The gateway is being replaced.
  owner: a@example.com
  expires: 2026-12-31
"""


def written(folder: Path, text: str | bytes) -> Path:
    """Write a file of waivers."""
    path = folder / "waivers.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def requirement(outcome: str = "failed", *checks: str) -> Any:
    """Return a requirement of a report, with failures of these checks."""
    failures = [{"check": check} for check in checks]
    return {"id": "json-well-formed", "outcome": outcome, "waived": False, "reason": None, "failures": failures}


def waiver(expires: date = TODAY, check: str = "*") -> Waiver:
    """Return a waiver of that requirement."""
    return Waiver("json-well-formed", "it is known", "somebody", expires, check)


def test_a_file_of_waivers_is_read(tmp_path: Path) -> None:
    """Each entry is a waiver; without ``check`` it covers every check."""
    text = WHOLE + WHOLE + "  check: 'test_s1*'\n"

    first, second = load_waivers(written(tmp_path, text))

    assert first == Waiver(
        "json-well-formed", "The gateway is being replaced.", "a@example.com", date(2026, 12, 31), "*"
    )
    assert second.check == "test_s1*"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe\xfa", "is not a text in UTF-8."),
        ("{", "waivers.yaml, line 1, column 2: this is not valid YAML."),
        ("{" * 300_000, "waivers.yaml is nested too deeply."),
        ("- &a {reason: *a}", "waivers.yaml uses an alias (*name), which this suite does not accept."),
        ("- " + "a: b\n  " * 30_000, "waivers.yaml has more than 20000 values."),
        ("- !!int ''", "is not YAML, or has an impossible date."),
        ("- !!timestamp x", "is not YAML, or has an impossible date."),
        ("- " + "9" * 5000, "waivers.yaml has a number of more than 1000 digits."),
        (WHOLE.replace("12-31", "02-30"), "is not YAML, or has an impossible date."),
        ("requirement: json-well-formed", "expected a list of waivers."),
        (WHOLE + "- one\n", "waiver 2: expected requirement, reason, owner and expires."),
        (WHOLE + "  zeal: 1\n  ardour: 1\n", "waiver 1: unknown key ardour."),
        (WHOLE.replace("json-well-formed", "no-such-thing"), "waiver 1: there is no requirement no-such-thing."),
        (
            WHOLE.replace("json-well-formed", "json-wel-formed"),
            "waiver 1: there is no requirement json-wel-formed; did you mean json-well-formed?",
        ),
        (WHOLE.replace("json-well-formed", "7"), "waiver 1: requirement must be a text."),
        (WHOLE.replace("a@example.com", "' '"), "waiver 1: owner must be a text."),
        (WHOLE.replace("The gateway is being replaced.", "[]"), "waiver 1: reason must be a text."),
        (WHOLE.replace("  owner: a@example.com\n", ""), "waiver 1: owner must be a text."),
        (WHOLE + "  check: 1\n", "waiver 1: check must be a text."),
        (WHOLE.replace("2026-12-31", "2026-12-31 10:00:00"), "waiver 1: expires must be a date such as 2026-12-31."),
        (WHOLE.replace("2026-12-31", "'2026-12-31'"), "waiver 1: expires must be a date such as 2026-12-31."),
        (WHOLE.replace("  expires: 2026-12-31\n", ""), "waiver 1: expires must be a date such as 2026-12-31."),
    ],
)
def test_an_invalid_file_is_refused_with_a_reason(tmp_path: Path, text: str | bytes, message: str) -> None:
    """A sentence names the file, the entry and what was expected."""
    with pytest.raises(WaiverError) as refused:
        load_waivers(written(tmp_path, text))

    assert str(refused.value).startswith(str(tmp_path / "waivers.yaml"))
    assert str(refused.value).endswith(message)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The message contains the system's reason."""
    with pytest.raises(WaiverError, match=r"absent\.yaml cannot be read: No such file or directory\.$"):
        load_waivers(tmp_path / "absent.yaml")


def test_a_waiver_holds_through_its_last_day() -> None:
    """The failure is marked, and the reason names the owner and the end."""
    found = requirement("failed", "test_s1_form::one")

    assert apply_waivers([found], [waiver(TODAY)], TODAY) == []
    assert found["waived"] is True
    assert found["reason"] == "Waived by somebody until 2026-06-01: it is known"
    assert found["outcome"] == "failed"


@pytest.mark.parametrize(
    ("found", "given", "message"),
    [
        (requirement("failed", "a"), waiver(date(2026, 5, 31)), "expired on 2026-05-31 (owner: somebody)."),
        (requirement("passed"), waiver(), "is unused: the outcome is passed."),
        (requirement("failed", "Form::a"), waiver(check="form::*"), "is unused: no check that matches form::* failed."),
    ],
)
def test_a_waiver_that_does_not_hold_waives_nothing(found: Any, given: Waiver, message: str) -> None:
    """An expired or unused waiver is reported, and the failure stays."""
    assert apply_waivers([found], [given], TODAY) == [f"The waiver of json-well-formed {message}"]
    assert (found["waived"], found["reason"]) == (False, None)


@pytest.mark.parametrize("outcome", ["cantTell", "untested"])
def test_a_waiver_of_what_was_not_decided_is_not_unused(outcome: str) -> None:
    """A waiver of an undecided requirement is not reported as unused."""
    assert apply_waivers([requirement(outcome)], [waiver()], TODAY) == []
    assert apply_waivers([requirement("inapplicable")], [waiver()], TODAY) == [
        "The waiver of json-well-formed is unused: the outcome is inapplicable."
    ]


def test_waivers_are_looked_at_one_by_one() -> None:
    """An unused waiver does not affect the others."""
    found = requirement("failed", "form::a")

    problems = apply_waivers([found], [waiver(check="other::*"), waiver(check="form::*")], TODAY)

    assert problems == ["The waiver of json-well-formed is unused: no check that matches other::* failed."]
    assert found["waived"] is True
    assert found["reason"] == "Waived by somebody until 2026-06-01: it is known"


def test_narrow_waivers_cover_together() -> None:
    """Waivers of different checks together cover a requirement."""
    found = requirement("failed", "form::a", "other::b")

    assert apply_waivers([found], [waiver(check="other::*"), waiver(check="form::*")], TODAY) == []
    assert found["waived"] is True
    assert found["reason"] == " ".join(2 * ["Waived by somebody until 2026-06-01: it is known"])


def test_a_failure_without_a_waiver_stays_failed() -> None:
    """A failure of another check is not waived."""
    found = requirement("failed", "form::a", "other::b")

    assert apply_waivers([found], [waiver(check="form::*")], TODAY) == [
        "The waivers of json-well-formed do not cover all of its failures."
    ]
    assert (found["waived"], found["reason"]) == (False, None)
