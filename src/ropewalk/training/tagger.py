"""A trained model: words in, trees out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ropewalk.models import decode, parse
from ropewalk.models.batching import alike
from ropewalk.training import folder
from ropewalk.training.data import forms_of
from ropewalk.training.heads import BiaffineRelations
from ropewalk.training.network import Network

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    import numpy.typing as npt

    from ropewalk.models.config import Config
    from ropewalk.models.decode import Scores
    from ropewalk.models.inputs import Inputs
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.parse import Answers
    from ropewalk.training.encoders import Encoder
    from ropewalk.treebank import Treebank
    from ropewalk.trees import Ints


def use_threads(count: int) -> None:
    """Compute with so many threads."""
    torch.set_num_threads(count)


ROWS = 64  # words pass the heads in multiples of it, so that neighbours change nothing


@final
class Tagger:
    """A network, the names behind its numbers, and the configuration that it was made with."""

    def __init__(self, config: Config, labels: LabelSet, network: Network) -> None:
        self.config = config
        self.labels = labels
        self.network = network

    @classmethod
    def create(cls, config: Config, labels: LabelSet, vectors: npt.NDArray[np.float32] | None = None) -> Tagger:
        """Make an untrained tagger, on a pretrained encoder if the configuration names one."""
        torch.manual_seed(config.seed)
        encoder = folder.new_encoder(config.model.encoder, labels, vectors)
        return cls(config, labels, Network(config.model, labels, encoder))

    @classmethod
    def on_top_of(cls, base: Tagger, config: Config, labels: LabelSet) -> Tagger:
        """Make a tagger for other data that begins with what another has learnt.

        The encoder is taken as it is, and of the heads whatever deals with labels, relations or tags of the same name.
        """
        torch.manual_seed(config.seed)
        found = replace(base.config.model.encoder, name=config.model.encoder.name)
        config = replace(config, model=replace(config.model, encoder=found))
        labels = replace(labels, vocabulary=base.labels.vocabulary)
        made = cls(config, labels, Network(config.model, labels, base.encoder))
        _inherit(made, base)
        return made

    @classmethod
    def from_pretrained(
        cls, name: str | os.PathLike[str], *, revision: str | None = None, local_files_only: bool = False
    ) -> Tagger:
        """Load a model from its folder, or by its name on the Hugging Face hub; a folder makes no network call."""
        found = folder.load(folder.locate(name, revision, local_files_only=local_files_only))
        network = Network(found.config.model, found.labels, found.encoder)
        folder.fill(network, found.weights, found.path)
        network.eval()
        return cls(found.config, found.labels, network)

    def save_pretrained(self, path: str | os.PathLike[str], card: str = "") -> None:
        """Write the model's folder."""
        folder.save_frame(path, self.config, self.labels, self.network.encoder)
        folder.save_weights(path, self.network.state_dict())
        if card:
            folder.save_card(path, card)

    def push_to_hub(self, name: str, path: str | os.PathLike[str], *, private: bool = False) -> None:
        """Upload a model's folder to the Hugging Face hub."""
        folder.push(name, path, private=private)

    def with_decoding(self, **changes: Any) -> Tagger:  # noqa: ANN401 - the fields of `Decoding`
        """Decode otherwise: the same tagger with other options of decoding."""
        config = replace(self.config, decoding=replace(self.config.decoding, **changes))
        return Tagger(config, self.labels, self.network)

    @property
    def tells_confidence(self) -> bool:
        """Whether the model's trees have probabilities."""
        return self.config.model.parser == "labels" and decode.sure(self.labels)

    @property
    def encoder(self) -> Encoder:
        """What reads the words."""
        return self.network.encoder

    def parse(self, bank: Treebank) -> Treebank:
        """Put the model's trees, and tags if it has any, over the words of a treebank."""
        if not bank.words:
            return bank
        return self.parse_inputs(bank, self.encoder.prepare(forms_of(bank)))

    def parse_inputs(self, bank: Treebank, inputs: list[Inputs]) -> Treebank:
        """Parse sentences that were prepared before."""
        was_training = self.network.training
        self.network.eval()
        try:
            with torch.inference_mode():
                return self._parse(bank, inputs)
        finally:
            self.network.train(was_training)

    def answers(self, bank: Treebank) -> list[tuple[int, Answers]]:
        """Say what the network says of the words of a treebank, all in one piece; for use in `inference_mode`."""
        self.network.eval()
        vectors = self._vectors(bank, self.encoder.prepare(forms_of(bank)))
        return [(len(bank), _Answers(self.network, vectors, bank.lengths))]

    def _parse(self, bank: Treebank, inputs: list[Inputs]) -> Treebank:
        answers = _Answers(self.network, self._vectors(bank, inputs), bank.lengths)
        return parse.parse(bank, self.config, self.labels, [(len(bank), answers)])

    def calibrated(self, gold: Treebank, inputs: list[Inputs]) -> Tagger:
        """Find out on sentences of known trees how sure the model is; the same tagger if it never says."""
        if not self.tells_confidence or not gold.words:
            return self
        self.network.eval()
        with torch.inference_mode():
            answers = _Answers(self.network, self._vectors(gold, inputs), gold.lengths)
            found = parse.calibrated(gold, self.config, self.labels, answers)
        return Tagger(replace(self.config, decoding=found), self.labels, self.network)

    def _vectors(self, bank: Treebank, inputs: list[Inputs]) -> Tensor:
        """Run the encoder over all sentences, each beside others of its own size only."""
        device = next(self.network.parameters()).device
        budget = self.config.decoding.batch
        vectors: Tensor | None = None
        for size, chosen in alike([one.size for one in inputs], self.encoder.canonical, budget):
            batch = self.encoder.collate([inputs[sentence] for sentence in chosen], size).to(device)
            words = self.network(batch)
            vectors = words.new_empty(bank.words, words.shape[1]) if vectors is None else vectors
            for sentence, part in zip(chosen, words.split(batch.lengths.tolist()), strict=True):
                vectors[int(bank.offsets[sentence]) : int(bank.offsets[sentence + 1])] = part
        assert vectors is not None  # noqa: S101 - there is at least one word
        return vectors.float()


class _Answers:
    """What a network says of words whose vectors are known: [words, size]."""

    def __init__(self, network: Network, vectors: Tensor, lengths: Ints) -> None:
        self._network = network
        self._vectors = vectors
        self._lengths = torch.from_numpy(lengths.astype(np.int64)).to(vectors.device)

    def tags(self) -> list[Scores]:
        """Score the tags of each tag set."""
        return [_scores(head, self._vectors) for head in self._network.tags]

    def labels(self) -> list[Scores]:
        """Score the labels of each column of the first encoding."""
        return [_scores(head, self._vectors) for head in self._network.columns[: self._network.own]]

    def arcs(self) -> Iterator[Scores]:
        """Score the heads of each sentence."""
        assert self._network.arcs is not None  # noqa: S101 - as the configuration says
        for words, length in self._sentences():
            arcs: Scores = functional.log_softmax(self._network.arcs(words, length)[0], -1).cpu().numpy()
            yield arcs

    def relations(self, heads: Ints | None) -> Scores:
        """Score relations, from words and heads or from words alone."""
        if heads is None:
            return _scores(self._network.relations, self._vectors)
        vectors = self._vectors
        given = torch.from_numpy(heads.astype(np.int64)).to(vectors.device)
        if isinstance(self._network.relations, BiaffineRelations):  # each sentence's products have shapes of their own
            parts = zip(self._sentences(), given.split(self._lengths.tolist()), strict=True)
            out = torch.cat([self._network.label(words, above, length) for (words, length), above in parts])
        else:
            extra = -len(vectors) % ROWS
            lengths = functional.pad(self._lengths, (0, 1), value=extra)
            padded = functional.pad(vectors, (0, 0, 0, extra))
            out = self._network.label(padded, functional.pad(given, (0, extra)), lengths)[: len(vectors)]
        scores: Scores = functional.log_softmax(out, -1).cpu().numpy()
        return scores

    def _sentences(self) -> Iterator[tuple[Tensor, Tensor]]:
        for words in self._vectors.split(self._lengths.tolist()):
            yield words, torch.tensor([len(words)], device=words.device)


def _scores(head: torch.nn.Module | None, vectors: Tensor) -> npt.NDArray[np.float32]:
    """Score all words as log-probabilities, in a shape that hides how many they are."""
    assert head is not None  # noqa: S101 - as the configuration says
    padded = functional.pad(vectors, (0, 0, 0, -len(vectors) % ROWS))
    scores: npt.NDArray[np.float32] = functional.log_softmax(head(padded)[: len(vectors)], -1).cpu().numpy()
    return scores


def _named_outputs(tagger: Tagger) -> dict[str, tuple[str, ...]]:
    """Name the texts behind the rows of each last layer, by the module that holds it."""
    out = {}
    number = 0
    for columns in tagger.labels.columns:
        for texts in columns:
            out[f"columns.{number}.layers.4."] = texts
            number += 1
    for number, (_, texts) in enumerate(tagger.labels.tags):
        out[f"tags.{number}.layers.4."] = texts
    for name in ("relations.out.", "relations.layers.4.", "relations.products"):
        out[name] = tagger.labels.relations
    return out


def _inherit(tagger: Tagger, base: Tagger) -> None:
    """Copy what two taggers have in common: rows of last layers by the texts they stand for, the rest by name."""
    ours, theirs = tagger.network.state_dict(), base.network.state_dict()
    own, other = _named_outputs(tagger), _named_outputs(base)
    for name, tensor in ours.items():
        given = theirs.get(name)
        if given is None or given.shape[1:] != tensor.shape[1:] or name.startswith("encoder."):
            continue
        last = next((start for start in own if name.startswith(start)), "")
        if last:
            places = {text: place for place, text in enumerate(other.get(last, ()))}
            for row, text in enumerate(own[last]):
                if text in places:
                    tensor[row] = given[places[text]]
        elif given.shape == tensor.shape:
            tensor.copy_(given)
    tagger.network.load_state_dict(ours)
