"""Exported models: networks as `.onnx` files, computed with ONNX Runtime."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ModelError
from ropewalk.models.description import EXPORTED, LONGEST_BY_ARCS
from ropewalk.models.model import PIECE, Model
from ropewalk.models.onnx.files import ARCS, HEADS, PAIRS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.pruning import input_widths, output_widths, without_others
from ropewalk.models.onnx.session import Session, cores, naming
from ropewalk.models.scorer import BLOCK, GRAPHS, TREES, Scorer
from ropewalk.models.storage import LABELS, open_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ropewalk.models.description import Description
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats, Group, Numbers
    from ropewalk.models.storage import ModelFolder

SHORT = 4  # words of sentences that are scored many at a time
SIDES = ("words", "above")  # inputs of the networks of relations and arcs
ARC_SCALE = 2  # arcs of the longest sentences take more memory than everything else
ENCODERS = {
    "bilstm": ("bilstm", "OnnxBiLSTM"),
    "sru": ("sru", "OnnxSRU"),
    "transformer": ("transformer", "OnnxTransformer"),
}
OWN_ENCODER = ("own_encoder", "OnnxOwnEncoder")  # encoders of other packages


def load(path: str | os.PathLike[str], threads: int = 0) -> Model:
    """Load a model from a folder that `ropewalk export` wrote.

    `threads` is the number of threads that ONNX Runtime uses. If it is 0, a transformer uses all cores, and any other
    encoder one thread, because more are hardly faster. Raise `ModelError` if a file is damaged, or if the networks and
    the label sets do not fit each other.
    """
    folder = open_folder(path, EXPORTED)
    folder.demand_whole()
    labels = folder.listed_labels()
    description = folder.description
    encoder_class = _encoder_class(description.encoder.kind)
    count = threads or encoder_class.threads or cores()
    classifiers = OnnxClassifiers(folder, count)
    classifiers.demand_classes(description, labels)
    encoder = encoder_class(folder, labels, count)
    classifiers.demand_widths(encoder.width)
    model = Model(
        description,
        labels,
        Scorer.of(description, encoder, classifiers),
        name=folder.name,
        hash=str(folder.table["hash"]),
        origin=(load, folder.path, threads),
    )
    classifiers.prepare(model.outputs)
    return model


def _encoder_class(kind: str) -> Any:  # noqa: ANN401 - one of several classes
    """Return the class that runs encoders of this `kind`; only its module is imported, which saves time."""
    module, name = ENCODERS.get(kind, OWN_ENCODER)
    return getattr(import_module(f"ropewalk.models.onnx.{module}"), name)


def _pair_sizes() -> list[InputSizes]:
    rows = varying(BLOCK)
    return [{"words": (rows,), "above": (rows,), "classes": (rows,)}]


def _arc_sizes() -> list[InputSizes]:
    """Return the largest inputs of the network that scores arcs: one long sentence, or many short ones."""
    sides = (varying(1), varying(LONGEST_BY_ARCS)), (varying(PIECE), varying(SHORT))
    return [{"words": side, "above": side} for side in sides]


class OnnxClassifiers:
    """The networks that compute scores from word vectors, run with ONNX Runtime."""

    rows = 8  # a single row may be multiplied with other instructions, which round differently

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._path = folder.path
        self._threads = threads
        self._heads = folder.listed(HEADS)
        with naming(str(folder.path / HEADS)):
            self._widths = output_widths(self._heads)
            self._inputs = input_widths(self._heads)
        self.outputs = tuple(self._widths)
        self._computing: dict[tuple[str, ...], Session] = {}  # networks that compute some outputs and nothing else
        sizes = dict.fromkeys(PAIRS.values(), (_pair_sizes, 1)) | dict.fromkeys(ARCS.values(), (_arc_sizes, ARC_SCALE))
        self._networks = {
            file: Session(folder.listed(file), str(folder.path / file), threads, of_inputs(), scale=scale)
            for file, (of_inputs, scale) in sizes.items()
            if folder.has(file)
        }

    def demand_widths(self, vectors: int) -> None:
        """Raise `ModelError` unless each network reads vectors of the width that the network before it makes.

        `vectors` is the width of the encoder's vectors. A width of 0 may vary.
        """
        links = [(HEADS, "vectors", self._inputs, vectors)]
        for what, files in (("pair", PAIRS), ("arc", ARCS)):
            for group, file in files.items():
                widths = self._networks[file].input_widths() if file in self._networks else {}
                widths_before = (self._widths.get(side, 0) for side in group.sides(what))
                links += [(file, name, widths, width) for name, width in zip(SIDES, widths_before, strict=True)]
        for file, name, widths, before in links:
            width = widths.get(name, 0)
            if width and before and width != before:
                raise ModelError(
                    str(self._path / file),
                    f"reads {name} of {width} numbers, and the network before it makes {before}: the model has "
                    "networks that do not fit each other; copy or export the model again",
                )

    def demand_classes(self, description: Description, labels: LabelSet) -> None:
        """Raise `ModelError` if a network or an output that the model needs is missing.

        Raise it too if a network scores more or fewer classes than `labels` names.
        """
        shape, graphs = description.heads, description.graphs
        for file, sides, needed in (
            (PAIRS[TREES], TREES.sides("pair"), shape.relations_need_heads),
            (ARCS[TREES], TREES.sides("arc"), shape.arcs),
            (PAIRS[GRAPHS], GRAPHS.sides("pair"), not graphs.is_empty),
            (ARCS[GRAPHS], GRAPHS.sides("arc"), graphs.arcs),
        ):
            if needed and file not in self._networks:
                raise ModelError(str(self._path / file), "is missing, and the model needs it: export the model again")
            lacking = {*sides} - self._widths.keys()
            if needed and lacking:
                problem = f"does not compute {min(lacking)}, which the model needs: export it again"
                raise ModelError(str(self._path / HEADS), problem)
        names = labels.columns[0] if shape.labels and labels.columns else ()
        named = {f"labels.{number}": len(texts) for number, texts in enumerate(names)}
        named |= {f"tags.{number}": len(texts) for number, (_, texts) in enumerate(labels.tags)}
        named["relations"] = len(labels.relations)
        prefixes = ("labels.", "tags.", "relations")
        scored = {name: width for name, width in self._widths.items() if name.startswith(prefixes)}
        if PAIRS[TREES] in self._networks:
            scored["relations"] = next(iter(self._networks[PAIRS[TREES]].widths().values()))
        for name in sorted({*named, *scored}):
            if scored.get(name, -1) not in {0, named.get(name, -2)}:
                problem = f"has {named.get(name, 'no')} {name}, but the network scores {scored.get(name, 'none')}"
                raise ModelError(str(self._path / LABELS), f"{problem}: copy or export the model again")

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Return the outputs that `outputs` names, by name, with one row for each row of `vectors`."""
        names = tuple(outputs)
        if not names:
            return {}
        self.prepare(names)
        return dict(zip(names, self._computing[names].run({"vectors": vectors}, names), strict=True))

    def prepare(self, outputs: tuple[str, ...]) -> None:
        """Build the network that computes `outputs` and nothing else, unless it was built before."""
        if outputs and outputs not in self._computing:
            file = str(self._path / HEADS)
            with naming(file):
                network = without_others(self._heads, outputs)
            self._computing[outputs] = Session(network, file, self._threads, [{"vectors": (varying(BLOCK),)}])

    def pairs(self, group: Group, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Return the scores of relations for pairs of a word and its head; see `Classifiers.pairs`."""
        return self._networks[PAIRS[group]].run({"words": words, "above": heads, "classes": classes})[0]

    def arcs(self, group: Group, words: Floats, heads: Floats) -> Floats:
        """Return the scores of arcs in sentences of equal length; see `Classifiers.arcs`."""
        return self._networks[ARCS[group]].run({"words": words, "above": heads})[0]
