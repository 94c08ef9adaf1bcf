"""Content of report.html, and its safety against text of the target."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.html import html_bytes
from conformance.reports.markdown import markdown_bytes
from conformance.reports.pretty import body, seen
from conformance.reports.view import MOST_CITED, MOST_SHOWN

if TYPE_CHECKING:
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

VOID = {"meta", "link", "img", "br", "hr", "input", "rect"}
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


class Page(HTMLParser):
    """Parser of the elements and the text of a page; a wrongly closed element is an error."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(data.decode("utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that is open."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Record the text, unless it is the suite's style or script."""
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element with this tag."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        """Return all text, with white space collapsed."""
        return " ".join("".join(self.texts).split())


def test_the_page_is_well_formed_and_refers_to_nothing_outside(run: tuple[Report, list[Exchange]]) -> None:
    """Every link stays within the page, and no element loads anything."""
    page = Page(html_bytes(*run))

    ids = [str(attributes["id"]) for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(link["href"]) for link in page.all("a")} <= {f"#{identifier}" for identifier in ids}
    assert not {tag for tag, _ in page.elements} & {
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "video",
        "audio",
    }
    assert not {
        name
        for _, attributes in page.elements
        for name in attributes
        if name in {"src", "style"} or name.startswith("on")
    }


def test_the_policy_allows_our_style_and_script_alone(run: tuple[Report, list[Exchange]]) -> None:
    """The page has one style and one script, and the policy names the digest of each."""
    text = html_bytes(*run).decode()
    policy = next(str(meta["content"]) for meta in Page(text.encode()).all("meta") if "http-equiv" in meta)

    for element in ("style", "script"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_top_says_what_matters(failing: tuple[Report, list[Exchange]]) -> None:
    """The top shows verdict, target, mode, classes, and the lines that unlock untested requirements."""
    page = Page(html_bytes(*failing))

    assert (
        "The service fails 2 of 20 decided requirements; 1 failed but waived, 1 undecided, 2 not tested." in page.text
    )
    for text in (
        "staging-eu",
        "https://staging.example.com",
        "default: the run edited only",
        "TLS certificates were not verified",
        "0d" * 20,
    ):
        assert text in page.text
    for entry in failing[0]["classes"]:
        assert entry["title"] in page.text
        assert all(line in page.text for line in entry.get("unlock", []))


def test_failures_are_shown_with_their_proof(failing: tuple[Report, list[Exchange]]) -> None:
    """A failure shows requirement, expected, actual, place, exchange, curl and the command to repeat it."""
    failing[0]["run"]["command"] = ["run", "--target", "my target.yaml", "--effort", "standard"]
    text = Page(html_bytes(*failing)).text
    broken = failing[0]["requirements"][6]
    failure = broken["failures"][0]

    for shown in (
        broken["title"],
        failure["message"],
        failure["expected"],
        failure["actual"],
        "/data/name",
        failure["curl"],
    ):
        assert shown in text
    assert '"name": "renamed after archiving"' in text
    assert f"conformance run --target 'my target.yaml' --effort standard --seed 1 --only {broken['id']}" in text


@pytest.mark.parametrize("command", [None, []])
def test_a_run_of_pytest_has_no_command_to_repeat_it(
    failing: tuple[Report, list[Exchange]], command: list[str] | None
) -> None:
    """Neither page invents a command line of ``conformance run``; the curl command of a failure stays."""
    if command is not None:
        failing[0]["run"]["command"] = command

    pages = Page(html_bytes(*failing)).text, markdown_bytes(failing[0]).decode()

    for text in pages:
        assert "Repeat this requirement" not in text
        assert "Repeat it:" not in text
        assert "conformance run" not in text
        assert failing[0]["requirements"][6]["failures"][0]["curl"] in text


@pytest.mark.parametrize(
    ("cited", "shown"),
    [([19, 20], [19, 20]), ([7, 9, 17, 18, 19], [7, 9, 17, 18, 19]), ([7, 8, 9, 17, 18, 20], [7, 8, 9, 17, 20])],
)
def test_five_cited_exchanges_are_shown_within_a_failure(
    failing: tuple[Report, list[Exchange]], cited: list[int], shown: list[int]
) -> None:
    """A failure contains up to five exchanges, such as creation, change, refused edit and read; always the last one."""
    failing[0]["requirements"][6]["failures"][0]["exchanges"] = cited

    name = failing[0]["requirements"][6]["id"]
    cards = re.findall(r'<article class="failure">.*?</article>', html_bytes(*failing).decode(), re.DOTALL)
    (card,) = [text for text in cards if f">{name}<" in text]
    assert [int(number) for number in re.findall(r'<span class="no">(\d+)</span>', card)] == shown


@pytest.mark.parametrize(
    ("error", "shown"), [("the connection was refused", "the connection was refused"), (None, "No response.")]
)
def test_an_exchange_without_a_response_is_shown_with_its_error(
    error: str | None, shown: str, failing: tuple[Report, list[Exchange]], samples: ModuleType
) -> None:
    """A cited exchange shows its error in place of the response."""
    report, exchanges = failing
    number = report["requirements"][6]["failures"][0]["exchanges"][-1]
    lost = samples.exchange(number, status=None, error=error)

    page = Page(html_bytes(report, [lost if exchange.number == number else exchange for exchange in exchanges]))

    assert shown in page.text


def test_a_passing_run_has_no_failures_section(passing: tuple[Report, list[Exchange]]) -> None:
    """Empty sections are omitted, and untested requirements are shown with their reason."""
    page = Page(html_bytes(*passing))

    assert "failures" not in {attributes.get("id") for attributes in page.all("section")}
    assert "a readable mailbox is needed" in page.text
    assert "Conformant The service passes every decided requirement (23); 6 not tested." in page.text


def test_an_interrupted_run_says_so_at_the_top(passing: tuple[Report, list[Exchange]]) -> None:
    """The page says that the run was interrupted before it lists the classes."""
    passing[0]["run"]["interrupted"] = True

    assert "The run was interrupted" in Page(html_bytes(*passing)).text.partition("Classes")[0]


def test_a_report_without_exchanges_or_further_members_renders(passing: tuple[Report, list[Exchange]]) -> None:
    """The required members suffice."""
    report: Any = passing[0]
    for name in ("census", "journal", "not_undone"):
        del report[name]
    for name in ("workers", "warnings"):
        del report["run"][name]
    for requirement in report["requirements"]:
        del requirement["checks"]
    for entry in report["classes"]:
        del entry["unlock"]

    page = Page(html_bytes(report))

    assert "census" not in {attributes.get("id") for attributes in page.all("section")}
    assert "exchanges" not in {attributes.get("id") for attributes in page.all("section")}


def test_hostile_text_is_shown_and_nothing_else(hostile: tuple[Report, list[Exchange]]) -> None:
    """Markup is text, hidden characters are shown by number, and long text is cut."""
    data = html_bytes(*hostile)
    page = Page(data)

    assert len(data) < 600_000
    assert len(page.all("script")) == len(page.all("style")) == len(page.all("title")) == 1
    assert "<script>window.marked=1</script>" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]", data.decode())
    assert "996,1" in page.text  # characters omitted of a million
    assert "U+202E" in page.text


def test_five_thousand_exchanges_stay_small(failing: tuple[Report, list[Exchange]], samples: ModuleType) -> None:
    """Each exchange that is not cited is a row of a table."""
    exchanges = samples.exchanges(5_000)
    failing[0]["requirements"][10]["failures"][1]["exchanges"] = list(range(1, 4_000))

    data = html_bytes(failing[0], exchanges)

    page = Page(data)
    assert len(data) < 3_000_000
    full = [details for details in page.all("details") if details.get("class") == "exchange" and "id" in details]
    assert len(full) == MOST_SHOWN
    assert f"and {3_999 - MOST_CITED} more" in page.text
    rows = [row for row in page.all("tr") if str(row.get("id")).startswith("x-")]
    assert len(full) + len(rows) == 5_000


@given(ANY_TEXT)
def test_any_text_is_escaped_isolated_and_kept(text: str) -> None:
    """The page contains the text, except characters that are shown by number."""
    page = Page(seen(text, 10_000).encode("utf-8"))

    assert {tag for tag, _ in page.elements} <= {"bdi", "span"}
    if text.isprintable():
        assert "".join(page.texts) == text


@given(st.binary(max_size=200) | ANY_TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_body_renders(octets: bytes) -> None:
    """Any bytes become a well-formed fragment."""
    page = Page(body(octets).encode("utf-8"))

    assert {tag for tag, _ in page.elements} <= {"bdi", "span"}


JSON_TEXT = st.recursive(
    st.sampled_from(
        ["1", "-0.10", "1e400", "null", "true", "99999999999999999999999999999999999", '"a"', r'"\u202e\"{[,:]}"', '""']
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
        | st.lists(st.tuples(st.sampled_from(['"x"', '"__proto__"', r'"\n"']), inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"
        )
    ),
    max_leaves=10,
)


@given(JSON_TEXT)
def test_laid_out_json_keeps_every_token(text: str) -> None:
    """Only white space is added; numbers, escapes and duplicates are unchanged."""
    shown = "".join(Page(body(text.encode(), limit=100_000).encode("utf-8")).texts)

    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)


def test_json_is_indented() -> None:
    """Each member has its own line, and empty containers stay on one line."""
    shown = "".join(Page(body(b'{"a":[1,{}],"b":[]}').encode()).texts)

    assert shown == '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'


@pytest.mark.parametrize(
    ("octets", "note"),
    [
        (b"<html>", "not JSON"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[" * 500, "nested too deep"),
    ],
)
def test_a_body_that_is_not_judged_as_json_says_why(octets: bytes, note: str) -> None:
    """A note states the error in the body."""
    assert note in "".join(Page(body(octets).encode()).texts)


def test_census_and_journal_are_tables(passing: tuple[Report, list[Exchange]]) -> None:
    """Records of the same shape have columns; other records are shown as text."""
    report: Any = passing[0]

    text = Page(html_bytes(report)).text
    report["census"] = {"odd": [1, None], "more": {"a": 1}}
    odd = Page(html_bytes(report)).text

    assert "Whenmembersengagementsbefore1437after1437" in text.replace(" ", "")
    assert "No.madeidundone1engagementeng_0001true" in text.replace(" ", "")
    assert "odd[1,null]" in odd.replace(" ", "")
