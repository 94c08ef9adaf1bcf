"""The target profile: everything that the operator says about the service under test."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Self, TypeVar

from conformance.targets import validity
from conformance.targets.validity import Refused
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from conformance.targets.secret import Secret

_T = TypeVar("_T")

SubordinateKind = Literal["target", "task", "wikiPage", "report", "threatModel", "apiRequest"]
KINDS: Final[tuple[SubordinateKind, ...]] = ("target", "task", "wikiPage", "report", "threatModel", "apiRequest")
"""The kinds of records that go with their engagement."""

DEFAULT_INVITATION_DOMAIN: Final = "example.com"
"""Reserved by RFC 2606: no message to it reaches anybody."""


class Mode(StrEnum):
    """How far a run goes in the organization."""

    READ_ONLY = "read-only"
    DEFAULT = "default"
    DISPOSABLE = "disposable"

    @classmethod
    def of_options(cls, *, read_only: bool, disposable: bool) -> Self | None:
        """The mode that the options of these names ask for; None if there is neither.

        Raises:
            TargetFileError: There are both.
        """
        if read_only and disposable:
            raise TargetFileError("--read-only and --disposable exclude each other.")
        return cls.READ_ONLY if read_only else cls.DISPOSABLE if disposable else None


@dataclass(frozen=True, slots=True)
class TargetMember:
    """A member of the organization that a run may change and remove."""

    user_id: str
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class ProvisionerSettings:
    """The operator's program that does what the interface cannot.

    Attributes:
        command: The program and its arguments; started without a shell in the target file's folder.
        timeout: Seconds that one response may take.
        environment: Variables that it gets beside PATH, HOME, TMPDIR and those of the locale.
        secrets: Texts of the command and the environment that no output may show, by their names.
    """

    command: tuple[str, ...] = field(repr=False)
    timeout: float = 30.0
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[tuple[str, Secret], ...] = ()


@dataclass(frozen=True, slots=True)
class Tls:
    """How the target's certificate is checked: not at all, by the system's authorities, or by those of a file."""

    verify: bool = True
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class SubordinateTemplate:
    """How a kind of subordinate record is made and read through the service's own API.

    Attributes:
        kind: The kind of record.
        create_method: POST or PUT.
        create_path: From the host root, with ``{engagementId}`` where it belongs.
        create_body: Any JSON value, ``{engagementId}`` replaced in its texts; None sends no body.
        read_path: From the host root, with ``{id}`` and perhaps ``{engagementId}``; answered with 2xx while the
            record exists and 404 or 410 when it is gone.
        id_pointer: The JSON pointer of the record's id in the answer to its creation.
    """

    kind: SubordinateKind
    create_method: Literal["POST", "PUT"]
    create_path: str
    create_body: object
    read_path: str
    id_pointer: str = "/data/id"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A target as the target file and the options describe it.

    Attributes:
        name: How reports call the target.
        base_url: Scheme, host and port, without a slash at the end and without user info.
        api_key: A key with all five scopes.
        mode: What the run may do.
        keys: Further keys: by a scope, ``other_organization``, ``throttled``.
        members: Members whose roles the run may change and whom it may remove.
        provisioner: The operator's program, or None.
        invitation_domain: Where invited addresses live.
        headers: Extra headers of every request; their values are secrets.
        tls: How the certificate is checked.
        timeout: Seconds that a request may take.
        patience: Seconds until mail arrives and subordinate records are there or gone.
        mailbox: Host and port where the suite listens for the target's e-mails, or None.
        organization: The id of the organization that the key must belong to, or None.
        subordinates: How subordinate records are made through the service, by kind.
        user_info: What stood before an ``@`` in the base URL; never sent, never shown.
        warnings: Sentences for the operator about what is risky and allowed.
        require: The conformance classes that runs are about; empty for all.
        variables: The environment variables that keys and headers are taken from, by the names of ``secrets``.
        folder: The folder of the target file, which relative paths and the provisioner start from; or None.
    """

    name: str
    base_url: str
    api_key: Secret
    mode: Mode = Mode.DEFAULT
    keys: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType({}))
    members: tuple[TargetMember, ...] = ()
    provisioner: ProvisionerSettings | None = None
    invitation_domain: str = DEFAULT_INVITATION_DOMAIN
    headers: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType({}))
    tls: Tls = Tls()
    timeout: float = 10.0
    patience: float = 10.0
    mailbox: tuple[str, int] | None = None
    organization: str | None = None
    subordinates: Mapping[SubordinateKind, SubordinateTemplate] = field(default_factory=lambda: MappingProxyType({}))
    user_info: Secret | None = None
    warnings: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: Path | None = None

    @classmethod
    def from_options(cls, base_url: str, api_key: str, *, name: str | None = None, mode: Mode = Mode.DEFAULT) -> Self:
        """The profile of a run without a target file.

        Args:
            base_url: The service's host root.
            api_key: A full key.
            name: How reports call the target; the host where none is given.
            mode: What the run may do.

        Raises:
            TargetFileError: The URL or the key cannot be used.
        """
        url = checked("base_url", base_url, validity.base_url)
        key = checked("api_key", api_key, validity.api_key)
        return cls(
            name=name or url.host,
            base_url=url.url,
            api_key=key,
            mode=mode,
            user_info=url.user_info,
            warnings=url_warnings(url),
        )

    def secrets(self) -> list[tuple[str, str]]:
        """Every text that no output may show, with the name that stands for it; a name may come more than once."""
        found = [("api_key", self.api_key.reveal())]
        found += [(name, key.reveal()) for name, key in self.keys.items()]
        found += [
            (f"member_{number}", member.key.reveal())
            for number, member in enumerate(self.members, start=1)
            if member.key is not None
        ]
        found += [(f"header:{name}", value.reveal()) for name, value in self.headers.items()]
        if self.user_info is not None:
            found += [("user_info", part) for part in validity.passwords(self.user_info)]
        if self.provisioner is not None:
            found += [(name, secret.reveal()) for name, secret in self.provisioner.secrets]
        return found

    def public(self) -> list[str]:
        """Texts of the target file that outputs show."""
        members = [member.user_id for member in self.members]
        found = [self.name, self.base_url, self.invitation_domain, self.organization, *members]
        return [text for text in found if text is not None]

    def organization_refusal(self, found: str | None) -> str | None:
        """Why nothing may be written to the organization of the key, as a sentence; None if it is the right one.

        Args:
            found: The id of the key's organization as the service gave it, or None if it gave none.
        """
        if self.organization is None or found == self.organization:
            return None
        if found is None:
            return f"The organization must be {self.organization}, and the service does not say whose the key is."
        return f"The organization must be {self.organization}, but the key belongs to {found}."


def checked(key: str, text: str, check: Callable[[str], _T]) -> _T:
    """The value that a check makes of an option's text.

    Raises:
        TargetFileError: The check refused it.
    """
    try:
        return check(text)
    except Refused as refusal:
        raise TargetFileError(f"{key} {refusal}.") from None


def url_warnings(url: validity.BaseUrl) -> tuple[str, ...]:
    """What an operator should know about a base URL."""
    warnings = []
    if url.user_info is not None:
        warnings.append("base_url: the user info is not sent, because the Authorization header carries the API key.")
    if url.plain:
        warnings.append("base_url: http sends the keys unencrypted over the network.")
    return tuple(warnings)
