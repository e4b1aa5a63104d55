"""A trained model: words in, trees out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ropewalk.decoding.spanning import spanning_tree
from ropewalk.models import decode
from ropewalk.models.batching import alike
from ropewalk.tagging import folder
from ropewalk.tagging.data import forms_of
from ropewalk.tagging.network import Network
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.models.config import Config
    from ropewalk.models.decode import Scores
    from ropewalk.models.inputs import Inputs
    from ropewalk.models.labels import LabelSet
    from ropewalk.tagging.encoders import Encoder
    from ropewalk.treebank import Column, Treebank
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
        return self.network.biaffine is None and decode.sure(self.labels)

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

    def _parse(self, bank: Treebank, inputs: list[Inputs]) -> Treebank:
        vectors = self._vectors(bank, inputs)  # [words, size]
        tags = {
            name: decode.tags_of(_scores(head, vectors), texts)
            for (name, texts), head in zip(self.labels.tags, self.network.tags, strict=True)
        }
        tagged = bank.with_columns(tags) if tags else bank
        if self.network.biaffine is not None:
            return tagged.with_trees(*self._biaffine(tagged, vectors))
        scores, root, relation_scores = self._label_scores(vectors)
        options = self.config.decoding
        best = decode.best_of(self.labels, scores, bank.offsets, options, root=root, upos=tagged.upos)
        relations = self._relations(bank, vectors, relation_scores, best.heads)
        parsed = tagged.with_trees(*decode.lowered(self.labels, best.heads, relations, bank.offsets))
        if not options.confidence:
            return parsed
        arcs, trees = decode.confidences_of(self.labels, scores[0], bank.offsets, options, best, root=root)
        return with_confidence(parsed, arcs.tolist(), trees.tolist())

    def temperature(self, gold: Treebank, inputs: list[Inputs]) -> float:
        """Find the temperature at which the model's arcs are as often right as it says; 1 if it never says."""
        if not self.tells_confidence or not gold.words:
            return 1.0
        self.network.eval()
        with torch.inference_mode():
            scores, root, _ = self._label_scores(self._vectors(gold, inputs))
        return decode.temperature_of(self.labels, scores[0], gold, self.config.decoding, root=root)

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

    def _label_scores(self, vectors: Tensor) -> tuple[list[Scores], Scores | None, Scores | None]:
        """Score the labels of each column, and being the root and relations if words alone tell them."""
        network = self.network
        scores = [_scores(head, vectors) for head in network.columns[: network.own]]
        if self.config.model.relations.from_ != "word":
            return scores, None, None
        relations = _scores(network.relations, vectors)
        return scores, np.logaddexp.reduce(relations[:, self.labels.roots()], axis=1), relations

    def _relations(self, bank: Treebank, vectors: Tensor, relation_scores: Scores | None, heads: Ints) -> Column:
        if relation_scores is None:
            lengths = torch.from_numpy(bank.lengths.astype(np.int64)).to(vectors.device)
            given = torch.from_numpy(heads.astype(np.int64)).to(vectors.device)
            extra = -len(vectors) % ROWS
            padded = functional.pad(vectors, (0, 0, 0, extra))
            lengths = functional.pad(lengths, (0, 1), value=extra)
            out = self.network.label(padded, functional.pad(given, (0, extra)), lengths)
            relation_scores = functional.log_softmax(out[: len(vectors)], -1).cpu().numpy()
        return decode.relations_of(self.labels, relation_scores, heads)

    def _biaffine(self, bank: Treebank, vectors: Tensor) -> tuple[Ints, Column]:
        """Parse sentence by sentence: the products of one have shapes of their own."""
        network = self.network
        assert network.biaffine is not None  # noqa: S101 - as the caller knows
        trees, scores = [], []
        for words in vectors.split(bank.lengths.tolist()):
            length = torch.tensor([len(words)], device=words.device)
            arcs = functional.log_softmax(network.biaffine(words, length)[0], -1)
            heads = spanning_tree(arcs.cpu().numpy())
            given = torch.from_numpy(heads.astype(np.int64)).to(words.device)
            scores.append(functional.log_softmax(network.label(words, given, length), -1).cpu().numpy())
            trees.append(heads)
        heads = frozen_ints(np.concatenate(trees))
        return heads, decode.relations_of(self.labels, np.concatenate(scores), heads)


def with_confidence(bank: Treebank, arcs: Sequence[float], trees: Sequence[float]) -> Treebank:
    """Write the probability of every arc into MISC, and of every tree into a comment."""
    misc = bank.column("misc").texts()
    parts = [[part for part in text.split("|") if part != "_" and not part.startswith("Confidence=")] for text in misc]
    told = ["|".join([*kept, f"Confidence={arc:.4f}"]) for kept, arc in zip(parts, arcs, strict=True)]
    return bank.with_columns({"misc": told}).with_comments([f"# confidence = {tree:.4f}" for tree in trees])


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
    for name in ("relations.out.", "relations.layers.4.", "biaffine.relations"):
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
