"""Validity of ctrf.json and exchanges.har under their published schemas, installed with npm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft6Validator, validators
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT6

from conformance.reports.ctrf import ctrf_bytes
from conformance.reports.har import har_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


@pytest.fixture(scope="module")
def ctrf(npm_package: Callable[[str, str], Path]) -> Any:
    """The schema of the Common Test Report Format, from its reference implementation."""
    (path,) = (npm_package("ctrf", "0.3") / "dist").glob("ctrf-schema-*.json")
    schema = json.loads(path.read_bytes())
    return validators.validator_for(schema)(schema)


@pytest.fixture(scope="module")
def har(npm_package: Callable[[str, str], Path]) -> Any:
    """The schemas of HAR 1.2."""
    files = {
        path.name: json.loads(path.read_bytes()) for path in (npm_package("har-schema", "2") / "lib").glob("*.json")
    }
    known = [(name, Resource.from_contents(schema, default_specification=DRAFT6)) for name, schema in files.items()]
    return Draft6Validator(files["har.json"], registry=Registry().with_resources(known))


def test_ctrf_keeps_its_schema(ctrf: Any, run: tuple[Report, list[Exchange]]) -> None:
    """The document of every run is valid, and the schema refuses a wrong one."""
    document = json.loads(ctrf_bytes(run[0]))

    assert [error.message for error in ctrf.iter_errors(document)] == []
    document["results"]["tests"][0]["status"] = "perfect"
    assert not ctrf.is_valid(document)


def test_har_keeps_its_schema(har: Any, run: tuple[Report, list[Exchange]]) -> None:
    """The archive is valid, including gaps and exchanges without a response, and the schema refuses a wrong one."""
    document = json.loads(har_bytes([exchange for exchange in run[1] if exchange.number != 7]))

    assert [error.message for error in har.iter_errors(document)] == []
    document["log"]["entries"][0]["request"]["headers"] = None
    assert not har.is_valid(document)
