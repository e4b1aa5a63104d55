"""Scores of a torch network, through the protocols of `models.scorer`."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np
import torch

from ropewalk.models.sentence_batches import alike
from ropewalk.models.vocabulary import styled
from ropewalk.training.classifiers import arc_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.scorer import Floats, Group, Numbers
    from ropewalk.training.network import Network


@final
class TorchEncoder:
    """Encoder of a torch network; implements the protocol `WordVectors`."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:
        """Return the vector of each word, computed for about `budget` tokens at a time: [words, size].

        Sentences share a batch only if they have the same canonical size, so that a result does not depend on the
        others. `style` is the index of the style in which all sentences are read.
        """
        encoder = self._network.encoder
        texts = forms.texts()
        inputs = encoder.prepare([texts[start:stop] for start, stop in pairwise(offsets.tolist())])
        if style:
            inputs = styled(inputs, [style] * len(inputs))
        out = np.zeros((len(forms), encoder.size), dtype=np.float32)
        with _used(self._network):
            for size, chosen in alike([sentence.size for sentence in inputs], encoder.canonical, budget):
                batch = encoder.collate([inputs[sentence] for sentence in chosen], size).to(_device(self._network))
                places = np.concatenate([np.arange(offsets[sentence], offsets[sentence + 1]) for sentence in chosen])
                out[places] = _array(self._network(batch))
        return out


@final
class TorchClassifiers:
    """Classifiers of a torch network; implements the protocol `Classifiers`."""

    rows = 64

    def __init__(self, network: Network) -> None:
        self._network = network

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all outputs of `words`."""
        return self._network.outputs

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Return the arrays that `outputs` names, computed from each word's vector alone: each [words, …]."""
        with _used(self._network):
            scores = self._network.word_scores(self._tensor(vectors), outputs)
            return {name: _array(scores[name]) for name in outputs}

    def pairs(self, group: Group, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Return the log-probabilities of relations of pairs: [pairs, relations].

        `words` has the side of each pair's dependent, `heads` that of its head (see `PairScorer`); `classes` are the
        distance classes.
        """
        relations = self._network.groups[group].relations.pairs
        assert relations is not None  # noqa: S101 - as the description says
        with _used(self._network):
            above = self._tensor(heads) + relations.classes()[self._tensor(classes)]
            return _array(relations.score(self._tensor(words), above).log_softmax(-1))

    def arcs(self, group: Group, words: Floats, heads: Floats) -> Floats:
        """Return each word's scores of heads in sentences of one length: [sentences, words, words + 1].

        Index 0 is the root. Each sentence is computed alone, because torch rounds differently if it computes several
        together.
        """
        classifiers = self._network.groups[group]
        assert classifiers.arcs is not None  # noqa: S101 - as the description says
        with _used(self._network):
            root = classifiers.arcs.root_side()
            scores = [
                arc_scores(self._tensor(word[None]), self._tensor(head[None]), root, classifiers.bias)
                for word, head in zip(words, heads, strict=True)
            ]
            return _array(torch.cat(scores))

    def _tensor(self, array: Floats | Numbers) -> Tensor:
        return torch.from_numpy(array).to(_device(self._network))


@contextmanager
def _used(network: Network) -> Iterator[None]:
    """Switch a network to evaluation without gradients; at the end, restore training if it was on."""
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
