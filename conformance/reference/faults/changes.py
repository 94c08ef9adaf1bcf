"""Changes, which return the value that a fault uses instead of the honest one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

Change = Callable[[Any], Any]
"""Returns the value that a fault uses instead of the honest one."""


def put(**members: Any) -> Change:  # noqa: ANN401 - any JSON
    """Set members of a JSON object."""
    return lambda shown: {**shown, **members}


def edit(**changes: Change) -> Change:
    """Change the values of members that are there."""
    return lambda shown: {key: changes[key](value) if key in changes else value for key, value in shown.items()}


def drop(*names: str) -> Change:
    """Leave members out."""
    return lambda shown: {key: value for key, value in shown.items() if key not in names}


def rename(name: str, other: str) -> Change:
    """Give a member another name."""
    return lambda shown: {other if key == name else key: value for key, value in shown.items()}


def inside(name: str, change: Change) -> Change:
    """Change the object in a member."""
    return lambda shown: {**shown, name: change(shown[name])}


def set_fields(**values: Any) -> Change:  # noqa: ANN401 - of any type
    """Set fields of a record or of a query."""
    return lambda record: replace(record, **values)
