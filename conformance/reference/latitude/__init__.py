"""Open points of the interface, and the choices of an implementation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from conformance.reference.latitude.inputs import INPUT_POINTS
from conformance.reference.latitude.point import Point
from conformance.reference.latitude.responses import RESPONSE_POINTS
from conformance.reference.latitude.rules import RULE_POINTS
from conformance.reference.latitude.transport import TRANSPORT_POINTS
from conformance.spelling import suggestion

POINTS: dict[str, Point] = {
    point.name: point for point in (*RESPONSE_POINTS, *INPUT_POINTS, *RULE_POINTS, *TRANSPORT_POINTS)
}
"""The open points by name."""

_DEFAULTS = {name: point.default for name, point in POINTS.items()}


class Latitude(Mapping[str, str]):
    """The choices of an implementation at every open point; immutable.

    Args:
        choices: Values by the names of points; the other points have their defaults.

    Raises:
        ValueError: A point or a value is unknown.
    """

    def __init__(self, choices: Mapping[str, str] | None = None) -> None:
        for name, value in (choices or {}).items():
            if name not in POINTS:
                hint = suggestion(name.replace("-", "_"), POINTS, "; list them with: conformance latitudes")
                raise ValueError(f"The open point {name!r} does not exist{hint}")
            if value not in POINTS[name].values:
                permitted = ", ".join(POINTS[name].values)
                raise ValueError(f"The open point {name!r} has no value {value!r}. Use one of: {permitted}.")
        self._choices = {**_DEFAULTS, **(choices or {})}

    @classmethod
    def parse(cls, settings: Iterable[str]) -> Latitude:
        """Parse settings of the form ``name=value``.

        Raises:
            ValueError: A setting has another form, is unknown or repeated.
        """
        choices: dict[str, str] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals:
                raise ValueError(f"A latitude must have the form name=value, not {setting!r}.")
            if name in choices:
                raise ValueError(f"The open point {name!r} is set twice. Set it once.")
            choices[name] = value
        return cls(choices)

    @property
    def deviations(self) -> dict[str, str]:
        """The choices that differ from the default."""
        return {name: value for name, value in self._choices.items() if value != _DEFAULTS[name]}

    def __getitem__(self, name: str) -> str:
        return self._choices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._choices)

    def __len__(self) -> int:
        return len(self._choices)

    def __repr__(self) -> str:
        return f"Latitude({self.deviations!r})"


__all__ = ["POINTS", "Latitude", "Point"]
