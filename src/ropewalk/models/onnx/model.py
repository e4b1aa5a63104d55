"""Exported folders: networks as `.onnx` files, computed by ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from ropewalk.models.onnx.bilstm import OnnxBiLSTM
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.onnx.transformer import OnnxTransformer
    from ropewalk.models.scorer import Floats, Numbers
    from ropewalk.models.storage import ModelFolder

SHORT = 4  # words of sentences that are scored many at a time
ARC_SCALE = 2  # arcs of the longest sentences take more memory than all else


def load(path: str | os.PathLike[str], threads: int = 0) -> Model:
    """Load a model from a folder that `ropewalk export` wrote.

    Without a number of threads, a transformer takes all cores and a `bilstm`, which gains little by more, one.
    """
    folder = open_folder(path, EXPORTED)
    folder.demand_whole()
    labels = folder.labels(folder.listed(LABELS))
    description = folder.description
    kind = _encoder_class(description.encoder.kind)
    count = threads or kind.threads()
    distances, graph_distances = (
        np.array(bounds, dtype=np.int64) for bounds in (description.distances, description.graphs.distances)
    )
    heads = OnnxHeads(folder, count)
    heads.demand_fit(description, labels)
    model = Model(
        description,
        labels,
        Scorer(kind(folder, labels, count), heads, distances, graph_distances),
        name=folder.name,
        hash=str(folder.table["hash"]),
        origin=(load, folder.path, threads),
    )
    _try(model, folder)
    return model


def _try(model: Model, folder: ModelFolder) -> None:
    """Parse two words, to find out now whether the networks go together."""
    try:
        model.parse(treebank_of_tokens([["a", "b"]]))
    except RopewalkError:
        raise
    except Exception as failure:
        raise ModelError(
            str(folder.path), f"has parts that do not go together; copy or export the model again: {failure}"
        ) from failure


def _encoder_class(kind: str) -> type[OnnxBiLSTM | OnnxTransformer]:
    """Load no more than is needed: programs that parse one sentence begin here."""
    if kind == "bilstm":
        from ropewalk.models.onnx.bilstm import OnnxBiLSTM

        return OnnxBiLSTM
    from ropewalk.models.onnx.transformer import OnnxTransformer

    return OnnxTransformer


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
        def opened(file: str, sizes: Sequence[InputSizes], scale: int = 1) -> Session | None:
            if not folder.has(file):
                return None
            return Session(folder.listed(file), str(folder.path / file), threads, sizes, scale=scale)

        self._path = folder.path
        self._threads = threads
        self._heads = folder.listed(HEADS)
        with naming(str(folder.path / HEADS)):
            self._widths = output_widths(self._heads)
        self.outputs = tuple(self._widths)
        self._computing: dict[tuple[str, ...], Session] = {}  # some outputs, and nothing that only others need
        self._pairs, self._graph_pairs = (opened(file, _pair_sizes()) for file in (PAIRS, GRAPH_PAIRS))
        self._arcs, self._graph_arcs = (opened(file, _arc_sizes(), ARC_SCALE) for file in (ARCS, GRAPH_ARCS))

    def demand_fit(self, description: Description, labels: LabelSet) -> None:
        """Stop if a network is missing, or scores more or fewer things than have a name."""
        shape = description.heads
        pairs = shape.relations_need_heads
        for file, needed, found in ((PAIRS, pairs, self._pairs), (ARCS, shape.arcs, self._arcs)):
            if needed and found is None:
                raise ModelError(str(self._path / file), "is missing, and the model needs it: export the model again")
        names = labels.columns[0] if shape.labels and labels.columns else ()
        wanted = {f"labels.{place}": len(texts) for place, texts in enumerate(names)}
        wanted |= {f"tags.{place}": len(texts) for place, (_, texts) in enumerate(labels.tags)}
        given = {name: width for name, width in self._widths.items() if name.startswith(("labels.", "tags."))}
        if self._pairs is not None:
            wanted["relations"] = len(labels.relations)
            given["relations"] = next(iter(self._pairs.widths().values()))
        elif "relations" in self._widths:
            wanted["relations"] = len(labels.relations)
            given["relations"] = self._widths["relations"]
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
        """Make ready to compute some outputs, and nothing that only others need."""
        file = str(self._path / HEADS)
        with naming(file):
            network = without_others(self._heads, outputs)
        return Session(network, file, self._threads, [{"vectors": (varying(BLOCK),)}])

    def pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of pairs."""
        assert self._pairs is not None  # noqa: S101 - as the description says
        return self._pairs.run({"words": words, "above": heads, "classes": classes})[0]

    def arcs(self, words: Floats, heads: Floats) -> Floats:
        """Score heads in sentences of one length."""
        assert self._arcs is not None  # noqa: S101 - as the description says
        return self._arcs.run({"words": words, "above": heads})[0]

    def graph_pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of arcs of graphs."""
        assert self._graph_pairs is not None  # noqa: S101 - as the description says
        return self._graph_pairs.run({"words": words, "above": heads, "classes": classes})[0]

    def graph_arcs(self, words: Floats, heads: Floats) -> Floats:
        """Give the log-odds of arcs of graphs."""
        assert self._graph_arcs is not None  # noqa: S101 - as the description says
        return self._graph_arcs.run({"words": words, "above": heads})[0]
