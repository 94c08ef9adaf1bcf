"""The script that reproduces a fault from a creation, run in a real shell with a fake curl."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.reports.curl import LONGEST_BODY
from conformance.reports.script import MOST, Reproductions
from conformance.reports.wording import ALONE, repeating, repeating_lines
from conformance.wire import requests
from conformance.wire.redaction import Redactor
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from conformance.wire.exchange import Exchange

PREFIX = "cf-k3vq7t2a-"
NAME = f"{PREFIX}a name"
HOSTILE = st.one_of(
    st.sampled_from(
        [
            "$(touch hacked)", "`touch hacked`", "';touch hacked;'", '";touch hacked;"', "\n touch hacked\n",
            "</script><script>alert(1)</script>", "$E1", "..", "-o/dev/null", "a b", "\x1b[31m", "a;touch hacked",
            "' ", "%s", "a\\", "*",
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=30),
)  # fmt: skip


# Parallel calls share the file of requests, so each call appends its whole request in one write.
CURL = """#!/bin/sh
request='{folder}/sent.'$$
printf '%s\\0' "$@" > "$request"
case "$*" in *'@-'*) cat >> "$request"; printf '\\0' >> "$request" ;; esac
printf '<end>\\0' >> "$request"
cat "$request" >> '{folder}/sent'
rm "$request"
case "$*" in *' -o /dev/null') ;; *) cat '{folder}/body' ;; esac
"""


@dataclass
class Played:
    """The result of a script.

    Attributes:
        status: Its exit status.
        out: Its output.
        sent: The method, the URL path and the body of each request.
    """

    status: int
    out: str
    sent: list[tuple[str, str, str]]


@dataclass
class Stage:
    """Runner of a script with a fake curl that returns the same body to every request."""

    folder: Path

    def play(self, script: str, body: str, **keys: str) -> Played:
        """Run a script."""
        (self.folder / "body").write_text(body, "utf-8")
        (self.folder / "sent").write_bytes(b"")
        program = self.folder / "curl"
        program.write_text(CURL.format(folder=self.folder))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (self.folder / "script.sh").write_text(script, "utf-8")
        done = subprocess.run(
            ["/bin/sh", str(self.folder / "script.sh")],
            cwd=self.folder,
            env={"CONFORMANCE_API_KEY": "k$(touch hacked)`x`", "PATH": f"{self.folder}:{os.environ['PATH']}"} | keys,
            capture_output=True,
            check=False,
        )
        assert {path.name for path in self.folder.iterdir()} == {"body", "sent", "curl", "script.sh"}
        words = (self.folder / "sent").read_bytes().decode("utf-8", "replace").split("\0")
        return Played(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"), list(_requests(words)))


def _requests(words: list[str]) -> Any:
    while "<end>" in words:
        end = words.index("<end>")
        sent, words = words[:end], words[end + 1 :]
        body = sent[sent.index("--data-raw") + 1] if "--data-raw" in sent else sent[-1] if "@-" in sent else ""
        address = next(word for word in sent if word.startswith("https://"))
        yield sent[sent.index("-X") + 1], address.removeprefix("https://staging.example.com"), body


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A folder for scripts."""
    (tmp_path / "stage").mkdir()
    return Stage(tmp_path / "stage")


def story(samples: ModuleType, identifier: str = "eng_1", name: str = NAME, **sent: Any) -> list[Exchange]:
    """Return a creation, a refused edit, a read that shows the edit nevertheless, and the final deletion."""
    made = {"id": identifier, "name": name}
    edit = requests.update_engagement(identifier, {"name": f"{NAME} edited"} | sent)
    return [
        samples.exchange(1, requests.create_engagement({"name": name, "description": PREFIX}), status=201, body=made),
        samples.exchange(2, requests.get_engagement("eng_of_others"), body={"id": "eng_of_others"}),
        samples.exchange(3, edit, status=409, body={}),
        samples.exchange(4, requests.get_engagement(identifier), body=made),
        samples.exchange(5, requests.delete_engagement(identifier), body={"deleted": True, "id": identifier}),
    ]


def script_of(exchanges: list[Exchange], *cited: int, **more: Any) -> str | None:
    """Return the script of a failure that cites some of the exchanges."""
    recording = Reproductions(exchanges, PREFIX, **more)
    return reproduction(recording, [exchange for exchange in exchanges if exchange.number in cited]).get("script")


def reproduction(recording: Reproductions, cited: list[Exchange], message: str = "so it was") -> dict[str, str]:
    """Return the files that reproduce a failure."""
    facts: Any = {"message": message, "expected": "404", "actual": "nothing", "pointer": None}
    return recording.reproduction("a-requirement", cited, **facts)


RESPONSE = json.dumps({"data": {"owner": {"id": "usr_1"}, "id": "eng_new", "name": NAME}})


def test_from_creation_to_fault(samples: ModuleType, stage: Stage) -> None:
    """The script sends what the cited read depends on, with the new id, and then deletes everything."""
    played = stage.play(script_of(story(samples), 4) or "", RESPONSE.replace('"owner": {"id": "usr_1"}, ', ""))

    assert [(method, path) for method, path, _ in played.sent] == [
        ("POST", "/api/v1/engagements"),
        ("GET", "/api/v1/engagements/eng_new"),  # the check of ownership
        ("PATCH", "/api/v1/engagements/eng_new"),
        ("GET", "/api/v1/engagements/eng_new"),
        ("GET", "/api/v1/engagements/eng_new"),
        ("DELETE", "/api/v1/engagements/eng_new"),
    ]
    assert json.loads(played.sent[2][2]) == {"name": f"{NAME} edited"}
    assert "# 2. PATCH /api/v1/engagements/E1 (in the run, exchange 3: 409)" in played.out
    assert played.out.rstrip().endswith("In the run: so it was\nExpected: 404\nActual: nothing")
    assert played.status == 0


def test_the_id_stands_where_it_stood(samples: ModuleType, stage: Stage) -> None:
    """The id is read from its position, because other resources in the response have ids too."""
    creation, *others = story(samples)
    received = creation.received
    assert received is not None
    body = json.dumps({"data": {"owner": {"id": "usr_1"}, "id": "eng_1", "name": NAME}}, indent=1).encode()
    script = script_of([replace(creation, received=replace(received, body=body)), *others], 4)

    assert stage.play(script or "", RESPONSE).sent[2][:2] == ("PATCH", "/api/v1/engagements/eng_new")


def test_nothing_is_written_to_what_is_not_its_own(samples: ModuleType, stage: Stage) -> None:
    """The script stops if a service returns the id of another user's engagement, without the run's prefix."""
    played = stage.play(script_of(story(samples), 4) or "", '{"data": {"id": "eng_of_others", "name": "theirs"}}')

    assert {method for method, _, _ in played.sent[1:]} == {"GET"}
    assert played.status == 1
    assert "This id is not that of an engagement of this script." in played.out


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(name=HOSTILE, identifier=HOSTILE, message=HOSTILE, given_id=HOSTILE)
def test_no_text_of_a_service_is_a_command(
    samples: ModuleType, stage: Stage, name: str, identifier: str, message: str, given_id: str
) -> None:
    """Names, ids and messages, in the run or in responses to the script, have no effect in the shell."""
    for engagement in (identifier, "eng_1"):
        exchanges = story(samples, engagement, f"{PREFIX}{name}", description=name)
        recording = Reproductions(exchanges, PREFIX)
        script = reproduction(recording, exchanges[2:4], message).get("script")
        if script is None:
            assert engagement == identifier
            continue
        response = json.dumps({"data": {"id": given_id, "name": f"{PREFIX}{name}"}}, ensure_ascii=False)
        played = stage.play(script, response)

        assert script.replace("\n", "").replace("\t", "").isprintable()
        assert json.loads(played.sent[0][2])["name"] == f"{PREFIX}{name}"
        usable = re.fullmatch(r"(?!\.{1,2}$)[A-Za-z0-9._~-]+", given_id) is not None
        assert (played.status == 0) == usable
        assert {path for _, path, _ in played.sent[1:]} == ({f"/api/v1/engagements/{given_id}"} if usable else set())


def test_keys_come_from_the_variables_of_the_target_file(samples: ModuleType, stage: Stage) -> None:
    """This includes single-permission keys and headers; a variable that is not set ends the script at once."""
    exchanges = story(samples)
    exchanges[3] = samples.exchange(
        4,
        requests.get_engagement("eng_1"),
        credential=Credential("engagements:read", "Bearer <engagements:read>"),
        body={"id": "eng_1"},
    )
    sent = exchanges[3].sent_request
    exchanges[3] = replace(
        exchanges[3], sent_request=replace(sent, headers=(*sent.headers, ("X-Gateway", "<header:X-Gateway>")))
    )
    variables = {"api_key": "STAGING_KEY", "engagements:read": "KEY_READ", "header:X-Gateway": "GATEWAY"}
    script = script_of(exchanges, 4, variables=variables) or ""

    assert set(re.findall(r"\$(\w+_\w+|GATEWAY)", script)) - {"own_E1", "end_E1"} == {*variables.values()}
    played = stage.play(script, RESPONSE)
    assert (played.status, played.sent) == (2, [])
    assert "STAGING_KEY: must be set, as for the run" in played.out.replace("parameter not set", "")
    words = Reproductions((), PREFIX, variables).curl(exchanges[3])
    assert '-H "Authorization: Bearer $KEY_READ" -H "X-Gateway: $GATEWAY"' in words
    assert (
        stage.play(script, RESPONSE.replace("usr_1", "eng_new"), **dict.fromkeys(variables.values(), "key")).status == 0
    )


def test_secrets_that_became_known_late_are_not_in_it(samples: ModuleType) -> None:
    """Both requests and printed texts are redacted."""
    redactor = Redactor()
    redactor.add("late_key", "Zq8-rT5mW2xK-9vB")
    exchanges = story(samples, description="Zq8-rT5mW2xK-9vB")
    recording = Reproductions(exchanges, PREFIX, redactor=redactor)

    script = reproduction(recording, exchanges[3:4], "It shows Zq8-rT5mW2xK-9vB\x00")["script"]

    assert "late_key" in script
    assert "Zq8" not in script
    assert "Zq8" not in recording.curl(exchanges[2])


def test_concurrent_requests_are_sent_in_parallel(samples: ModuleType, stage: Stage) -> None:
    """Two overlapping edits of a scenario are sent in parallel."""
    exchanges = story(samples)
    edits = [
        replace(
            samples.exchange(number, requests.update_engagement("eng_1", {"name": f"{NAME} {number}"}), body={}),
            check="racing",
            started_at=exchanges[0].started_at + timedelta(seconds=number / 1000),
            seconds=1.0,
        )
        for number in (6, 7)
    ]
    script = script_of([*exchanges[:2], *edits], 6, 7) or ""

    assert script.count(" &\n") == 2
    assert "\nwait\n" in script
    played = stage.play(script, RESPONSE.replace("usr_1", "eng_new"))
    assert [method for method, _, _ in played.sent].count("PATCH") == 2


@pytest.mark.parametrize(
    ("exchanges", "cited"),
    [
        pytest.param(
            lambda samples: [samples.exchange(1, requests.update_engagement("eng_of_others", {}), body={})],
            (1,),
            id="a write to what is not the run's",
        ),
        pytest.param(lambda samples: story(samples, "a/b"), (4,), id="an id that a shell cannot use"),
        pytest.param(lambda samples: story(samples, description="x" * LONGEST_BODY), (3, 4), id="a long body"),
        pytest.param(
            lambda samples: [
                *story(samples)[:1],
                *(samples.exchange(n, requests.update_engagement("eng_1", {})) for n in range(2, MOST + 3)),
            ],
            (MOST + 2,),
            id="too many",
        ),
    ],
)
def test_without_a_short_way_there_is_no_script(samples: ModuleType, exchanges: Any, cited: tuple[int, ...]) -> None:
    """The failure has only its curl command."""
    assert script_of(exchanges(samples), *cited) is None


@pytest.mark.parametrize(("cited", "sent"), [(1, ["POST", "GET", "DELETE"]), (2, ["GET"])])
def test_one_request_is_enough(samples: ModuleType, stage: Stage, cited: int, sent: list[str]) -> None:
    """A creation is deleted afterwards, and a read depends on nothing."""
    played = stage.play(script_of(story(samples), cited) or "", RESPONSE.replace("usr_1", "eng_new"))

    assert [method for method, _, _ in played.sent] == sent


@pytest.mark.parametrize("response", ['{"error": {}}', RESPONSE])
def test_a_failed_creation_is_deleted_once_it_succeeds(samples: ModuleType, stage: Stage, response: str) -> None:
    """The script ends well in both cases."""
    failed = samples.exchange(1, requests.create_engagement({"name": NAME}), status=500, body={})

    played = stage.play(script_of([failed], 1) or "", response.replace("usr_1", "eng_new"))

    assert played.status == 0
    assert [method for method, _, _ in played.sent] == ["POST", *(["GET", "DELETE"] if "data" in response else [])]


def test_refused_writes_are_left_out_where_there_are_many(samples: ModuleType) -> None:
    """Refused writes are omitted if there are too many, because they usually change nothing."""
    first, *_ = story(samples)
    refused = [
        samples.exchange(number, requests.update_engagement("eng_1", {"name": number}), status=422, body={})
        for number in range(2, 40)
    ]
    last = samples.exchange(40, requests.get_engagement("eng_1"), body={"id": "eng_1"})

    script = script_of([first, *refused, last], 40) or ""

    assert "# 2. GET /api/v1/engagements/E1" in script
    assert "PATCH" not in script


def test_later_deletions_are_mentioned(samples: ModuleType) -> None:
    """Only later deletions are mentioned, and of a list their number."""
    exchanges = story(samples)
    listed = [
        samples.exchange(number, requests.list_engagements(), body=[{"id": "eng_1"}, {"id": "eng_2"}])
        for number in (3, 7)
    ]
    removal = samples.exchange(8, requests.remove_member("usr_1"), body={"removed": True})
    changed = samples.exchange(2, requests.update_member_role("usr_1", {"role": "admin"}), body={})
    recording = Reproductions([*exchanges, removal], PREFIX)

    assert recording.gone(exchanges[3]) == "The run has deleted the engagement eng_1 since."
    assert recording.gone(exchanges[4]) is None
    assert recording.gone(replace(exchanges[3], number=6)) is None
    assert [recording.gone(exchange) for exchange in listed] == [
        "The run has deleted 1 engagement of this list since.",
        None,
    ]
    assert recording.gone(changed) == "The run has removed the member usr_1 since."
    assert Reproductions(exchanges[:4], PREFIX).gone(exchanges[3]) is None


def test_commands_that_repeat_a_failure(samples: ModuleType) -> None:
    """Files replace a curl command that now shows something else; without files, the reason precedes the command."""
    plain = samples.failure([samples.exchange(1)], test="assert True")
    gone = samples.failure([samples.exchange(1)], gone="It is gone.")
    scripted = samples.failure([samples.exchange(1)], gone="It is gone.", script="#!/bin/sh\n")
    requirement = samples.requirement("an-id", "A title", failures=[plain, gone, scripted])

    assert repeating(requirement, plain) == (None, [plain["curl"], "pytest reproduce/test_an-id.py"])
    assert repeating(requirement, gone) == (f"It is gone. {ALONE}", [gone["curl"]])
    assert repeating(requirement, scripted, "a folder/") == ("It is gone.", ["sh 'a folder/reproduce/an-id-3.sh'"])
    assert repeating_lines(requirement, gone) == [f"It is gone. {ALONE}", gone["curl"]]
    assert repeating(requirement, scripted, None) == (f"It is gone. {ALONE}", [scripted["curl"]])
