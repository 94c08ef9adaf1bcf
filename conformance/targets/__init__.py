"""Whom the suite tests: the target file, what it unlocks, and everything that must be undone."""
