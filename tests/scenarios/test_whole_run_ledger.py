"""Findings that others may have caused: confirmed by the same fault twice at rest, or else undecided."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.oracle.ledger.findings import Findings
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.whole_run_ledger import conclude, ledger_of_run
from conformance.targets.names import RunNames
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import OTHER_KEY, Credential
from tests.fakes.exchanges import make_exchange, page_for
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.requests import Request

# --- lists that were read during a write

LISTED = "create-engagement-listed"
WHOLE = requests.list_engagements(perPage=100)


class Talk(FakeRun):
    """A run that has created an engagement and listed engagements without it, and may list again.

    Args:
        writes: Seconds before the list at which another write began; None for no write.
        shown: The names in the list, and in each repeated list; ``own`` is the run's.
        key: The key of all requests; None for the main key.
    """

    def __init__(self, *shown: list[str], writes: float | None = None, key: Credential | None = None) -> None:
        chosen = SimpleNamespace(only=(LISTED,))
        super().__init__(
            self._respond,
            pace=1.0,
            names=RunNames("own-"),
            options=chosen,
            fixtures=SimpleNamespace(members={}),
        )
        self._shown = iter(shown)
        self.send(replace(requests.create_engagement({"name": "own-engagement"}), credential=key))
        if writes is not None:
            self.passed += 1 - writes
            self.send(requests.delete_engagement("foreign"))
            self.passed += writes - 1
        self.send(replace(WHOLE, credential=key))

    def _respond(self, asked: Request) -> Exchange:
        match asked.operation.id:
            case "createEngagement":
                return make_exchange(asked, 201, {"data": _item("own")})
            case "getEngagement":
                return make_exchange(asked, 200, {"data": _item("own")})
            case "deleteEngagement":
                return make_exchange(asked, 404, {})
        return page_for(asked, [_item(name) for name in next(self._shown)])


def _item(name: str) -> dict[str, object]:
    at = "2026-01-01T00:00:00.000Z"
    text = {"name": f"{name}-engagement", "description": None, "status": "active"}
    return {"id": name, **text, "createdAt": at, "updatedAt": at}


def test_a_list_that_a_write_may_have_torn_passes_if_it_is_right_with_nothing_under_way() -> None:
    """A list torn by a write passes if it is right with no write in flight, and is noted as torn."""
    talk = Talk(["other"], ["other", "own"], writes=0.005)

    account = ledger_of_run(talk)

    conclude(LISTED, account)
    assert talk.disturbed.count(False) == 1
    assert account.torn == [talk.exchanges[2]]
    assert talk.exchanges[-1] in account.findings.kept[LISTED]


def test_a_list_that_lacks_something_with_nothing_under_way_is_wrong() -> None:
    """A list that lacks an item with no write in flight fails, despite an earlier write."""
    talk = Talk(["other"], ["other"], ["other"], writes=0.005)

    account = ledger_of_run(talk)

    with pytest.raises(NonConformity, match="missing from the list") as fault:
        conclude(LISTED, account)
    assert talk.exchanges[-1] in fault.value.exchanges
    assert talk.disturbed.count(False) == 2
    assert account.torn == []


def test_a_list_of_another_organization_is_confirmed_with_its_key() -> None:
    """A list of another organization that lacks an item fails if it still does when it is requested again."""
    key = Credential.bearer(OTHER_KEY, "theirs")
    talk = Talk(["other"], ["other"], ["other"], key=key)

    with pytest.raises(NonConformity, match="missing from the list"):
        conclude(LISTED, ledger_of_run(talk))
    assert [sent.credential for sent in talk.sent[-2:]] == [key, key]

    with pytest.raises(Inapplicable):
        conclude(LISTED, ledger_of_run(Talk(["other"], ["other", "own"], key=key)))


@pytest.mark.parametrize("writes", [None, 0.5])
def test_a_list_that_nothing_tore_and_that_is_right_later_stays_in_doubt(writes: float | None) -> None:
    """A list that no write tore and that is right later is undecided, since the service may have forgotten."""
    account = ledger_of_run(Talk(["other"], ["other", "own"], writes=writes))

    with pytest.raises(CantTell, match="not when it was read again"):
        conclude(LISTED, account)
    assert account.torn == []


def test_a_list_that_others_were_changing_passes_if_it_is_right_later() -> None:
    """A list that others were changing passes if it is right later: it was most likely torn."""
    account = ledger_of_run(Talk(["other"], ["another", "own"]))

    conclude(LISTED, account)
    assert account.torn == []


def test_a_list_that_others_keep_changing_is_not_wrong() -> None:
    """A list that others keep changing is undecided: a failure takes two reads at rest."""
    talk = Talk(*[[f"other-{number}"] for number in range(5)], writes=0.005)

    with pytest.raises(CantTell, match="not when it was read again"):
        conclude(LISTED, ledger_of_run(talk))


# --- settings of the organization, which another user may change

REST = "update-organization-keeps-the-rest"


@pytest.mark.parametrize(("between", "outcome"), [(0, NonConformity), (1, CantTell)])
def test_settings_that_change_once_are_in_doubt_unless_they_were_read_at_once(
    between: int, outcome: type[Exception]
) -> None:
    """Another user may have changed them between an update and a later read, but hardly between two requests."""
    switched = iter([False, True])

    def respond(asked: Request) -> Exchange:
        if asked.operation.id != "getCurrentOrganization":
            return make_exchange(asked, 200, {"data": {}})
        shown = {"id": "o", "name": "Acme", "settings": {"ssoEnabled": next(switched, True)}}
        return make_exchange(asked, 200, {"data": shown})

    run = FakeRun(respond, pace=1.0, options=SimpleNamespace(only=(REST,)), names=RunNames("own-"), meets=bool)
    run.fixtures = SimpleNamespace(members={})
    run.scenarios = SimpleNamespace(
        wait_for=lambda _: None, result_if_any=lambda _: None, result=lambda _: Findings(kept={REST: run.exchanges})
    )
    reading = requests.get_organization()
    others = [requests.get_engagement("e")] * between
    run.send_all([reading, requests.update_organization({"name": "Acme"}), *others, reading])

    with pytest.raises(outcome, match="unexpected settings of the organization"):
        conclude(REST, ledger_of_run(run))
