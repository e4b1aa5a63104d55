"""Options: those of parsing as one value, and tables of them read from TOML, changed by `a.b=c` and checked."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
import sys
import types
import typing
from collections.abc import Sequence  # noqa: TC003 - the type of an option is read at run time
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ConfigError, demand_sequence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

Kind = typing.TypeVar("Kind")
Result = typing.TypeVar("Result")
MOST_THREADS = 256  # far more end torch and ONNX Runtime with a crash
LARGEST = 16_384  # numbers of a vector; a matrix of two of them takes a gigabyte
RATE = 10.0  # of learning, at most
WEIGHT = 1000.0  # of a part of a loss, at most
EPOCHS = 100_000
MINUTES = 1_000_000.0  # two years
MANY = 1_000_000_000  # more than are counted anywhere
DEEPEST = 16  # tables in tables or lists in lists
WHOLE = 1 << 63  # whole numbers of TOML are smaller


def option(  # noqa: PLR0913 - all that can be known of a field
    default: Any,  # noqa: ANN401 - a field of any type
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: Sequence[str] = (),
    items: tuple[int, int] = (0, sys.maxsize),
    about: str = "",
) -> Any:  # noqa: ANN401 - likewise
    """Make a field with a default and the values that it takes; of a list, each item, and the number of `items`.

    `about` explains it to users of the command line.
    """
    limits = {"low": low, "high": high, "choices": tuple(choices), "items": items, "about": about}
    return field(default=default, metadata=limits)


@dataclass(frozen=True, slots=True)
class ParserOptions:
    """Options of parsing for `ropewalk.load`; None is the model's own choice.

    Corpora, servers, the spaCy component and the commands take this value, and so every field of it.
    `docs/extending.md` adds one.
    """

    confidence: bool = option(default=True, about="Tell the probability of each arc and tree, if the model can.")
    batch: int | None = option(None, low=1, about="Words that pass the network together; by default the model's.")
    decoder: str | None = option(
        None,
        choices=("exact", "joint", "mbr", "mbr-nonprojective", "greedy"),
        about="exact: the best tree by labels. joint: by labels and arcs. mbr: the tree with the highest expected "
        "accuracy by both. greedy: the best label of each word, repaired. Biaffine models have arcs alone: exact is "
        "the maximum spanning tree, mbr sums over projective trees, mbr-nonprojective over all trees. By default the "
        "model's.",
    )
    repair: str | None = option(
        None,
        choices=("nearest", "root"),
        about="Hang a word without a head on the nearest word that fits, or on the root; by default the model's.",
    )
    graph_decoder: str | None = option(
        None,
        choices=("joint", "exact", "greedy", "arcs"),
        about="Arcs of enhanced graphs by all evidence together, by the best labels that fit, by the best label of "
        "each word, or by the arcs' own scores; by default the model's.",
    )
    columns: Sequence[str] | None = option(
        None,
        about="What to predict, of tree, graph, upos, xpos, feats and lemma; all else stays as given and costs "
        "nothing. By default all that the model can.",
    )
    tag_confidence: bool = option(default=False, about="Tell the probability of each tag too, in JSON.")
    each_line: str | None = option(
        None,
        choices=("sentence", "paragraph"),
        about="Take each line of text for a sentence, or for a paragraph; by default sentences may run over lines, "
        "and paragraphs end with a blank one.",
    )

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            raise ConfigError("load", "columns", f"is {self.columns!r}; expected several names: put it into a list")
        if self.columns is not None:
            demand_sequence("columns", self.columns, str)
            object.__setattr__(self, "columns", tuple(self.columns))


def spread(function: Callable[..., Result], annotations: Mapping[str, Any]) -> Callable[..., Result]:
    """Return `function` with a keyword for each field in `annotations` instead of its parameter `options`.

    The fields are those of `ParserOptions`. Typer and spaCy read the keywords from the signature.
    """

    @wraps(function)
    def with_options(*arguments: object, **given: Any) -> Result:  # noqa: ANN401 - of the types in the signature
        fields = {name: given.pop(name) for name in annotations.keys() & given.keys()}
        return function(*arguments, **given, options=ParserOptions(**fields))

    defaults = {one.name: one.default for one in dataclasses.fields(ParserOptions)}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.name != "options":
            parameters.append(one)
            continue
        parameters += [
            inspect.Parameter(name, one.kind, default=defaults[name], annotation=annotation)
            for name, annotation in annotations.items()
        ]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as `inspect` documents
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_options


def overridden(options: Kind, **given: Any) -> Kind:  # noqa: ANN401 - the fields of a dataclass
    """Return `options` with the fields that are given, those other than None."""
    changes = {name: value for name, value in given.items() if value is not None}
    return typing.cast("Kind", dataclasses.replace(typing.cast("Any", options), **changes))


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
    import tomllib

    from ropewalk import files

    name = files.shown(path)
    with files.reading(path) as file:
        raw = file.read()
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as failure:  # also numbers and nesting beyond what Python takes
        raise ConfigError(name, "", f"is not TOML that can be read: {failure}") from failure
    _demand_plain(table, name, "")
    return table


def _demand_plain(found: Any, source: str, key: str) -> None:  # noqa: ANN401 - whatever TOML holds
    """Refuse whole numbers of more than 64 bits, which TOML does not have, and nesting deeper than `DEEPEST`."""
    level = [found]
    for _ in range(DEEPEST):
        if any(isinstance(value, int) and not -WHOLE <= value < WHOLE for value in level):
            raise ConfigError(source, key, f"has a whole number of more than 64 bits; expected less than {WHOLE:,}")
        inner = [
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)
        ]
        level = [value for values in inner for value in values]
    if level:
        raise ConfigError(source, key, f"is nested too deep; expected at most {DEEPEST} levels of tables and lists")


def changed(table: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Apply changes written `a.b=c`; the value is TOML, or text where it is not."""
    out = _copy(table)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not all(key.split(".")):
            raise ConfigError("--set", change, "is no change; expected a.b=value, such as training.epochs=5")
        at = out
        *above, last = key.split(".")
        if len(above) > DEEPEST:
            raise ConfigError("--set", f"{key[:40]}…", "is no option: it has too many dots; see docs/training.md")
        for part in above:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise ConfigError("--set", key, f"{part} is a value, not a table")
        at[last] = _value(value)
        _demand_plain(at[last], "--set", key)
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
    except (ValueError, RecursionError):  # no TOML, or numbers and nesting beyond what Python takes
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
        least, most = limits.get("items", (0, sys.maxsize))
        if not least <= len(items) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            raise ConfigError(source, path, f"has {len(items):,} values; expected {count}")
        return tuple(_checked_value(inner, limits, item, source, path) for item in items)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < WHOLE else math.inf  # a float might not hold it
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(source, path, f"is {value!r}; expected {_NAMES[kind]}")
    choices = limits.get("choices", ())
    if choices and value not in choices:
        near = difflib.get_close_matches(value, choices, n=1)
        hint = f"; did you mean {near[0]}?" if near else ";"
        raise ConfigError(source, path, f"is {value!r}{hint} expected one of: {', '.join(choices)}")
    low, high = limits.get("low", -math.inf), limits.get("high", math.inf)
    if kind in {int, float} and not (low <= value <= high and math.isfinite(value)):
        bounds = f"at least {low:,}" if math.isinf(high) else f"from {low:,} to {high:,}"
        raise ConfigError(source, path, f"is {value:,}; expected {bounds}")
    return value


_NAMES: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}
