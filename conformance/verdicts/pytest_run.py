"""Start of a run from pytest's options."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.catalogue import SelectionError
from conformance.exits import Exit
from conformance.posix import leave_no_core_file
from conformance.reports.folder import FolderError
from conformance.running.embedded import EmbeddedError
from conformance.running.intent import API_KEY, BASE_URL, selected_service
from conformance.running.options import Effort
from conformance.running.run_session import RunSession
from conformance.targets.journal_file import JournalError
from conformance.targets.profile import Mode
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from conformance.running.run import Run

_FOR_A_SERVICE: Final = ("base_url", "api_key", "target", "read_only", "disposable")
"""Options that only apply to a service of the user."""


def opened_run(config: pytest.Config, stack: ExitStack) -> Run:
    """Return a run against a target that can be tested; the stack closes it.

    Raises:
        pytest.UsageError: The options, the target file or the folder of the report cannot be used.
        pytest.exit.Exception: The target cannot be tested.
    """
    leave_no_core_file()
    option = config.option
    given = {name: getattr(option, name) or None for name in ("embedded", *_FOR_A_SERVICE)}
    named = [name for name in _FOR_A_SERVICE if given[name]]
    given["base_url"] = given["base_url"] or os.environ.get(BASE_URL) or None
    given["api_key"] = given["api_key"] or os.environ.get(API_KEY)
    try:
        options = replace(
            selected_service(given, named, os.environ),
            mode=Mode.of_options(read_only=option.read_only, disposable=option.disposable),
            effort=Effort(option.effort),
            seed=option.seed,
            report=option.report,
        )
        session = stack.enter_context(RunSession(options))
        reason = session.reach()
    except (TargetFileError, SelectionError, JournalError, FolderError) as error:
        raise pytest.UsageError(str(error)) from None
    except EmbeddedError as error:
        reason = str(error)
    if reason is not None:
        pytest.exit(reason, returncode=Exit.UNTESTABLE)
    return session.run
