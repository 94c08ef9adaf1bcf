"""Generator of the self-test pages: docs/selftest.json, the table in docs/selftest.md, docs/coverage.md.

Usage: python benchmarks/selftest_summary.py [--add] [SELFTEST_JSON ...]

Writes docs/selftest.json from the selftest.json files of self-tests. If two of them tried the same subject, the first
gives the figures. The convictions of faults that did not meet the whole suite come from the earlier
docs/selftest.json. With ``--add`` the faults of these self-tests are added to the earlier docs/selftest.json, or
renewed there. Without arguments it only rewrites the pages.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.selftest.coverage import coverage_lines
from conformance.selftest.summary import merged, read, summary, with_table, write

ROOT = Path(__file__).parent.parent
SUMMARY = ROOT / "docs" / "selftest.json"
COVERAGE = ROOT / "docs" / "coverage.md"
PAGE = ROOT / "docs" / "selftest.md"


def main() -> None:
    """Write the files and print their names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selftests", nargs="*", type=Path, metavar="SELFTEST_JSON")
    parser.add_argument("--add", action="store_true", help="keep the other faults of docs/selftest.json")
    given = parser.parse_args()
    if given.selftests:
        documents = [json.loads(path.read_text("utf-8")) for path in given.selftests]
        if not any(trial["kind"] == "fault" for document in documents for trial in document["trials"]):
            parser.error("no fault was tried: give the selftest.json of a self-test with --faults")
        if broken := [trial["id"] for each in documents for trial in each["trials"] if trial["state"] == "broken"]:
            parser.error(f"the suite itself failed in {', '.join(broken)}: mend that, and repeat the self-test")
        earlier = read(SUMMARY)
        write(merged(earlier, documents) if given.add else summary(documents, earlier), SUMMARY)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read(SUMMARY)), "utf-8")
    COVERAGE.write_text("\n".join(coverage_lines(SUMMARY)) + "\n", "utf-8")
    print(f"Made from {SUMMARY}: {PAGE} and {COVERAGE}.")


if __name__ == "__main__":
    main()
