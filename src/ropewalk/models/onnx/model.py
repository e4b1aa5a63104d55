"""Exported folders: networks as `.onnx` files, computed by ONNX Runtime."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.errors import ModelError, RopewalkError
from ropewalk.formats.text import treebank_of_tokens
from ropewalk.models.description import EXPORTED, LONGEST_BY_ARCS
from ropewalk.models.model import PIECE, Model
from ropewalk.models.onnx.files import ARCS, GRAPH_ARCS, GRAPH_PAIRS, HEADS, PAIRS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.pruning import output_widths, without_others
from ropewalk.models.onnx.session import Session, naming
from ropewalk.models.scorer import BLOCK, Scorer
from ropewalk.models.storage import LABELS, open_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ropewalk.models.description import Description
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats, Numbers
    from ropewalk.models.storage import ModelFolder

SHORT = 4  # words of sentences that are scored many at a time
ARC_SCALE = 2  # arcs of the longest sentences take more memory than all else
ENCODERS = {"bilstm": ("bilstm", "OnnxBiLSTM"), "transformer": ("transformer", "OnnxTransformer")}
OWN_ENCODER = ("own_encoder", "OnnxOwnEncoder")  # all others come from other packages


def load(path: str | os.PathLike[str], threads: int = 0) -> Model:
    """Load a model from a folder that `ropewalk export` wrote.

    Without a number of threads, a transformer takes all cores and other encoders, which gain little from more, one.
    """
    folder = open_folder(path, EXPORTED)
    folder.demand_whole()
    labels = folder.labels(folder.listed(LABELS))
    description = folder.description
    encoder = _encoder_class(description.encoder.kind)
    count = threads or encoder.threads()
    distances, graph_distances = (
        np.array(bounds, dtype=np.int64) for bounds in (description.distances, description.graphs.distances)
    )
    heads = OnnxHeads(folder, count)
    heads.demand_fit(description, labels)
    model = Model(
        description,
        labels,
        Scorer(encoder(folder, labels, count), heads, distances, graph_distances),
        name=folder.name,
        hash=str(folder.table["hash"]),
        origin=(load, folder.path, threads),
    )
    _try(model, folder)
    return model


def _try(model: Model, folder: ModelFolder) -> None:
    """Score two words, to find out now whether the networks fit each other."""
    try:
        for part, scores in model.scores(treebank_of_tokens([["a", "b"]])):
            scores.all(np.zeros_like(part.heads))
    except RopewalkError:
        raise
    except Exception as failure:
        raise ModelError(
            str(folder.path), f"has parts that do not go together; copy or export the model again: {failure}"
        ) from failure


def _encoder_class(kind: str) -> Any:  # noqa: ANN401 - one of several classes
    """Load no more than is needed: programs that parse one sentence begin here."""
    module, name = ENCODERS.get(kind, OWN_ENCODER)
    return getattr(import_module(f"ropewalk.models.onnx.{module}"), name)


def _pair_sizes() -> list[InputSizes]:
    rows = varying(BLOCK)
    return [{"words": (rows,), "above": (rows,), "classes": (rows,)}]


def _arc_sizes() -> list[InputSizes]:
    """Return sizes of one long sentence, and of many short ones."""
    sides = (varying(1), varying(LONGEST_BY_ARCS)), (varying(PIECE), varying(SHORT))
    return [{"words": side, "above": side} for side in sides]


class OnnxHeads:
    """The networks between the vectors of words and scores."""

    rows = 8  # one alone may be multiplied by other instructions, which round otherwise

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._path = folder.path
        self._threads = threads
        self._heads = folder.listed(HEADS)
        with naming(str(folder.path / HEADS)):
            self._widths = output_widths(self._heads)
        self.outputs = tuple(self._widths)
        self._computing: dict[tuple[str, ...], Session] = {}  # some outputs, and nothing that only others need
        sizes = dict.fromkeys((PAIRS, GRAPH_PAIRS), (_pair_sizes, 1)) | dict.fromkeys(
            (ARCS, GRAPH_ARCS), (_arc_sizes, ARC_SCALE)
        )
        self._networks = {
            file: Session(folder.listed(file), str(folder.path / file), threads, of_inputs(), scale=scale)
            for file, (of_inputs, scale) in sizes.items()
            if folder.has(file)
        }

    def demand_fit(self, description: Description, labels: LabelSet) -> None:
        """Raise if a network is missing, or scores more or fewer things than have a name."""
        shape, graphs = description.heads, description.graphs
        for file, sides, needed in (
            (PAIRS, "pair", shape.relations_need_heads),
            (ARCS, "arc", shape.arcs),
            (GRAPH_PAIRS, "graph_pair", not graphs.is_empty),
            (GRAPH_ARCS, "graph_arc", graphs.arcs),
        ):
            if needed and file not in self._networks:
                raise ModelError(str(self._path / file), "is missing, and the model needs it: export the model again")
            lacking = {f"{sides}_words", f"{sides}_heads"} - self._widths.keys()
            if needed and lacking:
                raise ModelError(
                    str(self._path / HEADS), f"does not compute {min(lacking)}, which the model needs: export it again"
                )
        names = labels.columns[0] if shape.labels and labels.columns else ()
        wanted = {f"labels.{place}": len(texts) for place, texts in enumerate(names)}
        wanted |= {f"tags.{place}": len(texts) for place, (_, texts) in enumerate(labels.tags)}
        wanted["relations"] = len(labels.relations)
        given = {
            name: width for name, width in self._widths.items() if name.startswith(("labels.", "tags.", "relations"))
        }
        if PAIRS in self._networks:
            given["relations"] = next(iter(self._networks[PAIRS].widths().values()))
        for name in sorted({*wanted, *given}):
            if given.get(name, -1) not in {0, wanted.get(name, -2)}:
                raise ModelError(
                    str(self._path / LABELS),
                    f"has {wanted.get(name, 'no')} {name}, but the network scores {given.get(name, 'none')}: they are "
                    "not of one model",
                )

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute what follows from each word alone."""
        asked = tuple(outputs)
        if asked and asked not in self._computing:
            self._computing[asked] = self._session(asked)
        return dict(zip(asked, self._computing[asked].run({"vectors": vectors}, asked), strict=True)) if asked else {}

    def _session(self, outputs: tuple[str, ...]) -> Session:
        """Prepare to compute some outputs, and nothing that only others need."""
        file = str(self._path / HEADS)
        with naming(file):
            network = without_others(self._heads, outputs)
        return Session(network, file, self._threads, [{"vectors": (varying(BLOCK),)}])

    def pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of pairs."""
        return self._networks[PAIRS].run({"words": words, "above": heads, "classes": classes})[0]

    def arcs(self, words: Floats, heads: Floats) -> Floats:
        """Score heads in sentences of one length."""
        return self._networks[ARCS].run({"words": words, "above": heads})[0]

    def graph_pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of arcs of graphs."""
        return self._networks[GRAPH_PAIRS].run({"words": words, "above": heads, "classes": classes})[0]

    def graph_arcs(self, words: Floats, heads: Floats) -> Floats:
        """Return the log-odds of arcs of graphs."""
        return self._networks[GRAPH_ARCS].run({"words": words, "above": heads})[0]
