"""Requests generated from the OpenAPI document."""
