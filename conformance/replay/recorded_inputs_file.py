"""provisioned.jsonl: the inputs of checks that are no exchanges, without secrets, for its re-evaluation."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.files import RECORDING, read_file
from conformance.replay.head import ensure_head
from conformance.reports.sealing import SEALED, sha256
from conformance.reports.text import json_bytes, load_json, one_line, with_texts
from conformance.running.options import Effort, RunOptions
from conformance.scenarios.access.invalid_credentials import KeyForm
from conformance.suite import suite_sha256, versions
from conformance.targets.names import RunNames
from conformance.targets.profile import Mode, Profile, ProvisionerSettings, SubordinateTemplate, TargetMember
from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.running.run import Run

FORMAT: Final = "conformance-provisioned/1"


class InvalidInputs(ValueError):
    """An unusable provisioned.jsonl; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The options and the target of a recorded run, and the inputs of its checks.

    Attributes:
        suite_sha256: The digest of the suite.
        versions: The versions of what generated requests and rendered files in the run.
        names: The names of the run.
        options: The options of the run.
        profile: The target, with placeholders for all keys.
        key_form: The form of the main key.
        certificate_sha256: The digest of the target's TLS certificate, or None.
        stopped: Why the run stopped sending; None if it was completed.
        of_checks: The recorded inputs of checks, in order.
        digests: The SHA-256 digests of the run's other files, by name.
    """

    suite_sha256: str
    versions: Mapping[str, str]
    names: RunNames
    options: RunOptions
    profile: Profile
    key_form: KeyForm
    certificate_sha256: str | None
    stopped: str | None
    of_checks: tuple[Mapping[str, Any], ...]
    digests: Mapping[str, str]


def input_lines(
    run: Run, inputs: Iterable[Mapping[str, object]], redact: Callable[[str], str], certificate: str | None
) -> list[bytes]:
    """Return the lines of the file without the last one.

    Args:
        run: The run, after its end.
        inputs: The recorded inputs.
        redact: Redacts secrets.
        certificate: The SHA-256 digest of the target's TLS certificate, or None.
    """
    lines: list[object] = [_head(run, certificate), *inputs]
    return [json_bytes(with_texts(line, redact)) + b"\n" for line in lines]


def read_inputs(path: Path) -> RunInputs:
    """Read the file.

    Raises:
        InvalidInputs: The file cannot be read, was not written by the suite, or was changed.
    """
    name = one_line(str(path))
    try:
        *lines, last = read_file(path, RECORDING).splitlines(keepends=True)
        return _read(lines, last)
    except OSError as error:
        raise InvalidInputs(f"{name} cannot be read: {error.strerror}.") from error
    except MemoryError:
        raise InvalidInputs(f"{name} takes more memory than there is.") from None
    except (ValueError, LookupError, TypeError) as error:
        reason = str(error) if isinstance(error, ValueError) else one_line(repr(error))[:200]
        raise InvalidInputs(f"{name} is not a valid record of inputs: {reason}.") from error


def placeholder(name: str) -> str:
    """Return the placeholder of a key other than the main key, determined by its name."""
    return _digits(name)[:32]


def _digits(name: str) -> str:
    return hashlib.sha256(f"recorded key {name}".encode()).hexdigest()


def _read(lines: Sequence[bytes], last: bytes) -> RunInputs:
    digests = load_json(last)["sha256"]
    if last != json_bytes({"sha256": digests}) + b"\n":
        raise ValueError("its last line was changed")
    if digests["above"] != sha256(lines):
        raise ValueError("it was changed: its digest differs")
    head, *inputs = [load_json(line) for line in lines]
    if any(json_bytes(value) + b"\n" != line for value, line in zip([head, *inputs], lines, strict=True)):
        raise ValueError("a line is not as the suite writes it")
    if head["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    ensure_head(head)
    return RunInputs(
        suite_sha256=head["suite_sha256"],
        versions=head["versions"],
        names=RunNames(head["prefix"], challenge=head["challenge"]),
        options=_options(head),
        profile=_profile(head["target"], Mode(head["mode"])),
        key_form=KeyForm(**head["target"]["api_key"]),
        certificate_sha256=head["target"]["certificate_sha256"],
        stopped=head["stopped"],
        of_checks=tuple(map(_input, inputs)),
        digests={name: digests[name] for name in SEALED},
    )


def _input(line: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a line that is a valid record of an input.

    Raises:
        ValueError: The line is invalid.
    """
    texts = isinstance(line, dict) and isinstance(line.get("check"), str) and isinstance(line.get("asked"), str)
    if not texts or "told" not in line or type(line.get("time", 0)) is not int:
        raise ValueError("a line is no record of an input")
    exchanges = line.get("exchanges", [])
    if not line.keys() <= {"check", "asked", "told", "time", "exchanges"}:
        raise ValueError("a line has other members than a record of an input")
    if not isinstance(exchanges, list) or any(type(number) is not int for number in exchanges):
        raise ValueError("a line has invalid numbers of exchanges")
    return cast("Mapping[str, Any]", line)


def _head(run: Run, certificate: str | None) -> dict[str, object]:
    options = run.options
    return {
        "format": FORMAT,
        "suite_sha256": suite_sha256(),
        "versions": versions(),
        "prefix": run.names.prefix,
        "challenge": options.challenge,
        "seed": options.seed,
        "effort": options.effort.value,
        "mode": run.mode.value,
        "workers": options.workers,
        "max_requests": options.max_requests,
        "max_seconds": options.max_seconds,
        "only": list(options.only),
        "catalogue": options.catalogue,
        "stopped": run.wire.stopped,
        "target": _target(run.profile) | {"certificate_sha256": certificate},
    }


def _options(head: Mapping[str, Any]) -> RunOptions:
    return RunOptions(
        mode=Mode(head["mode"]),
        effort=Effort(head["effort"]),
        seed=head["seed"],
        challenge=head["challenge"],
        workers=head["workers"],
        max_requests=head["max_requests"],
        max_seconds=head["max_seconds"],
        only=tuple(head["only"]),
        catalogue=head["catalogue"],
    )


def _target(profile: Profile) -> dict[str, object]:
    """Return a profile without secrets: the names of its keys, and the form of the main key."""
    return {
        "name": profile.name,
        "base_url": profile.base_url,
        "api_key": asdict(KeyForm.of(profile.api_key.reveal())),
        "keys": list(profile.keys),
        "variables": dict(profile.variables),
        "warnings": list(profile.warnings),
        "limits": dict(profile.limits),
        "members": [{"user_id": member.user_id, "key": member.key is not None} for member in profile.members],
        "provisioner": profile.provisioner is not None,
        "invitation_domain": profile.invitation_domain,
        "headers": list(profile.headers),
        "user_agent": profile.user_agent,
        "timeout": profile.timeout,
        "patience": profile.patience,
        "mailbox": profile.mailbox is not None,
        "organization": profile.organization,
        "subordinates": list(profile.subordinates),
    }


def _profile(target: Mapping[str, Any], mode: Mode) -> Profile:
    members = tuple(
        TargetMember(member["user_id"], _key(f"member_{number}") if member["key"] else None)
        for number, member in enumerate(target["members"], start=1)
    )
    return Profile(
        name=target["name"],
        base_url=target["base_url"],
        api_key=Secret(KeyForm(**target["api_key"]).example(_digits("api_key"))),
        mode=mode,
        keys={name: _key(name) for name in target["keys"]},
        members=members,
        provisioner=ProvisionerSettings(()) if target["provisioner"] else None,
        invitation_domain=target["invitation_domain"],
        headers={name: _key(f"header {name}") for name in target["headers"]},
        user_agent=target["user_agent"],
        timeout=target["timeout"],
        patience=target["patience"],
        mailbox=("", 0) if target["mailbox"] else None,
        organization=target["organization"],
        subordinates={kind: SubordinateTemplate(kind, "POST", "", None, "") for kind in target["subordinates"]},
        variables=target["variables"],
        warnings=tuple(target["warnings"]),
        limits=target["limits"],
    )


def _key(name: str) -> Secret:
    return Secret(placeholder(name))
