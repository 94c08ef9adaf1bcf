"""Contract conformance suite for the organization and engagement management interface."""

__version__ = "1.0.0"
