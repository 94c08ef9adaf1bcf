"""The tiers of the tests: marks by path, and samples of the examples that are too many for every run."""

from __future__ import annotations

import random
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

MARKS: Final = {
    "hostile": ("tests/hostile/",),
    "sudden": ("tests/sudden/",),
    "browser": (
        "tests/certificate/test_printing.py",
        "tests/reports/test_accessibility.py",
        "tests/reports/test_browser.py",
    ),
    "npm": ("tests/openapi/test_prism.py", "tests/reports/test_published_schemas.py"),
    "slow": (
        "tests/cli/test_choosing_the_target.py",
        "tests/cli/test_gate.py",
        "tests/docs/test_newcomer.py::test_five_commands_lead_to_a_verified_certificate",
        "tests/docs/test_newcomer.py::test_the_worked_example_of_a_check_works",
        "tests/docs/test_tiers.py::test_only_a_sample_is_collected",
        "tests/integrations/",
        "tests/oracle/test_effects.py::test_ordinary_texts_are_unremarkable",
        "tests/oracle/test_linearizability.py::test_long_history_is_decided_quickly",
        "tests/oracle/test_linearizability.py::test_same_as_trying_every_order",
        "tests/reference/test_fault_library.py::test_fault_shows",
        "tests/replay/test_crafted_files.py",
        "tests/replay/test_odd_notes.py",
        "tests/reports/test_har.py::test_a_recording_with_one_odd_value_is_refused_or_shown",
        "tests/reports/test_odd_reports.py::test_every_odd_member_is_refused_or_rendered",
        "tests/running/test_determinism.py",
        "tests/selftest/test_trials.py",
        "tests/wire/test_redaction.py::test_ascii_secrets_are_replaced",
        "tests/wire/test_redaction.py::test_encoded_secrets_are_replaced",
    ),
}
"""The paths of each mark; a test with any of them is left out of ``tox`` and belongs to ``tox -m full``."""

SAMPLES: Final = {
    "tests/hostile/test_hostile_runs.py::test_a_run_ends_as_it_must": 40,
    "tests/hostile/test_lying_services.py::test_no_lie_of_a_service_makes_a_run_write_to_others": 30,
    "tests/hostile/test_forged_journals.py::test_no_journal_makes_cleanup_write_to_others": 50,
    "tests/reference/test_fault_library.py::test_fault_shows": 300,
    "tests/sudden/test_interruption.py::test_a_signal_at_any_moment": 8,
    "tests/sudden/test_interruption.py::test_a_signal_while_it_starts": 6,
    "tests/sudden/test_killing.py::test_cleaning_up_after_a_kill": 6,
}
"""How many examples of a test run with ``--sample``."""


def marks(name: str) -> list[str]:
    """The marks of the test with this node id."""
    return [mark for mark, paths in MARKS.items() if name.startswith(paths)]


def left_out(names: Iterable[str], drawn_by: str) -> set[str]:
    """The node ids that are not in the sample.

    Args:
        names: The node ids of all tests that were chosen.
        drawn_by: What decides the sample.
    """
    examples = defaultdict(list)
    for name in names:
        examples[name.partition("[")[0]].append(name)
    out: set[str] = set()
    for test, count in SAMPLES.items():
        spare = max(0, len(examples[test]) - count)
        out.update(random.Random(f"{test} {drawn_by}").sample(examples[test], spare))
    return out


def commit() -> str:
    """The commit of the checkout, so that each tries other examples; nothing outside of one."""
    root = Path(__file__).parent.parent
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()
