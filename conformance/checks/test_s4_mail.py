"""Section 4, mail: the e-mail of an invitation."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.interface.list_parameters import ASSIGNABLE_ROLES
from conformance.oracle import expect
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.no_ops import no_op_changes
from conformance.oracle.outcomes import CantTell, Inapplicable, evidence
from conformance.oracle.rendering import render
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.members.mail import Mailing, Refusal, holds_link, invitation_mails, like_invitations, mailing
from conformance.scenarios.members.removal import removal
from conformance.verdicts.stages import Stage
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.targets.provisioner import Mail
    from conformance.wire.exchange import Exchange

_ADDRESS: Final = re.compile(r"[^\s\"'<>,:\[\]]+@[^\s\"'<>,:\[\]]+")


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("invite-succeeds")
def test_a_refused_invitation_does_not_reserve_the_address(run: Run) -> None:
    """An address can be invited as a member after its invitation as an owner was refused."""
    tried = run.scenarios.result_if_any(mailing)
    if tried is None or tried.valid.number in no_op_changes(run.wire.exchanges, "inviteMember"):
        raise Inapplicable("no invitation followed a refused one")
    expect.success(tried.valid)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("invite-sends-mail")
@pytest.mark.usefixtures("inviting", "mailing")
def test_every_invitation_is_sent(run: Run) -> None:
    """Every invited address gets an e-mail with a link, whichever key and organization invited it."""
    invitations = invitations_to_be_sent(run)
    if not invitations:
        raise CantTell("no invitation succeeded", *_invitations(run)[:1])
    for address, invitation in {_address(invitation): invitation for invitation in invitations}.items():
        mails = invitation_mails(run, address, _time_left(run, invitations))
        _expect_sent(invitation, mails or _mails_as_spelled(run, address, invitations))
    for of_both in _of_two_organizations(run, invitations):
        _expect_two_sent(run, *of_both)


def _of_two_organizations(run: Run, invitations: Sequence[Exchange]) -> list[tuple[Exchange, Exchange]]:
    """Return invitations of an address by the main key and by another organization's."""
    tried = run.scenarios.result_if_any(two_organizations)
    if tried is None or tried.own[0] == tried.other[0]:
        return []
    own = {_address(invitation): invitation for invitation in invitations if invitation.by_main_key}
    others = [invitation for invitation in invitations if invitation.request.key_name == OTHER_KEY]
    return [(own[_address(theirs)], theirs) for theirs in others if _address(theirs) in own]


def _expect_two_sent(run: Run, own: Exchange, theirs: Exchange) -> None:
    """Expect an e-mail for each of two invitations of an address; it may be the same address in other letter case."""
    sent: list[Mail] = []

    def both_sent() -> bool:
        mails = _mails_as_spelled(run, _address(own), (own, theirs))
        sent[:] = [mail for mail in mails if holds_link(mail.text)]
        return len(sent) > 1

    expect.holds(
        run.wait_until(both_sent),
        "an address that two organizations invited got a single e-mail",
        own,
        theirs,
        expected="an e-mail for each invitation",
        actual=f"{len(sent)} with a link",
    )


def _mails_as_spelled(run: Run, address: str, invitations: Sequence[Exchange]) -> list[Mail]:
    """Return the e-mails to an address in the letter case of its invitations, which a mailbox may distinguish."""
    spelled = {_email(invitation) for invitation in invitations if _address(invitation) == address}
    return [mail for spelling in sorted(spelled) for mail in run.fixtures.mail(spelling)]


def _expect_sent(invitation: Exchange, mails: Sequence[Mail]) -> None:
    expect.holds(
        mails,
        "no e-mail arrived for an invited address",
        invitation,
        expected="an e-mail within the target's patience",
        actual="none",
    )
    expect.holds(
        any(holds_link(mail.text) for mail in mails),
        "the e-mail of an invitation has no link",
        invitation,
        expected="an http or https link in the text",
        actual=render(mails[0].text),
    )


def invitations_to_be_sent(run: Run) -> list[Exchange]:
    """Return the invitations that must be sent, to addresses whose e-mails the run can read."""
    left_open = no_op_changes(run.wire.exchanges, "inviteMember")
    return [
        invitation
        for invitation in _invitations(run)
        if invitation.accepted
        and _is_valid(run, invitation)
        and (
            run.names.owns(_address(invitation))
            or (invitation.number not in left_open and _is_of_former(run, invitation))
        )
    ]


def _is_valid(run: Run, invitation: Exchange) -> bool:
    """Whether an invitation is valid, and the e-mails to its address can be read."""
    address, role, key = _address(invitation), invitation.sent_fields.get("role"), invitation.request.credential
    # A provisioner may read no mail of domains below the invitation domain.
    reads_all = run.profile.mailbox is not None or address.endswith(f"@{run.profile.invitation_domain}".casefold())
    has_key = key is None or not key.invalid
    return role in ASSIGNABLE_ROLES and "@" in address and reads_all and has_key


def _is_of_former(run: Run, invitation: Exchange) -> bool:
    """Whether an invitation is of a member that the run made and removed before."""
    done = run.scenarios.result_if_any(removal)
    if done is None or not done.member.is_new or (done.member.email or "").casefold() != _address(invitation):
        return False
    return done.response.accepted and invitation.number > done.response.number


def _address(invitation: Exchange) -> str:
    return _email(invitation).casefold()


def _email(invitation: Exchange) -> str:
    return str(invitation.sent_fields.get("email"))


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("refused-invite-sends-no-mail")
@pytest.mark.usefixtures("inviting")
def test_no_refused_invitation_is_sent(run: Run, mailing: Mailing) -> None:
    """No refused invitation of the run is sent, for any reason and with any key."""
    found = [*refused_invitations(run), *_of_member(mailing)]
    if not found:
        raise Inapplicable("no invitation was refused")
    if not mailing.valid_mails:
        raise CantTell("no e-mail arrived at all, so a missing one shows nothing", mailing.valid)

    _wait_out_patience(run, [refusal.exchange for refusal in found])
    for refusal in found:
        if refusal.others is None:
            _expect_not_sent(refusal.exchange, run.fixtures.mail(refusal.address))
        else:
            _expect_no_further_one(run, refusal, refusal.others, mailing.valid_mails)


def _of_member(mailing: Mailing) -> list[Refusal]:
    if mailing.member is None or not mailing.member.exchange.refused:
        return []
    others = len(like_invitations(mailing.member.earlier, mailing.valid_mails))
    return [replace(mailing.member, others=others)]


def refused_invitations(run: Run) -> list[Refusal]:
    """Return refused invitations, one of each kind, of addresses that only the run uses.

    If an address was also invited with success, its refusal is sent again and the e-mails are compared.
    """
    kinds: dict[object, Refusal] = {}
    invitations = _invitations(run)
    by_address = {
        invited: [invitation for invitation in invitations if invited in _addresses(invitation)]
        for invited in _own(run, invitations)
    }
    for address, several in by_address.items():
        taken = sum(1 for invitation in several if not invitation.refused)
        for invitation in several:
            if invitation.refused:
                kind = invitation.request.key_name, _form(invitation, address), taken > 0
                kinds[kind] = Refusal(address, invitation, others=taken or None)
    return list(kinds.values())


def _invitations(run: Run) -> list[Exchange]:
    return [exchange for exchange in of_operation(run.wire.exchanges, "inviteMember") if exchange.was_sent]


def _own(run: Run, invitations: Sequence[Exchange]) -> list[str]:
    """Return the invited addresses of the run, in the order of their first invitation."""
    return [address for address in dict.fromkeys(chain(*map(_addresses, invitations))) if run.names.owns(address)]


def _wait_out_patience(run: Run, invitations: Sequence[Exchange]) -> None:
    """Wait until the target's patience has passed since the last invitation; a single wait for all."""
    run.sleep(_time_left(run, invitations))


def _time_left(run: Run, invitations: Sequence[Exchange]) -> float:
    """Return how many seconds of the target's patience are left since the last invitation."""
    last = max(invitation.ended_at for invitation in invitations).timestamp()
    return max(0.0, run.profile.patience - (run.clock.now().timestamp() - last))


def _expect_no_further_one(run: Run, refusal: Refusal, others: int, invitations: Sequence[Mail]) -> None:
    """Expect that an address with e-mails for other reasons gets none for a refusal, nor for the repeated refusal.

    A service may send several e-mails for an invitation, or an e-mail twice, but not again for the repetition.
    """
    before = like_invitations(run.fixtures.mail(refusal.address), invitations)
    if len(before) < others:  # its other e-mails have not come, so nothing is known
        return
    evidence(refusal.exchange)
    if len(before) == others:
        return
    again = run.send(refusal.exchange.request)
    if not again.refused:
        raise CantTell("a refused invitation was accepted when it was sent again", refusal.exchange, again)
    _wait_out_patience(run, [again])
    after = like_invitations(run.fixtures.mail(refusal.address), invitations)
    expect.holds(
        len(after) <= len(before),
        "an e-mail arrived for a refused invitation, and another when it was refused again",
        refusal.exchange,
        again,
        expected=f"no more than the {len(before)} e-mails from before",
        actual=f"{len(after)} to the address",
    )


def _addresses(invitation: Exchange) -> list[str]:
    return [address.casefold() for address in _ADDRESS.findall(_body(invitation))]


def _form(invitation: Exchange, address: str) -> str:
    """Return the body without the address, which distinguishes kinds of invalid invitations."""
    return re.sub(re.escape(address), "", _body(invitation), flags=re.IGNORECASE)


def _body(invitation: Exchange) -> str:
    return (invitation.request.body or b"").decode("utf-8", "replace")


def _expect_not_sent(invitation: Exchange, mails: Sequence[Mail]) -> None:
    expect.holds(
        not mails,
        "an e-mail arrived for a refused invitation",
        invitation,
        expected="no e-mail",
        actual=f"{len(mails)} to the address",
    )
