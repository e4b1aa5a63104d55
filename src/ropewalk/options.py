"""Options: the options of parsing (`ParserOptions`), and dataclasses of options that are read from TOML and checked."""

from __future__ import annotations

import dataclasses
import inspect
import math
import sys
import types
import typing
from collections.abc import Sequence  # noqa: TC003 - the type of an option is read at run time
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from ropewalk import decoding
from ropewalk.errors import ConfigError, demand_sequence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Container, Iterable, Mapping

Kind = typing.TypeVar("Kind")
Result = typing.TypeVar("Result")
MOST_THREADS = 256  # torch and ONNX Runtime crash with far more
LARGEST = 16_384  # numbers of a vector; a matrix of two of them takes a gigabyte
RATE = 10.0  # the highest learning rate
WEIGHT = 1000.0  # the highest weight of a part of a loss
EPOCHS = 100_000
MINUTES = 1_000_000.0  # two years
MANY = 1_000_000_000  # more than any count
DEEPEST = 16  # levels of nested tables or lists
WHOLE = 1 << 63  # integers of TOML are smaller


def option(  # noqa: PLR0913 - the facts about a field
    default: Any,  # noqa: ANN401 - a field of any type
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: Container[str] = (),
    items: tuple[int, int] = (0, sys.maxsize),
    about: str = "",
) -> Any:  # noqa: ANN401 - likewise
    """Return a dataclass field for an option, with its `default` and the limits that `checked` applies.

    Numbers must be from `low` to `high`, and texts must be one of `choices`, if there are any. For a list, these limits
    apply to each item, and `items` is the least and the greatest number of items. `about` is the help text on the
    command line.
    """
    limits = {"low": low, "high": high, "choices": choices, "items": items, "about": about}
    return field(default=default, metadata=limits)


@dataclass(frozen=True, slots=True)
class ParserOptions:
    """Options of parsing for `ropewalk.load`; where a field is None, the model's own setting is used.

    Corpus runs, servers, the spaCy component and the commands accept the same options. `docs/own-option.md` shows how
    to add an option.
    """

    confidence: bool = option(default=True, about="Write the probability of each arc and tree, if the model has them.")
    batch: int | None = option(
        None, low=1, about="Words that the network computes together; by default the model's number."
    )
    decoder: str | None = option(
        None,
        choices=decoding.OWN,
        about="exact: the tree with the best labels. joint: with the best labels and arcs. mbr: with the highest "
        "expected accuracy of both. greedy: the best label of each word, repaired. Biaffine models have arcs only: "
        "exact is the maximum spanning tree, mbr sums over projective trees, mbr-nonprojective over all trees. By "
        "default the model's decoder.",
    )
    repair: str | None = option(
        None,
        choices=("nearest", "root"),
        about="Attach a word without a head: nearest: to the nearest word that fits; root: to the root. By default the "
        "model's policy.",
    )
    graph_decoder: str | None = option(
        None,
        choices=("joint", "exact", "greedy", "arcs"),
        about="Arcs of enhanced graphs: joint: from all scores; exact: from the best labels that fit together; greedy: "
        "from the best label of each word; arcs: from the arcs' own scores. By default the model's decoder.",
    )
    columns: Sequence[str] | None = option(
        None,
        about="Predict only these, of tree, graph, upos, xpos, feats and lemma; the others stay as they are and cost "
        "nothing. By default all that the model predicts.",
    )
    enhance: bool = option(
        default=False, about="Add enhanced graphs to trees with rules; a model that predicts graphs keeps its own."
    )
    tag_confidence: bool = option(default=False, about="Also write the probability of each tag, in JSON.")
    each_line: str | None = option(
        None,
        choices=("sentence", "paragraph"),
        about="Read each line of text as a sentence or as a paragraph. By default sentences may span lines, and "
        "paragraphs end at an empty line.",
    )
    style: str | None = option(
        None,
        about="Follow the conventions of this treebank, one of several that the model learnt from. By default the "
        "main one.",
    )

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            raise ConfigError("load", "columns", f"is {self.columns!r}; expected several names: put it into a list")
        if self.columns is not None:
            demand_sequence("columns", self.columns, str)
            object.__setattr__(self, "columns", tuple(self.columns))


def spread(
    function: Callable[..., Result],
    annotations: Mapping[str, Any],
    kind: type[Any] = ParserOptions,
    name: str = "options",
) -> Callable[..., Result]:
    """Return a wrapper of `function` that has one parameter for each option instead of the parameter `name`.

    `annotations` maps names of fields of the dataclass `kind` to the annotations of the new parameters. The wrapper
    builds a `kind` from them and passes it as `name`. Typer and spaCy read the parameters from the signature.
    """

    @wraps(function)
    def with_options(*arguments: object, **keywords: Any) -> Result:  # noqa: ANN401 - of the types in the signature
        fields = {field: keywords.pop(field) for field in annotations.keys() & keywords.keys()}
        return function(*arguments, **keywords, **{name: kind(**fields)})

    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name != name:
            parameters.append(parameter)
            continue
        parameters += [
            inspect.Parameter(field, parameter.kind, default=defaults[field], annotation=annotation)
            for field, annotation in annotations.items()
        ]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as `inspect` documents
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options


def overridden(options: Kind, **fields: Any) -> Kind:  # noqa: ANN401 - the fields of a dataclass
    """Return a copy of the dataclass `options` in which the `fields` that are not None are replaced."""
    changes = {name: value for name, value in fields.items() if value is not None}
    return typing.cast("Kind", dataclasses.replace(typing.cast("Any", options), **changes))


@dataclass(frozen=True, slots=True)
class Sources:
    """The treebank files for training, development and test; several files of one split are concatenated."""

    train: tuple[str, ...] = option((), about="A treebank file, or a list of them.")
    dev: tuple[str, ...] = option((), about="Files that choose the best epoch.")
    test: tuple[str, ...] = option((), about="Files for the scores of the model card; optional.")
    name: str = option("", about="Name of the treebank, for the model card.")
    licence: str = option("", about="Licence of the treebank, for the model card.")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file; return its content as nested dictionaries. Raise `ConfigError` if it is not valid TOML."""
    import tomllib

    from ropewalk import files

    name = files.shown(path)
    with files.reading(path) as file:
        raw = file.read()
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as failure:  # also numbers and nesting that Python limits
        raise ConfigError(name, "", f"is not readable TOML: {failure}") from failure
    _demand_plain(table, name, "")
    return table


def _demand_plain(table: Any, source: str, key: str) -> None:  # noqa: ANN401 - any TOML
    """Raise `ConfigError` if `table` has an integer of more than 64 bits, or more than `DEEPEST` levels of nesting."""
    level = [table]
    for _ in range(DEEPEST):
        if any(isinstance(value, int) and not -WHOLE <= value < WHOLE for value in level):
            raise ConfigError(source, key, f"has an integer of more than 64 bits; expected less than {WHOLE:,}")
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [inner for value in nested for inner in (value.values() if isinstance(value, dict) else value)]
    if level:
        raise ConfigError(source, key, f"is nested too deep; expected at most {DEEPEST} levels of tables and lists")


def changed(table: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Return a copy of nested tables with changes such as `a.b=c`, which sets the key `b` of the table `a`.

    The value `c` is read as TOML, or as text if it is not valid TOML. Raise `ConfigError` if a change has another form.
    """
    out = _copy(table)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not all(key.split(".")):
            raise ConfigError("--set", change, "is no change; expected a.b=value, such as training.epochs=5")
        inner = out
        *above, last = key.split(".")
        if len(above) > DEEPEST:
            raise ConfigError("--set", f"{key[:40]}…", "is no option: it has too many dots; see docs/options.md")
        for part in above:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ConfigError("--set", key, f"{part} is a value, not a table")
        inner[last] = _value(value)
        _demand_plain(inner[last], "--set", key)
    return out


def checked(kind: type[Kind], table: Mapping[str, Any], source: str, *, strict: bool = True) -> Kind:
    """Build an object of the dataclass `kind` from nested tables of options.

    Raise `ConfigError` for wrong values, and for unknown names if `strict`; otherwise unknown names are ignored.
    `source` is the file or call that the message names.
    """
    return typing.cast("Kind", _checked_table(kind, table, source, "", strict=strict))


def configuration(kind: type[Kind], path: str | os.PathLike[str], changes: Iterable[str] = ()) -> Kind:
    """Read a TOML file, apply `changes` such as `training.epochs=5`, and build an object of the dataclass `kind`.

    Raise `ConfigError` for unknown names and wrong values.
    """
    from ropewalk import files

    return checked(kind, changed(read(path), changes), files.shown(path))


def to_mapping(config: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass of options
    """Return a dataclass of options as nested dictionaries, from which `checked` builds an equal one."""
    out: dict[str, Any] = {}
    for each in dataclasses.fields(config):
        value = getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            value = to_mapping(value)
        out[_key(each.name)] = list(value) if isinstance(value, tuple) else value
    return out


def flat_options(config: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass of options
    """Return a dictionary of all options in a configuration; its keys are full names such as `training.epochs`."""
    return flat_table(to_mapping(config))


def flat_table(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Flatten nested tables into one dictionary with keys such as `training.epochs`; `above` is put before all keys."""
    out: dict[str, Any] = {}
    for key, value in table.items():
        out |= flat_table(value, f"{above}{key}.") if isinstance(value, dict) else {above + key: value}
    return out


def _key(name: str) -> str:
    return name.removesuffix("_")  # `from` is a keyword of Python


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, dict) else value for key, value in table.items()}


def _value(text: str) -> Any:  # noqa: ANN401 - any TOML
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or numbers and nesting that Python limits
        return text


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _checked_table(kind: type, table: Any, source: str, where: str, *, strict: bool) -> Any:  # noqa: ANN401 - checked here
    if not isinstance(table, dict):
        raise ConfigError(source, where, f"is {table!r}; expected a table")
    hints = _hints(kind)
    known = {_key(each.name): each for each in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{where}.{key}" if where else key
        if key not in known and not strict:
            continue
        if key not in known:
            import difflib  # only errors need it

            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise ConfigError(source, path, f"is unknown{hint} Known here: {', '.join(known)}")
        name, hint_type = known[key].name, hints[known[key].name]
        values[name] = (
            _checked_table(hint_type, value, source, path, strict=strict)
            if isinstance(hint_type, type) and dataclasses.is_dataclass(hint_type)
            else _checked_value(hint_type, known[key].metadata, value, source, path)
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
        value = float(value) if abs(value) < WHOLE else math.inf  # a float may not represent it
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(source, path, f"is {value!r}; expected {_NAMES[kind]}")
    choices = limits.get("choices", ())
    if choices and value not in choices:
        import difflib  # only errors need it

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
