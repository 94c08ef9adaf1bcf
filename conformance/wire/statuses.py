"""Bounds of the classes of HTTP statuses."""

from __future__ import annotations

from typing import Final

ERRORS_FROM: Final = 400
"""The least status of an error."""

SERVER_ERRORS_FROM: Final = 500
"""The least status of an error of the server."""
