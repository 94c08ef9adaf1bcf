"""Rounds of a batch: a deletion goes beside no other write to the same engagement."""

from __future__ import annotations

from conformance.wire import requests
from conformance.wire.requests import Credential, Request
from conformance.wire.rounds import in_rounds


def test_a_deletion_goes_beside_no_other_write() -> None:
    """A deletion follows the other writes to its engagement, and the deletion before it; results keep the order."""
    sent: list[list[Request]] = []

    def send(round_of: list[Request]) -> list[Request]:
        sent.append(round_of)
        return round_of

    delete, other = requests.delete_engagement("1"), requests.delete_engagement("2")
    unknown = delete.with_key(Credential("unknown_key", "Bearer nobody", invalid=True))
    archive, read = requests.archive_engagement("1"), requests.get_engagement("1")
    batch = [unknown, archive, delete, other, read]

    assert in_rounds(batch, send) == batch
    assert sent == [[archive, other, read], [unknown], [delete]]
