"""Laws of errors: envelope, statusCode and code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle.laws import errors as error_laws
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import broken

GOOD = {"code": "NOT_FOUND", "message": "There is none.", "statusCode": 404}


def refused(status: int = 404, **changed: object) -> Exchange:
    """Return an error with other members; an ellipsis removes a member."""
    error = {name: value for name, value in (GOOD | changed).items() if value is not ...}
    made = make_exchange(status=status, body={"error": error})
    return replace(made, request=replace(made.request, expects_429=True))


@pytest.mark.parametrize("status", [200, 302, 404, 499])
def test_other_statuses_are_no_server_error(status: int) -> None:
    """The law of server errors holds for every other status."""
    assert error_laws.no_server_error(make_exchange(status=status)) is True


@pytest.mark.parametrize("status", [500, 501, 599])
def test_a_server_error_is_wrong(status: int) -> None:
    """Every 5xx breaks the law."""
    assert broken(error_laws.no_server_error, make_exchange(status=status)) == (
        f"the service returned {status}",
        "no 5xx",
        str(status),
        None,
    )


@pytest.mark.parametrize("status", [400, 404, 409, 500])
def test_an_error_has_its_envelope(status: int) -> None:
    """The law holds for a complete envelope; 4.04e2 is an integer too."""
    assert error_laws.error_envelope(refused(status, statusCode=status, extra=1)) is True
    assert error_laws.error_envelope(refused(status, statusCode=404.0)) is True


@pytest.mark.parametrize(
    ("body", "actual"),
    [
        (b'{"error": "NOT_FOUND"}', '{"error": "NOT_FOUND"}'),
        (b'{"message": "none"}', '{"message": "none"}'),
        (b"[]", "[]"),
        (b"", "no body"),
    ],
)
def test_an_error_without_an_object_error_is_wrong(body: bytes, actual: str) -> None:
    """The failure shows the actual body."""
    assert broken(error_laws.error_envelope, make_exchange(status=404, body=body)) == (
        "an error has no object error",
        "an object error",
        actual,
        "/error",
    )


@pytest.mark.parametrize(
    ("name", "value", "expected", "actual"),
    [
        ("code", 404, "a string", "404 (number)"),
        ("code", ..., "a string", "absent"),
        ("message", None, "a string", "null (null)"),
        ("message", ["a"], "a string", '["a"] (array)'),
        ("statusCode", "404", "an integer", '"404" (string)'),
        ("statusCode", 404.5, "an integer", "404.5 (number)"),
        ("statusCode", True, "an integer", "true (boolean)"),
        ("statusCode", ..., "an integer", "absent"),
    ],
)
def test_a_member_of_an_error_is_of_its_type(name: str, value: Any, expected: str, actual: str) -> None:
    """Each of the three members has its type."""
    assert broken(error_laws.error_envelope, refused(**{name: value})) == (
        f"error.{name} is not as promised",
        expected,
        actual,
        f"/error/{name}",
    )


@pytest.mark.parametrize("body", [b"<html>", b"{"])
def test_an_unreadable_body_has_no_envelope_to_judge(body: bytes) -> None:
    """Another law judges that the body is JSON."""
    exchange = make_exchange(status=404, body=body)

    assert error_laws.error_envelope(exchange) is False
    assert error_laws.error_status_code_agrees(exchange) is False
    assert error_laws.error_code(404)(exchange) is False


@pytest.mark.parametrize("status", [200, 302, 399])
def test_only_errors_have_envelopes(status: int) -> None:
    """The law does not apply to a success with a member error."""
    exchange = make_exchange(status=status, body={"error": "none"})

    assert error_laws.error_envelope(exchange) is False
    assert error_laws.error_status_code_agrees(make_exchange(status=status, body={"error": GOOD})) is False


@pytest.mark.parametrize("given", [404, 404.0])
def test_the_status_code_is_the_status(given: float) -> None:
    """The statusCode equals the status in any number notation."""
    assert error_laws.error_status_code_agrees(refused(statusCode=given)) is True


@pytest.mark.parametrize(("status", "given"), [(404, 400), (400, 404), (500, 404), (404, 409)])
def test_another_status_code_is_wrong(status: int, given: int) -> None:
    """The failure shows both values."""
    assert broken(error_laws.error_status_code_agrees, refused(status, statusCode=given)) == (
        "statusCode is not the HTTP status",
        str(status),
        str(given),
        "/error/statusCode",
    )


@pytest.mark.parametrize("given", ["404", True, None, 404.5, ...])
def test_a_status_code_that_is_no_integer_is_not_compared(given: object) -> None:
    """The law of the envelope judges its type."""
    assert error_laws.error_status_code_agrees(refused(statusCode=given)) is False


@pytest.mark.parametrize(("status", "code"), error_laws.ERROR_CODES.items())
def test_every_status_has_its_code(status: int, code: str) -> None:
    """Each status has exactly one code."""
    law = error_laws.error_code(status)

    assert law(refused(status, code=code)) is True
    assert broken(law, refused(status, code=code.lower())) == (
        f'a {status} has the code "{code.lower()}"',
        code,
        f'"{code.lower()}"',
        "/error/code",
    )


def test_codes_of_other_statuses_and_other_types_are_not_judged() -> None:
    """Errors without a code are not judged either."""
    law = error_laws.error_code(404)

    assert law(refused(409, code="whatever")) is False
    assert law(refused(code=7)) is False
    assert law(make_exchange(status=404, body={"error": []})) is False
    assert law(make_exchange(status=404, body=[])) is False
