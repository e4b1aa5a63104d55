"""What a training run is told: values from a TOML file, changed by `a.b=c` on the command line, checked at once."""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.decoding import DECODERS
from ropewalk.errors import ConfigError
from ropewalk.models.calibration import PLAIN
from ropewalk.scoring.attachment import MEASURES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

Kind = typing.TypeVar("Kind")
TAGS = ("upos", "xpos", "feats")


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


@dataclass(frozen=True, slots=True)
class Data(Sources):
    """Which treebanks to read, and what to do with sentences that have no good tree."""

    bad_trees: str = option("stop", choices=("stop", "skip", "repair"))


@dataclass(frozen=True, slots=True)
class Encoder:
    """What reads the words: a pretrained `transformer`, or a `bilstm` trained from scratch."""

    kind: str = option("transformer", choices=("transformer", "bilstm"))
    # transformer
    name: str = ""
    revision: str = ""
    local_files_only: bool = False
    pooling: str = option("first", choices=("first", "last", "mean"))
    window: int = option(512, low=16)
    casing: str = option("auto", choices=("auto", "yes", "no"))
    freeze_embeddings: bool = False
    layers: tuple[int, ...] = ()
    dropout: float = option(0.1, low=0, high=0.9)
    # bilstm
    word_size: int = option(64, low=0)
    affix_size: int = option(32, low=0)
    shape_size: int = option(16, low=0)
    character_size: int = option(32, low=0)
    input_size: int = option(0, low=0)  # features are brought to this size before they are read; 0: as they are
    hidden: int = option(256, low=1)
    depth: int = option(2, low=1)
    least_count: int = option(2, low=1)
    forget: float = option(0.1, low=0, high=0.9)  # share of words read as unknown in training
    vectors: str = ""
    most_vectors: int = option(100_000, low=1)


@dataclass(frozen=True, slots=True)
class Relations:
    """How relations are found: from the word alone as in the paper, or from the word and its decoded head."""

    from_: str = option("word+head", choices=("word", "word+head"))
    hidden: int = option(256, low=1)


@dataclass(frozen=True, slots=True)
class Biaffine:
    """Sizes of the biaffine parser of Dozat & Manning 2017, and of arcs that are scored beside labels."""

    arc_size: int = option(256, low=1)
    relation_size: int = option(100, low=1)


@dataclass(frozen=True, slots=True)
class Model:
    """The network: encoder and heads."""

    parser: str = option("labels", choices=("labels", "biaffine"))
    encoding: str = "optimal+head"
    loss: str = option("words", choices=("words", "sequences"))  # each word's label alone, or whole label sequences
    auxiliary: tuple[str, ...] = ()
    auxiliary_weight: float = option(0.3, low=0)
    arc_weight: float = option(0.0, low=0)  # of the loss of arcs beside that of labels; the joint decoder needs arcs
    tags: tuple[str, ...] = ()
    tag_weight: float = option(0.3, low=0)
    hidden: int = option(256, low=1)
    dropout: float = option(0.2, low=0, high=0.9)
    encoder: Encoder = field(default_factory=Encoder)
    relations: Relations = field(default_factory=Relations)
    biaffine: Biaffine = field(default_factory=Biaffine)


@dataclass(frozen=True, slots=True)
class Training:
    """The loop: how long, how fast, in which pieces, and when to stop."""

    epochs: int = option(10, low=1)
    batch: int = option(512, low=1)
    accumulate: int = option(1, low=1)
    encoder_rate: float = option(3e-4, low=0)
    head_rate: float = option(1e-3, low=0)
    betas: tuple[float, ...] = (0.9, 0.98)
    weight_decay: float = option(0.01, low=0)
    warmup: float = option(0.06, low=0, high=1)
    schedule: str = option("linear", choices=("linear", "constant"))
    clip: float = option(1.0, low=0)
    patience: int = option(0, low=0)
    metric: str = option("las", choices=MEASURES)
    precision: str = option("no", choices=("no", "bf16", "fp16"))
    device: str = option("auto", choices=("auto", "cpu"))
    threads: int = option(0, low=0)
    tensorboard: bool = False
    energy: bool = False
    country: str = "ESP"


@dataclass(frozen=True, slots=True)
class Teacher:
    """A trained model whose probabilities are learnt beside the treebank, also on sentences made up for it."""

    model: str = ""
    weight: float = option(0.5, low=0, high=1)  # share of the loss that is the teacher's
    copies: int = option(0, low=0)  # how often the treebank is learnt once more with other words in its sentences
    replaced: float = option(0.3, low=0, high=1)  # share of their open-class words that are others


@dataclass(frozen=True, slots=True)
class Decoding:
    """How labels become trees."""

    decoder: str = option("exact", choices=DECODERS)
    depth: int = option(6, low=1, high=14)
    repair: str = option("nearest", choices=("nearest", "root"))
    batch: int = option(4096, low=1)
    temperature: float = option(1.0, low=0.01)  # found on the dev data at the end of training,
    calibration: tuple[float, ...] = PLAIN  # and for the joint decoder these: see `calibration`
    confidence: bool = False  # whether arcs and trees carry their probabilities


@dataclass(frozen=True, slots=True)
class Config:
    """All that a training run is told."""

    seed: int = option(1, low=0, high=2**31 - 1)
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)
    teacher: Teacher = field(default_factory=Teacher)
    decoding: Decoding = field(default_factory=Decoding)


def load(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> Config:
    """Read a TOML file, apply changes such as `model.encoder.name=xlm-roberta-large`, and check everything."""
    name = files.shown(path)
    return from_mapping(changed(read(path), changes), name)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the tables of a TOML file."""
    name = files.shown(path)
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


def from_mapping(table: Mapping[str, Any], source: str = "configuration") -> Config:
    """Make a configuration from nested tables, refusing unknown names and values out of range."""
    return made(Config, table, source)


def made(kind: type[Kind], table: Mapping[str, Any], source: str) -> Kind:
    """Make any configuration whose fields are options, as `from_mapping` does."""
    return typing.cast("Kind", _made(kind, table, source, ""))


def to_mapping(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    """Write a configuration as nested tables, from which `from_mapping` makes an equal one."""
    out: dict[str, Any] = {}
    for one in dataclasses.fields(config):
        value = getattr(config, one.name)
        if dataclasses.is_dataclass(value):
            value = to_mapping(value)
        out[_key(one.name)] = list(value) if isinstance(value, tuple) else value
    return out


def _key(name: str) -> str:
    return name.removesuffix("_")  # `from` is a word of Python's own


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, dict) else value for key, value in table.items()}


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML holds
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _made(kind: type, table: Any, source: str, where: str) -> Any:  # noqa: ANN401 - checked here
    if not isinstance(table, dict):
        raise ConfigError(source, where, f"is {table!r}; expected a table")
    hints = typing.get_type_hints(kind)
    known = {_key(one.name): one for one in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{where}.{key}" if where else key
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise ConfigError(source, path, f"is unknown{hint} Known here: {', '.join(known)}")
        one = known[key]
        hint_type = hints[one.name]
        values[one.name] = (
            _made(hint_type, value, source, path)
            if isinstance(hint_type, type) and dataclasses.is_dataclass(hint_type)
            else _checked(hint_type, one.metadata, value, source, path)
        )
    return kind(**values)


def _checked(kind: Any, limits: Mapping[str, Any], value: Any, source: str, path: str) -> Any:  # noqa: ANN401 - checked here
    if typing.get_origin(kind) is tuple or isinstance(kind, types.GenericAlias):
        inner = typing.get_args(kind)[0]
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_checked(inner, {}, item, source, path) for item in items)
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
