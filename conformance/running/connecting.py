"""How a profile is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.operations import OPERATIONS
from conformance.running.vocabulary import is_of_outputs, ordinary_words
from conformance.target.reading import TargetFileError
from conformance.wire.call import Credential
from conformance.wire.client import Wire
from conformance.wire.recorded import RecordedWire
from conformance.wire.redaction import HIDDEN_TEXTS, Redactor
from conformance.wire.settings import WireSettings

if TYPE_CHECKING:
    import httpx

    from conformance.running.options import RunOptions
    from conformance.target.profile import Profile
    from conformance.wire.notes import TakenNotes


def redactor_of(profile: Profile) -> Redactor:
    """A redactor that knows every secret of a profile.

    Outputs show where the target is and what it is called: a header that says a part of that, as that of a gateway may,
    could not be hidden in them, and neither could one that says what every run sends, as ``page=1``.
    """
    redactor = Redactor(ordinary_words())
    base_url = profile.base_url.casefold()
    urls = [base_url + operation.path.casefold() for operation in OPERATIONS.values()]
    public = [*urls, *(text.casefold() for text in profile.public())]
    for name, secret in profile.secrets():
        text = secret.casefold()
        beside = name.partition(":")[0] in HIDDEN_TEXTS
        shown = any(text in one for one in public) or is_of_outputs(secret) if beside else text in base_url
        redactor.add(name, secret, shown=shown)
    return redactor


def wire_settings(profile: Profile, options: RunOptions) -> WireSettings:
    """How the target is reached, and how much may be asked of it.

    Raises:
        TargetFileError: Something in the profile cannot be used.
    """
    try:
        return WireSettings(
            base_url=profile.base_url,
            credential=Credential.bearer("api_key", profile.api_key.reveal()),
            headers=tuple((name, value.reveal()) for name, value in profile.headers.items()),
            timeout=profile.timeout,
            verify=profile.tls.verify,
            ca_file=None if profile.tls.ca_file is None else str(profile.tls.ca_file),
            workers=options.workers,
            max_requests=options.max_requests,
            max_seconds=options.max_seconds,
        )
    except ValueError as error:
        raise TargetFileError(f"{error}.") from None


def connect(
    profile: Profile,
    options: RunOptions,
    redactor: Redactor,
    notes: TakenNotes | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Wire:
    """A wire to a target.

    Args:
        profile: The target.
        options: The limits of the run.
        redactor: Learns the keys of the target.
        notes: Where a run that is to be judged again notes what its exchanges do not tell.
        transport: What carries requests, in place of connections.

    Raises:
        TargetFileError: Something in the profile cannot be used.
    """
    settings = wire_settings(profile, options)
    try:
        if notes is None:
            return Wire(settings, redactor, transport=transport)
        return RecordedWire(settings, redactor, notes, transport=transport)
    except ValueError as error:
        raise TargetFileError(f"{error}.") from None
