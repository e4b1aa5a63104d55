"""Ropewalk: dependency parsing by tagging.

Names are loaded when first used, so that `import ropewalk` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ropewalk import conllu as conllu
    from ropewalk.drawing import Picture as Picture
    from ropewalk.drawing import draw as draw
    from ropewalk.errors import RopewalkError as RopewalkError
    from ropewalk.pipeline import load as load
    from ropewalk.treebank import Treebank as Treebank
    from ropewalk.trees import Graph as Graph
    from ropewalk.trees import Tree as Tree

__version__ = "0.1.0"

_HOMES = {
    "Graph": "trees",
    "Picture": "drawing",
    "RopewalkError": "errors",
    "Tree": "trees",
    "Treebank": "treebank",
    "draw": "drawing",
    "load": "pipeline",
}
_MODULES = frozenset({"conllu"})

__all__ = ["Graph", "Picture", "RopewalkError", "Tree", "Treebank", "__version__", "conllu", "draw", "load"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(importlib.import_module(f"ropewalk.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"ropewalk.{name}")
    else:
        raise AttributeError(f"module 'ropewalk' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
