"""Fields of the interface's resources."""

from __future__ import annotations

from typing import Final

SETTINGS: Final = ("requireTwoFactor", "domainAutoJoin", "ssoEnabled")
"""The settings of an organization."""
