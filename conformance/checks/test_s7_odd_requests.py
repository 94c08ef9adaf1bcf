"""Section 7: requests that nobody is used to are answered one way or the other, and never with a server error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.engagements import identifier_of
from conformance.checks.marks import journey, requirement
from conformance.oracle import error_laws
from conformance.oracle.judgement import judged
from conformance.target.profile import Mode
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_LEVELS: Final = 90
_DIGITS: Final = 400
_LONG: Final = 300
_CHANGES: Final = (b'{"description": "\\ud800"}', b"")


def odd_requests(run: Run) -> list[Exchange]:
    """An engagement is created and updated with odd JSON, and looked for with odd parameters."""
    name = run.name("odd")
    nested = "[" * _LEVELS + "]" * _LEVELS
    texts = (
        f'{{"name": "{name} \udcff\udcfe"}}',  # bytes that are no UTF-8
        f'{{"name": "{name} other", "other": {nested}, "": {"9" * _DIGITS}, "more": 1e400}}',
        f'{{"name": "{name} \\u0000"}}',
    )
    bodies = [] if run.mode is Mode.READ_ONLY else [text.encode(errors="surrogateescape") for text in texts]
    sent = [call.create_engagement({}).with_body(body) for body in bodies]
    creations = run.send_all(sent)
    made = next((found for one in creations if (found := identifier_of(one)) is not None), None)
    reads = [
        call.list_engagements(page="9" * 30),
        call.get_engagement("\u00e9\U0001f600'\"--" + "x" * _LONG),
    ]
    changes = [] if made is None else [call.update_engagement(made, {}).with_body(one) for one in _CHANGES]
    return [*creations, *run.send_all([*reads, *changes])]


odd_requests_journey = journey(odd_requests)


@requirement("no-server-error")
def test_odd_requests_cause_no_server_error(odd_requests: list[Exchange]) -> None:
    """No request is answered with an unexpected server error, however odd."""
    answered = [exchange for exchange in odd_requests if exchange.judgeable]
    judged(*answered)

    for exchange in answered:
        error_laws.no_server_error(exchange)
