"""Enhanced graphs in training: what is learnt of them, and the heads that score them beside those of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.encodings.graphs import NO_ARC, get, joined_relations
from ropewalk.errors import TrainingError
from ropewalk.formats import deps
from ropewalk.models.labels import MISSING, GraphNames, frequent, numbers
from ropewalk.models.scorer import arc_places
from ropewalk.scoring.graph_scores import between_words
from ropewalk.training.classifiers import ArcScorer, FeedForward, PairRelations

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.models.description import GraphShape
    from ropewalk.treebank.treebank import Treebank

    Numbers = npt.NDArray[np.int64]

LABELS = "graph_labels"  # outputs: see `HeadNetworks.outputs`
PAIRS = ("graph_pair_words", "graph_pair_heads")
ARCS = ("graph_arc_words", "graph_arc_heads")
RARE = -3.0  # the log-odds of an arc before anything is learnt: most pairs of words are none


@dataclass(frozen=True, slots=True, eq=False)
class GraphExamples:
    """Everything to be learnt about the graphs of some sentences.

    The arcs into word k of all are `starts[k]:starts[k+1]` in `heads`, which count within the sentence, `relations`,
    and `real`, which is false for arcs that labels spell and the graph does not have.
    """

    labels: Numbers
    starts: Numbers
    heads: Numbers
    relations: Numbers
    real: npt.NDArray[np.bool_]

    def batch(self, places: Numbers, lengths: Sequence[int], distances: Numbers) -> GraphTargets:
        """Take what is to be learnt of some words, of sentences of these lengths."""
        counts = self.starts[places + 1] - self.starts[places]
        words: Numbers = np.repeat(np.arange(len(places)), counts)
        inner = np.arange(len(words)) - np.repeat(np.cumsum(counts) - counts, counts)
        arcs = self.starts[places][words] + inner
        heads = self.heads[arcs]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        above, classes = arc_places(words, heads, offsets, distances)
        arrays = (self.labels[places] if len(self.labels) else self.labels, words, heads, above, classes)
        tensors = [torch.from_numpy(one) for one in (*arrays, self.relations[arcs], self.real[arcs])]
        return GraphTargets(*tensors)


@dataclass(frozen=True, slots=True)
class GraphTargets:
    """What is to be learnt of the graphs of a batch: a label for each word, and arcs with their relations."""

    labels: Tensor
    words: Tensor  # the dependent of each arc among all words of the batch,
    heads: Tensor  # its head within the sentence, 0 is the root,
    places: Tensor  # and among all words, -1 is the root
    classes: Tensor  # of their distances: see `arc_places`
    relations: Tensor
    real: Tensor

    def to(self, device: torch.device) -> GraphTargets:
        """Move everything to a device."""
        return GraphTargets(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


def graph_names(encoding: str, bank: Treebank) -> GraphNames:
    """List the labels and relations of a treebank's graphs; an encoding without a name has no labels."""
    graphs = between_words(deps.read(bank))
    if not len(graphs.heads):
        raise TrainingError(f"{bank.file}: no word has an arc in DEPS; a model of graphs learns from enhanced graphs")
    relations = frequent(joined_relations(graphs))
    if not encoding:
        return GraphNames("", (), relations)
    labels = get(encoding).encode(graphs)
    texts = frequent(labels.columns[0])
    pads = (NO_ARC,) if NO_ARC in labels.relations.names else ()
    return GraphNames(encoding, texts, (*relations, *pads))


def graph_examples(bank: Treebank, names: GraphNames) -> GraphExamples:
    """Number everything that is to be learnt about the graphs of a treebank."""
    graphs = between_words(deps.read(bank))
    first = graphs.first_of_pairs()
    words, heads = graphs.arc_nodes[first], graphs.heads[first].astype(np.int64)
    joined = joined_relations(graphs)
    relations = numbers(joined.ids, joined.names, names.relations)
    real = np.ones(len(words), dtype=np.bool_)
    labels: Numbers = np.zeros(0, dtype=np.int64)
    if names.encoding:
        encoding = get(names.encoding)
        coded = encoding.encode(graphs)
        labels = numbers(coded.columns[0].ids, coded.columns[0].names, names.labels)
        if NO_ARC in names.relations:
            most = int(graphs.lengths.max(initial=0)) + 1
            spelled, above, _ = encoding.arcs(coded)
            more = np.setdiff1d(spelled * most + above, words * most + heads)
            words, heads = np.concatenate([words, more // most]), np.concatenate([heads, more % most])
            relations = np.append(relations, np.full(len(more), names.relations.index(NO_ARC)))
            real = np.append(real, np.zeros(len(more), dtype=np.bool_))
    order = np.lexsort((heads, words))
    starts = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=bank.words))])
    return GraphExamples(labels, starts, heads[order], relations[order], real[order])


@final
class GraphHeads(nn.Module):
    """Labels and arcs of graphs as the shape asks for, and relations of arcs from both their words."""

    def __init__(self, shape: GraphShape, names: GraphNames, size: int, dropout: float) -> None:
        super().__init__()
        self.labels = FeedForward(size, shape.hidden, len(names.labels), dropout) if shape.labels else None
        self.arcs = ArcScorer(size, shape.arc_size, dropout) if shape.arcs else None
        self.bias = nn.Parameter(torch.tensor(RARE)) if shape.arcs else None
        self.relations = PairRelations(size, shape.relation_size, len(names.relations), dropout)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name what `word_scores` can compute; see `HeadNetworks.outputs`."""
        return (*(() if self.labels is None else (LABELS,)), *PAIRS, *(() if self.arcs is None else ARCS))

    def word_scores(self, vectors: Tensor, outputs: Sequence[str]) -> dict[str, Tensor]:
        """Compute what follows from each word alone, as far as these outputs need it."""
        out: dict[str, Tensor] = {}
        if self.labels is not None and LABELS in outputs:
            out[LABELS] = self.labels(vectors).log_softmax(-1)
        if not set(PAIRS).isdisjoint(outputs):
            out |= zip(PAIRS, self.relations.sides(vectors), strict=True)
        if self.arcs is not None and not set(ARCS).isdisjoint(outputs):
            out |= zip(ARCS, self.arcs.sides(vectors), strict=True)
        return out

    def arc_scores(self, words: Tensor, heads: Tensor, root: Tensor) -> Tensor:
        """Give the log-odds of arcs in sentences of one length: see `HeadNetworks.graph_arcs`."""
        assert self.arcs is not None  # noqa: S101 - as the shape says
        assert self.bias is not None  # noqa: S101 - likewise
        return self.arcs.score(words, heads, root) + self.bias

    def loss(self, vectors: Tensor, lengths: Tensor, targets: GraphTargets) -> Tensor:
        """Give the loss summed over the words of a batch."""
        words, heads = self.relations.sides(vectors)
        scores = self.relations.of_arcs(words[targets.words], heads, targets.places, targets.classes)
        out = functional.cross_entropy(scores.float(), targets.relations, ignore_index=MISSING, reduction="sum")
        if self.labels is not None:
            found = self.labels(vectors).float()
            out = out + functional.cross_entropy(found, targets.labels, ignore_index=MISSING, reduction="sum")
        if self.arcs is not None and self.bias is not None:
            table = self.arcs(vectors, lengths)
            inside = torch.arange(table.shape[1], device=lengths.device) < lengths[:, None]
            rows = table[inside] + self.bias
            wanted = torch.zeros_like(rows)
            wanted[targets.words[targets.real], targets.heads[targets.real]] = 1.0
            out = out + functional.binary_cross_entropy_with_logits(rows.float(), wanted.float(), reduction="sum")
        return out


def graph_outputs(names: GraphNames, last: int) -> dict[str, tuple[str, ...]]:
    """Name the texts behind the rows of each last layer, by the module that holds it; `last` is that of labels."""
    return {f"graphs.labels.layers.{last}.": names.labels, "graphs.relations.out.": names.relations}
