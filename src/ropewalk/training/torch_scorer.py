"""The numbers of a trained network by torch, in the shapes that `models.scorer` asks for."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np
import torch

from ropewalk.models.batching import alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.scorer import Floats, Numbers
    from ropewalk.training.classifiers import PairScorer
    from ropewalk.training.network import Network


@final
class TorchEncoder:
    """Words in, vectors out."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Run the encoder over sentences, each beside others of its own size only."""
        encoder = self._network.encoder
        texts = forms.texts()
        inputs = encoder.prepare([texts[start:stop] for start, stop in pairwise(offsets.tolist())])
        out = np.zeros((len(forms), encoder.size), dtype=np.float32)
        with _used(self._network):
            for size, chosen in alike([one.size for one in inputs], encoder.canonical, budget):
                batch = encoder.collate([inputs[sentence] for sentence in chosen], size).to(_device(self._network))
                places = np.concatenate([np.arange(offsets[sentence], offsets[sentence + 1]) for sentence in chosen])
                out[places] = _array(self._network(batch))
        return out


@final
class TorchHeads:
    """The networks between the vectors of words and scores."""

    rows = 64

    def __init__(self, network: Network) -> None:
        self._network = network

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name what `words` can compute."""
        return self._network.outputs

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute what follows from each word alone."""
        with _used(self._network):
            found = self._network.word_scores(self._tensor(vectors), outputs)
            return {name: _array(found[name]) for name in outputs}

    def pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of pairs."""
        relations = self._network.relations.pairs
        assert relations is not None  # noqa: S101 - as the description says
        return self._relations(relations, words, heads, classes)

    def graph_pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of arcs of graphs."""
        graphs = self._network.graphs
        assert graphs is not None  # noqa: S101 - as the description says
        return self._relations(graphs.relations, words, heads, classes)

    def _relations(self, relations: PairScorer, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        with _used(self._network):
            above = self._tensor(heads) + relations.classes()[self._tensor(classes)]
            return _array(relations.score(self._tensor(words), above).log_softmax(-1))

    def arcs(self, words: Floats, heads: Floats) -> Floats:
        """Score heads in sentences of one length, one at a time: torch multiplies several together otherwise."""
        arcs = self._network.arcs
        assert arcs is not None  # noqa: S101 - as the description says
        with _used(self._network):
            root = arcs.root_side()
            scores = [
                arcs.score(self._tensor(word[None]), self._tensor(head[None]), root)
                for word, head in zip(words, heads, strict=True)
            ]
            return _array(torch.cat(scores).log_softmax(-1))

    def graph_arcs(self, words: Floats, heads: Floats) -> Floats:
        """Give the log-odds of arcs of graphs, one sentence at a time likewise."""
        graphs = self._network.graphs
        assert graphs is not None  # noqa: S101 - as the description says
        assert graphs.arcs is not None  # noqa: S101 - likewise
        with _used(self._network):
            root = graphs.arcs.root_side()
            scores = [
                graphs.arc_scores(self._tensor(word[None]), self._tensor(head[None]), root)
                for word, head in zip(words, heads, strict=True)
            ]
            return _array(torch.cat(scores))

    def _tensor(self, array: Floats | Numbers) -> Tensor:
        return torch.from_numpy(array).to(_device(self._network))


@contextmanager
def _used(network: Network) -> Iterator[None]:
    """Use a network rather than train it."""
    training = network.training
    if training:
        network.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        if training:
            network.train()


def _device(network: Network) -> torch.device:
    return next(network.parameters()).device


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.float().cpu().numpy()
    return array
