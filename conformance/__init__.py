"""Contract conformance suite for the organization and engagement management interface."""

__version__ = "0.1.0"
