"""Loader of target files, which returns a profile or an error of one sentence.

Every key of the file, with its default:

    name:               the target's name in reports (the host)
    base_url:           scheme, host and port; required
    api_key:            a key with all five permissions; required
    disposable:         whether a run may rename the organization, and invite and change members (false)
    keys:               one key per permission, ``other_organization``, ``throttled``
    members:            a list of {user_id, key}; ``key`` is optional
    provisioner:        {command: [...], timeout: 30, environment: [NAME, ...] or {NAME: value}}
    invitation_domain:  the domain of invited addresses (example.com)
    headers:            extra headers of every request
    user_agent:         their User-Agent (the suite's)
    tls:                {verify: true, ca_file: null, cert: null, key: null}
    proxy:              the URL of an http, https or socks5 proxy
    timeout, patience:  seconds (10)
    rate:               the maximum number of requests per second (any number)
    mailbox:            {smtp: 127.0.0.1:1025}: the address where the suite receives the target's e-mails
    organization:       the id of the organization that the key must belong to
    limits:             {p50_ms, p95_ms, p99_ms}: the longest response times in milliseconds
    require:            the conformance classes of runs (all)
    mask_people:        whether outputs show pseudonyms of people and of other users' engagements (false)
    subordinates:       a list of {kind, create: {method, path, body}, read: {path}, id}

``${NAME}`` in any value is replaced by the environment variable. ``{file: PATH}`` in place of a key reads it from a
file. Relative paths begin at the target file's folder, which is also the provisioner's working directory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.catalogue import CLASSES
from conformance.files import TEXT, is_file, is_stream, read_file
from conformance.interface.operations import SCOPES
from conformance.targets import validity
from conformance.targets.connection import Connection, unused_proxy
from conformance.targets.profile import (
    DEFAULT_INVITATION_DOMAIN,
    Mode,
    Profile,
    ProvisionerSettings,
    TargetMember,
    Tls,
    checked,
    url_warnings,
)
from conformance.targets.secret import Secret, without_likely_keys
from conformance.targets.sections import SHORTEST_SECRET, provisioner, subordinates
from conformance.targets.yaml_entries import Entry, Source, TargetFileError, read_yaml
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_T = TypeVar("_T")

KEY_NAMES: Final = (*SCOPES, OTHER_KEY, "throttled")
"""The keys that ``keys`` may have."""

_PATH: Final = re.compile(r"/|\.\w{1,5}$")
"""The mark of an argument that names a file."""

_TOP: Final = (
    "name", "base_url", "api_key", "disposable", "keys", "members", "provisioner", "invitation_domain", "headers",
    "user_agent", "tls", "proxy", "timeout", "rate", "patience", "mailbox", "organization", "subordinates",
    "require", "limits", "mask_people",
)  # fmt: skip

_BY_NAME: Final = ("members", "subordinates", "invitation_domain", "mailbox", "proxy", "tls")
"""Keys that a target file that was found must not have: they name people, other requests, and where requests go."""

_TLS_FILES: Final = {
    "ca_file": "with certificates",
    "cert": "with the client's certificate",
    "key": "with the client's key",
}


def load_profile(
    path: Path,
    environ: Mapping[str, str],
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    mode: Mode | None = None,
    is_found: bool = False,
) -> Profile:
    """Load the profile from a target file.

    Args:
        path: The YAML file.
        environ: The environment variables that it may name.
        base_url: Overrides the file's.
        api_key: Overrides the file's.
        mode: Overrides the file's ``disposable``.
        is_found: Whether the file was found and not named by an option; then its ``disposable``, ``provisioner`` and
            what names people, other requests or other hosts are ignored.

    Raises:
        TargetFileError: The file is invalid; the message is a sentence that names the key and shows no secret.
    """
    reader = _Reader(path, is_found)
    name = reader.name
    whole = _top(reader, environ)
    top = {key: entry for key, entry in whole.items() if not (is_found and key in _BY_NAME)}
    url = _url(top, name, base_url)
    main_key = checked("api_key", api_key, validity.api_key) if api_key is not None else reader.main_key(top)
    keys = _keys(reader, top.get("keys"), main_key)
    disposable = top["disposable"].flag() if "disposable" in top else False
    program = provisioner(top["provisioner"]) if "provisioner" in top else None
    unused = [key for key, given in (("disposable", disposable), ("provisioner", program)) if given and is_found]
    unused += [key for key in whole if key not in top]
    if is_found:
        disposable, program = False, None
    tls = _tls(reader, top.get("tls"))
    profile = Profile(
        name=_read(top, "name", str, url.host),
        base_url=url.url,
        api_key=main_key,
        mode=mode or (Mode.DISPOSABLE if disposable else Mode.DEFAULT),
        keys=keys,
        members=_members(reader, top.get("members")),
        provisioner=program,
        invitation_domain=_read(top, "invitation_domain", validity.domain, DEFAULT_INVITATION_DOMAIN),
        headers=_headers(reader, top.get("headers")),
        user_agent=_read(top, "user_agent", validity.user_agent, None),
        tls=tls,
        proxy=_read(top, "proxy", validity.proxy, None),
        timeout=_number(top, "timeout"),
        rate=top["rate"].number() if "rate" in top else None,
        patience=_number(top, "patience"),
        mailbox=_mailbox(top.get("mailbox")),
        organization=_read(top, "organization", str, None),
        subordinates=subordinates(top["subordinates"]) if "subordinates" in top else MappingProxyType({}),
        template_secrets=tuple(_keys_in(top["subordinates"])) if "subordinates" in top else (),
        limits=_limits(top.get("limits")),
        require=_classes(top.get("require")),
        mask_people=top["mask_people"].flag() if "mask_people" in top else False,
        variables=MappingProxyType(dict(_variables(top, is_key_given=api_key is not None))),
        user_info=url.user_info,
        folder=reader.folder,
        warnings=(
            *url_warnings(url),
            *_tls_warnings(tls),
            *_command_warnings(program),
            *_overridden(name, top, base_url=base_url, api_key=api_key),
            *(f"{key} of {name} was not used: it counts only if --target names the file." for key in unused),
            *reader.warnings(),
        ),
    )
    _ensure_no_key_is_shown(profile, name)
    return profile


def _ensure_no_key_is_shown(profile: Profile, name: str) -> None:
    """Ensure that no text that outputs and names of folders show contains a key."""
    members = [member.key for member in profile.members if member.key is not None]
    keys = [key.reveal() for key in (profile.api_key, *profile.keys.values(), *members)]
    shown = {"name": profile.name, "base_url": profile.base_url, "invitation_domain": profile.invitation_domain}
    shown |= {"organization": profile.organization or "", "user_agent": profile.user_agent or ""}
    shown |= {f"members[{number}].user_id": member.user_id for number, member in enumerate(profile.members)}
    for entry, text in shown.items():
        if any(len(key) >= SHORTEST_SECRET and key.casefold() in text.casefold() for key in keys):
            raise TargetFileError(f"{name}: {entry} contains a key, but outputs show {entry}.")


def address_in(path: Path, environ: Mapping[str, str]) -> str:
    """Return the base URL of a target file, without user info.

    Raises:
        TargetFileError: It has none, or is no target file.
    """
    reader = _Reader(path)
    return _url(_top(reader, environ), reader.name, None).url


def profile_of(
    path: Path | None,
    environ: Mapping[str, str],
    *,
    base_url: str | None,
    api_key: str | None,
    mode: Mode | None,
    is_found: bool,
    connection: Connection,
) -> Profile:
    """Return the profile that options name: of a target file, or of a base URL and a key.

    Args:
        path: The target file, if any.
        environ: The environment variables that it may name.
        base_url: The target's base URL; overrides the file's.
        api_key: A full key; overrides the file's.
        mode: What a run may change; overrides the file's ``disposable``.
        is_found: Whether the target file was found and not named; see ``load_profile``.
        connection: Replaces connection options of the file.

    Raises:
        TargetFileError: They name no usable target.
    """
    if path is not None:
        profile = load_profile(path, environ, base_url=base_url, api_key=api_key, mode=mode, is_found=is_found)
    elif base_url is None:
        raise TargetFileError("Name the target: --base-url, $CONFORMANCE_BASE_URL or --target.")
    elif not api_key:
        raise TargetFileError("A key is needed: set CONFORMANCE_API_KEY, or name it in a target file.")
    else:
        profile = Profile.from_options(base_url, api_key, mode=mode or Mode.DEFAULT)
    profile = connection.applied(profile)
    if profile.proxy is not None:
        return profile
    return replace(profile, warnings=(*profile.warnings, *unused_proxy(profile.base_url, environ)))


@dataclass
class _Reader:
    """Reads secrets and remembers which files contain them in plain text."""

    path: Path
    is_found: bool = False
    revealing: list[Path] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the target file in messages."""
        return "The target file" if is_stream(self.path) else self.path.name or str(self.path)

    @property
    def folder(self) -> Path:
        """The base of relative paths; the current folder for a pipe."""
        return Path() if is_stream(self.path) else self.path.parent

    def content(self, path: Path, name: str) -> str:
        try:
            return read_file(path, TEXT, piped=path == self.path).decode("utf-8-sig")
        except OSError as error:
            raise TargetFileError(f"{name} cannot be read: {error.strerror or 'the system refuses it'}.") from None
        except UnicodeDecodeError:
            raise TargetFileError(f"{name} is not a text in UTF-8.") from None

    def main_key(self, top: Mapping[str, Entry]) -> Secret:
        if "api_key" not in top:
            raise TargetFileError(f"{self.name} has no api_key: give a key with all five permissions.")
        return self.key(top["api_key"])

    def key(self, entry: Entry) -> Secret:
        """Read a key: its text, or ``{file: PATH}``."""
        if not entry.is_table:
            return self.secret(entry, validity.api_key)
        reference = entry.table("file").get("file")
        if reference is None:
            raise entry.problem("must be a key or {file: PATH}")
        file = self.file(reference, "with a key")
        self.revealing.append(file)
        return reference.accept(self.content(file, f"The file of {entry.key}").strip(), validity.api_key)

    def file(self, entry: Entry, what: str) -> Path:
        """Return the file that an entry names; a target file that was found names only files of its own folder."""
        file = self.folder / entry.text()
        if self.is_found and not file.resolve().is_relative_to(self.folder.resolve()):
            raise entry.problem("must be in the folder of the target file, unless --target names the target file")
        if not is_file(file):
            raise entry.problem(f"must be the path of a file {what}, and there is no such file")
        return file

    def secret(self, entry: Entry, check: Callable[[str], Secret]) -> Secret:
        if entry.literal:
            self.revealing.append(self.path)
        return entry.attempt(check)

    def warnings(self) -> list[str]:
        """Return a sentence for each file with a secret that other users can read."""
        return [
            f"{file.name} contains a secret and can be read by other users of this machine: use chmod 600."
            for file in dict.fromkeys(self.revealing)
            if is_file(file) and file.stat().st_mode & 0o077
        ]


def _top(reader: _Reader, environ: Mapping[str, str]) -> dict[str, Entry]:
    """Return the values of a target file by key."""
    return read_yaml(reader.content(reader.path, reader.name), Source(reader.name, environ)).table(*_TOP)


def _url(top: Mapping[str, Entry], name: str, given: str | None) -> validity.BaseUrl:
    if given is not None:
        return checked("base_url", given, validity.base_url)
    if "base_url" not in top:
        raise TargetFileError(f"{name} has no base_url: give the service's address, as in https://api.example.com.")
    return top["base_url"].attempt(validity.base_url)


def _keys(reader: _Reader, entry: Entry | None, main_key: Secret) -> Mapping[str, Secret]:
    keys: dict[str, Secret] = {}
    owners = {main_key: "api_key"}
    for name, item in (entry.table(*KEY_NAMES) if entry else {}).items():
        keys[name] = reader.key(item)
        # A key in two places is a copying error: it cannot have one permission and all, or two organizations.
        if name != "throttled" and keys[name] in owners:
            raise item.problem(f"is the same key as {owners[keys[name]]}, which must be a different one")
        owners.setdefault(keys[name], item.key)
    return MappingProxyType(keys)


def _members(reader: _Reader, entry: Entry | None) -> tuple[TargetMember, ...]:
    members: dict[str, TargetMember] = {}
    for item in entry.items() if entry else ():
        table = item.table("user_id", "key")
        if "user_id" not in table:
            raise item.problem("has no user_id")
        user_id = table["user_id"].text()
        if user_id in members:
            raise table["user_id"].problem("is that of a member given before")
        members[user_id] = TargetMember(user_id, reader.key(table["key"]) if "key" in table else None)
    return tuple(members.values())


def _headers(reader: _Reader, entry: Entry | None) -> Mapping[str, Secret]:
    headers: dict[str, Secret] = {}
    for name, item in (entry.table() if entry else {}).items():
        item.accept(name, validity.header_name)
        if name.lower() in (given.lower() for given in headers):
            raise item.problem("is given twice, in different letter case")
        headers[name] = reader.secret(item, validity.header_value)
    return MappingProxyType(headers)


def _variables(top: Mapping[str, Entry], *, is_key_given: bool) -> Iterator[tuple[str, str]]:
    """Yield the variables that are the whole value of a key or a header, by the names of ``Profile.secrets``."""
    entries = {} if is_key_given else {"api_key": top["api_key"]}
    entries |= top["keys"].table() if "keys" in top else {}
    for number, member in enumerate(top["members"].items() if "members" in top else (), start=1):
        entries |= {f"member_{number}": key for name, key in member.table().items() if name == "key"}
    entries |= {f"header:{name}": entry for name, entry in (top["headers"].table() if "headers" in top else {}).items()}
    yield from ((name, found) for name, entry in entries.items() if (found := entry.variable) is not None)


def _tls(reader: _Reader, entry: Entry | None) -> Tls:
    table = entry.table("verify", *_TLS_FILES) if entry else {}
    files = {name: reader.file(table[name], what) for name, what in _TLS_FILES.items() if name in table}
    return Tls(verify=table["verify"].flag() if "verify" in table else True, **files)


def _tls_warnings(tls: Tls) -> tuple[str, ...]:
    if tls.verify:
        return ()
    risk = "an attacker on the network can read the keys and change the responses"
    return (f"The target's TLS certificate was not verified, as tls.verify is false: {risk}.",)


def _command_warnings(program: ProvisionerSettings | None) -> Iterator[str]:
    """Yield a sentence about the arguments of the provisioner that may be keys, because of a variable or their form."""
    if program is None:
        return
    from_variables = dict(program.secrets)
    likely: list[str] = []
    for number, word in enumerate(program.command):
        if f"provisioner:{number}" in from_variables and not word.startswith(("/", ".")):
            likely.append(f"argument {number}, which a variable gives")
        elif not _PATH.search(word) and without_likely_keys(word) != word:
            likely.append(f"argument {number}, which is long and has letters and digits")
    if likely:
        yield (
            f"Other users of this machine see provisioner.command in the list of processes, and it may contain keys "
            f"({'; '.join(likely)}): pass keys with provisioner.environment instead."
        )


def _overridden(name: str, top: Mapping[str, Entry], **given: str | None) -> Iterator[str]:
    """Yield a sentence for each key of the file that an option or the environment overrides."""
    for key, value in given.items():
        if value is not None and key in top and top[key].differs_from(value):
            option = f"--{key.replace('_', '-')} or $CONFORMANCE_{key.upper()}"
            yield f"{key} of {name} was not used: {option} overrides it."


def _classes(entry: Entry | None) -> tuple[str, ...]:
    check = partial(validity.conformance_class, known=tuple(CLASSES))
    return tuple(item.attempt(check) for item in entry.items()) if entry else ()


def _keys_in(entry: Entry) -> Iterator[tuple[str, Secret]]:
    """Yield the values of variables in an entry that look like keys, with the names that outputs show."""
    for name, text in entry.variables.items():
        if without_likely_keys(text) != text:
            yield f"environment:{name}", Secret(text)


def _limits(entry: Entry | None) -> Mapping[str, float]:
    table = entry.table("p50_ms", "p95_ms", "p99_ms") if entry else {}
    return MappingProxyType({name: limit.number() for name, limit in table.items()})


def _mailbox(entry: Entry | None) -> tuple[str, int] | None:
    if entry is None:
        return None
    table = entry.table("smtp")
    if "smtp" not in table:
        raise entry.problem("must say where to listen, as in {smtp: 127.0.0.1:1025}")
    return table["smtp"].attempt(validity.socket_address)


def _number(top: Mapping[str, Entry], key: str) -> float:
    return top[key].number() if key in top else 10.0


def _read(top: Mapping[str, Entry], key: str, check: Callable[[str], _T], default: _T) -> _T:
    return top[key].attempt(check) if key in top else default
