"""Scenarios of rate limits."""
