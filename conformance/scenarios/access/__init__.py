"""Scenarios of keys: invalid ones, single permissions, other organizations, invalid requests."""
