"""A registry of encodings by name: Ropewalk's own, those of other packages, and those registered at run time."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from ropewalk.errors import EncodingOptionError, UnknownNameError, demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Kind = TypeVar("Kind")
Make = TypeVar("Make")

NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
SPEC: Final = re.compile(rf"(?P<name>{NAME.pattern})(?:\((?P<options>[^()]*)\))?(?P<scheme>\+[a-z+-]+)?")


@cache
def installed(group: str) -> dict[str, Any]:
    """Load the objects of an entry point group; return them by name. The result is cached, because this is slow."""
    from importlib.metadata import entry_points

    return {entry.name: entry.load() for entry in entry_points(group=group)}


@cache
def _defaults(make: Callable[..., object]) -> dict[str, str | int]:
    parameters = inspect.signature(make).parameters.values()
    return {option.name: option.default for option in parameters if option.default is not option.empty}


@final
class Registry(Generic[Kind]):
    """Encodings by name, either those of trees or those of graphs.

    `what` names this kind in errors. `own` has the module and the class of each encoding of Ropewalk; the module is
    imported when the encoding is used. `group` is the entry point group in which other packages add encodings.
    `apply_scheme` makes an encoding pseudo-projective; it is None if these encodings cannot be.
    """

    def __init__(
        self,
        what: str,
        group: str,
        own: Mapping[str, tuple[str, str]],
        apply_scheme: Callable[[Kind, str], Kind] | None = None,
    ) -> None:
        self._what = what
        self._group = group
        self._own = own
        self._apply_scheme = apply_scheme
        self._registered: dict[str, Callable[..., Kind]] = {}

    def known(self) -> dict[str, Callable[..., Kind]]:
        """Return by name the class or function that makes each encoding, including those of other packages."""
        makers = {name: self._load(name) for name in self._own}
        for name, make in {**installed(self._group), **self._registered}.items():
            makers.setdefault(name, make)
        return makers

    def register(self, make: Make, *, name: str = "") -> Make:
        """Add an encoding under `name`, or else under the attribute `name` of `make`. Return `make`.

        `make` is a class, or a function that returns an encoding when called with the options as keywords. So
        `register` can be used as a decorator. Registering a name again replaces the encoding. The name of one of
        Ropewalk's own encodings raises an `EncodingOptionError`.
        """
        name = name or getattr(make, "name", "")
        if not callable(make):
            raise EncodingOptionError(f"{make!r} makes no {self._what}; expected a class or a function")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise EncodingOptionError(f"{name!r} cannot name an encoding; expected lower case, digits and hyphens")
        if name in self._own:
            raise EncodingOptionError(f"{name} is the name of one of Ropewalk's own encodings; choose another")
        self._registered[name] = make
        return make

    def names_where(self, holds: Callable[[Kind], bool]) -> tuple[str, ...]:
        """Return the names of all encodings that, with default options, make `holds` true."""
        return tuple(name for name, make in self.known().items() if holds(make()))

    def options_of(self, name: str) -> dict[str, str | int]:
        """Return the options of the encoding called `name`, with their default values."""
        return dict(_defaults(self._maker(name)))

    def get(self, spec: str, **overriding: str | int) -> Kind:
        """Return the encoding that `spec` names, such as `brackets(planes=2)`; `overriding` replaces its options."""
        name, options, scheme = parse_spec(spec)
        make = self._maker(name)
        if scheme and self._apply_scheme is None:
            raise EncodingOptionError(
                f"{spec!r} has a pseudo-projective scheme, which only trees can have; use {name} without it"
            )
        options |= overriding
        _check_options(name, options, _defaults(make))
        encoding = make(**options)
        return self._apply_scheme(encoding, scheme) if scheme and self._apply_scheme else encoding

    def _load(self, name: str) -> Callable[..., Kind]:
        module, encoding = self._own[name]
        make: Callable[..., Kind] = getattr(importlib.import_module(f"ropewalk.encodings.{module}"), encoding)
        return make

    def _maker(self, name: str) -> Callable[..., Kind]:
        """Return the class or function that makes an encoding; search Ropewalk first, then other packages."""
        if isinstance(name, str) and name in self._own:
            return self._load(name)
        known = self.known()
        demand_known(self._what, name, known)
        return known[name]


def parse_spec(spec: str) -> tuple[str, dict[str, str | int], str]:
    """Split `spec`, a text such as `brackets(planes=2)+head`, into name, options and scheme; "" is no scheme."""
    match = SPEC.fullmatch(spec.replace(" ", "")) if isinstance(spec, str) else None
    if match is None:
        raise EncodingOptionError(
            f"{spec!r} names no encoding; expected NAME, NAME(option=value,…) or either with +SCHEME"
        )
    return match["name"], _options(match["name"], match["options"] or ""), (match["scheme"] or "")[1:]


def _check_options(name: str, options: Mapping[str, str | int], takes: Mapping[str, str | int]) -> None:
    """Raise unless each option is in `takes`, the encoding's options and defaults, and has the type of its default."""
    for option, value in options.items():
        if option not in takes:
            raise UnknownNameError(f"option of {name}", option, takes)
        if isinstance(value, int) != isinstance(takes[option], int):
            expected = "an integer" if isinstance(takes[option], int) else "a name"
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
