"""Outcomes of checks, requirements and classes, and the verdict."""
