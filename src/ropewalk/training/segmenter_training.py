"""The network that segments raw text by marking its characters, and its training.

A chunk is the text between two spaces. Convolutions over characters compute a vector of each character. A chunk's input
consists of the vectors of its first and last character, and an embedding of the chunk as a word. Wider convolutions
over chunks read these inputs. Their output is added to the vectors of the chunk's characters. All convolutions read a
limited number of neighbours, so that a long text can be read in windows that overlap by `context` chunks.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk import conllu, files
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.models.onnx.session import Session
from ropewalk.options import to_mapping
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, PARAGRAPH, SENTENCE, Aligned, align
from ropewalk.segmentation.assembly import build
from ropewalk.segmentation.evaluation import scores
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import (
    FEW,
    UNKNOWN,
    CharacterReader,
    CharacterVocabulary,
    characters_known,
    codes_of,
    pairs_known,
    words_known,
)
from ropewalk.segmentation.segmenter import Segmenter, network_sizes
from ropewalk.segmentation.segmenter_files import GRAPH, Stored, save
from ropewalk.segmentation.tokens import tokens_of
from ropewalk.segmentation.windows import WINDOW, mark
from ropewalk.training.loop import Clock, rate
from ropewalk.training.onnx_convolutions import whole_convolutions
from ropewalk.training.onnx_graphs import Computed, rounded, traced
from ropewalk.training.onnx_neighbours import several_texts
from ropewalk.training.trained_files import without_folders
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    import onnx

    from ropewalk.core.arrays import Bools
    from ropewalk.segmentation.reading import Numbers
    from ropewalk.segmentation.segmenter_config import NetworkOptions, SegmenterConfig, SegmenterTraining
    from ropewalk.segmentation.tokens import RawSentence

KERNEL, CHUNK_KERNEL = 5, 3
MARKS = (END, SENTENCE, MULTIWORD, JOIN)  # the last only if the treebank has tokens with spaces inside
JOINABLE = 16  # bit beside the marks: spaces follow that a token may contain
OUTSIDE = 255  # stands for the marks of spaces, which are not learnt
SHIFTS = np.arange(-30, 31) / 10  # shifts of log-odds that are tried on the dev data
WRAP = 80  # characters of a line of raw text
PARAGRAPHS = 20  # number of paragraphs with the same layout in training
SAMPLES = 40  # windows of text that show the usual range of values
CHECKED, MOST_APART = 20_000, 1e-3  # characters, and the allowed difference of graph and network


class SegmenterNetwork(nn.Module):
    """Network that marks characters: it computes the log-odds that each ends a token, a sentence, a multiword token.

    If tokens may contain spaces, there is a fourth mark: the token continues after the spaces that follow.
    """

    def __init__(
        self, options: NetworkOptions, characters: int, words: int, pairs: int = 0, *, joins: bool = False
    ) -> None:
        super().__init__()
        size, wide, hidden = options.character_hidden, options.chunk_hidden, options.hidden
        self.characters = nn.Embedding(characters, options.character_size)
        self.words = nn.Embedding(words, options.word_size)
        sizes = [options.character_size, *(size for _ in options.character_dilations)]
        self.near = nn.ModuleList(
            nn.Conv1d(before, size, KERNEL, padding="same", dilation=dilation)
            for before, dilation in zip(sizes, options.character_dilations, strict=False)
        )
        self.pairs = nn.Embedding(pairs, options.pair_size) if pairs else None
        self.chunk = nn.Linear(2 * size + options.word_size + (options.pair_size if pairs else 0), wide)
        self.far = nn.ModuleList(
            nn.Conv1d(wide, wide, CHUNK_KERNEL, padding="same", dilation=dilation)
            for dilation in options.chunk_dilations
        )
        self.from_character = nn.Linear(size, hidden)
        self.from_chunk = nn.Linear(wide, hidden, bias=False)
        self.out = nn.Linear(hidden, len(MARKS) if joins else len(MARKS) - 1)
        self.dropout = nn.Dropout(options.dropout)
        with torch.no_grad():
            for table in filter(None, (self.words, self.pairs)):
                table.weight *= options.word_spread

    def forward(  # noqa: PLR0913, PLR0917 - the inputs
        self,
        characters: Tensor,
        chunks: Tensor,
        words: Tensor,
        first: Tensor,
        last: Tensor,
        pairs: Tensor | None = None,
    ) -> Tensor:
        """Return the log-odds of each mark for each of n characters, which belong to m chunks: [n, 3 or 4].

        `characters` has indices in the character vocabulary, `chunks` the index of each character's chunk: both [n].
        `words` and `pairs` have indices of chunks and pairs of chunks in their vocabularies, `first` and `last` the
        index of each chunk's first and last character: all [m].
        """
        near = self.characters(characters).T[None]
        for layer in self.near:
            near = functional.relu(layer(near))
        near = self.dropout(near[0].T)
        parts = [near[first], near[last], self.dropout(self.words(words))]
        if self.pairs is not None:
            parts.append(self.dropout(self.pairs(pairs)))
        far = torch.cat(parts, dim=1)
        far = functional.relu(self.chunk(far)).T[None]
        for layer in self.far:
            far = far + functional.relu(layer(self.dropout(far)))
        far = self.from_chunk(self.dropout(far[0].T))
        odds: Tensor = self.out(functional.relu(self.from_character(near) + far[chunks]))
        return odds


def context(options: NetworkOptions) -> int:
    """Return the number of neighbouring chunks, on each side, that the marks of a chunk depend on.

    Convolutions over characters count as if each chunk had one character. A chunk also depends on whether its line is
    short, which is computed from `FEW` chunks before it.
    """
    characters = sum(KERNEL // 2 * dilation for dilation in options.character_dilations)
    chunks = sum(CHUNK_KERNEL // 2 * dilation for dilation in options.chunk_dilations) + (options.pair_size > 0)
    return characters + chunks + FEW + 1


@dataclass(frozen=True, slots=True)
class SegmenterProgress:
    """Progress of a run: the epoch that just ended, its loss per token, and the scores on the dev data."""

    epoch: int
    epochs: int
    done: float  # fraction of the run
    loss: float
    characters_per_second: float
    scores: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class SegmenterOutcome:
    """Result of a run: the folder of its segmenter, and its scores by part of the data (dev, test)."""

    home: Path
    scores: dict[str, dict[str, float]]


def train(
    config: SegmenterConfig,
    out: str | os.PathLike[str],
    *,
    report: Callable[[SegmenterProgress], None] = lambda _: None,
) -> SegmenterOutcome:
    """Train a segmenter, write it into the folder `out`, and return its scores.

    The thresholds of its marks are fitted to the dev data. `report` is called after each epoch.
    """
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    sentences = list(tokens_of(_read(config.data.train, "train")))
    dev = _read(config.data.dev, "dev")
    test = _read(config.data.test, "test") if config.data.test else None
    splitter = Splitter.learn(token for sentence in sentences for token in sentence.tokens)
    aligned = align(sentences)
    model = config.model
    least_pairs = model.least_pairs if model.pair_size else 0
    vocabulary = CharacterVocabulary.of(aligned.text, model.least_characters, model.least_words, least_pairs)
    known = (characters_known(vocabulary), words_known(vocabulary), pairs_known(vocabulary))
    torch.manual_seed(config.seed)
    network = SegmenterNetwork(model, *known, joins=bool((aligned.marks & JOIN).any()))
    trained = Trained(network, CharacterReader(vocabulary), splitter, context(config.model))
    for progress in _epochs(config, trained, sentences, dev):
        report(progress)
    trained.balance(dev)
    graph = as_onnx(network)
    _check(graph.SerializeToString(), trained, raw(dev))
    small = several_texts(
        rounded(whole_convolutions(graph, "characters")), _samples(trained, raw(dev)), trained.context
    )
    stored = Stored(vocabulary, splitter, trained.context, small.SerializeToString(deterministic=True), {})
    segmenter = Segmenter(stored, config.training.threads)
    banks = {"dev": dev, **({} if test is None else {"test": test})}
    results = {part: scores(bank, segmenter.segment(raw(bank))) for part, bank in banks.items()}
    home = Path(out)
    with files.creating_folder(home, keep=True) as part:  # perhaps a parser's folder, whose files must fit together
        portable = replace(config, data=without_folders(config.data, "train", "dev", "test"))
        save(part, replace(stored, training={"config": to_mapping(portable), "scores": results}))
    return SegmenterOutcome(home, results)


def raw(bank: Treebank) -> str:
    """Return a treebank's raw text in lines of at most 80 characters, as in the CoNLL shared tasks."""
    return align(tokens_of(bank), wrap=WRAP).text


def _read(paths: Sequence[str], part: str) -> Treebank:
    if not paths:
        raise ConfigError("configuration", f"data.{part}", "is empty; expected a treebank, or several")
    return Treebank.concat([conllu.read(path) for path in paths])


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained network and the other parts of a segmenter: character reader, multiword splitter, context."""

    network: SegmenterNetwork
    reader: CharacterReader
    splitter: Splitter
    context: int

    def score(self, part: dict[str, Numbers]) -> npt.NDArray[np.float32]:
        """Return the log-odds of marks, [characters, marks]; `part` has the network's inputs for some chunks."""
        with torch.inference_mode():
            odds: npt.NDArray[np.float32] = self.network(**_tensors(part)).numpy()
        return odds

    def segment(self, text: str) -> Treebank:
        """Segment raw text; return its sentences as a treebank without trees."""
        self.network.eval()
        return Treebank.concat(build(mark([text], self.reader, self.score, self.context), self.splitter))

    def balance(self, bank: Treebank) -> None:
        """Shift the log-odds of each mark by the amount that gives the best F1 on a treebank.

        The F1 of each amount in `SHIFTS` is averaged with those of its neighbours, to reduce noise.
        """
        self.network.eval()
        aligned = align(tokens_of(bank), wrap=WRAP)
        reading = self.reader.read(codes_of(aligned.text))
        inside = np.flatnonzero(reading.places >= 0)
        odds = self.score(reading.part(0, len(reading.first)))[inside]
        gold = aligned.marks[reading.places[inside]]
        ends = gold & END > 0
        forced = np.diff(inside, append=len(reading.places) + 1) > 1  # a token ends before spaces unless it continues
        joinable = reading.joinable(0, len(reading.places))[inside]
        stops = reading.places[inside][ends] + 1
        tokens = (aligned.text[start:stop].strip() for start, stop in itertools.pairwise([0, *stops.tolist()]))
        splittable = np.zeros_like(ends)  # other tokens stay one word, whatever their marks are
        splittable[ends] = [bool(token) and len(self.splitter.split(token)) > 1 for token in tokens]
        for index, bit in enumerate(MARKS[: odds.shape[1]]):
            own = odds[:, index]
            if bit == END:
                tried = [np.where(forced, ends, own > shift) for shift in SHIFTS]
            elif bit == JOIN:
                tried = [np.where(joinable, own <= shift, ends) for shift in SHIFTS]
            else:
                tried = [(own > shift) & (splittable if bit == MULTIWORD else ends) for shift in SHIFTS]
            right = ends if bit == JOIN else gold & bit > 0
            values = [_f1(right, marks, spans=bit != MULTIWORD) for marks in tried]
            smooth = np.convolve(np.pad(values, 2, mode="edge"), np.ones(5) / 5, mode="valid")
            with torch.no_grad():
                self.network.out.bias[index] -= float(SHIFTS[int(np.argmax(smooth))])


def _f1(gold: Bools, predicted: Bools, *, spans: bool) -> float:
    """Return the F1 of predicted marks; with `spans`, the F1 of the spans between two marks."""
    ours, theirs = ([-1, *np.flatnonzero(marks).tolist()] for marks in (gold, predicted))
    same = len(set(itertools.pairwise(ours)) & set(itertools.pairwise(theirs)) if spans else set(ours) & set(theirs))
    return 2 * same / (len(ours) + len(theirs))


def _tensors(part: dict[str, Numbers]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in part.items()}


def _epochs(
    config: SegmenterConfig, trained: Trained, sentences: Sequence[RawSentence], dev: Treebank
) -> Iterator[SegmenterProgress]:
    options = config.training
    network = trained.network
    decays = [weight for weight in network.parameters() if weight.ndim > 1]
    others = [weight for weight in network.parameters() if weight.ndim <= 1]
    groups = [{"params": decays, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=options.rate)
    text = raw(dev)
    clock = Clock(options.minutes)
    for epoch in range(options.epochs):
        begun = time.monotonic()
        random = np.random.default_rng([config.seed, epoch])
        torch.manual_seed(int(random.integers(2**31)))
        aligned = varied(sentences, options, random)
        network.train()
        total = tokens = 0.0
        read = 0
        batches = _batches(aligned, trained.reader, options, random)
        for number, (part, marks) in enumerate(batches):
            done = clock.done((epoch + number / len(batches)) / options.epochs)
            for group in optimizer.param_groups:
                group["lr"] = options.rate * rate(done, options.warmup, "linear")
            summed, many = _loss(network(**_tensors(part)), torch.from_numpy(marks))
            optimizer.zero_grad()
            (summed / max(many, 1)).backward()
            nn.utils.clip_grad_norm_(network.parameters(), options.clip or float("inf"))
            optimizer.step()
            total += float(summed.detach())
            tokens += many
            read += len(marks)
            if clock.is_up:
                break
        loss = total / max(tokens, 1)
        if not np.isfinite(loss):
            raise TrainingError(f"epoch {epoch + 1}: the loss is {loss}; lower training.rate or training.clip")
        speed = read / max(time.monotonic() - begun, 1e-9)
        done = clock.done((epoch + 1) / options.epochs)
        yield SegmenterProgress(epoch + 1, options.epochs, done, loss, speed, scores(dev, trained.segment(text)))
        if clock.is_up:
            break


def _loss(odds: Tensor, marks: Tensor) -> tuple[Tensor, int]:
    """Return the sum of the losses of all marks, and the number of tokens.

    The marks of sentences and multiword tokens are learnt only at ends of tokens. The mark of tokens that continue is
    learnt only before spaces that a token may contain.
    """
    gold = torch.stack([(marks & bit) > 0 for bit in MARKS[: odds.shape[1]]], dim=1).float()
    inside, ends = marks != OUTSIDE, (marks & END > 0) & (marks != OUTSIDE)
    costs = functional.binary_cross_entropy_with_logits(odds, gold, reduction="none")
    joinable = (marks & JOINABLE > 0) & inside
    return costs[inside, 0].sum() + costs[ends, 1:3].sum() + costs[joinable, 3:].sum(), int(ends.sum())


def _batches(
    aligned: Aligned, reader: CharacterReader, options: SegmenterTraining, random: np.random.Generator
) -> list[tuple[dict[str, Numbers], npt.NDArray[np.uint8]]]:
    """Return the batches of a text in random order: the network's inputs, and the gold marks of characters.

    Some words and pairs, chosen at random, are read as unknown, and some characters as their category.
    """
    reading = reader.read(codes_of(aligned.text))
    words = np.where(random.random(len(reading.words)) < options.forget_words, UNKNOWN, reading.words)
    hidden = random.random(len(reading.characters)) < options.forget_characters
    characters = np.where(hidden, reader.categories[reading.characters], reading.characters)
    pairs = reading.pairs
    if pairs is not None:
        pairs = np.where(random.random(len(pairs)) < options.forget_pairs, UNKNOWN, pairs)
    reading = replace(reading, words=words, characters=characters, pairs=pairs)
    joinable = np.where(reading.joinable(0, len(reading.places)), JOINABLE, 0)
    marks = np.where(reading.places >= 0, aligned.marks[reading.places] | joinable, OUTSIDE).astype(np.uint8)
    starts = np.arange(0, len(words), options.batch)
    out = []
    for start in random.permutation(starts).tolist():
        stop = min(start + options.batch, len(words))
        out.append((reading.part(start, stop), marks[reading.first[start] : reading.last[stop - 1] + 1]))
    return out


def varied(sentences: Sequence[RawSentence], options: SegmenterTraining, random: np.random.Generator) -> Aligned:
    """Return the sentences as raw text with gold marks, with random variation for one epoch.

    Paragraphs are in random order. Their line breaks vary, and some sentences are changed with `altered`.
    """
    opens = [number for number, sentence in enumerate(sentences) if sentence.paragraph or not number]
    spans = list(zip(opens, [*opens[1:], len(sentences)], strict=True))
    order = random.permutation(len(spans)).tolist()
    out = []
    for start in range(0, len(order), PARAGRAPHS):
        chosen = [
            altered(sentence, random) if random.random() < options.altered else sentence
            for number in order[start : start + PARAGRAPHS]
            for sentence in sentences[slice(*spans[number])]
        ]
        lines = random.random() < options.lines
        if lines and random.random() < 0.5:
            chosen = [_on_a_line(sentence) for sentence in chosen]
        wrap = int(random.integers(WRAP - 20, WRAP + 20)) if random.random() < options.wrapped else 0
        out.append(align(chosen, wrap=wrap, paragraph="\n" if lines else PARAGRAPH))
    return Aligned(
        "\n".join(part.text for part in out),
        np.concatenate([array for part in out for array in (part.marks, np.zeros(1, dtype=np.uint8))][:-1]),
    )


def _on_a_line(sentence: RawSentence) -> RawSentence:
    *tokens, last = sentence.tokens
    return replace(sentence, tokens=(*tokens, last._replace(after="\n")))


def altered(sentence: RawSentence, random: np.random.Generator) -> RawSentence:
    """Return a sentence with a random change of its writing.

    It loses its final punctuation or its initial capital or both, or it is in capitals, in lower case or with “quotes”.
    """
    tokens = list(sentence.tokens)
    how = int(random.integers(6))
    if how in {0, 2} and len(tokens) > 2 and not tokens[-1].text[-1].isalnum():
        last = tokens.pop()
        tokens[-1] = tokens[-1]._replace(after=last.after)
    if how in {1, 2}:
        tokens[0] = tokens[0]._replace(text=tokens[0].text.lower())
    if how in {3, 4}:
        tokens = [token._replace(text=token.text.upper() if how == 3 else token.text.lower()) for token in tokens]
    if how == 5:
        quotes = itertools.cycle("“”")
        tokens = [
            token._replace(text=next(quotes) if token.text == '"' else token.text.replace("'", "\u2019"))
            for token in tokens
        ]
    return replace(sentence, tokens=tuple(tokens))


def as_onnx(network: SegmenterNetwork) -> onnx.ModelProto:
    """Return a segmenter's network as an ONNX network, whose output `odds` has the log-odds of marks."""
    sizes = {"characters": 64, "chunks": 64, "words": 32, "first": 32, "last": 32}
    if network.pairs is not None:
        sizes["pairs"] = 32
    inputs = {name: torch.zeros(size, dtype=torch.int64) for name, size in sizes.items()}
    return traced(Computed(lambda own, given: own.network(**given), network=network), inputs, ["odds"])


def _samples(trained: Trained, text: str) -> list[dict[str, Numbers]]:
    """Return the network's inputs for windows of a text, the first `SAMPLES` at most."""
    reading = trained.reader.read(codes_of(text))
    stops = range(WINDOW, len(reading.first) + WINDOW, WINDOW)
    return [reading.part(stop - WINDOW, min(stop, len(reading.first))) for stop in stops[:SAMPLES]]


def _check(graph: bytes, trained: Trained, text: str) -> None:
    """Raise `TrainingError` if ONNX graph and network compute different log-odds for the beginning of `text`."""
    reading = trained.reader.read(codes_of(text[:CHECKED]))
    part = reading.part(0, len(reading.first))
    (odds,) = Session(graph, GRAPH, 0, network_sizes(trained.context)).run(part)
    apart = float(np.abs(odds - trained.score(part)).max(initial=0))
    if apart > MOST_APART:
        raise TrainingError(f"the graph differs from the network by {apart:.3g}; expected at most {MOST_APART}")
