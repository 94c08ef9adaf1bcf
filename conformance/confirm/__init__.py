"""Confirmation of findings that another user or a slow clock could have caused."""

from conformance.confirm.interference import cant_tell_if_others_interfere
from conformance.confirm.lists import list_within_bounds, stable_list
from conformance.confirm.stable_order import one_order
from conformance.confirm.state import again, stable, stable_between

__all__ = [
    "again",
    "cant_tell_if_others_interfere",
    "list_within_bounds",
    "one_order",
    "stable",
    "stable_between",
    "stable_list",
]
