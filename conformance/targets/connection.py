"""Connection options: of the command line, then of the environment, then of the target file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self, TypeVar

from conformance.files import is_file
from conformance.targets import validity
from conformance.targets.profile import Tls, checked
from conformance.targets.validity import Refused
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.targets.profile import Profile
    from conformance.targets.secret import Secret

_T = TypeVar("_T")

Given = Mapping[str, str | Sequence[str] | None]
"""The values of connection options on the command line, by their names with underscores."""

VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: f"CONFORMANCE_{name.upper()}"
        for name in ("header", "user_agent", "timeout", "rate", "ca_file", "cert", "cert_key", "proxy")
    }
)
"""The environment variables of the connection options, by their names with underscores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Connection options that replace those of a target file.

    Attributes:
        headers: Extra headers of every request; each replaces a header of the same name.
        user_agent: The User-Agent of every request, or None.
        timeout: Seconds that a request may take, or None.
        rate: The maximum number of requests per second, or None.
        ca_file: The authorities to trust, or None.
        cert: The client certificate, or None.
        cert_key: Its key, or None.
        proxy: The proxy, or None.
        usual_agent: The User-Agent if neither an option nor the target file has one; None for the suite's.
    """

    headers: Mapping[str, Secret] = field(default_factory=dict)
    user_agent: str | None = None
    timeout: float | None = None
    rate: float | None = None
    ca_file: Path | None = None
    cert: Path | None = None
    cert_key: Path | None = None
    proxy: validity.BaseUrl | None = None
    usual_agent: str | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str], given: Given = MappingProxyType({})) -> Self:
        """Return the options of the command line, and for missing ones their variables.

        Raises:
            TargetFileError: A value cannot be used; the message shows no secret.
        """
        lines = [line for line in environ.get(VARIABLES["header"], "").splitlines() if line.strip()]
        headers: dict[str, Secret] = {}
        for source, texts in ((VARIABLES["header"], lines), ("--header", given.get("header") or ())):
            for text in texts:
                name, value = checked(source, text, validity.header)
                headers = {**_without(headers, [name]), name: value}

        def read(name: str, check: Callable[[str], _T]) -> _T | None:
            option, variable = f"--{name.replace('_', '-')}", VARIABLES[name]
            if (text := given.get(name)) is not None:
                return checked(option, str(text), check)
            return checked(variable, environ[variable], check) if variable in environ else None

        return cls(
            headers=MappingProxyType(headers),
            user_agent=read("user_agent", validity.user_agent),
            timeout=read("timeout", validity.seconds),
            rate=read("rate", validity.rate),
            ca_file=read("ca_file", _file),
            cert=read("cert", _file),
            cert_key=read("cert_key", _file),
            proxy=read("proxy", validity.proxy),
        )

    def options(self) -> list[tuple[str, str]]:
        """Return the options and their values for a command line, with names in place of secrets."""
        headers = [("--header", f"{name}: <header:{name}>") for name in self.headers]
        files = {"--ca-file": self.ca_file, "--cert": self.cert, "--cert-key": self.cert_key}
        given = {
            "--user-agent": self.user_agent,
            "--timeout": self.timeout,
            "--rate": self.rate,
            **files,
            "--proxy": None if self.proxy is None else self.proxy.shown,
        }
        return headers + [(option, str(value)) for option, value in given.items() if value is not None]

    def applied(self, profile: Profile) -> Profile:
        """Return the profile with these options in place of its own.

        Raises:
            TargetFileError: A key is given without its certificate.
        """
        tls = Tls(
            verify=profile.tls.verify or self.ca_file is not None,
            ca_file=self.ca_file or profile.tls.ca_file,
            cert=self.cert or profile.tls.cert,
            key=self.cert_key or (None if self.cert else profile.tls.key),
        )
        if tls.key is not None and tls.cert is None:
            raise TargetFileError("A client certificate is needed beside its key: give --cert or tls.cert.")
        return replace(
            profile,
            headers=MappingProxyType({**_without(profile.headers, self.headers), **self.headers}),
            user_agent=self.user_agent or profile.user_agent or self.usual_agent,
            timeout=self.timeout or profile.timeout,
            rate=self.rate or profile.rate,
            tls=tls,
            proxy=self.proxy or profile.proxy,
            variables=MappingProxyType({**profile.variables, **_variables(tls, self.proxy or profile.proxy)}),
        )


def _variables(tls: Tls, proxy: validity.BaseUrl | None) -> dict[str, str]:
    """Return the variables for the files and the proxy of a connection; ``insecure`` has none."""
    used = {"ca_file": tls.ca_file, "cert": tls.cert, "cert_key": tls.key, "proxy": proxy}
    named = {name: VARIABLES[name] for name, value in used.items() if value is not None}
    return named if tls.verify else {**named, "insecure": ""}


UNCHANGED: Final = Connection()
"""No connection options."""


def unused_proxy(base_url: str, environ: Mapping[str, str]) -> list[str]:
    """Return a sentence about the proxy of the environment that other programs would use for a URL, if there is one."""
    scheme = base_url.partition(":")[0]
    names = (f"{scheme}_proxy", f"{scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
    found = next((name for name in names if environ.get(name)), None)
    return [] if found is None else [f"{found} is set, but not used: give --proxy or ${VARIABLES['proxy']} to use one."]


def _without(headers: Mapping[str, Secret], names: Sequence[str] | Mapping[str, Secret]) -> dict[str, Secret]:
    """Return the headers except those of some names, in any letter case."""
    replaced = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() not in replaced}


def _file(text: str) -> Path:
    if not is_file(Path(text)):
        raise Refused("must be the path of a file, and there is no such file")
    return Path(text)
