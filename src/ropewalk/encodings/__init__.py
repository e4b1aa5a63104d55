"""Every encoding by its name.

An encoding is named as text: `optimal`, `brackets(planes=2)`, `optimal(policy=published)`, and, made
pseudo-projective by a scheme, `optimal+head`, `hexatags+path`, `four-bit+head-chained`. Another package can add its own
through the entry point group `ropewalk.encodings`: the entry's name is the encoding's, its object a subclass of
`Encoding` or anything that makes one when called with the options as keywords.
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from typing import TYPE_CHECKING

from ropewalk.core.projectivity import SCHEMES
from ropewalk.encodings.base import (
    FAULTS,
    POLICIES,
    ClosedEncoding,
    Decoded,
    Encoding,
    Fault,
    Labels,
    Recovered,
)
from ropewalk.encodings.machines import BracketMachine, BracketStacks, Machine, Marks
from ropewalk.encodings.pseudo import PseudoProjective
from ropewalk.errors import EncodingOptionError, UnknownNameError, demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.encodings.indexed import bracketing as bracketing

__all__ = [
    "FAULTS",
    "POLICIES",
    "BracketMachine",
    "BracketStacks",
    "ClosedEncoding",
    "Decoded",
    "Encoding",
    "Fault",
    "Labels",
    "Machine",
    "Marks",
    "PseudoProjective",
    "Recovered",
    "bracketing",
    "check_options",
    "get",
    "known",
    "names_where",
    "options_of",
    "parse_spec",
]

OWN = {  # where each of ours is; one that is not asked for is not loaded
    "optimal": ("compact", "Optimal"),
    "optimal-nonprojective": ("indexed", "OptimalNonprojective"),
    "four-bit": ("compact", "FourBit"),
    "seven-bit": ("bits", "SevenBit"),
    "brackets": ("brackets", "Brackets"),
    "hexatags": ("hexatags", "Hexatags"),
    "absolute": ("offsets", "Absolute"),
    "relative": ("offsets", "Relative"),
    "pos-offset": ("offsets", "PosOffset"),
    "arc-standard": ("transitions", "ArcStandard"),
    "arc-eager": ("transitions", "ArcEager"),
    "arc-hybrid": ("transitions", "ArcHybrid"),
    "covington": ("transitions", "Covington"),
}
SPEC = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(?:\((?P<options>[^()]*)\))?(?P<scheme>\+[a-z+-]+)?")


def __getattr__(name: str) -> object:
    if name == "bracketing":
        return importlib.import_module("ropewalk.encodings.indexed").bracketing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _own(name: str) -> Callable[..., Encoding]:
    module, encoding = OWN[name]
    make: Callable[..., Encoding] = getattr(importlib.import_module(f"{__name__}.{module}"), encoding)
    return make


@cache
def known() -> dict[str, Callable[..., Encoding]]:
    """All encodings by name, those that other packages add included."""
    from importlib.metadata import entry_points

    found = {name: _own(name) for name in OWN}
    for entry in entry_points(group="ropewalk.encodings"):
        found.setdefault(entry.name, entry.load())
    return found


def names_where(holds: Callable[[Encoding], bool]) -> tuple[str, ...]:
    """Name the encodings, with the options that they have by default, of which something holds."""
    return tuple(name for name, make in known().items() if holds(make()))


def _maker(name: str) -> Callable[..., Encoding]:
    """Find what makes an encoding; looking through all packages takes time, so our own are tried first."""
    if isinstance(name, str) and name in OWN:
        return _own(name)
    demand_known("encoding", name, known())
    return known()[name]


def options_of(name: str) -> dict[str, str | int]:
    """Give the options that an encoding takes, with their defaults."""
    return dict(_defaults(_maker(name)))


@cache
def _defaults(make: Callable[..., Encoding]) -> dict[str, str | int]:
    parameters = inspect.signature(make).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def get(spec: str, **overriding: str | int) -> Encoding:
    """Make the encoding that a text names; options given by keyword replace those in the text."""
    name, options, scheme = parse_spec(spec)
    make = _maker(name)
    options |= overriding
    check_options(name, options, options_of(name))
    encoding = make(**options)
    if not scheme:
        return encoding
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    return PseudoProjective(encoding, scheme)


def parse_spec(spec: str) -> tuple[str, dict[str, str | int], str]:
    """Take apart the text that names an encoding: its name, its options, and the scheme after it or nothing."""
    match = SPEC.fullmatch(spec.replace(" ", "")) if isinstance(spec, str) else None
    if match is None:
        raise EncodingOptionError(
            f"{spec!r} names no encoding; expected NAME, NAME(option=value,…) or either with +SCHEME"
        )
    return match["name"], _options(match["name"], match["options"] or ""), (match["scheme"] or "")[1:]


def check_options(name: str, options: Mapping[str, str | int], takes: Mapping[str, str | int]) -> None:
    """Raise an error unless each option is one that the encoding takes, and of its kind."""
    for option, value in options.items():
        if option not in takes:
            raise UnknownNameError(f"option of {name}", option, takes)
        if isinstance(value, int) != isinstance(takes[option], int):
            expected = "a whole number" if isinstance(takes[option], int) else "a name"
            raise EncodingOptionError(f"{name}: {option} is {value!r}; expected {expected}")


def _options(name: str, text: str) -> dict[str, str | int]:
    options: dict[str, str | int] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise EncodingOptionError(f"{name}: {part!r} is no option; expected option=value")
        if re.fullmatch(r"-?[0-9]{19,}", value):
            raise EncodingOptionError(f"{name}: {key} has {len(value)} digits; expected a number of at most 18")
        options[key] = int(value) if re.fullmatch(r"-?[0-9]+", value) else value
    return options
