"""Target profile: the operator's description of the service under test."""

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

    from conformance.interface.operations import SubordinateKind
    from conformance.targets.secret import Secret

_T = TypeVar("_T")

PLAIN_HTTP: Final = "base_url: http sends the keys unencrypted over the network."
"""The warning about a service on another machine without TLS."""

DEFAULT_INVITATION_DOMAIN: Final = "example.com"
"""A domain reserved by RFC 2606, so that no message to it is delivered."""


class Mode(StrEnum):
    """Changes that a run may make in the organization."""

    READ_ONLY = "read-only"
    DEFAULT = "default"
    DISPOSABLE = "disposable"

    @classmethod
    def of_options(cls, *, read_only: bool, disposable: bool) -> Self | None:
        """Return the mode of these options; None if neither is set.

        Raises:
            TargetFileError: Both are set.
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
    """Settings of the operator's program for what the interface cannot do.

    Attributes:
        command: The program and its arguments, started without a shell in the target file's folder.
        timeout: Seconds that one response may take.
        environment: Its variables beside PATH, HOME, TMPDIR and those of the locale.
        secrets: Secrets in the command and the environment, by their names.
    """

    command: tuple[str, ...] = field(repr=False)
    timeout: float = 30.0
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[tuple[str, Secret], ...] = ()


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS with the target.

    Attributes:
        verify: Whether its certificate is verified.
        ca_file: The authorities to trust; None for those of the system and of certifi.
        cert: The client certificate, or None.
        key: Its key; None if the file of the certificate holds it.
    """

    verify: bool = True
    ca_file: Path | None = None
    cert: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class SubordinateTemplate:
    """Requests that create and read a kind of subordinate record through the service's own API.

    Attributes:
        kind: The kind of record.
        create_method: POST or PUT.
        create_path: From the host root, with ``{engagementId}`` in place of the id.
        create_body: Any JSON value, with ``{engagementId}`` in texts; None sends no body.
        read_path: From the host root, with ``{id}`` and optionally ``{engagementId}``; the status is 2xx while the
            record exists, and 404 or 410 when it is gone.
        id_pointer: The JSON pointer of the record's id in the response to its creation.
    """

    kind: SubordinateKind
    create_method: Literal["POST", "PUT"]
    create_path: str
    create_body: object
    read_path: str
    id_pointer: str = "/data/id"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A target, described by the target file and the options.

    Attributes:
        name: The target's name in reports.
        base_url: Scheme, host and port, without a slash at the end and without user info.
        api_key: A key with all five permissions.
        mode: What the run may do.
        keys: Further keys: by a permission, ``other_organization``, ``throttled``.
        members: Members whose roles the run may change and that it may remove.
        provisioner: The operator's program, or None.
        invitation_domain: The domain of invited addresses.
        headers: Extra headers of every request; their values are secrets.
        user_agent: The User-Agent of every request; None for the suite's.
        tls: Verification of the certificate, and the client's.
        proxy: The proxy that connections are made through, or None.
        timeout: Seconds that a request may take.
        rate: The maximum number of requests per second, or None.
        patience: Seconds until mail arrives, and subordinate records exist or are gone.
        mailbox: Host and port on which the suite receives the target's e-mails, or None.
        organization: The id of the organization that the key must belong to, or None.
        subordinates: Templates of subordinate records, by kind.
        template_secrets: Secrets of the environment in these templates, by the names that outputs show.
        user_info: The part before ``@`` in the base URL; never sent, never shown.
        warnings: Sentences for the operator about allowed risks.
        limits: The longest response times in milliseconds: ``p50_ms``, ``p95_ms``, ``p99_ms``.
        require: The conformance classes of runs; empty for all.
        mask_people: Whether outputs show pseudonyms of people and of other users' engagements.
        variables: The environment variables of keys and headers, by the names of ``secrets``, and of the options of the
            connection; empty for ``insecure``, which has none.
        folder: The folder of the target file, base of relative paths and of the provisioner; or None.
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
    user_agent: str | None = None
    tls: Tls = Tls()
    proxy: validity.BaseUrl | None = None
    timeout: float = 10.0
    rate: float | None = None
    patience: float = 10.0
    mailbox: tuple[str, int] | None = None
    organization: str | None = None
    subordinates: Mapping[SubordinateKind, SubordinateTemplate] = field(default_factory=lambda: MappingProxyType({}))
    template_secrets: tuple[tuple[str, Secret], ...] = ()
    user_info: Secret | None = None
    warnings: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    require: tuple[str, ...] = ()
    mask_people: bool = False
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: Path | None = None

    @classmethod
    def from_options(cls, base_url: str, api_key: str, *, mode: Mode = Mode.DEFAULT) -> Self:
        """Return the profile of a run without a target file, named after the host.

        Raises:
            TargetFileError: The URL or the key cannot be used.
        """
        url = checked("base_url", base_url, validity.base_url)
        key = checked("api_key", api_key, validity.api_key)
        return cls(
            name=url.host,
            base_url=url.url,
            api_key=key,
            mode=mode,
            user_info=url.user_info,
            warnings=url_warnings(url),
        )

    def secrets(self) -> list[tuple[str, str]]:
        """Return every secret with the name that replaces it; names may repeat."""
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
        if self.proxy is not None and self.proxy.user_info is not None:
            found += [("proxy", part) for part in validity.passwords(self.proxy.user_info)]
        if self.provisioner is not None:
            found += [(name, secret.reveal()) for name, secret in self.provisioner.secrets]
        found += [(name, secret.reveal()) for name, secret in self.template_secrets]
        return found

    def public(self) -> list[str]:
        """Return the texts of the target file that outputs show."""
        members = [member.user_id for member in self.members]
        found = [self.name, self.base_url, self.invitation_domain, self.organization, self.user_agent, *members]
        return [text for text in found if text is not None]

    def organization_refusal(self, found: str | None) -> str | None:
        """Return why the key's organization is not the expected one, as a sentence; None if it is.

        Args:
            found: The id of the key's organization in the response, or None.
        """
        if self.organization is None or found == self.organization:
            return None
        if found is None:
            return f"The organization must be {self.organization}, but the service does not show that of the key."
        return f"The organization must be {self.organization}, but the key belongs to {found}."


def checked(source: str, text: str, check: Callable[[str], _T]) -> _T:
    """Return the text of an option or a variable converted by a check.

    Raises:
        TargetFileError: The check refused it; the message names the source.
    """
    try:
        return check(text)
    except Refused as refusal:
        raise TargetFileError(f"{source} {refusal}.") from None


def url_warnings(url: validity.BaseUrl) -> tuple[str, ...]:
    """Return warnings about a base URL."""
    warnings = []
    if url.user_info is not None:
        warnings.append("base_url: the user info is not sent, because the Authorization header carries the API key.")
    if url.plain:
        warnings.append(PLAIN_HTTP)
    return tuple(warnings)
