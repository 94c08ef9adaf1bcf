"""Tiers of the tests: marks by path, and samples of long tests."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

import conformance.commit

MARKS: Final = {
    "hostile": ("tests/hostile/",),
    "sudden": ("tests/sudden/",),
    "browser": (
        "tests/certificate/test_printing.py",
        "tests/docs/test_site.py",
        "tests/reports/test_accessibility.py",
        "tests/reports/test_browser.py",
        "tests/reference/test_swagger_ui.py",
    ),
    "npm": (
        "tests/examples/test_express_service.py",
        "tests/openapi/test_client_generators.py::test_openapi_typescript",
        "tests/openapi/test_prism.py",
        "tests/reports/test_published_schemas.py",
    ),
    "slow": (
        "tests/certificate/test_attacks.py",
        "tests/certificate/test_challenged.py",
        "tests/certificate/test_countersigning.py",
        "tests/certificate/test_envelope.py",
        "tests/certificate/test_mutations.py",
        "tests/certificate/test_signing.py",
        "tests/certificate/test_verifying.py",
        "tests/certificate/test_witnessing.py",
        "tests/scenarios/access/test_new_keys.py",
        "tests/scenarios/access/test_odd_requests.py::test_an_operation_that_fails",
        "tests/confirm/test_torn_lists.py::test_a_service_that_counts_first_and_reads_then_is_certified",
        "tests/cli/test_catalogue_release.py::test_a_new_requirement_fails_no_gate_that_pins_the_release_before",
        "tests/cli/test_choosing_the_target.py",
        "tests/cli/test_connection.py",
        "tests/cli/test_default_folder.py",
        "tests/cli/test_doctor.py",
        "tests/cli/test_events.py::test_a_file_that_cannot_be_written",
        "tests/cli/test_events.py::test_a_run_that_does_not_begin_is_finished",
        "tests/cli/test_events.py::test_a_run_writes_its_events_to_a_file",
        "tests/cli/test_events.py::test_standard_output_has_only_events",
        "tests/cli/test_exit_statuses.py",
        "tests/cli/test_explain.py::test_an_example_is_a_judged_exchange",
        "tests/cli/test_explain.py::test_the_page_ends_with_the_example",
        "tests/cli/test_explain.py::test_without_evidence_the_reason_is_stated",
        "tests/cli/test_gate.py",
        "tests/cli/test_workflow_commands.py",
        "tests/cli/test_last_line.py",
        "tests/cli/test_orphans.py",
        "tests/cli/test_plain_pytest.py",
        "tests/cli/test_plan.py",
        "tests/cli/test_repeating.py::test_reproductions_show_the_fault",
        "tests/cli/test_report_folder.py",
        "tests/docs/test_newcomer.py::test_five_commands_lead_to_a_verified_certificate",
        "tests/docs/test_newcomer.py::test_the_worked_example_of_a_check_works",
        "tests/docs/test_tiers.py::test_only_a_sample_is_collected",
        "tests/examples/",
        "tests/integrations/",
        "tests/openapi/test_client_generators.py::test_openapi_generator",
        "tests/openapi/test_client_generators.py::test_openapi_python_client",
        "tests/oracle/test_effects.py::test_accepted_texts_are_echoed",
        "tests/oracle/test_linearizability.py::test_long_history_is_decided_quickly",
        "tests/oracle/test_linearizability.py::test_same_as_trying_every_order",
        "tests/packaging/test_builds.py",
        "tests/reference/test_fault_library.py::test_fault_shows",
        "tests/reference/test_latitude_together.py",
        "tests/replay/test_crafted_files.py",
        "tests/replay/test_masked_runs.py",
        "tests/replay/test_odd_inputs.py",
        "tests/replay/test_reevaluating.py",
        "tests/replay/test_replay_wire.py::test_equal_exchanges_take_no_search",
        "tests/replay/test_tampering.py",
        "tests/reports/test_har.py::test_a_recording_with_one_odd_value_is_refused_or_shown",
        "tests/reports/test_odd_reports.py::test_every_odd_member_is_refused_or_rendered",
        "tests/running/test_determinism.py",
        "tests/scenarios/walks/test_runner.py::test_honest_service_passes",
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
"""The paths of each mark; ``tox`` skips all marked tests, and ``tox -m full`` runs a sample of them."""

_LONG: Final = tuple(path for paths in MARKS.values() for path in paths)

SAMPLES: Final = {
    "tests/certificate/test_attacks.py": 3,
    "tests/certificate/test_challenged.py": 2,
    "tests/certificate/test_countersigning.py": 3,
    "tests/certificate/test_envelope.py": 3,
    "tests/certificate/test_mutations.py": 50,
    "tests/certificate/test_signing.py": 2,
    "tests/certificate/test_verifying.py": 2,
    "tests/certificate/test_witnessing.py": 1,
    "tests/cli/": 8,
    "tests/cli/test_doctor.py": 2,
    "tests/cli/test_exit_statuses.py": 2,
    "tests/cli/test_gate.py": 2,
    "tests/confirm/": 1,
    "tests/docs/": 4,
    "tests/examples/": 1,
    "tests/hostile/": 6,
    "tests/hostile/test_forged_journals.py::test_no_journal_makes_cleanup_write_to_others": 50,
    "tests/hostile/test_hostile_runs.py::test_a_run_ends_as_it_must": 4,
    "tests/hostile/test_lying_services.py::test_no_lie_of_a_service_makes_a_run_write_to_others": 4,
    "tests/integrations/": 5,
    "tests/openapi/": 2,
    "tests/reference/test_fault_library.py::test_fault_shows": 200,
    "tests/reference/test_latitude_together.py": 10,
    "tests/replay/": 2,
    "tests/replay/test_crafted_files.py": 6,
    "tests/replay/test_odd_inputs.py": 2,
    "tests/replay/test_tampering.py": 1,
    "tests/reports/": 3,
    "tests/scenarios/": 2,
    "tests/scenarios/walks/test_runner.py": 4,
    "tests/selftest/test_trials.py": 4,
    "tests/sudden/": 3,
    "tests/sudden/test_interruption.py": 3,
    "tests/verdicts/test_plugin.py": 4,
    "tests/wire/test_redaction.py": 5,
}
"""The number of long tests under a path, examples included, that run with ``--sample``.

The longest path counts. Long tests without a path all run. Each test of a path runs once before any runs with a second
example.
"""


def marks(name: str) -> list[str]:
    """Return the marks of the test with this node id."""
    return [mark for mark, paths in MARKS.items() if name.startswith(paths)]


def may_be_long(file: str) -> bool:
    """Whether a file may have a long test."""
    return any(file.startswith(path) or path.startswith(file) for path in _LONG)


def is_long(name: str) -> bool:
    """Whether the test, or all tests of the file, with this node id are long."""
    return name.startswith(_LONG)


def drawn_from(name: str) -> tuple[str, int] | None:
    """Return the path that a long test is drawn from, and the size of the draw; None if it always runs."""
    path = max((path for path in SAMPLES if name.startswith(path)), key=len, default=None)
    return (path, SAMPLES[path]) if path is not None and is_long(name) else None


def left_out(names: Iterable[str], drawn_by: str) -> set[str]:
    """Return the node ids outside the sample.

    Args:
        names: The node ids of all selected tests.
        drawn_by: The seed of the sample.
    """
    groups = defaultdict(list)
    for name in names:
        groups[drawn_from(name)].append(name)
    out: set[str] = set()
    for group, found in groups.items():
        if group is not None:
            out.update(_shuffled(found, random.Random(f"{group[0]} {drawn_by}"))[group[1] :])
    return out


def _shuffled(names: list[str], chance: random.Random) -> list[str]:
    """Return node ids in random order, but an example of each test before the second one of any."""
    examples = defaultdict(list)
    for name in chance.sample(names, len(names)):
        examples[name.partition("[")[0]].append(name)
    rounds = zip_longest(*examples.values())
    return [name for turn in rounds for name in turn if name is not None]


def commit() -> str:
    """Return the commit of the suite, so that each commit tries other examples; empty if it is unknown."""
    return (conformance.commit.commit() or "").removesuffix("-dirty")
