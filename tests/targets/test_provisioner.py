from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.targets.provisioner import Mail, ProvisionedMember, Provisioner
from conformance.targets.rpc import MethodMissing, ProvisionerError, RpcChild
from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from conformance.targets.profile import Profile

RESPONDING = """
import json, os, sys, time
def answer(request, **members):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **members}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
"""

Start = Callable[..., Provisioner]


@pytest.fixture
def log() -> list[str]:
    """The lines that the program wrote on stderr."""
    return []


@pytest.fixture
def start(log: list[str], tmp_path: Path) -> Iterator[Start]:
    """Starts a provisioner whose program is given as Python text; ``loop`` handles each ``request``."""
    started: list[Provisioner] = []

    def starting(text: str = "", *, loop: str | None = None, timeout: float = 10.0) -> Provisioner:
        program = text if loop is None else RESPONDING + textwrap.indent(textwrap.dedent(loop), "    ")
        child = RpcChild([sys.executable, "-c", program], {"PATH": os.environ["PATH"]}, tmp_path, timeout, log.append)
        started.append(Provisioner(child))
        return started[-1]

    yield starting
    for provisioner in started:
        provisioner.close(grace=0.0)


def test_every_method_has_its_parameters_and_result(start: Start) -> None:
    """The seven methods are called as the protocol says, and their results read."""
    provisioner = start(
        loop="""
        params = request["params"]
        results = {
            "create_key": lambda: {"key": "scoped-" + ",".join(params["scopes"])},
            "create_throttled_key": lambda: {"key": "slow"},
            "create_organization": lambda: {"key": "other", "more": 1},
            "create_member": lambda: {"userId": "u", "email": params["role"] + "@x", "key": "mk"},
            "read_mail": lambda: {"messages": [{"from": "s", "subject": "t", "text": params["to"]}]},
            "create_subordinate": lambda: {"id": params["engagementId"] + "/" + params["kind"]},
            "subordinate_exists": lambda: {"exists": params == {"engagementId": "e", "kind": "task", "id": "1"}},
        }
        answer(request, result=results[request["method"]]())
        """
    )

    assert provisioner.create_key(["engagements:read"]) == Secret("scoped-engagements:read")
    assert provisioner.create_throttled_key() == Secret("slow")
    assert provisioner.create_organization() == Secret("other")
    assert provisioner.create_member("admin") == ProvisionedMember("u", "admin@x", Secret("mk"), "admin")
    assert provisioner.read_mail("a@x") == [Mail("s", ("a@x",), "t", "a@x")]
    assert provisioner.create_subordinate("e", "task") == "e/task"
    assert provisioner.subordinate_exists("e", "task", "1") is True
    assert provisioner.subordinate_exists("e", "task", "2") is False


def test_requests_are_json_rpc_one_a_line(start: Start, log: list[str]) -> None:
    """A request is one line of JSON-RPC 2.0 with ids that count up."""
    provisioner = start(loop="sys.stderr.write(line)\nsys.stderr.flush()\nanswer(request, result={'key': 'k'})")

    provisioner.create_key(["a"])
    provisioner.create_organization()
    provisioner.close()

    assert log == [
        '{"jsonrpc": "2.0", "id": 1, "method": "create_key", "params": {"scopes": ["a"]}}',
        '{"jsonrpc": "2.0", "id": 2, "method": "create_organization", "params": {}}',
    ]


def test_a_member_may_have_no_key(start: Start) -> None:
    """``key`` is absent, or null, if members have none."""
    provisioner = start(loop="answer(request, result={'userId': 'u', 'email': 'e', 'key': None})")

    assert provisioner.create_member("member").key is None


def test_a_missing_method_is_called_once(start: Start, log: list[str]) -> None:
    """-32601 means a missing method, which is remembered."""
    provisioner = start(loop="sys.stderr.write('asked\\n')\nanswer(request, error={'code': -32601, 'message': 'no'})")

    for _ in range(2):
        with pytest.raises(MethodMissing, match="The provisioner has no method create_key"):
            provisioner.create_key(["a"])
    provisioner.close()

    assert provisioner.missing_methods == {"create_key"}
    assert log == ["asked"]


def test_an_error_has_its_reason(start: Start) -> None:
    """Another error is a sentence with the program's reason, without control characters; later calls go on."""
    provisioner = start(
        loop="""
        if request["id"] == 1:
            answer(request, error={"code": 1, "message": "the\\x1b[31m quota\\nis used up"})
        else:
            answer(request, result={"key": "k"})
        """
    )

    with pytest.raises(ProvisionerError, match="could not do create_key: the \\[31m quota is used up\\."):
        provisioner.create_key(["a"])
    assert provisioner.create_key(["a"]) == Secret("k")


@pytest.mark.parametrize("error", ["{'code': 5}", "{'code': 5, 'message': 7}", "{}"])
def test_a_refusal_may_have_no_reason(start: Start, error: str) -> None:
    """An error without a message says so."""
    with pytest.raises(ProvisionerError, match="it gave no reason"):
        start(loop=f"answer(request, error={error})").create_key(["a"])


def test_a_long_reason_is_left_out(start: Start) -> None:
    """A long reason is omitted, because redaction would not recognize half a key."""
    with pytest.raises(ProvisionerError, match="its reason is too long to show"):
        start(loop="answer(request, error={'code': 5, 'message': 'x' * 301})").create_key(["a"])


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ("None", "result of create_key must be an object"),
        ("[]", "result of create_key must be an object"),
        ("{}", 'an object with a text "key"'),
        ("{'key': 7}", 'an object with a text "key"'),
        ("{'key': ''}", 'an object with a text "key"'),
        ("{'key': 'two words'}", 'a "key" of visible ASCII characters'),
        ("{'key': 'line\\r\\nX: y'}", 'a "key" of visible ASCII characters'),
    ],
)
def test_a_result_of_another_shape_is_an_error(start: Start, result: str, sentence: str) -> None:
    """A key must be a valid header text; anything else is refused without being shown."""
    provisioner = start(loop=f"answer(request, result={result})")
    with pytest.raises(ProvisionerError, match=sentence) as wrong:
        provisioner.create_key(["a"])
    assert provisioner.problem == str(wrong.value)


@pytest.mark.parametrize("result", ["{}", "{'messages': {}}", "{'messages': [1]}", "{'messages': [{'text': 1}]}"])
def test_mail_of_another_shape_is_an_error(start: Start, result: str) -> None:
    """Messages are a list of objects with texts."""
    with pytest.raises(ProvisionerError, match="result of read_mail must be"):
        start(loop=f"answer(request, result={result})").read_mail("a@x")


@pytest.mark.parametrize("result", ["{}", "{'exists': 1}", "{'exists': 'true'}"])
def test_existence_is_true_or_false(start: Start, result: str) -> None:
    """Only a JSON boolean says whether a record exists."""
    with pytest.raises(ProvisionerError, match="result of subordinate_exists must be"):
        start(loop=f"answer(request, result={result})").subordinate_exists("e", "task", "1")


HOSTILE = {
    "garbage": ("print('Starting up, key=swordfish', flush=True)\nsys.stdin.read()", "no JSON-RPC 2.0 response"),
    "binary": (
        "sys.stdout.buffer.write(bytes(range(256)) + b'\\n'); sys.stdout.flush(); sys.stdin.read()",
        "no JSON-RPC 2.0 response",
    ),
    "list": ("print('[]', flush=True)\nsys.stdin.read()", "no JSON-RPC 2.0 response"),
    "version": ('print(\'{"id": 1, "result": {}}\', flush=True)\nsys.stdin.read()', "no JSON-RPC 2.0 response"),
    "deep": ("print('[' * 100000, flush=True)\nsys.stdin.read()", "no JSON-RPC 2.0 response"),
    "notification": (
        'print(\'{"jsonrpc": "2.0", "method": "x"}\', flush=True)\nsys.stdin.read()',
        "no JSON-RPC 2.0 response",
    ),
    "wrong id": (
        'print(\'{"jsonrpc": "2.0", "id": 99, "result": {}}\', flush=True)\nsys.stdin.read()',
        "an id that no request has",
    ),
    "null id": (
        'print(\'{"jsonrpc": "2.0", "id": null, "error": {}}\', flush=True)\nsys.stdin.read()',
        "an id that no request has",
    ),
    "true id": (
        'print(\'{"jsonrpc": "2.0", "id": true, "result": {}}\', flush=True)\nsys.stdin.read()',
        "an id that no request has",
    ),
    "endless line": ("[sys.stdout.write('x' * 65536) for _ in range(1000)]", "a line of more than 1 MiB"),
    "long line": ("print('x' * (1 << 21), flush=True)\nsys.stdin.read()", "a line of more than 1 MiB"),
    "death": ("sys.exit(3)", "ended by itself with status 3"),
    "death with a reason": (
        "sys.exit('/srv/tools/provision2/main.py: token 4f9c2b7a is over')",
        'status 1. Its last line on stderr: "/srv/tools/provision2/main.py: token <withheld> is over".',
    ),
    "half a line": ("sys.stdout.write('{\"json'); sys.stdout.flush(); sys.exit(0)", "ended by itself with status 0"),
    "killed": ("os.kill(os.getpid(), 9)", "was ended by a signal"),
    "closed": ("os.close(1); sys.stdin.read()", "closed its stdout"),
    "nothing": ("sys.stdin.read()", "did not respond to create_key within 0.5 s"),
}


@pytest.mark.parametrize(("program", "sentence"), HOSTILE.values(), ids=HOSTILE)
def test_every_failure_of_the_program_is_one_sentence(start: Start, program: str, sentence: str) -> None:
    """Garbage, silence, an exit and floods are errors that quote nothing secret."""
    timeout = 0.5 if sentence.startswith("did not respond") else 10.0

    with pytest.raises(ProvisionerError, match=sentence) as caught:
        start(f"import os, sys\n{program}", timeout=timeout).create_key(["a"])

    assert "swordfish" not in str(caught.value)


def test_a_broken_conversation_stays_broken(start: Start) -> None:
    """After garbage no call is sent, and every call has the same reason."""
    provisioner = start("import sys\nprint('garbage', flush=True)\nsys.stdin.read()")

    reasons = set()
    for _ in range(3):
        with pytest.raises(ProvisionerError) as caught:
            provisioner.create_organization()
        reasons.add(str(caught.value))

    assert reasons == {'The provisioner wrote a line on its stdout that is no JSON-RPC 2.0 response: "garbage".'}


def test_a_late_response_is_not_taken_for_the_next(start: Start) -> None:
    """After a timeout the next call gets its own response."""
    provisioner = start(
        loop="""
        if request["id"] == 1:
            first = request
            continue
        answer(first, result={"key": "late"})
        answer(request, result={"key": "in-time"})
        """,
        timeout=0.2,
    )

    with pytest.raises(ProvisionerError, match="did not respond"):
        provisioner.create_key(["a"])
    assert isinstance(provisioner._peer, RpcChild)
    provisioner._peer._timeout = 60.0
    assert provisioner.create_key(["a"]) == Secret("in-time")


@pytest.mark.parametrize("later", ["the next call", "the end"])
def test_a_member_that_was_created_too_late_is_known(start: Start, later: str) -> None:
    """A late response counts before the next one and at the program's end."""
    provisioner = start(
        loop="""
        if request["method"] == "create_member":
            time.sleep(0.6)
            answer(request, result={"userId": "u_late", "email": "late@x"})
        else:
            answer(request, result={"key": "in-time"})
        """,
        timeout=0.3,
    )
    with pytest.raises(ProvisionerError, match="did not respond"):
        provisioner.create_member("admin")
    if later == "the next call":
        assert isinstance(provisioner._peer, RpcChild)
        provisioner._peer._timeout = 60.0
        provisioner.create_organization()
    provisioner.close(grace=60.0)

    assert provisioner.late_members == [ProvisionedMember("u_late", "late@x", None, "admin")]


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ("no JSON", [None]),
        ('{"jsonrpc": "2.0", "id": 1, "result": {}}', [None]),
        ("", [None]),
        ('{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}', []),
    ],
)
def test_a_member_that_is_never_named_is_unknown(start: Start, answer: str, known: list[None]) -> None:
    """A late line that names no member says nothing about it, nor does the program's end; an error does."""
    program = f"import sys, time\nsys.stdin.read()\nprint({answer!r}, flush=True)"
    provisioner = start(program, timeout=0.3)
    with pytest.raises(ProvisionerError, match="did not respond"):
        provisioner.create_member("member")

    provisioner.close(grace=60.0)

    assert provisioner.late_members == known


def test_a_program_that_does_not_read_times_out(start: Start) -> None:
    """A request that the program does not read ends after the timeout."""
    with pytest.raises(ProvisionerError, match=r"did not take the request read_mail within 0.5 s"):
        start("import time\ntime.sleep(60)", timeout=0.5).read_mail("x" * (1 << 20))


def test_responses_to_earlier_requests_are_not_read_for_ever(start: Start) -> None:
    """Repeated responses to the first call do not delay the timeout."""
    program = start(
        loop="""
        while request["id"] > 1:
            print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
        answer(request, result={"key": "k-1234567"})
        """,
        timeout=0.5,
    )
    program.create_throttled_key()

    with pytest.raises(ProvisionerError, match=r"did not respond to create_organization within 0.5 s"):
        program.create_organization()


def test_a_run_that_is_over_waits_for_no_response(tmp_path: Path) -> None:
    """The end of the run ends a wait."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    polls: list[bool] = []

    def over() -> bool:
        polls.append(True)
        return len(polls) > 1

    child = RpcChild(command, {}, tmp_path, 3600.0, print, over)
    with closing(Provisioner(child)) as program, pytest.raises(ProvisionerError, match="before the run was over"):
        program.create_organization()


@pytest.mark.parametrize(
    ("command", "reason"),
    [(["/no/such/program"], "No such file"), (["."], "ermission denied"), (["a\0b"], "cannot be passed on")],
)
def test_a_program_that_cannot_be_started_is_a_sentence(command: list[str], reason: str) -> None:
    """A wrong command is an error of the first call, and the same of the next."""
    provisioner = Provisioner(RpcChild(command, {}, None, 1.0, print))

    for _ in range(2):
        with pytest.raises(ProvisionerError, match=f"could not be started: .*{reason}"):
            provisioner.create_organization()
    provisioner.close()


def test_stderr_is_logged_line_by_line(start: Start, log: list[str]) -> None:
    """Each line of stderr is logged whole; one beyond the limit is omitted."""
    provisioner = start(
        """
import sys
sys.stderr.buffer.write(b"one\\ntwo \\xff\\r\\n" + b"x" * 3000000 + b"\\nthree")
sys.stderr.close()
"""
    )
    with pytest.raises(ProvisionerError):
        provisioner.create_organization()
    provisioner.close()

    assert log == ["one", "two \ufffd", "(a line of more than 1 MiB was left out)", "three"]


def test_the_program_sees_only_the_variables_it_needs(load: Callable[..., Profile], log: list[str]) -> None:
    """The program gets nothing of the suite's environment."""
    text = """
provisioner:
  command: [PYTHON, -c, "import json, os; print(json.dumps(dict(os.environ)), file=__import__('sys').stderr)"]
  environment: {TOKEN: "${ADMIN}"}
"""
    profile: Profile = load(text.replace("PYTHON", sys.executable), ADMIN="admin-token")
    environ = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "CONFORMANCE_API_KEY": "swordfish",
        "ADMIN": "x",
        "PWD": "/",
    }
    provisioner = Provisioner.of(profile, log.append, environ)
    assert provisioner is not None

    with pytest.raises(ProvisionerError):
        provisioner.create_organization()
    provisioner.close()

    seen = eval(log[0])  # noqa: S307 - our own child's table of texts
    assert seen == {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TOKEN": "admin-token"}


def test_the_program_starts_in_the_target_files_folder(
    load: Callable[..., Profile], log: list[str], tmp_path: Path
) -> None:
    """A relative command is found beside the target file."""
    (tmp_path / "provision.py").write_text("import os, sys; print(os.getcwd(), file=sys.stderr)")
    profile = load(f"provisioner: {{command: [{sys.executable}, provision.py]}}")
    provisioner = Provisioner.of(profile, log.append)
    assert provisioner is not None

    with pytest.raises(ProvisionerError):
        provisioner.create_organization()
    provisioner.close()

    assert log == [str(tmp_path)]


def test_a_target_without_a_provisioner_has_none(load: Callable[..., Profile]) -> None:
    """Without the section there is no provisioner."""
    assert Provisioner.of(load(""), print) is None


def test_closing_lets_the_program_end_by_itself(start: Start, log: list[str]) -> None:
    """Its stdin is closed, and it may finish."""
    provisioner = start(
        RESPONDING + "    answer(request, result={'key': 'k'})\nprint('cleaned up', file=sys.stderr, flush=True)"
    )
    provisioner.create_organization()

    provisioner.close()

    assert log == ["cleaned up"]


def test_closing_ends_the_program_and_all_that_it_started(start: Start) -> None:
    """Closing kills a program and its children that ignore the signal."""
    provisioner = start(
        """
import signal, subprocess, sys, time, json, os
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ignoring = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", ignoring])
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"key": f"{os.getpid()}-{child.pid}"}}), flush=True)
time.sleep(600)
"""
    )
    pids = [int(pid) for pid in provisioner.create_organization().reveal().split("-")]

    provisioner.close(grace=0.1)

    assert not any(_is_running(pid) for pid in pids)


def test_closing_ends_what_an_orderly_program_left(start: Start) -> None:
    """A program that ends in time does not leave children behind either."""
    provisioner = start(
        RESPONDING
        + """    import subprocess
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
    answer(request, result={"key": str(child.pid)})
"""
    )
    pid = int(provisioner.create_organization().reveal())

    provisioner.close()

    assert not _is_running(pid)


def test_closing_is_idempotent_and_later_calls_are_refused(start: Start) -> None:
    """A closed provisioner refuses calls and can be closed again."""
    provisioner = start(loop="answer(request, result={'key': 'k'})")
    provisioner.create_organization()

    provisioner.close()
    provisioner.close()

    with pytest.raises(ProvisionerError, match="has been closed"):
        provisioner.create_organization()


def test_closing_does_not_wait_for_another_threads_request(start: Start) -> None:
    """A request that waits for its response gives up when the provisioner is closed."""
    provisioner = start(
        "import sys, time\nsys.stdin.readline()\nprint(1, file=sys.stderr, flush=True)\ntime.sleep(600)", timeout=600
    )
    reasons: list[str] = []

    def request() -> None:
        with pytest.raises(ProvisionerError) as caught:
            provisioner.create_organization()
        reasons.append(str(caught.value))

    caller = threading.Thread(target=request)
    caller.start()
    time.sleep(0.2)
    provisioner.close(grace=0.1)
    caller.join(10)

    assert reasons
    assert not caller.is_alive()


def test_many_threads_may_request(start: Start) -> None:
    """Each caller gets the response to its own request."""
    provisioner = start(loop="answer(request, result={'id': request['params']['engagementId']})")
    wrong: list[str] = []

    def request(name: str) -> None:
        wrong.extend(name for _ in range(20) if provisioner.create_subordinate(name, "task") != name)

    callers = [threading.Thread(target=request, args=(f"e{number}",)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)

    assert wrong == []


def _is_running(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return False  # ended; its status is uncollected in this container
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return True
