"""Values that no output may show."""

from __future__ import annotations

from typing import NoReturn, final


@final
class Secret:
    """A text that shows itself only when it is asked to.

    Printing, formatting and pickling never give the value away; comparing and hashing work as for the text.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The text itself; for the wire, the redactor and nobody else."""
        return self._value

    def __repr__(self) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")
