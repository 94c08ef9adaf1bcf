"""Other users who rename the organization or change its settings, and faulty services that do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.confirm.interference import cant_tell_if_others_interfere
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.targets.names import RunNames
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request, get_organization
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

PREFIX = "cf-k3vq7t2a-"


def shown(number: int, name: str, *, settings: bool = False, plan: str = "team") -> Exchange:
    """Return a read of the organization, a second after the previous exchange."""
    data = {"name": name, "plan": plan, "settings": {"ssoEnabled": settings}}
    return make_exchange("getCurrentOrganization", body={"data": data}, number=number, at=number)


def renamed(number: int, name: str, status: int = 200) -> Exchange:
    """Return a renaming by the run."""
    data = {"name": name}
    return make_exchange("updateCurrentOrganization", status, {"data": data}, sent=data, number=number, at=number)


def evidence(exchanges: list[Exchange], later: list[bool] | None = None) -> None:
    """Judge a fault in a run with these exchanges, whose further reads show these settings."""
    settings = later or [False]

    def respond(request: Request) -> Exchange:
        assert request == get_organization()
        return shown(0, "Acme", settings=settings[min(len(run.sent), len(settings)) - 1])

    run = FakeRun(respond, exchanges, pace=1.0, passed=len(exchanges), names=RunNames(PREFIX))
    with cant_tell_if_others_interfere(run):
        raise NonConformity("something is wrong", expected="a", actual="b")


MINE: Callable[[str], str] = PREFIX.__add__


@pytest.mark.parametrize(
    "exchanges",
    [
        [shown(0, "Acme"), shown(1, "Theirs 1"), shown(2, "Theirs 2")],
        [shown(0, "Acme"), renamed(1, MINE("a")), shown(2, "Theirs 1"), renamed(3, "Acme"), shown(4, "Theirs 2")],
        [shown(0, "Acme"), shown(1, "Acme", settings=True)],
        [shown(0, "Acme"), shown(1, "Acme", plan="enterprise")],
    ],
    ids=["names", "names after renamings", "settings", "plan"],
)
def test_others_excuse(exchanges: list[Exchange]) -> None:
    """Two unknown names, or settings or a plan that change without a request, show others and give CantTell."""
    with pytest.raises(CantTell, match="other users change the organization meanwhile, and something is wrong"):
        evidence(exchanges)


@pytest.mark.parametrize(
    "exchanges",
    [
        [],
        [shown(0, "Acme")],
        [shown(0, "Acme"), renamed(1, MINE("a")), shown(2, MINE("A").upper())],
        [shown(0, "Acme"), renamed(1, MINE("a")), shown(2, "Unnamed"), renamed(3, MINE("b")), shown(4, "Unnamed")],
        [
            shown(0, "Acme"),
            renamed(1, "Ænd ähnlich"),
            shown(2, "?nd ?hnlich"),
            renamed(3, "<b>"),
            shown(4, "&lt;b&gt;"),
        ],
        [shown(0, "Acme"), renamed(1, "A", 422), shown(2, "A"), renamed(3, "B", 422), shown(4, "B")],
        [shown(0, "Acme"), renamed(1, MINE("a")), shown(2, MINE("a"), settings=True)],
    ],
    ids=[
        "nothing", "one read", "upper case", "one strange name", "garbled odd names", "refused names",
        "settings after a renaming",
    ],
)  # fmt: skip
def test_a_faulty_service_is_not_excused(exchanges: list[Exchange]) -> None:
    """Garbled names, and settings that a renaming changes, are failures of the service."""
    with pytest.raises(NonConformity, match="something is wrong"):
        evidence(exchanges, [exchanges[-1].response.body.count(b"true") > 0] if exchanges else None)


def test_a_read_without_a_response_is_ignored() -> None:
    """A read without a response does not prevent the judgement."""
    lost = make_exchange("getCurrentOrganization", None, number=1)
    with pytest.raises(NonConformity):
        evidence([shown(0, "Acme"), lost])


def test_settings_are_looked_at_a_while_longer() -> None:
    """Settings are read for a while longer, once a run."""
    with pytest.raises(CantTell):
        evidence([shown(0, "Acme")], [False, False, True])
    looked = [replace(shown(1, "Acme"), check="who else changes settings")]
    with pytest.raises(NonConformity):
        evidence([shown(0, "Acme"), *looked], [True])
