"""Objects that other packages announce as entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TypeVar

from ropewalk.errors import OptionError, demand_type

Plugin = TypeVar("Plugin")


def plugins(group: str, kind: type[Plugin]) -> dict[str, Plugin]:
    """Load the objects of a group of entry points by their names; raise unless each is of one kind.

    This looks through every installed package, which takes milliseconds: try known names first.
    """
    found: dict[str, Plugin] = {}
    for entry in entry_points(group=group):
        what = f"the entry point {entry.name} = {entry.value} of {group}"
        try:
            value = entry.load()
        except (ImportError, AttributeError) as failure:
            raise OptionError(
                f"{what} cannot be loaded: {failure}; repair or uninstall the package that has it"
            ) from failure
        demand_type(what, value, kind)
        found[entry.name] = value
    return found
