"""provisioned.jsonl: what a run's checks were given beside HTTP, so that they can be judged again, and no secrets."""

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
    """A file that does not tell what checks were given; the message is one plain sentence."""


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What a run was, and what its checks were given.

    Attributes:
        suite_sha256: The digest of the suite that ran.
        prefix: What all names of the run begin with.
        options: What was asked for.
        profile: The target; every key is another one of the same name.
        stopped: Why the run sent nothing more at some time; None where it came to its end.
        notes: What checks were told, in order.
        digests: The SHA-256 digests of the files that belong to it, by name.
    """

    suite_sha256: str
    prefix: str
    options: RunOptions
    profile: Profile
    stopped: str | None
    notes: tuple[Mapping[str, Any], ...]
    digests: Mapping[str, str]


def note_lines(run: Run, notes: Iterable[Mapping[str, object]], redact: Callable[[str], str]) -> list[bytes]:
    """The lines of the file but for its last.

    Args:
        run: The run, when it is over.
        notes: What its checks were told.
        redact: Takes secrets out of a text.
    """
    lines: list[object] = [_head(run), *notes]
    return [json_bytes(with_texts(line, redact)) + b"\n" for line in lines]


def read_notes(path: Path) -> Provisioned:
    """Read the file.

    Raises:
        InvalidNotes: It cannot be read, the suite did not write it, or it was changed.
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
        raise InvalidNotes(f"{name} does not tell what checks were given: {reason}.") from error


def placeholder(name: str, length: int = 32) -> str:
    """A key that stands for one that the recording only names; the same for the same name."""
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
    """A line that is a note of an answer, or of nothing but the number of a question.

    Raises:
        ValueError: It is none.
    """
    texts = isinstance(line, dict) and isinstance(line.get("check"), str) and isinstance(line.get("asked"), str)
    if not texts or "told" not in line or type(line.get("time", 0)) is not int:
        raise ValueError("a line is no note")
    exchanges = line.get("exchanges", [])
    if not isinstance(exchanges, list) or any(type(number) is not int for number in exchanges):
        raise ValueError("a note names exchanges that are none")
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
    """What a profile unlocks; of keys their names, and of the main one how long it is, at most 64."""
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


def _profile(told: Mapping[str, Any], mode: Mode) -> Profile:
    members = tuple(
        TargetMember(one["user_id"], _key(f"member_{number}") if one["key"] else None)
        for number, one in enumerate(told["members"], start=1)
    )
    return Profile(
        name=told["name"],
        base_url=told["base_url"],
        api_key=Secret(placeholder("api_key", told["api_key_length"])),
        mode=mode,
        keys={name: _key(name) for name in told["keys"]},
        members=members,
        provisioner=ProvisionerSettings(()) if told["provisioner"] else None,
        invitation_domain=told["invitation_domain"],
        headers={name: _key(f"header {name}") for name in told["headers"]},
        timeout=told["timeout"],
        patience=told["patience"],
        mailbox=("", 0) if told["mailbox"] else None,
        organization=told["organization"],
        subordinates={kind: SubordinateTemplate(kind, "POST", "", None, "") for kind in told["subordinates"]},
    )


def _key(name: str) -> Secret:
    return Secret(placeholder(name))
