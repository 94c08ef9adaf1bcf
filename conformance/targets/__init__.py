"""Targets: the target file, the capabilities that it unlocks, and undoing."""
