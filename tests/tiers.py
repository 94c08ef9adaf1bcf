"""Tiers of the tests: marks by path, and samples of tests with many examples."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import conformance.commit

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
        "tests/certificate/test_envelope.py",
        "tests/certificate/test_signing.py",
        "tests/certificate/test_verifying.py",
        "tests/scenarios/access/test_new_keys.py",
        "tests/scenarios/access/test_odd_requests.py::test_an_operation_that_fails",
        "tests/confirm/test_torn_lists.py::test_a_service_that_counts_first_and_reads_then_is_certified",
        "tests/cli/test_choosing_the_target.py",
        "tests/cli/test_connection.py",
        "tests/cli/test_default_folder.py",
        "tests/cli/test_doctor.py",
        "tests/cli/test_exit_statuses.py",
        "tests/cli/test_explain.py::test_an_example_is_a_judged_exchange",
        "tests/cli/test_explain.py::test_the_page_ends_with_the_example",
        "tests/cli/test_explain.py::test_without_evidence_the_reason_is_stated",
        "tests/cli/test_gate.py",
        "tests/cli/test_guarded.py",
        "tests/cli/test_last_line.py",
        "tests/cli/test_orphans.py",
        "tests/cli/test_plain_pytest.py",
        "tests/cli/test_plan.py",
        "tests/cli/test_report_folder.py",
        "tests/docs/test_newcomer.py::test_five_commands_lead_to_a_verified_certificate",
        "tests/docs/test_newcomer.py::test_the_worked_example_of_a_check_works",
        "tests/docs/test_tiers.py::test_only_a_sample_is_collected",
        "tests/examples/",
        "tests/integrations/",
        "tests/oracle/test_effects.py::test_ordinary_texts_are_unremarkable",
        "tests/oracle/test_linearizability.py::test_long_history_is_decided_quickly",
        "tests/oracle/test_linearizability.py::test_same_as_trying_every_order",
        "tests/oracle/test_walk_plan.py::test_honest_service_passes",
        "tests/packaging/test_builds.py",
        "tests/reference/test_fault_library.py::test_fault_shows",
        "tests/reference/test_latitude_together.py",
        "tests/replay/test_crafted_files.py",
        "tests/replay/test_odd_notes.py",
        "tests/replay/test_reevaluating.py",
        "tests/replay/test_replay_wire.py::test_equal_exchanges_take_no_search",
        "tests/replay/test_tampering.py",
        "tests/reports/test_har.py::test_a_recording_with_one_odd_value_is_refused_or_shown",
        "tests/reports/test_odd_reports.py::test_every_odd_member_is_refused_or_rendered",
        "tests/running/test_determinism.py",
        "tests/selftest/test_subjects.py::test_every_two_choices_meet",
        "tests/selftest/test_subjects.py::test_every_two_choices_of_transport_meet_on_connections",
        "tests/selftest/test_trials.py",
        "tests/targets/test_journal.py::test_a_journal_of_very_many_lines_ends_in_seconds",
        "tests/verdicts/test_plugin.py",
        "tests/wire/test_redaction.py::test_ascii_secrets_are_replaced",
        "tests/wire/test_redaction.py::test_no_form_slips_through_the_sieve",
        "tests/wire/test_redaction.py::test_encoded_secrets_are_replaced",
    ),
}
"""The paths of each mark; ``tox`` skips all marked tests, and ``tox -m full`` runs them."""

SAMPLES: Final = {
    "tests/certificate/test_verifying.py": 2,
    "tests/checks/": 2,
    "tests/cli/": 2,
    "tests/cli/test_last_line.py": 1,
    "tests/examples/": 1,
    "tests/hostile/": 1,
    "tests/hostile/test_forged_journals.py::test_no_journal_makes_cleanup_write_to_others": 50,
    "tests/hostile/test_hostile_runs.py::test_a_run_ends_as_it_must": 12,
    "tests/hostile/test_lying_services.py::test_no_lie_of_a_service_makes_a_run_write_to_others": 50,
    "tests/hostile/test_provisioners.py::test_a_run_goes_on_without_its_provisioner": 4,
    "tests/integrations/": 2,
    "tests/reference/test_fault_library.py::test_fault_shows": 60,
    "tests/replay/test_crafted_files.py::test_a_crafted_file_ends_in_a_sentence": 60,
    "tests/replay/test_tampering.py": 2,
    "tests/reports/": 3,
    "tests/reports/test_odd_reports.py::test_every_odd_member_is_refused_or_rendered": 2,
    "tests/sudden/": 1,
    "tests/sudden/test_interruption.py::test_a_signal_at_any_moment": 4,
    "tests/sudden/test_interruption.py::test_a_signal_while_it_starts": 4,
    "tests/sudden/test_killing.py::test_cleaning_up_after_a_kill": 4,
}
"""The number of examples of each test under a path that run with ``--sample``; the longest path counts."""


def marks(name: str) -> list[str]:
    """Return the marks of the test with this node id."""
    return [mark for mark, paths in MARKS.items() if name.startswith(paths)]


def sample_size(name: str) -> int | None:
    """Return how many examples of the test with this node id run with ``--sample``; None if all do."""
    return SAMPLES.get(max((path for path in SAMPLES if name.startswith(path)), key=len, default=""))


def left_out(names: Iterable[str], drawn_by: str) -> set[str]:
    """Return the node ids outside the sample.

    Args:
        names: The node ids of all selected tests.
        drawn_by: The seed of the sample.
    """
    examples = defaultdict(list)
    for name in names:
        examples[name.partition("[")[0]].append(name)
    out: set[str] = set()
    for test, found in examples.items():
        if (count := sample_size(test)) is not None and count < len(found):
            out.update(random.Random(f"{test} {drawn_by}").sample(found, len(found) - count))
    return out


def commit() -> str:
    """Return the commit of the suite, so that each commit tries other examples; empty if it is unknown."""
    return (conformance.commit.commit() or "").removesuffix("-dirty")
