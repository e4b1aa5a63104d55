"""Ropewalk: dependency parsing by tagging.

Names are loaded when first used, so that `import ropewalk` costs next to nothing.
"""

TYPE_CHECKING = False  # that of `typing` would take many times longer to load than all of this

if TYPE_CHECKING:
    from ropewalk import formats as formats
    from ropewalk import search as search
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
    from ropewalk.formats import word_tables as word_tables
    from ropewalk.identification import LanguageGuess as LanguageGuess
    from ropewalk.identification import identify as identify
    from ropewalk.morphology.triples import Triple as Triple
    from ropewalk.options import ParserOptions as ParserOptions
    from ropewalk.pipeline import Parser as Parser
    from ropewalk.pipeline import load as load
    from ropewalk.treebank.documents import Document as Document
    from ropewalk.treebank.documents import Head as Head
    from ropewalk.treebank.documents import Sentence as Sentence
    from ropewalk.treebank.documents import Token as Token
    from ropewalk.treebank.documents import Word as Word
    from ropewalk.treebank.phrases import NounPhrase as NounPhrase
    from ropewalk.treebank.treebank import Treebank as Treebank

__version__ = "0.3.0"

_HOMES = {
    "Document": "treebank.documents",
    "Graph": "core.graphs",
    "Graphs": "core.graphs",
    "Head": "treebank.documents",
    "LanguageGuess": "identification",
    "NounPhrase": "treebank.phrases",
    "Parser": "pipeline",
    "ParserOptions": "options",
    "Picture": "drawing",
    "PictureOptions": "drawing",
    "RopewalkError": "errors",
    "Sentence": "treebank.documents",
    "Token": "treebank.documents",
    "Tree": "core.trees",
    "Treebank": "treebank.treebank",
    "Triple": "morphology.triples",
    "Word": "treebank.documents",
    "draw": "drawing",
    "identify": "identification",
    "load": "pipeline",
}
_MODULES = {"formats": "formats", "search": "search"}
_MODULES |= {name: f"formats.{name}" for name in ("conllu", "deps", "displacy", "json", "sdp", "word_tables")}

__all__ = [
    "Document",
    "Graph",
    "Graphs",
    "Head",
    "LanguageGuess",
    "NounPhrase",
    "Parser",
    "ParserOptions",
    "Picture",
    "PictureOptions",
    "RopewalkError",
    "Sentence",
    "Token",
    "Tree",
    "Treebank",
    "Triple",
    "Word",
    "__version__",
    "conllu",
    "deps",
    "displacy",
    "draw",
    "formats",
    "identify",
    "json",
    "load",
    "sdp",
    "search",
    "word_tables",
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
    return sorted(__all__)
