"""provisioned.jsonl: the inputs of checks that are no exchanges, without secrets, for judging again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.files import RECORDING, read_file
from conformance.replay.head import ensure_head
from conformance.reports.sealing import SEALED, sha256
from conformance.reports.text import json_bytes, load_json, one_line, with_texts
from conformance.running.options import Effort, RunOptions
from conformance.suite import suite_sha256
from conformance.targets.profile import Mode, Profile, ProvisionerSettings, SubordinateTemplate, TargetMember
from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.running.run import Run

FORMAT: Final = "conformance-provisioned/1"

_LONGEST_KEY: Final = 64


class InvalidNotes(ValueError):
    """An unusable provisioned.jsonl; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class Provisioned:
    """The options and the target of a recorded run, and the inputs of its checks.

    Attributes:
        suite_sha256: The digest of the suite.
        prefix: The mark of the run's names.
        options: The options of the run.
        profile: The target, with placeholders for all keys.
        stopped: Why the run stopped sending; None if it was completed.
        notes: The recorded inputs, in order.
        digests: The SHA-256 digests of the run's other files, by name.
    """

    suite_sha256: str
    prefix: str
    options: RunOptions
    profile: Profile
    stopped: str | None
    notes: tuple[Mapping[str, Any], ...]
    digests: Mapping[str, str]


def note_lines(run: Run, notes: Iterable[Mapping[str, object]], redact: Callable[[str], str]) -> list[bytes]:
    """Return the lines of the file without the last one.

    Args:
        run: The run, after its end.
        notes: The recorded inputs.
        redact: Redacts secrets.
    """
    lines: list[object] = [_head(run), *notes]
    return [json_bytes(with_texts(line, redact)) + b"\n" for line in lines]


def read_notes(path: Path) -> Provisioned:
    """Read the file.

    Raises:
        InvalidNotes: The file cannot be read, was not written by the suite, or was changed.
    """
    name = one_line(str(path))
    try:
        *lines, last = read_file(path, RECORDING).splitlines(keepends=True)
        return _read(lines, last)
    except OSError as error:
        raise InvalidNotes(f"{name} cannot be read: {error.strerror}.") from error
    except MemoryError:
        raise InvalidNotes(f"{name} takes more memory than there is.") from None
    except (ValueError, LookupError, TypeError) as error:
        reason = str(error) if isinstance(error, ValueError) else one_line(repr(error))[:200]
        raise InvalidNotes(f"{name} is not a valid record of inputs: {reason}.") from error


def placeholder(name: str, length: int = 32) -> str:
    """Return the placeholder of a key, determined by its name."""
    text = hashlib.sha256(f"recorded key {name}".encode()).hexdigest()
    return text[: max(1, min(length, _LONGEST_KEY))]


def _read(lines: Sequence[bytes], last: bytes) -> Provisioned:
    digests = load_json(last)["sha256"]
    if last != json_bytes({"sha256": digests}) + b"\n":
        raise ValueError("its last line was changed")
    if digests["above"] != sha256(lines):
        raise ValueError("it was changed: its digest differs")
    head, *notes = [load_json(line) for line in lines]
    if head["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    ensure_head(head)
    return Provisioned(
        suite_sha256=head["suite_sha256"],
        prefix=head["prefix"],
        options=_options(head),
        profile=_profile(head["target"], Mode(head["mode"])),
        stopped=head["stopped"],
        notes=tuple(map(_note, notes)),
        digests={name: digests[name] for name in SEALED},
    )


def _note(line: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a line that is a valid record of an input.

    Raises:
        ValueError: The line is invalid.
    """
    texts = isinstance(line, dict) and isinstance(line.get("check"), str) and isinstance(line.get("asked"), str)
    if not texts or "told" not in line or type(line.get("time", 0)) is not int:
        raise ValueError("a line is no record of an input")
    exchanges = line.get("exchanges", [])
    if not isinstance(exchanges, list) or any(type(number) is not int for number in exchanges):
        raise ValueError("a line has invalid numbers of exchanges")
    return cast("Mapping[str, Any]", line)


def _head(run: Run) -> dict[str, object]:
    options = run.options
    return {
        "format": FORMAT,
        "suite_sha256": suite_sha256(),
        "prefix": run.names.prefix,
        "seed": options.seed,
        "effort": options.effort.value,
        "mode": run.mode.value,
        "workers": options.workers,
        "max_requests": options.max_requests,
        "max_seconds": options.max_seconds,
        "only": list(options.only),
        "stopped": run.wire.stopped,
        "target": _target(run.profile),
    }


def _options(head: Mapping[str, Any]) -> RunOptions:
    return RunOptions(
        mode=Mode(head["mode"]),
        effort=Effort(head["effort"]),
        seed=head["seed"],
        workers=head["workers"],
        max_requests=head["max_requests"],
        max_seconds=head["max_seconds"],
        only=tuple(head["only"]),
    )


def _target(profile: Profile) -> dict[str, object]:
    """Return a profile without secrets: the names of its keys, and the length of the main key up to 64."""
    return {
        "name": profile.name,
        "base_url": profile.base_url,
        "api_key_length": min(len(profile.api_key.reveal()), _LONGEST_KEY),
        "keys": list(profile.keys),
        "members": [{"user_id": member.user_id, "key": member.key is not None} for member in profile.members],
        "provisioner": profile.provisioner is not None,
        "invitation_domain": profile.invitation_domain,
        "headers": list(profile.headers),
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
        api_key=Secret(placeholder("api_key", target["api_key_length"])),
        mode=mode,
        keys={name: _key(name) for name in target["keys"]},
        members=members,
        provisioner=ProvisionerSettings(()) if target["provisioner"] else None,
        invitation_domain=target["invitation_domain"],
        headers={name: _key(f"header {name}") for name in target["headers"]},
        timeout=target["timeout"],
        patience=target["patience"],
        mailbox=("", 0) if target["mailbox"] else None,
        organization=target["organization"],
        subordinates={kind: SubordinateTemplate(kind, "POST", "", None, "") for kind in target["subordinates"]},
    )


def _key(name: str) -> Secret:
    return Secret(placeholder(name))
