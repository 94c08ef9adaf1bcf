"""Construction of the wire and the redactor for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interface.operations import OPERATIONS
from conformance.running.common_words import is_always_sent, ordinary_words
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire.client import Wire
from conformance.wire.recording_wire import RecordingWire
from conformance.wire.redaction import HIDDEN_TEXTS, Redactor
from conformance.wire.requests import MAIN_KEY, Credential
from conformance.wire.settings import USER_AGENT, WireSettings

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from conformance.running.options import RunOptions
    from conformance.targets.profile import Profile
    from conformance.wire.recorded_inputs import InputRecorder


def redactor_of(profile: Profile) -> Redactor:
    """Return a redactor that knows every secret of a profile.

    Outputs show the target's address and name. A header whose value is part of them, as a gateway's may be, cannot be
    hidden; neither can a secret that every run sends, such as ``page=1``.
    """
    redactor = Redactor(ordinary_words())
    for name, secret in profile.secrets():
        is_key = name.partition(":")[0] not in HIDDEN_TEXTS
        shown = secret.casefold() in profile.base_url.casefold() if is_key else _is_in_outputs(profile, secret)
        redactor.add(name, secret, shown=shown or is_always_sent(secret))
    return redactor


def _is_in_outputs(profile: Profile, secret: str) -> bool:
    """Whether outputs for this target contain a text: in an address, a name, or a common word."""
    addresses = [profile.base_url + operation.path for operation in OPERATIONS.values()]
    is_named = any(secret.casefold() in text.casefold() for text in (*addresses, *profile.public()))
    return is_named or secret.encode("utf-8", "replace") in ordinary_words()


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def wire_settings(profile: Profile, options: RunOptions) -> WireSettings:
    """Return the settings of the wire: address, credentials, timeouts and limits.

    Raises:
        TargetFileError: A value of the profile cannot be used.
    """
    try:
        return WireSettings(
            base_url=profile.base_url,
            credential=Credential.bearer(MAIN_KEY, profile.api_key.reveal()),
            headers=tuple((name, value.reveal()) for name, value in profile.headers.items()),
            user_agent=profile.user_agent or USER_AGENT,
            timeout=profile.timeout,
            verify=profile.tls.verify,
            ca_file=_text(profile.tls.ca_file),
            cert=_text(profile.tls.cert),
            cert_key=_text(profile.tls.key),
            proxy=None if profile.proxy is None else profile.proxy.whole,
            rate=profile.rate,
            workers=options.workers,
            max_requests=options.max_requests,
            max_seconds=options.max_seconds,
            first_wait=options.wait,
        )
    except ValueError as error:
        raise TargetFileError(f"{error}.") from None


def connect(
    profile: Profile,
    options: RunOptions,
    redactor: Redactor,
    inputs: InputRecorder | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Wire:
    """Return a wire to a target.

    Args:
        profile: The target.
        options: The limits of the run.
        redactor: Learns the keys of the target.
        inputs: Records the inputs of checks that exchanges do not contain, for a re-evaluation.
        transport: Carries requests instead of connections.

    Raises:
        TargetFileError: A value of the profile cannot be used.
    """
    settings = wire_settings(profile, options)
    try:
        if inputs is None:
            return Wire(settings, redactor, transport=transport)
        return RecordingWire(settings, redactor, inputs, transport=transport)
    except ValueError as error:
        raise TargetFileError(f"{error}.") from None
