"""Sample data for the tests of self-tests."""

from __future__ import annotations

from conformance.selftest.subjects import Subject

VALUE = Subject("pace=slow", "latitude", "How long does a response take?", choices={"pace": "slow"})
RUN = {
    "started_at": "2026-01-01T00:00:00Z",
    "seconds": 1.0,
    "effort": "quick",
    "seed": 1,
    "whole": 250,
    "jobs": 2,
    "planned": 1,
    "interrupted": False,
}
