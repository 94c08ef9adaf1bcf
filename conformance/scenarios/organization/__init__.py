"""Scenarios of the organization: its name and its counts."""
