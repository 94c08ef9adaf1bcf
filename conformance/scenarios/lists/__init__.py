"""Scenarios of lists: engagements for them, pages, filters and orders."""
