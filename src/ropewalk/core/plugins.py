"""Objects that other packages announce as entry points."""

from __future__ import annotations

from typing import TypeVar

from ropewalk.errors import OptionError, demand_type

Plugin = TypeVar("Plugin")


def plugins(group: str, kind: type[Plugin]) -> dict[str, Plugin]:
    """Load the objects of the entry point group `group`; return them by name.

    Raise an error if one cannot be loaded or is not of the type `kind`. This searches every installed package, which
    takes milliseconds: look for a name among Ropewalk's own first.
    """
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    loaded: dict[str, Plugin] = {}
    for entry in entry_points(group=group):
        what = f"the entry point {entry.name} = {entry.value} of {group}"
        try:
            value = entry.load()
        except (ImportError, AttributeError) as failure:
            raise OptionError(
                f"{what} cannot be loaded: {failure}; repair or uninstall the package that has it"
            ) from failure
        demand_type(what, value, kind)
        loaded[entry.name] = value
    return loaded
