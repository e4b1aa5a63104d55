"""Print the options of `ropewalk train` and `ropewalk train-segmenter` as Markdown, from the configuration classes."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ropewalk.segmentation.segmenter_config import SegmenterConfig
from ropewalk.training.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = (
    ("`ropewalk train`", Config, "[training](training.md)"),
    ("`ropewalk train-segmenter`", SegmenterConfig, "[raw text](segmentation.md)"),
)

INTRODUCTION = """Look up an option of a configuration here. Set it in the TOML file, or with `--set a.b=c` on the
command line. An unknown name or a value out of range is an error. `make docs` writes this page from the configuration
classes."""


class Option(NamedTuple):
    """A row of the reference."""

    name: str
    default: str
    values: str
    about: str


def options(kind: Any, prefix: str = "") -> Iterator[Option]:  # noqa: ANN401 - a dataclass
    """Yield each option of a configuration class, those of nested classes included."""
    for field in dataclasses.fields(kind):
        name = f"{prefix}{field.name.removesuffix('_')}"
        if field.default is dataclasses.MISSING:
            yield from options(field.default_factory, f"{name}.")
        else:
            yield Option(name, shown(field.default), values(field.metadata), field.metadata.get("about", ""))


def shown(value: object) -> str:
    """Return a default as TOML writes it; empty for none."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(shown(one).strip('`') for one in value)}]`" if value else ""
    return f"`{value}`" if value != "" else ""


def values(limits: Any) -> str:  # noqa: ANN401 - the metadata of a field
    """Return the choices or the range of an option."""
    choices = limits.get("choices")
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    low, high = limits.get("low", -math.inf), limits.get("high", math.inf)
    if low == -math.inf:
        return ""
    return f"from {number(low)}" if high == math.inf else f"{number(low)} to {number(high)}"


def number(value: float) -> str:
    """Return a bound as text, without the decimal point of a whole number."""
    return f"{int(value) if value == int(value) else value:,}"


def listing() -> str:
    """Return the page: a table for each part of each configuration."""
    parts = ["# Options of training", INTRODUCTION]
    for title, kind, guide in MODELS:
        parts.append(f"## {title}\n\nThe guide is {guide}.")
        rows = [f"| `{one.name}` | {one.default} | {one.values} | {one.about} |" for one in options(kind)]
        parts.append("\n".join(["| option | default | values | meaning |", "| --- | --- | --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(listing())
