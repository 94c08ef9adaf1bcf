"""What every trial needs, imported once by the process that all of them are forked from."""

from __future__ import annotations

import gc
import pkgutil
from importlib import import_module

import conformance.checks
import conformance.selftest.trial
from conformance.catalogue import load_catalogue
from conformance.reference.faults import all_faults


def preload() -> None:
    """Import every check and every fault, and read the catalogue."""
    load_catalogue()
    all_faults()
    for module in pkgutil.iter_modules(conformance.checks.__path__):
        if module.name != "conftest":  # pytest's to import
            import_module(f"{conformance.checks.__name__}.{module.name}")
    gc.collect()
    gc.freeze()  # so that a trial's collections do not write to what it shares


preload()
