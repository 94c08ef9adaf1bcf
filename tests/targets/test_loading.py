from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.targets.loading import load_profile
from conformance.targets.profile import Mode, Profile, TargetMember, Tls
from conformance.targets.secret import Secret
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable

FULL = """
name: staging-eu
base_url: https://staging.example.com
api_key: ${MAIN_KEY}        # ${VAR} is read from the environment, ${UNSET} in a comment is not
disposable: false
keys:
  organizations:read: ${KEY_ORG_READ}
  other_organization: ${KEY_OTHER}
  throttled: ${KEY_SLOW}
members:
  - {user_id: u_1, key: ${KEY_MEMBER}}
  - user_id: u_2
provisioner:
  command: [python3, provision.py, "--token=${TOKEN}"]
  timeout: 30
  environment: [TOKEN]
invitation_domain: example.com
headers: {X-Gateway: staging}
tls: {verify: true, ca_file: null}
timeout: 5
patience: 2.5
mailbox: {smtp: 127.0.0.1:1025}
organization: org_1
subordinates:
  - kind: target
    create: {path: "/api/v1/engagements/{engagementId}/targets", body: {name: "${MARK}", deep: [1, null, true]}}
    read: {path: "/api/v1/targets/{id}"}
    id: /data/target/id
"""
ENVIRONMENT = {
    "KEY_ORG_READ": "key-org-read",
    "KEY_OTHER": "key-other",
    "KEY_SLOW": "key-slow",
    "KEY_MEMBER": "key-member",
    "TOKEN": "provision-token",
    "MARK": "marked",
}


def test_every_key_of_a_target_file_is_read(load: Callable[..., Profile]) -> None:
    """A file with all keys is loaded, flow style and comments included."""
    profile = load(FULL, complete=False, **ENVIRONMENT)

    assert (profile.name, profile.base_url) == ("staging-eu", "https://staging.example.com")
    assert profile.api_key == Secret("main-key-0001")
    assert profile.mode is Mode.DEFAULT
    assert {name: key.reveal() for name, key in profile.keys.items()} == {
        "organizations:read": "key-org-read",
        "other_organization": "key-other",
        "throttled": "key-slow",
    }
    assert profile.members == (TargetMember("u_1", Secret("key-member")), TargetMember("u_2"))
    assert profile.provisioner is not None
    assert profile.provisioner.command == ("python3", "provision.py", "--token=provision-token")
    assert dict(profile.provisioner.environment) == {"TOKEN": "provision-token"}
    assert profile.headers == {"X-Gateway": Secret("staging")}
    assert (profile.tls.verify, profile.tls.ca_file) == (True, None)
    assert (profile.timeout, profile.patience) == (5.0, 2.5)
    assert (profile.mailbox, profile.organization) == (("127.0.0.1", 1025), "org_1")
    template = profile.subordinates["target"]
    assert template.create_body == {"name": "marked", "deep": [1, None, True]}
    assert (template.create_method, template.id_pointer) == ("POST", "/data/target/id")


def test_a_file_of_two_keys_has_the_defaults(load: Callable[..., Profile]) -> None:
    """Base URL and key are enough; everything else has a default."""
    profile = load("")

    assert (profile.name, profile.mode) == ("api.example.com", Mode.DEFAULT)
    assert (profile.timeout, profile.patience, profile.invitation_domain) == (10.0, 10.0, "example.com")
    assert (profile.keys, profile.members, profile.provisioner, profile.mailbox) == ({}, (), None, None)
    assert profile.warnings == ()


def test_keys_without_a_value_count_as_left_out(load: Callable[..., Profile]) -> None:
    """A section whose lines are all commented out is no error."""
    profile = load("keys:\nmembers:\nheaders:\ntimeout:\ntls:\nprovisioner:\nmailbox:\nsubordinates:\n")

    assert (profile.keys, profile.members, profile.timeout) == ({}, (), 10.0)


def test_options_take_the_place_of_the_file(load: Callable[..., Profile]) -> None:
    """Options override base URL, key and mode, even unreadable ones."""
    options = {"base_url": "http://127.0.0.1:8080/", "api_key": "option-key", "mode": Mode.READ_ONLY}
    profile = load("base_url: nonsense\napi_key: ${UNSET}\ndisposable: true", complete=False, options=options)

    assert (profile.base_url, profile.name) == ("http://127.0.0.1:8080", "127.0.0.1:8080")
    assert (profile.api_key, profile.mode) == (Secret("option-key"), Mode.READ_ONLY)


@pytest.mark.parametrize(
    ("value", "mode"), [("true", Mode.DISPOSABLE), ("${YES}", Mode.DISPOSABLE), ("false", Mode.DEFAULT)]
)
def test_a_disposable_organization_is_declared(load: Callable[..., Profile], value: str, mode: Mode) -> None:
    """``disposable`` decides the mode, also out of a variable."""
    assert load(f"disposable: {value}", YES="true").mode is mode


def test_numbers_may_come_from_variables(load: Callable[..., Profile]) -> None:
    """A variable stands for a number as well as for a text."""
    assert load("timeout: ${SECONDS}", SECONDS="2.5").timeout == 2.5


def test_digits_from_a_variable_are_a_text_where_one_is_expected(load: Callable[..., Profile]) -> None:
    """A key of digits alone is still a key."""
    assert load("organization: ${ID}", ID="42").organization == "42"


def test_a_key_may_be_in_its_own_file(load: Callable[..., Profile], tmp_path: Path) -> None:
    """``{file: PATH}`` reads a key, from the target file's folder, without its line break."""
    (tmp_path / "slow.key").write_text("key-of-file\n")
    (tmp_path / "slow.key").chmod(0o600)

    assert load("keys: {throttled: {file: slow.key}}").keys["throttled"] == Secret("key-of-file")


def test_user_info_is_taken_out_of_the_base_url(load: Callable[..., Profile]) -> None:
    """User info is never sent or shown, and causes a warning."""
    profile = load("", options={"base_url": "https://ann:p%40ssw0rd@api.example.com:8443"})

    assert profile.base_url == "https://api.example.com:8443"
    assert {value for name, value in profile.secrets() if name == "user_info"} == {
        "ann:p%40ssw0rd",
        "ann:p@ssw0rd",
        "p%40ssw0rd",
        "p@ssw0rd",
    }
    assert "user info is not sent" in profile.warnings[0]


PROBLEMS = [
    ("base_ur: x", "line 3: base_ur is not a known key; did you mean base_url?"),
    ("zzz: x", "line 3: zzz is not a known key; known here: name, base_url, "),
    ("keys: {organizations:reed: a}", "keys.organizations:reed is not a known key; did you mean organizations:read?"),
    ("timeout: 1\ntimeout: 2", "line 4: timeout is given twice."),
    (
        "keys:\n  throttled: ${KEY_SLOW}",
        "line 4: keys.throttled names the environment variable KEY_SLOW, which is not set.",
    ),
    ("name: ${}", "name contains ${ without the name of a variable and a closing brace: write ${NAME}."),
    ("timeout: soon", "line 3: timeout must be a number above 0, but is a text."),
    ("timeout: ${T}", "timeout must be a number above 0, but is a text."),
    ("timeout: 0", "timeout must be a number above 0, and 86400 at most."),
    ("patience: -1", "patience must be a number above 0, and 86400 at most."),
    ("patience: .inf", "patience must be a number above 0, and 86400 at most."),
    ("timeout: true", "timeout must be a number above 0, but is true or false."),
    ("disposable: maybe", "disposable must be true or false, but is a text."),
    ("disposable: 1", "disposable must be true or false, but is a number."),
    ("name: 7", "name must be a text in quotes, but is a number."),
    ("name: [a]", "name must be a text, but is a list."),
    ("name: ''", "name must not be empty."),
    ("keys: [a]", "keys must be a table of keys and values, but is a list."),
    ("members: {a: b}", "members must be a list, but is a table."),
    ("members: [u_1]", "members[0] must be a table of keys and values, but is a text."),
    ("members: [{key: a}]", "members[0] has no user_id."),
    ("members: [{user_id: u}, {user_id: u}]", "members[1].user_id is that of a member given before."),
    ("members: [{user_id: u, role: admin}]", "members[0].role is not a known key"),
    (
        "keys: {throttled: 'a b'}",
        "keys.throttled must be a key of visible ASCII characters, without spaces or line breaks.",
    ),
    ("keys: {throttled: 'bearer key_1'}", "keys.throttled must be the key alone, without the word Bearer."),
    ("keys: {throttled: schlüssel}", "keys.throttled must be a key of visible ASCII characters"),
    (
        "keys: {throttled: {file: none.key}}",
        "keys.throttled.file must be the path of a file with a key, and there is no such file.",
    ),
    ("keys: {throttled: {}}", "keys.throttled must be a key or {file: PATH}."),
    ("keys: {throttled: {path: x}}", "keys.throttled.path is not a known key"),
    ("keys: {engagements:read: main-key-0001}", "keys.engagements:read is the same key as api_key"),
    (
        "keys: {engagements:read: k1, engagements:write: k1}",
        "keys.engagements:write is the same key as keys.engagements:read",
    ),
    ("provisioner: {timeout: 3}", "provisioner has no command: give the program and its arguments as a list."),
    ("provisioner: {command: python3 x.py}", "provisioner.command must be a list, but is a text."),
    ("provisioner: {command: []}", "provisioner.command must name a program."),
    ("provisioner: {command: [a, 1]}", "provisioner.command[1] must be a text in quotes, but is a number."),
    (
        "provisioner: {command: [a], environment: [NOT_SET]}",
        "provisioner.environment[0] names the environment variable NOT_SET, which is not set.",
    ),
    (
        "provisioner: {command: [a], environment: {A-B: x}}",
        "provisioner.environment.A-B must be the name of an environment variable.",
    ),
    ("invitation_domain: ann@example.com", "invitation_domain must be a domain such as example.com, without an @."),
    ("headers: {Authorization: x}", "headers.Authorization is a header that the suite sets itself"),
    ("headers: {content-length: '1'}", "headers.content-length is a header that the suite sets itself"),
    ("headers: {If-None-Match: x}", "headers.If-None-Match is a header that the suite sets itself"),
    ("headers: {X-HTTP-Verb: DELETE}", "headers.X-HTTP-Verb is a header that the suite sets itself"),
    ("headers: {X-Original-URL: /}", "headers.X-Original-URL is a header that the suite sets itself"),
    ("headers: {x-rewrite-url: /}", "headers.x-rewrite-url is a header that the suite sets itself"),
    ("headers: {'X Y': x}", "headers.X Y is not a name that a header can have."),
    ('headers: {X-A: "a\\nb"}', "headers.X-A must be a header value of printable ASCII characters"),
    ("headers: {X-A: a, x-a: b}", "headers.x-a is given twice, in different letter case."),
    ("headers: {X-A: 1}", "headers.X-A must be a text in quotes, but is a number."),
    (
        "tls: {ca_file: none.pem}",
        "tls.ca_file must be the path of a file with certificates, and there is no such file.",
    ),
    ("tls: {verify: 'yes'}", "tls.verify must be true or false, but is a text."),
    ("mailbox: {smtp: 1025}", "mailbox.smtp must be a text in quotes, but is a number."),
    ("mailbox: {smtp: localhost}", "mailbox.smtp must be host:port, as in 127.0.0.1:1025."),
    ("mailbox: {smtp: 'localhost:70000'}", "mailbox.smtp must be host:port"),
    ("mailbox: {}", "mailbox must say where to listen, as in {smtp: 127.0.0.1:1025}."),
    ("subordinates: [{kind: target}]", "subordinates[0] has no create."),
    (
        "subordinates: [{kind: t, create: {path: '/{engagementId}'}, read: {path: '/{id}'}}]",
        "subordinates[0].kind must be one of target, task,",
    ),
    (
        "subordinates: [{kind: task, create: {path: '/{engagementId}'}, read: {path: /x}}]",
        "subordinates[0].read.path must contain {id}",
    ),
    (
        "subordinates: [{kind: task, create: {path: /x}, read: {path: '/{id}'}}]",
        "subordinates[0].create must contain {engagementId} in its path or body.",
    ),
    (
        "subordinates: [{kind: task, create: {path: '/{id}'}, read: {path: '/{id}'}}]",
        "subordinates[0].create.path may contain {engagementId}, but not {id}.",
    ),
    (
        "subordinates: [{kind: task, create: {path: x}, read: {path: '/{id}'}}]",
        "subordinates[0].create.path must be a path that begins with one /",
    ),
    *(
        (
            f"subordinates: [{{kind: task, create: {{path: '{path}?e={{engagementId}}'}}, read: {{path: '/{{id}}'}}}}]",
            "subordinates[0].create.path must not be a path of the interface itself",
        )
        for path in (
            *("/api/v1/engagements", "/api/v1/engagements/e_1/archive", "/api/v1/engagements/{engagementId}/"),
            *("/app/api/v1/organizations/current/members/invite", "/api/v1/tasks/../Engagements/e_1/%61rchive"),
        )
    ),
    (
        "subordinates: [{kind: task, create: {path: '//h/{engagementId}'}, read: {path: '/{id}'}}]",
        "subordinates[0].create.path must be a path that begins with one /",
    ),
    (
        "subordinates: [{kind: task, create: {method: GET, path: '/{engagementId}'}, read: {path: '/{id}'}}]",
        "subordinates[0].create.method must be POST or PUT.",
    ),
    (
        "subordinates: [{kind: task, create: {path: '/{engagementId}'}, read: {path: '/{id}'}, id: data}]",
        "subordinates[0].id must be a JSON pointer such as /data/id.",
    ),
    ("a: &x 1\nb: *x", "target.yaml uses an alias (*name), which this suite does not accept."),
    ("keys: {", "line 3, column 8: this is not valid YAML."),
    ("---\nname: x", "this is not valid YAML."),
    ("? [a]\n: b", "must have plain texts for keys."),
]


@pytest.mark.parametrize(("text", "sentence"), PROBLEMS)
def test_a_problem_is_one_sentence_that_names_the_key(load: Callable[..., Profile], text: str, sentence: str) -> None:
    """Errors of a target file name the key, the line and the expected value."""
    with pytest.raises(TargetFileError) as caught:
        load(text, T="swordfish-soon")

    assert sentence in str(caught.value)
    assert str(caught.value).startswith("target.yaml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("name: staging ${T}", "name"),
        ("organization: ${T}", "organization"),
        ("user_agent: ci/${T}", "user_agent"),
        ("invitation_domain: ${T}.example.com", "invitation_domain"),
        ("members: [{user_id: u-${T}}]", "members[0].user_id"),
    ],
)
def test_a_text_that_outputs_show_has_no_key(load: Callable[..., Profile], text: str, entry: str) -> None:
    """A key in a name would be in every report, and in the name of its folder; letter case does not matter."""
    with pytest.raises(TargetFileError, match=re.escape(f": {entry} contains a key, but outputs show {entry}.")):
        load(text, T="Main-Key-0001")


URLS = [
    ("ftp://api.example.com", "must be a URL that begins with http:// or https://"),
    ("api.example.com", "must be a URL that begins with http:// or https://."),
    ("127.0.0.1:8080", "must be a URL that begins with http:// or https:// (did you mean http://127.0.0.1:8080?)"),
    ("https://", "must name a host"),
    ("https://api.example.com?x=1", "must have neither a query (?) nor a fragment (#)"),
    ("https://api.example.com#top", "must have neither a query (?) nor a fragment (#)"),
    ("https://api.example.com/api/v1", "must end after the host and port"),
    ("https://api.example.com:0", "must have a port between 1 and 65535"),
    ("https://api.example.com:99999", "must have a port between 1 and 65535"),
    ("https://api.example.com:", "must have a port between 1 and 65535"),
    ("https://api example.com", "must be a URL in printable ASCII characters"),
    ("https://[::1", "must be a URL such as"),
    ("https://a_(b).com", "must name a host of letters"),
]


@pytest.mark.parametrize(("url", "sentence"), URLS)
def test_a_base_url_is_that_of_a_host_root(load: Callable[..., Profile], url: str, sentence: str) -> None:
    """An invalid base URL is refused, in the file and as an option."""
    with pytest.raises(TargetFileError, match=re.escape(sentence)):
        load("", options={"base_url": url})
    with pytest.raises(TargetFileError, match=re.escape(sentence)):
        load(f"base_url: '{url}'\napi_key: k", complete=False)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.example.com/", "https://api.example.com"),
        ("HTTP://Localhost:8080", "http://localhost:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://10.0.0.1", "http://10.0.0.1"),
    ],
)
def test_a_base_url_is_reduced_to_scheme_host_and_port(load: Callable[..., Profile], url: str, expected: str) -> None:
    """The closing slash and the case of scheme and host are normalized."""
    assert load("", options={"base_url": url}).base_url == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("api_key: k", "has no base_url"),
        ("base_url: http://h", "has no api_key"),
        ("", "is empty"),
        ("# only this", "is empty"),
    ],
)
def test_missing_required_keys_are_named(load: Callable[..., Profile], text: str, sentence: str) -> None:
    """A file without base URL or key says which is missing."""
    with pytest.raises(TargetFileError, match=sentence):
        load(text, complete=False)


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """Missing files, folders, binary and huge files are error sentences."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge").write_bytes(b"#" * ((1 << 20) + 1))
    for name, sentence in [
        ("none", "No such file"),
        (".", "Is a directory"),
        ("binary", "is not a text in UTF-8"),
        ("huge", "is larger than 1 MiB"),
    ]:
        with pytest.raises(TargetFileError, match=sentence):
            load_profile(tmp_path / name, {})
    with pytest.raises(TargetFileError, match=r"^\. cannot be read: Is a directory\.$"):
        load_profile(Path(), {})


def test_deep_nesting_is_a_problem(load: Callable[..., Profile]) -> None:
    """An extremely nested file is refused."""
    with pytest.raises(TargetFileError, match="nested too deeply"):
        load("name: " + "[" * 1100 + "]" * 1100)


SECRET_PROBLEMS = [
    "keys: {throttled: 'swordfish 1'}",
    "keys: {throttled: *swordfish1}",
    "keys: {throttled: ${S}}\nkeys: 1",
    "base_url: https://swordfish1:swordfish1@h/x",
    'headers: {X-A: "swordfish1\\n"}',
    "timeout: swordfish1",
    "mailbox: {smtp: swordfish1}",
    "keys: {throttled: 'swordfish1",
    "keys: {throttled: @swordfish1}",
]


@pytest.mark.parametrize("text", SECRET_PROBLEMS)
def test_no_problem_shows_a_value(load: Callable[..., Profile], text: str) -> None:
    """An error and its causes name keys and never show values."""
    with pytest.raises(TargetFileError) as caught:
        load(text, S="swordfish1")

    error: BaseException | None = caught.value
    while error is not None:
        assert "swordfish" not in str(error)
        assert error.__suppress_context__ or error.__context__ is None
        error = error.__cause__


def test_the_profile_shows_no_secret(load: Callable[..., Profile]) -> None:
    """The repr of a profile shows no secret."""
    profile = load(FULL, complete=False, **ENVIRONMENT)

    shown = repr(profile) + str(profile)
    for name, value in profile.secrets():
        if name != "header:X-Gateway":  # "staging" is also part of the name
            assert value not in shown, name


def test_every_secret_is_listed_by_its_name(load: Callable[..., Profile]) -> None:
    """Keys, members' keys, header values and the provisioner's credentials are secrets."""
    profile = load(FULL, complete=False, **ENVIRONMENT)

    assert dict(profile.secrets()) == {
        "api_key": "main-key-0001",
        "organizations:read": "key-org-read",
        "other_organization": "key-other",
        "throttled": "key-slow",
        "member_1": "key-member",
        "header:X-Gateway": "staging",
        "provisioner:2": "--token=provision-token",
        "environment:TOKEN": "provision-token",
    }


@pytest.mark.parametrize(
    ("text", "mode", "warned"),
    [
        ("api_key: literal-key", 0o644, True),
        ("api_key: literal-key", 0o600, False),
        ("api_key: ${MAIN_KEY}", 0o644, False),
        ("api_key: ${MAIN_KEY}\nheaders: {X-A: staging}", 0o640, True),
        ("api_key: {file: main.key}", 0o644, True),
    ],
)
def test_a_secret_that_others_can_read_is_warned_of(tmp_path: Path, text: str, mode: int, *, warned: bool) -> None:
    """A literal secret in a file that other users can read causes a warning."""
    (tmp_path / "main.key").write_text("key-of-file")
    (tmp_path / "main.key").chmod(0o644)
    path = tmp_path / "target.yaml"
    path.write_text(f"base_url: https://h\n{text}\n")
    path.chmod(mode)

    warnings = load_profile(path, {"MAIN_KEY": "main-key-0001"}).warnings

    assert any("can be read by other users" in warning for warning in warnings) is warned


@pytest.mark.parametrize(
    ("text", "url", "sentence"),
    [
        ("tls: {verify: false}", "https://h", "tls.verify is false"),
        ("", "http://h", "http sends the keys unencrypted"),
    ],
)
def test_risks_that_are_allowed_are_warned_of(load: Callable[..., Profile], text: str, url: str, sentence: str) -> None:
    """Unverified TLS and plain HTTP to another machine cause warnings."""
    assert any(sentence in warning for warning in load(text, options={"base_url": url}).warnings)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("base_url: https://given.example\napi_key: key-given-0001", []),
        ("base_url: https://given.example\napi_key: ${SAME}", []),
        ("base_url: https://given.example\napi_key: ${NOT_SET}", []),
        ("base_url: https://h\napi_key: ${SAME}", ["base_url of target.yaml was not used: --base-url or"]),
        (
            "base_url: https://h\napi_key: ${OTHER}",
            [
                "base_url of target.yaml was not used",
                "api_key of target.yaml was not used: --api-key or $CONFORMANCE_API",
            ],
        ),
        ("api_key: {file: main.key}", ["api_key of target.yaml was not used"]),
    ],
)
def test_an_overridden_key_gives_a_warning(tmp_path: Path, text: str, sentences: list[str]) -> None:
    """A warning says that an environment variable overrides the file's key."""
    path = tmp_path / "target.yaml"
    path.write_text(f"name: staging\n{text}\n")
    path.chmod(0o600)
    environ = {"SAME": "key-given-0001", "OTHER": "key-other-0001"}

    profile = load_profile(path, environ, base_url="https://given.example", api_key="key-given-0001")

    assert len(profile.warnings) == len(sentences)
    assert all(map(str.startswith, profile.warnings, sentences)), profile.warnings
    assert "key-" not in "".join(profile.warnings)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://localhost", "http://[::1]", "https://h"])
def test_loopback_and_tls_are_not_warned_of(tmp_path: Path, url: str) -> None:
    """HTTP on this machine causes no warning."""
    path = tmp_path / "target.yaml"
    path.write_text("name: staging\n")

    assert load_profile(path, {}, base_url=url, api_key="key-given-0001").warnings == ()


def test_relative_paths_begin_at_the_target_file(load: Callable[..., Profile], tmp_path: Path) -> None:
    """The CA file is relative to the target file."""
    (tmp_path / "ca.pem").write_text("x")

    profile = load("tls: {ca_file: ca.pem}")

    assert profile.tls.ca_file == tmp_path / "ca.pem"
    assert profile.folder == tmp_path


@pytest.mark.parametrize(
    ("command", "warned"),
    [
        ("[python3, p.py, '${TOKEN}']", True),
        ("[python3, p.py, '--token=${TOKEN}']", True),
        ("[python3, p.py, sk_live_4f9c2b7a11]", True),
        ("[python3, p.py, '--token=4f9c2b7a1180aa']", True),
        ("[python3, provisioner_v2_of_staging.py]", False),
        ("[/usr/lib/python3.11/bin/python3.11, ./tools/provision2.sh, --effort, quick]", False),
        ("['${HOME_OF_IT}/provision.py', --seed, '12345678901234']", False),
        ("[python3, p.py]\n  environment: {TOKEN: '${TOKEN}'}", False),
    ],
)
def test_a_key_in_a_command_is_warned_of(load: Callable[..., Profile], command: str, *, warned: bool) -> None:
    """A likely key in the command causes a warning; file names and short words do not."""
    variables = {"TOKEN": "provision-token", "HOME_OF_IT": "/home/somebody"}

    warnings = load(f"provisioner:\n  command: {command}", **variables).warnings

    assert any("see provisioner.command in the list of processes" in warning for warning in warnings) is warned
    assert "provision-token" not in "".join(warnings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: " + "[" * 10_000, "is nested too deeply"),
        ("name: " + "{" * 300_000, "is nested too deeply"),
        ("name:\n" + "- " * 200, "is nested too deeply"),
        ("require: [" + "a, " * 100_000 + "]", "has more than 20000 values"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "uses an alias"),
        ("a: &a {<<: [*a]}", "uses an alias"),
        ("timeout: " + "1:" * 5000 + "1", "timeout must be a number above 0"),
        ("timeout: " + "1:" * 200 + "1.5", "timeout must be a number above 0"),
        ("timeout: !!int ''", "timeout must be a number above 0"),
        ("disposable: !!bool perhaps", "disposable must be true or false"),
        ("timeout: !!float ''", "timeout must be a number above 0"),
    ],
)
def test_costly_yaml_is_refused(load: Callable[..., Profile], text: str, sentence: str) -> None:
    """Costly YAML is refused early, with a sentence."""
    with pytest.raises(TargetFileError, match=re.escape(sentence)):
        load(text)


def test_a_key_has_an_end(load: Callable[..., Profile]) -> None:
    """A key of a megabyte is refused."""
    with pytest.raises(TargetFileError, match="must be a key of 16384 characters at most"):
        load("", options={"api_key": "k" * 16_385})


def test_a_target_file_may_come_through_a_pipe(tmp_path: Path) -> None:
    """Relative paths begin at the current folder, without a warning about permissions."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)
    writer = threading.Thread(target=lambda: pipe.write_text("base_url: http://127.0.0.1:1\napi_key: k-0123456789\n"))
    writer.start()

    profile = load_profile(pipe, {})

    writer.join()
    assert (profile.base_url, profile.folder, profile.warnings) == ("http://127.0.0.1:1", Path(), ())


def test_variables_that_are_the_whole_value_are_known(load: Callable[..., Profile]) -> None:
    """Variables are known by the names of secrets, if they are the whole value."""
    text = """
keys: {"engagements:read": "${READ}", throttled: "a-${PART}-of-it", other_organization: other-key-0001}
members: [{user_id: u_1}, {user_id: u_2, key: "${MEMBER}"}]
headers: {X-One: "${ONE}", X-Two: two}
"""
    given = {"READ": "read-key-0001", "PART": "part", "MEMBER": "member-key-01", "ONE": "one", "MAIN": "main-key-0009"}
    expected = {"engagements:read": "READ", "member_2": "MEMBER", "header:X-One": "ONE"}

    main = "base_url: http://service\napi_key: ${MAIN}" + text
    profile = load(main, complete=False, **given)
    assert profile.variables == expected | {"api_key": "MAIN"}
    assert profile.variables.keys() < dict(profile.secrets()).keys()
    assert load(main, complete=False, options={"api_key": "main-key-0008"}, **given).variables == expected


def test_a_file_that_was_found_names_no_people_and_no_other_requests(tmp_path: Path) -> None:
    """A cloned repository may contain it: nobody is invited or removed, and requests go only to the named address."""
    path = tmp_path / "conformance.yaml"
    path.write_text(
        "base_url: https://api.example.com\napi_key: ${KEY}\nproxy: http://evil.example:3128\n"
        "tls: {verify: false}\nmembers: [{user_id: u_1}]\ninvitation_domain: evil.example\n"
        "mailbox: {smtp: 0.0.0.0:25}\n"
        "subordinates: [{kind: task, create: {path: '/{engagementId}'}, read: {path: '/{id}'}}]\n",
        "utf-8",
    )
    path.chmod(0o600)

    found = load_profile(path, {"KEY": "k" * 20}, is_found=True)

    assert (found.proxy, found.tls, found.members, found.mailbox) == (None, Tls(), (), None)
    assert (found.invitation_domain, dict(found.subordinates)) == ("example.com", {})
    unused = ("proxy", "tls", "members", "invitation_domain", "mailbox", "subordinates")
    why = "was not used: it counts only if --target names the file."
    assert found.warnings == tuple(f"{key} of conformance.yaml {why}" for key in unused)
    assert load_profile(path, {"KEY": "k" * 20}).members != ()


def test_keys_of_the_environment_in_templates_are_secrets(load: Callable[..., Profile]) -> None:
    """The requests of a template stand in the recording; a word in them is no secret."""
    profile = load(
        "subordinates:\n"
        "- kind: task\n"
        "  create: {path: '/x/{engagementId}?t=${TOKEN}', body: {tenant: '${TENANT}', in: ['Key ${OTHER}']}}\n"
        "  read: {path: '/x/{id}?t=${TOKEN}'}\n",
        TOKEN="tok_9f8e7d6c5b4a39281706",
        OTHER="adm_Zx81LmQp02RtY6vNw4Bh",
        TENANT="acme-corporation",
    )

    shown = {"environment:TOKEN": "tok_9f8e7d6c5b4a39281706", "environment:OTHER": "adm_Zx81LmQp02RtY6vNw4Bh"}
    assert shown.items() <= dict(profile.secrets()).items()
    assert "environment:TENANT" not in dict(profile.secrets())
