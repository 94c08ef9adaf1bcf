"""Geometry of a run's pictures, for the templates that draw them."""
