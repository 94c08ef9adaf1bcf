"""Results of checks, from their exceptions and evidence."""

from __future__ import annotations

import pytest

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, Untested
from conformance.verdicts.results import CheckResult, Failure, result_of
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange


def result(raised: BaseException | None, evidence: list[Exchange], *, in_preamble: bool = False) -> CheckResult:
    """Return the result of a check named ``check``."""
    return result_of("check", "json-well-formed", raised, in_preamble=in_preamble, evidence=evidence, seconds=0.1)


def test_a_check_that_judged_something_has_passed() -> None:
    """A check with evidence and without an exception has passed."""
    assert result(None, [make_exchange()]).outcome == "passed"


def test_a_check_that_judged_nothing_is_an_error_of_the_suite() -> None:
    """A check without evidence has not passed."""
    found = result(None, [])

    assert (found.outcome, found.error) == ("cantTell", True)
    assert found.reason == "The check judged nothing, which is an error of the suite."


def test_a_non_conformity_fails_with_its_evidence() -> None:
    """The failure contains the expected and the actual value."""
    made = make_exchange(number=7)

    found = result(NonConformity("wrong", made, expected="a", actual="b", pointer="/data"), [made])

    assert found.outcome == "failed"
    assert found.failure is not None
    assert found.failure == Failure("check", "wrong", "a", "b", "/data", (made,))
    assert [cited.number for cited in found.exchanges] == [7]


@pytest.mark.parametrize("where", ["body", "header"])
def test_a_redacted_value_is_no_failure(where: str) -> None:
    """If a redacted header was in the response, the original may have been right."""
    texts = {"body": b'{"data": {"slug": "%s"}}', "header": b"%s"}

    def made(name: bytes) -> Exchange:
        text = texts[where] % name
        return make_exchange(body=text) if where == "body" else make_exchange(headers=(("X-Tenant", text.decode()),))

    for name, outcome in (
        (b"<header:X-Tenant>", "cantTell"),
        (b"<environment:ORG>", "cantTell"),
        (b"<api_key>", "failed"),
    ):
        response = made(name)
        found = result(NonConformity("wrong", response, expected="a", actual="b"), [response])
        assert found.outcome == outcome
        hidden = "But a text that the target file hides was redacted from a response."
        assert found.reason == (f"Wrong. {hidden}" if outcome == "cantTell" else None)


def test_a_result_says_whose_it_is() -> None:
    """A result has the check, the requirement, the duration and each exchange once."""
    first, second = make_exchange(number=1), make_exchange(number=2)

    found = result(CantTell("the second is unclear", first, second), [first])

    assert (found.check, found.requirement, found.seconds) == ("check", "json-well-formed", 0.1)
    assert found.exchanges == (first, second)


def test_a_non_conformity_in_the_preamble_decides_nothing() -> None:
    """A non-conformity in the setup leaves the check undecided."""
    found = result(NonConformity("wrong", make_exchange(), expected="a", actual="b"), [], in_preamble=True)

    assert (found.outcome, found.failure) == ("cantTell", None)


@pytest.mark.parametrize(
    ("raised", "outcome", "reason", "error"),
    [
        (CantTell("no response has data"), "cantTell", "No response has data.", False),
        (NoResponse("the connection broke"), "cantTell", "The connection broke.", False),
        (Inapplicable("there is one member"), "inapplicable", "There is one member.", False),
        (Untested("add a key"), "untested", "Add a key.", False),
        (KeyError("id"), "cantTell", "An error of the suite: KeyError.", True),
        (RecursionError(), "cantTell", "An error of the suite: RecursionError.", True),
    ],
)
def test_only_a_non_conformity_fails(raised: BaseException, outcome: str, reason: str, *, error: bool) -> None:
    """An error of the suite never blames the target."""
    found = result(raised, [])

    assert (found.outcome, found.reason, found.error, found.failure) == (outcome, reason, error, None)


@pytest.mark.parametrize("end", [".", "!", "?"])
def test_reasons_are_sentences(end: str) -> None:
    """A reason begins with a capital letter and ends with one full stop."""
    assert result(CantTell(f"no response has data{end}"), []).reason == f"No response has data{end}"


def test_operation_ids_keep_their_letter_case() -> None:
    """A reason that begins with an operationId or a field name begins with a small letter."""
    assert result(CantTell("createEngagement returned 500"), []).reason == "createEngagement returned 500."


def test_reason_is_the_message_alone() -> None:
    """The reason leaves out the expected and the actual value."""
    fault = NonConformity("wrong", make_exchange(), expected="a", actual="b")

    assert result(fault, [], in_preamble=True).reason == "Wrong."
