"""Requests generated from the OpenAPI document: invalid ones are refused, valid ones succeed, responses match it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.input_validity import Validity
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.running.options import Effort
from conformance.scenarios.basics import create_engagements
from conformance.scenarios.generated.document_rules import RULES
from conformance.scenarios.generated.requests import Generated, expect_statuses
from conformance.scenarios.renaming import name_before, restored_name
from conformance.scenarios.text_rules import (
    ensure_no_rule_for_engagements,
    ensure_no_rule_for_texts,
    ensure_no_rule_of_names,
    plain_names,
)
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from conformance.running.run import Run
    from conformance.scenarios.generated.contract import Held

pytestmark = pytest.mark.least_effort(Effort.STANDARD)


_SHORT: Final = 512
"""Bytes of a body that no service refuses as too large."""


@requirement("create-engagement-refuses-invalid")
def test_invalid_creations_are_refused(run: Run, generated_creations: Generated) -> None:
    """A creation with a certainly invalid body is refused with 400 or 422."""
    _expect_refused(run, generated_creations)


@requirement("create-engagement-succeeds")
def test_valid_creations_succeed(run: Run, generated_creations: Generated) -> None:
    """A creation with a certainly valid body succeeds, or reports a conflict of names."""
    _expect_accepted(run, generated_creations, lambda _: ensure_no_rule_for_engagements(run))


@requirement("update-engagement-refuses-invalid")
def test_invalid_updates_are_refused(run: Run, generated_updates: Generated) -> None:
    """An update with a certainly invalid body is refused with 400 or 422."""
    _expect_refused(run, generated_updates)


@requirement("update-engagement-succeeds")
def test_valid_updates_succeed(run: Run, generated_updates: Generated) -> None:
    """An update with a certainly valid body succeeds, or reports a conflict of names."""

    def ensure_no_rule(fields: Collection[str]) -> None:
        identifier = create_engagements(run, "plainly-renamed")[0]["id"]
        for name in plain_names(run):
            body = {"name": name, "description": f"about {run.names.name('plain')}"}
            sent = {field: text for field, text in body.items() if field in fields}
            ensure_no_rule_of_names(run.send(requests.update_engagement(identifier, sent)))

    _expect_accepted(run, generated_updates, ensure_no_rule)


@requirement("list-engagements-refuses-invalid")
def test_invalid_engagement_lists_are_refused(run: Run, generated_engagement_lists: Generated) -> None:
    """A certainly invalid parameter is refused with 400 or 422 when engagements are listed."""
    sent = generated_engagement_lists.of(Validity.INVALID)
    by_status = {exchange.received.status: exchange for exchange in sent if exchange.received is not None}
    if set(by_status) == {HTTPStatus.FORBIDDEN}:
        raise CantTell("the main key may not list engagements", by_status[HTTPStatus.FORBIDDEN])

    _expect_refused(run, generated_engagement_lists)


@requirement("list-engagements-succeeds")
def test_valid_engagement_lists_succeed(run: Run, generated_engagement_lists: Generated) -> None:
    """Certainly valid parameters list engagements with 200, if the main key may list them at all."""
    exchanges = generated_engagement_lists.of(Validity.VALID)
    listed = tuple(exchange for exchange in exchanges if exchange.judgeable and exchange.status != HTTPStatus.FORBIDDEN)

    expect_statuses(run, listed, lambda status: status == HTTPStatus.OK, "200")


@requirement("list-members-refuses-invalid")
def test_invalid_member_lists_are_refused(run: Run, generated_member_lists: Generated) -> None:
    """A certainly invalid parameter is refused with 400 or 422 when members are listed."""
    _expect_refused(run, generated_member_lists)


@requirement("list-members-succeeds")
def test_valid_member_lists_succeed(run: Run, generated_member_lists: Generated) -> None:
    """Certainly valid parameters list members with 200."""
    exchanges = generated_member_lists.of(Validity.VALID)

    expect_statuses(run, exchanges, lambda status: status == HTTPStatus.OK, "200")


@requirement("invite-refuses-invalid")
def test_invalid_invitations_are_refused(run: Run, generated_invitations: Generated) -> None:
    """A certainly invalid invitation is refused with 400 or 422."""
    _expect_refused(run, generated_invitations)


@requirement("update-organization-refuses-invalid")
def test_invalid_renamings_are_refused(run: Run, generated_renamings: Generated) -> None:
    """An update of the organization with a certainly invalid body is refused with 400 or 422."""
    _expect_refused(run, generated_renamings)


@requirement("update-organization-succeeds")
def test_valid_renamings_succeed(run: Run, generated_renamings: Generated) -> None:
    """An update of the organization with a certainly valid name gives 200, or reports a conflict of names."""

    def ensure_no_rule(_: Collection[str]) -> None:
        with restored_name(run, name_before(run, run.send(requests.get_organization()))):
            for name in plain_names(run):
                ensure_no_rule_of_names(run.send(requests.update_organization({"name": name})))

    _expect_accepted(run, generated_renamings, ensure_no_rule, (HTTPStatus.OK,))


@pytest.mark.stage(Stage.EVERY_RESPONSE)
@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule, marks=requirement(rule)) for rule in RULES])
def test_responses_keep_the_document(held_against_document: Held, rule: str) -> None:
    """Every readable response is as the OpenAPI document describes it."""
    exchanges = [exchange for exchange in held_against_document if RULES[rule](exchange)]
    if not exchanges:
        raise Inapplicable("no response of the run was of this kind")
    evidence(*exchanges)
    for exchange in exchanges:
        for fault in held_against_document[exchange]:
            if fault.requirement == rule:
                raise NonConformity(
                    f"{fault.message} in a response to {exchange.operation_id}",
                    exchange,
                    expected=fault.expected,
                    actual=fault.actual,
                    pointer=fault.pointer,
                )


def _expect_refused(run: Run, generated: Generated) -> None:
    exchanges = generated.of(Validity.INVALID)
    lengthy = tuple(exchange for exchange in exchanges if len(exchange.request.body or b"") > _SHORT)
    short = tuple(exchange for exchange in exchanges if exchange not in lengthy)
    if short or not lengthy:
        expect_statuses(run, short, lambda status: status in {400, 422}, "400 or 422")
    if lengthy:  # the interface does not state how large a body may be
        expect_statuses(run, lengthy, lambda status: status in {400, 413, 422}, "400, 413 or 422")


def _expect_accepted(
    run: Run,
    generated: Generated,
    ensure_no_rule: Callable[[Collection[str]], None],
    successes: Collection[int] = SUCCESSES,
) -> None:
    """Expect that certainly valid requests succeed, report a conflict of names, or break a naming rule of the service.

    Args:
        run: The run.
        generated: The requests.
        ensure_no_rule: Raises ``CantTell`` if the operation accepts plain names in these fields.
        successes: The statuses of a success.

    Raises:
        NonConformity: A request got another status, and no naming rule can be the reason.
        Inapplicable: Naming rules of the service were broken, and nothing else was wrong.
    """
    exchanges = generated.of(Validity.VALID)
    against_rules = tuple(exchange for exchange in exchanges if exchange.judgeable and exchange.refused_as_invalid)
    others = tuple(exchange for exchange in exchanges if exchange not in against_rules)
    expected = "any 2xx, or 409" if successes is SUCCESSES else "200, or 409"

    def is_right(status: int) -> bool:
        return status in successes or status == HTTPStatus.CONFLICT

    if others or not against_rules:
        expect_statuses(run, others, is_right, expected)
    if against_rules:
        try:
            ensure_no_rule(min((exchange.sent_fields for exchange in against_rules), key=len))
            for exchange in against_rules:
                ensure_no_rule_for_texts(run, exchange)
        except CantTell as doubt:  # other checks send the names of the run, and decide
            raise Inapplicable(doubt.message) from doubt
        expect_statuses(run, against_rules, is_right, expected)
