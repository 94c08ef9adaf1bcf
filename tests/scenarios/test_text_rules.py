"""Services with rules for names and descriptions that the interface does not state, which must not fail for them."""

from __future__ import annotations

import re

import pytest

from conformance.reference.faults import Fault, all_faults
from conformance.reference.json_body import Json
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service
from conformance.running.options import Effort, RunOptions
from conformance.selftest import in_process
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, Trial, attempt

ONLY = ("create-engagement-succeeds", "update-organization-succeeds")


OF_DESCRIPTIONS = (
    "create-engagement-succeeds",
    "update-engagement-succeeds",
    "update-engagement-duplicate-name",
    "unarchived-editable",
)


def evidence(service: type[Service], monkeypatch: pytest.MonkeyPatch, only: tuple[str, ...] = ONLY) -> Trial:
    """Return the suite's results for a service."""
    special = Fault("special", "It is special.", (), service)
    monkeypatch.setattr(in_process, "fault_by_id", {**all_faults(), "special": special}.__getitem__)
    options = RunOptions(effort=Effort.QUICK, seed=1, only=only)
    return attempt(Task(Subject("special", "fault", special.title), options, in_process=True))


def ruled(pattern: str) -> type[Service]:
    """Return a service class whose new names must match a pattern."""

    class Ruled(Service):
        def name(self, value: Json) -> str:
            name = super().name(value)
            if re.fullmatch(pattern, name) is None and "Reference" not in name:
                raise Refusal(422, "This is no name.")
            return name

    return Ruled


@pytest.mark.parametrize("pattern", ["[A-Za-z0-9 ]+", "[A-Za-z ]+", ".{1,20}"])
def test_a_rule_for_names_is_no_fault(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that accepts only plain names is undecided, and the suite leaves no such engagement."""
    trial = evidence(ruled(pattern), monkeypatch)

    assert trial.reported == {}
    assert set(trial.undecided) == set(ONLY)
    assert "a rule of the service forbids" in trial.undecided["create-engagement-succeeds"]


def describing(pattern: str) -> type[Service]:
    """Return a service class whose descriptions must match a pattern."""

    class Describing(Service):
        def description(self, value: Json) -> str | None:
            description = super().description(value)
            if description and re.fullmatch(pattern, description) is None:
                raise Refusal(400, "This is no description.")
            return description

    return Describing


@pytest.mark.parametrize(
    ("pattern", "undecided"),
    [
        (".{20,}", False),
        ("[A-Za-z0-9 -]*", False),
        (".{40,}", True),
        (".{,10}", True),
        ("[A-Z].*", False),
        (r"(\S+ ){2}.*", False),
        ("[^-]*", False),
        (".*[a-z]", False),
    ],
)
def test_a_rule_for_descriptions_is_no_fault(pattern: str, monkeypatch: pytest.MonkeyPatch, *, undecided: bool) -> None:
    """A service that accepts only some descriptions is not failed, and is undecided if it refuses usual ones."""
    trial = evidence(describing(pattern), monkeypatch, OF_DESCRIPTIONS)

    assert trial.reported == {}
    assert bool(trial.undecided) == undecided


@pytest.mark.parametrize(("of_names", "of_descriptions"), [("[A-Z].*", ".{40,}"), (r"\S+ .*", r"(\S+ ){2}.*")])
def test_rules_for_names_and_descriptions_are_no_fault(
    of_names: str, of_descriptions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service with both kinds of rules is not failed."""

    class Both(ruled(of_names), describing(of_descriptions)):  # type: ignore[misc]
        pass

    trial = evidence(Both, monkeypatch, OF_DESCRIPTIONS)

    assert trial.reported == {}
    assert "create-engagement-succeeds" in trial.undecided


def test_a_service_that_takes_no_description_at_all_is_faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """If plain descriptions are refused, too, no rule is the reason."""
    trial = evidence(describing(""), monkeypatch, OF_DESCRIPTIONS)

    assert {"create-engagement-succeeds", "update-engagement-succeeds"} <= trial.reported.keys()


def test_a_service_that_takes_no_name_at_all_is_faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that refuses every name fails; the organization is not renamed, since its name could be lost."""

    class Refusing(Service):
        def name(self, _: object) -> str:
            raise Refusal(422, "This is no name.")

    trial = evidence(Refusing, monkeypatch)

    assert set(trial.reported) == {"create-engagement-succeeds"}
    assert "update-organization-succeeds" in trial.undecided
