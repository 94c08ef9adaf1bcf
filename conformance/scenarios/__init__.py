"""Scenarios: what a run sends once, by subject, for many checks to judge."""
