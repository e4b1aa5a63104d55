"""The fields of an API request, with checks of their types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, final

from ropewalk.errors import RequestError
from ropewalk.serving.sources import checked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

KINDS = {bool: "true or false", dict: "an object", float: "a number", int: "a number", list: "a list", str: "text"}


@final
class Fields:
    """The fields of a request by name; fields that are null count as absent.

    The constructor raises a `RequestError` for fields that are not in `known`. Each method returns the field `name`, or
    a default if it is absent, and raises a `RequestError` if its value has the wrong type.
    """

    def __init__(self, values: dict[str, Any], known: Sequence[str]) -> None:
        if unknown := sorted(set(values) - set(known)):
            raise RequestError(400, f"unknown field {unknown[0][:80]!r}; known: {', '.join(known)}")
        self._values = {name: value for name, value in values.items() if value is not None}

    @classmethod
    def of(cls, body: bytes, known: Sequence[str]) -> Fields:
        """Build the fields from the body of a request, which must be a JSON object of fields in `known`.

        Raise a `RequestError` if it is not.
        """
        try:
            values = json.loads(body)
        except (ValueError, RecursionError) as failure:
            why = "is nested too deeply" if isinstance(failure, RecursionError) else f"is no JSON: {failure}"
            raise RequestError(400, f"the body {why}; send a JSON object") from failure
        if not isinstance(values, dict):
            raise RequestError(400, f"the body is {_kind(values)}; expected an object")
        return cls(values, known)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str, default: str = "") -> str:
        """Return the field `name`, which must be text."""
        return checked(self._value(name, str, default), name)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the field `name`, which must be a boolean."""
        return bool(self._value(name, bool, default))

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        """Return the field `name`, which must be an integer from `low` to `high`."""
        value = self._value(name, int, default)
        if isinstance(value, bool) or not low <= value <= high:
            raise RequestError(400, f"{name} is {str(value)[:40]}; expected an integer from {low} to {high}")
        return int(value)

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """Return the field `name`, which must be one of `choices`."""
        value = self.text(name, default)
        if value not in choices:
            raise RequestError(400, f"{name} is {value[:80]!r}; expected one of: {', '.join(choices)}")
        return value

    def texts(self, name: str, *, most: int) -> list[str]:
        """Return the field `name`, which must be a list of at most `most` texts; empty if it is absent."""
        return self._texts(name, self._value(name, list, []), most)

    def sentences(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return the field `name`, which must be a list of sentences, each a list of words; empty if it is absent."""
        rows = self._value(name, list, [])
        for row in rows:
            if not isinstance(row, list):
                raise RequestError(400, f"{name} holds {_kind(row)}; expected lists of words, one for each sentence")
        return tuple(tuple(self._texts(name, row, len(row))) for row in rows)

    def one_of(self, *names: str) -> str:
        """Return which of the fields `names` is present; raise a `RequestError` unless exactly one is."""
        present = [name for name in names if name in self]
        if len(present) != 1:
            listed = ", ".join(present) or "none"
            raise RequestError(400, f"expected exactly one of the fields {', '.join(names)}; found {listed}")
        return present[0]

    def _texts(self, name: str, values: list[Any], most: int) -> list[str]:
        if len(values) > most:
            raise RequestError(400, f"{name} has {len(values)} entries; expected at most {most}")
        for value in values:
            if not isinstance(value, str):
                raise RequestError(400, f"{name} holds {_kind(value)}; expected only text")
        return [checked(value, name) for value in values]

    def _value(self, name: str, kind: type, default: Any) -> Any:  # noqa: ANN401 - of the kind asked for
        value = self._values.get(name, default)
        if not isinstance(value, kind):
            raise RequestError(400, f"{name} is {_kind(value)}; expected {KINDS[kind]}")
        return value


def _kind(value: object) -> str:
    return KINDS.get(type(value), "null")
