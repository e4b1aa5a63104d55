"""Ropewalk: dependency parsing by tagging.

Names are loaded when first used, so that `import ropewalk` costs next to nothing.
"""

TYPE_CHECKING = False  # that of `typing` would take many times longer to load than all of this

if TYPE_CHECKING:
    from ropewalk import formats as formats
    from ropewalk.core.graphs import Graph as Graph
    from ropewalk.core.graphs import Graphs as Graphs
    from ropewalk.core.trees import Tree as Tree
    from ropewalk.drawing import Picture as Picture
    from ropewalk.drawing import PictureOptions as PictureOptions
    from ropewalk.drawing import draw as draw
    from ropewalk.errors import RopewalkError as RopewalkError
    from ropewalk.formats import conllu as conllu
    from ropewalk.formats import deps as deps
    from ropewalk.formats import displacy as displacy
    from ropewalk.formats import json as json
    from ropewalk.formats import sdp as sdp
    from ropewalk.options import ParserOptions as ParserOptions
    from ropewalk.pipeline import Parser as Parser
    from ropewalk.pipeline import load as load
    from ropewalk.treebank.documents import Document as Document
    from ropewalk.treebank.documents import Head as Head
    from ropewalk.treebank.documents import Sentence as Sentence
    from ropewalk.treebank.documents import Token as Token
    from ropewalk.treebank.documents import Word as Word
    from ropewalk.treebank.treebank import Treebank as Treebank

__version__ = "0.3.0"

_HOMES = {
    "Document": "treebank.documents",
    "Graph": "core.graphs",
    "Graphs": "core.graphs",
    "Head": "treebank.documents",
    "Parser": "pipeline",
    "ParserOptions": "options",
    "Picture": "drawing",
    "PictureOptions": "drawing",
    "RopewalkError": "errors",
    "Sentence": "treebank.documents",
    "Token": "treebank.documents",
    "Tree": "core.trees",
    "Treebank": "treebank.treebank",
    "Word": "treebank.documents",
    "draw": "drawing",
    "load": "pipeline",
}
_MODULES = {"formats": "formats"} | {name: f"formats.{name}" for name in ("conllu", "deps", "displacy", "json", "sdp")}

__all__ = [
    "Document",
    "Graph",
    "Graphs",
    "Head",
    "Parser",
    "ParserOptions",
    "Picture",
    "PictureOptions",
    "RopewalkError",
    "Sentence",
    "Token",
    "Tree",
    "Treebank",
    "Word",
    "__version__",
    "conllu",
    "deps",
    "displacy",
    "draw",
    "formats",
    "json",
    "load",
    "sdp",
]


def __getattr__(name: str) -> object:
    import importlib

    if name in _HOMES:
        value: object = getattr(importlib.import_module(f"ropewalk.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"ropewalk.{_MODULES[name]}")
    else:
        raise AttributeError(f"module 'ropewalk' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
