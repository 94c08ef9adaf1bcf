"""The checks: pytest modules, one for each part of a section of the interface."""
