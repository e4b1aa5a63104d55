"""Options in tables: read from TOML, changed by `a.b=c`, and checked at once into dataclasses."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import ConfigError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

Kind = typing.TypeVar("Kind")


def option(
    default: Any,  # noqa: ANN401 - a field of any type
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: Sequence[str] = (),
) -> Any:  # noqa: ANN401 - likewise
    """Make a field with a default and the values that it takes."""
    return field(default=default, metadata={"low": low, "high": high, "choices": tuple(choices)})


@dataclass(frozen=True, slots=True)
class Sources:
    """Which treebanks to read; several files are laid end to end."""

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    name: str = ""
    licence: str = ""


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the tables of a TOML file."""
    name = files.shown(path)
    import tomllib

    with files.reading(path) as file:
        raw = file.read()
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise ConfigError(name, "", f"is not TOML: {failure}") from failure


def changed(table: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Apply changes written `a.b=c`; the value is TOML, or text where it is not."""
    out = _copy(table)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not all(key.split(".")):
            raise ConfigError("--set", change, "is no change; expected a.b=value, such as training.epochs=5")
        at = out
        *above, last = key.split(".")
        for part in above:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise ConfigError("--set", key, f"{part} is a value, not a table")
        at[last] = _value(value)
    return out


def checked(kind: type[Kind], table: Mapping[str, Any], source: str, *, strict: bool = True) -> Kind:
    """Make a dataclass whose fields are options from nested tables; unless `strict`, unknown names mean nothing."""
    return typing.cast("Kind", _checked_table(kind, table, source, "", strict=strict))


def to_mapping(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    """Write a configuration as nested tables, from which `from_mapping` makes an equal one."""
    out: dict[str, Any] = {}
    for one in dataclasses.fields(config):
        value = getattr(config, one.name)
        if dataclasses.is_dataclass(value):
            value = to_mapping(value)
        out[_key(one.name)] = list(value) if isinstance(value, tuple) else value
    return out


def flat_options(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    """Return the options of a configuration by their whole names, such as `training.epochs`."""
    out: dict[str, Any] = {}

    def add(table: Mapping[str, Any], above: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                add(value, f"{above}{key}.")
            else:
                out[above + key] = value

    add(to_mapping(config), "")
    return out


def _key(name: str) -> str:
    return name.removesuffix("_")  # `from` is a word of Python's own


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, dict) else value for key, value in table.items()}


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML holds
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _checked_table(kind: type, table: Any, source: str, where: str, *, strict: bool) -> Any:  # noqa: ANN401 - checked here
    if not isinstance(table, dict):
        raise ConfigError(source, where, f"is {table!r}; expected a table")
    hints = _hints(kind)
    known = {_key(one.name): one for one in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{where}.{key}" if where else key
        if key not in known and not strict:
            continue
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise ConfigError(source, path, f"is unknown{hint} Known here: {', '.join(known)}")
        one = known[key]
        hint_type = hints[one.name]
        values[one.name] = (
            _checked_table(hint_type, value, source, path, strict=strict)
            if isinstance(hint_type, type) and dataclasses.is_dataclass(hint_type)
            else _checked_value(hint_type, one.metadata, value, source, path)
        )
    return kind(**values)


def _checked_value(kind: Any, limits: Mapping[str, Any], value: Any, source: str, path: str) -> Any:  # noqa: ANN401 - checked here
    if typing.get_origin(kind) is tuple or isinstance(kind, types.GenericAlias):
        inner = typing.get_args(kind)[0]
        items = value if isinstance(value, list | tuple) else [value] if value != "" else []
        return tuple(_checked_value(inner, {}, item, source, path) for item in items)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(source, path, f"is {value!r}; expected {_NAMES[kind]}")
    choices = limits.get("choices", ())
    if choices and value not in choices:
        near = difflib.get_close_matches(value, choices, n=1)
        hint = f"; did you mean {near[0]}?" if near else ";"
        raise ConfigError(source, path, f"is {value!r}{hint} expected one of: {', '.join(choices)}")
    low, high = limits.get("low", -math.inf), limits.get("high", math.inf)
    if kind in {int, float} and not low <= value <= high:
        bounds = f"at least {low}" if math.isinf(high) else f"from {low} to {high}"
        raise ConfigError(source, path, f"is {value}; expected {bounds}")
    return value


_NAMES: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}
