"""The network that segments raw text by marking its characters, and its training.

A chunk is the text between two spaces. Convolutions over characters compute a vector of each character. A chunk's input
consists of the vectors of its first and last character, and an embedding of the chunk as a word. Wider convolutions
over chunks read these inputs. Their output is added to the vectors of the chunk's characters. All convolutions read a
limited number of neighbours, so that a long text can be read in windows that overlap by `context` chunks.

For text without spaces, characters also have dictionary features. In training, a word that occurs only once in the
treebank is unknown where it occurs: the network would otherwise trust the dictionary more than new text allows. It also
learns the part of speech of each character's word, which says where words end; the exported network has no such output.
"""

from __future__ import annotations

import itertools
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.backends import mkldnn
from torch.nn import functional

from ropewalk import conllu, files
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.models.onnx.session import Session
from ropewalk.options import to_mapping
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, PARAGRAPH, SENTENCE, TAGS, Aligned, align
from ropewalk.segmentation.assembly import build
from ropewalk.segmentation.dictionary import Dictionary
from ropewalk.segmentation.evaluation import scores
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import (
    FEW,
    UNKNOWN,
    CharacterReader,
    CharacterVocabulary,
    characters_known,
    codes_of,
    features_known,
    folded,
    grams_known,
    grams_of,
    is_space,
    pairs_known,
    scripts_of,
    words_known,
)
from ropewalk.segmentation.reading import PARAGRAPH as PARAGRAPH_BEGINS
from ropewalk.segmentation.rules import DOTS, NUMBER
from ropewalk.segmentation.segmenter import Segmenter, network_sizes
from ropewalk.segmentation.segmenter_files import GRAPH, Stored, save
from ropewalk.segmentation.tokens import RawToken, tokens_of
from ropewalk.segmentation.windows import WINDOW, is_bare, mark
from ropewalk.training.dropout import Dropout
from ropewalk.training.loop import Clock, rate
from ropewalk.training.onnx_convolutions import whole_convolutions
from ropewalk.training.onnx_graphs import Computed, rounded, traced
from ropewalk.training.onnx_neighbours import several_texts
from ropewalk.training.trained_files import without_folders
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    import onnx

    from ropewalk.core.arrays import Bools
    from ropewalk.segmentation.reading import Reading
    from ropewalk.segmentation.segmenter_config import NetworkOptions, SegmenterConfig, SegmenterTraining
    from ropewalk.segmentation.tokens import RawSentence

KERNEL, CHUNK_KERNEL = 5, 3
MARKS = (END, SENTENCE, MULTIWORD, JOIN)  # the last only if the treebank has tokens with spaces inside
JOINABLE = 16  # bit beside the marks: spaces follow that a token may contain
OUTSIDE = 255  # stands for the marks of spaces, which are not learnt
SHIFTS = np.arange(-30, 31) / 10  # shifts of log-odds that are tried on the dev data
BARE, BARE_LOSS = (0.0, 0.5, 1.0), 0.001  # what is tried for `Stored.bare`, and the F1 that may be lost by it
WRAP = 80  # characters of a line of raw text
LONG_PARAGRAPH, SHORT_PARAGRAPH = 20, 12  # mean sentences: a treebank with more has few paragraphs, and of made ones
PARAGRAPHS = 20  # number of paragraphs with the same layout in training
SAMPLES = 40  # windows of text that show the usual range of values
SEPARATED = 10  # see `stops_of`
WITH_INITIALS = 0.1  # share of names that get initials
ENDED = 0.1  # share of sentences with another final mark
MARKED = 0.2  # share of sentences with other names that get marks before and after them
NAME, VERB, NOUN = "PROPN", "VERB", "NOUN"
SCRIPT_FINALS = {"\u060c": ".!\u061f", "\u3002": "\u3002\uff01\uff1f", "\u0964": "\u0964!?"}  # by a mark of the script
LATIN_FINALS = ".!?"
FINALS = frozenset(LATIN_FINALS).union(*SCRIPT_FINALS.values())
REPLACED = frozenset({NOUN, "PRON", NAME})
ENDING = 2  # letters that a verb and one in its place have in common
GRAM_SPREAD = 0.3  # of initial embeddings of two characters
CHECKED, MOST_APART = 20_000, 1e-3  # characters, and the allowed difference of graph and network


class SegmenterNetwork(nn.Module):
    """Network that marks characters: it computes the log-odds that each ends a token, a sentence, a multiword token.

    If tokens may contain spaces, there is a fourth mark: the token continues after the spaces that follow.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the sizes of its inputs
        self,
        options: NetworkOptions,
        characters: int,
        words: int,
        pairs: int = 0,
        features: int = 0,
        grams: int = 0,
        *,
        joins: bool = False,
    ) -> None:
        super().__init__()
        size, wide, hidden = options.character_hidden, options.chunk_hidden, options.hidden
        self.characters = nn.Embedding(characters, options.character_size)
        self.words = nn.Embedding(words, options.word_size)
        self.features = nn.Linear(features, options.dictionary_size) if features else None
        self.grams = nn.Embedding(grams, options.gram_size) if grams else None
        input_size = options.character_size + (options.dictionary_size if features else 0)
        input_size += options.gram_size if grams else 0
        sizes = [input_size, *(size for _ in options.character_dilations)]
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
        self.skips = options.character_skips
        self.dropout = Dropout(options.dropout)
        self.between = Dropout(options.dropout / 2)
        with torch.no_grad():
            for table in filter(None, (self.words, self.pairs)):
                table.weight *= options.word_spread
            if self.grams is not None:
                self.grams.weight *= GRAM_SPREAD

    def forward(self, **inputs: Tensor) -> Tensor:
        """Return the log-odds of each mark for each of n characters, which belong to m chunks: [n, 3 or 4].

        The inputs are those of `Reading.part`. `characters` has indices in the character vocabulary, `chunks` the index
        of each character's chunk: both [n]. `words` and `pairs` have indices of chunks and pairs of chunks in their
        vocabularies, `first` and `last` the index of each chunk's first and last character: all [m]. `features` has
        dictionary features, [n, features], and `grams` indices of pairs of characters, [n].
        """
        odds: Tensor = self.out(self.vectors(inputs))
        return odds

    def vectors(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return the hidden units before the output for the inputs of `forward`: [n, hidden]."""
        embedded = self.characters(inputs["characters"])
        if self.features is not None:
            known = functional.relu(self.features(inputs["features"].float()))
            two = [] if self.grams is None else [self.grams(inputs["grams"])]
            embedded = self.dropout(torch.cat([embedded, known, *two], dim=1))
        near = embedded.T[None]
        for number, layer in enumerate(self.near):
            read = functional.relu(layer(near))
            near = near + self.between(read) if self.skips and number else read
        near = self.dropout(near[0].T)
        parts = [near[inputs["first"]], near[inputs["last"]], self.dropout(self.words(inputs["words"]))]
        if self.pairs is not None:
            parts.append(self.dropout(self.pairs(inputs["pairs"])))
        far = torch.cat(parts, dim=1)
        far = functional.relu(self.chunk(far)).T[None]
        for layer in self.far:
            far = far + functional.relu(layer(self.dropout(far)))
        far = self.from_chunk(self.dropout(far[0].T))
        hidden: Tensor = functional.relu(self.from_character(near) + far[inputs["chunks"]])
        return hidden


def context(options: NetworkOptions) -> int:
    """Return the number of neighbouring chunks, on each side, that the marks of a chunk depend on.

    Convolutions over characters count as if each chunk had one character. A chunk also depends on whether its line is
    short, which is computed from `FEW` chunks before it.
    """
    characters = sum(KERNEL // 2 * dilation for dilation in options.character_dilations)
    chunks = sum(CHUNK_KERNEL // 2 * dilation for dilation in options.chunk_dilations) + (options.pair_size > 0)
    around = max(options.dictionary_length - 1, options.gram_size > 0)
    return characters + around + chunks + FEW + 1


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
    sentences = list(tokens_of(_read(config.data.train, "train"), tagged=True))
    dev = _read(config.data.dev, "dev")
    test = _read(config.data.test, "test") if config.data.test else None
    splitter = Splitter.learn(token for sentence in sentences for token in sentence.tokens)
    aligned = align(sentences)
    model = config.model
    least_pairs = model.least_pairs if model.pair_size else 0
    vocabulary = CharacterVocabulary.of(aligned.text, model.least_characters, model.least_words, least_pairs)
    rare = Dictionary()
    if model.dictionary_length:
        dictionary, rare = _dictionaries(sentences, model.dictionary_length)
        vocabulary = replace(vocabulary, dictionary=dictionary, scripts=scripts_of(aligned.text))
        if model.gram_size:
            vocabulary = replace(vocabulary, grams=grams_of(aligned.text, model.least_grams))
    known = tuple(
        count(vocabulary) for count in (characters_known, words_known, pairs_known, features_known, grams_known)
    )
    torch.manual_seed(config.seed)
    network = SegmenterNetwork(model, *known, joins=bool((aligned.marks & JOIN).any()))
    trained = Trained(network, CharacterReader(vocabulary), splitter, context(config.model), rare)
    with _without_mkldnn():
        for progress in _epochs(config, trained, sentences, dev):
            report(progress)
        bare = trained.balance(dev)
    graph = as_onnx(network)
    _check(graph.SerializeToString(), trained, raw(dev))
    small = several_texts(
        rounded(whole_convolutions(graph, "characters")), _samples(trained, raw(dev)), trained.context
    )
    content = small.SerializeToString(deterministic=True)
    switches = {
        "split_numbers": mostly_cut(aligned, (match.span() for match in NUMBER.finditer(aligned.text))),
        "whole_dots": not mostly_cut(aligned, (match.span() for match in DOTS.finditer(aligned.text))),
    }
    stored = Stored(vocabulary, splitter, trained.context, content, {}, stops_of(sentences), bare, **switches)
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


def stops_of(sentences: Sequence[RawSentence]) -> frozenset[str] | None:
    """Return the tokens that end with a full stop, in lower case; None unless final full stops are tokens.

    They are if the treebank separates at least `SEPARATED` times as many final full stops from a word as it leaves.
    """
    separated = left = 0
    for sentence in sentences:
        *_, before, last = ("", *(token.text for token in sentence.tokens))
        separated += last == "." and before.isalpha()
        left += len(last) > 2 and last[-1] == "." and last[:-1].isalpha()
    if separated <= SEPARATED * left:
        return None
    texts = {token.text.lower() for sentence in sentences for token in sentence.tokens if token.text.endswith(".")}
    return frozenset(text for text in texts if not any(map(is_space, text)))


def mostly_cut(aligned: Aligned, spans: Iterable[tuple[int, int]]) -> bool:
    """Return whether more than half of some spans of a text have the end of a token inside."""
    cut = [bool((aligned.marks[start : stop - 1] & END).any()) for start, stop in spans]
    return 2 * sum(cut) > len(cut)


def _dictionaries(sentences: Sequence[RawSentence], longest: int) -> tuple[Dictionary, Dictionary]:
    """Return a dictionary of the tokens of sentences, and one of those that occur only once."""
    texts = (token.text for sentence in sentences for token in sentence.tokens)
    return Dictionary.of((folded(text) for text in texts if not any(map(is_space, text))), longest)


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
    rare: Dictionary = field(default_factory=Dictionary)  # words that occur only once in the train data

    def score(self, part: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """Return the log-odds of marks, [characters, marks]; `part` has the network's inputs for some chunks."""
        with torch.inference_mode():
            odds: npt.NDArray[np.float32] = self.network(**_tensors(part)).numpy()
        return odds

    def segment(self, text: str) -> Treebank:
        """Segment raw text; return its sentences as a treebank without trees."""
        self.network.eval()
        return Treebank.concat(build(mark([text], self.reader, self.score, self.context), self.splitter))

    def balance(self, bank: Treebank) -> float:
        """Shift the log-odds of each mark by the amount that gives the best F1 on a treebank.

        The F1 of each amount in `SHIFTS` is averaged with those of its neighbours, to reduce noise. Return the largest
        amount in `BARE` by which the end of a sentence must be more likely after a letter or digit within a line,
        without a loss of F1 over `BARE_LOSS`.
        """
        self.network.eval()
        aligned = align(tokens_of(bank), wrap=WRAP)
        codes = codes_of(aligned.text)
        reading = self.reader.read(codes)
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
            shift = float(SHIFTS[int(np.argmax(smooth))])
            with torch.no_grad():
                self.network.out.bias[index] -= shift
            if bit == SENTENCE:
                ending = np.where(ends, own - shift, -np.inf)
        letters = is_bare(codes, reading.places[inside])
        found = {bare: _f1(gold & SENTENCE > 0, ending > bare * letters, spans=True) for bare in BARE}
        return max(bare for bare, value in found.items() if value >= found[0.0] - BARE_LOSS)


def _f1(gold: Bools, predicted: Bools, *, spans: bool) -> float:
    """Return the F1 of predicted marks; with `spans`, the F1 of the spans between two marks."""
    ours, theirs = ([-1, *np.flatnonzero(marks).tolist()] for marks in (gold, predicted))
    same = len(set(itertools.pairwise(ours)) & set(itertools.pairwise(theirs)) if spans else set(ours) & set(theirs))
    return 2 * same / (len(ours) + len(theirs))


def _tensors(part: dict[str, npt.NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in part.items()}


def _epochs(
    config: SegmenterConfig, trained: Trained, sentences: Sequence[RawSentence], dev: Treebank
) -> Iterator[SegmenterProgress]:
    options = config.training
    network = trained.network
    tagger = nn.Linear(network.out.in_features, len(TAGS) + 1) if options.tag_weight else None
    weights = [*network.parameters(), *(tagger.parameters() if tagger else ())]
    decays = [weight for weight in weights if weight.ndim > 1]
    others = [weight for weight in weights if weight.ndim <= 1]
    groups = [{"params": decays, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=options.rate, fused=True)
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
        batches = _batches(aligned, trained, options, random)
        for number, (part, marks, tags) in enumerate(batches):
            done = clock.done((epoch + number / len(batches)) / options.epochs)
            for group in optimizer.param_groups:
                group["lr"] = options.rate * rate(done, options.warmup, "linear")
            vectors = network.vectors(_tensors(part))
            summed, many = _loss(network.out(vectors), torch.from_numpy(marks))
            loss = summed
            if tagger is not None:
                loss = summed + options.tag_weight * _tag_loss(tagger(vectors), torch.from_numpy(tags))
            optimizer.zero_grad()
            (loss / max(many, 1)).backward()
            nn.utils.clip_grad_norm_(weights, options.clip or float("inf"))
            optimizer.step()
            total += float(summed.detach())
            tokens += many
            read += len(marks)
            if clock.is_up:
                break
        mean = total / max(tokens, 1)
        if not np.isfinite(mean):
            raise TrainingError(f"epoch {epoch + 1}: the loss is {mean}; lower training.rate or training.clip")
        speed = read / max(time.monotonic() - begun, 1e-9)
        done = clock.done((epoch + 1) / options.epochs)
        yield SegmenterProgress(epoch + 1, options.epochs, done, mean, speed, scores(dev, trained.segment(text)))
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


def _tag_loss(scores: Tensor, tags: Tensor) -> Tensor:
    """Return the sum of the losses of parts of speech; characters without one, which have the tag 0, are ignored."""
    return functional.cross_entropy(scores, tags.long(), ignore_index=0, reduction="sum")


def _batches(
    aligned: Aligned, trained: Trained, options: SegmenterTraining, random: np.random.Generator
) -> list[tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]]:
    """Return the batches of a text in random order: the network's inputs, and the gold marks and tags of characters.

    A batch begins with a paragraph if one begins soon: there is nothing before it, as before the texts of users. Some
    words and pairs, chosen at random, are read as unknown, and some characters as their category.
    """
    reader = trained.reader
    codes = codes_of(aligned.text)
    reading = reader.read(codes)
    words = np.where(random.random(len(reading.words)) < options.forget_words, UNKNOWN, reading.words)
    hidden = random.random(len(reading.characters)) < options.forget_characters
    characters = np.where(hidden, reader.categories[reading.characters], reading.characters)
    pairs = reading.pairs
    if pairs is not None:
        pairs = np.where(random.random(len(pairs)) < options.forget_pairs, UNKNOWN, pairs)
    features = None if reading.features is None else _hidden_features(reading, aligned, codes, trained, options, random)
    grams = reading.grams
    if grams is not None:
        grams = np.where(random.random(len(grams)) < options.forget_grams, UNKNOWN, grams)
    reading = replace(reading, words=words, characters=characters, pairs=pairs, features=features, grams=grams)
    joinable = np.where(reading.joinable(0, len(reading.places)), JOINABLE, 0)
    marks = np.where(reading.places >= 0, aligned.marks[reading.places] | joinable, OUTSIDE).astype(np.uint8)
    tags = np.where(reading.places >= 0, aligned.tags[reading.places], 0).astype(np.uint8)
    starts = np.arange(0, len(words), options.batch)
    opens = np.append(np.flatnonzero(reading.characters[reading.first] == PARAGRAPH_BEGINS), len(words))
    following = opens[np.searchsorted(opens, starts)]
    starts = np.unique(np.where(following < starts + options.batch // 2, following, starts))
    bounds = np.append(starts[starts < len(words)], len(words))
    out = []
    for number in random.permutation(len(bounds) - 1).tolist():
        start, stop = int(bounds[number]), int(bounds[number + 1])
        here = slice(reading.first[start], reading.last[stop - 1] + 1)
        out.append((reading.part(start, stop), marks[here], tags[here]))
    return out


def _hidden_features(  # noqa: PLR0913, PLR0917 - a text as it is read, and options
    reading: Reading,
    aligned: Aligned,
    codes: npt.NDArray[np.uint32],
    trained: Trained,
    options: SegmenterTraining,
    random: np.random.Generator,
) -> npt.NDArray[np.uint8]:
    """Return the dictionary features of a text for training.

    A word that occurs only once in the treebank is unknown where it occurs. Some characters, chosen at random, have no
    features.
    """
    reader, places = trained.reader, reading.places
    ends = np.flatnonzero((places >= 0) & (aligned.marks[places] & END > 0))
    inside = places >= 0
    begins = inside & np.append(True, ~inside[:-1])
    begins[np.minimum(ends + 1, len(places) - 1)] |= inside[np.minimum(ends + 1, len(places) - 1)]
    starts = np.flatnonzero(begins)
    after = np.searchsorted(ends, starts)
    starts, after = starts[after < len(ends)], after[after < len(ends)]
    lengths = ends[after] - starts
    fitting = lengths < trained.rare.longest
    hidden = np.zeros((len(places), trained.rare.longest), dtype=np.bool_)
    hidden[starts[fitting], lengths[fitting]] = True
    hidden &= trained.rare.matches(reader.letters(codes, places))
    features = reader.features(codes, places, hidden)
    features[random.random(len(features)) < options.forget_dictionary, : reader.dictionary.width] = 0
    return features


@contextmanager
def _without_mkldnn() -> Iterator[None]:
    """Turn oneDNN off: it compiles convolutions anew for every length of text."""
    enabled = mkldnn.set_flags(_enabled=False, _fp32_precision=None)[0]
    try:
        yield
    finally:
        mkldnn.set_flags(_enabled=enabled, _fp32_precision=None)


def varied(sentences: Sequence[RawSentence], options: SegmenterTraining, random: np.random.Generator) -> Aligned:
    """Return the sentences as raw text with gold marks, with random variation for one epoch.

    Paragraphs are in random order. Their line breaks vary, and some sentences are changed with `altered` or `renamed`.
    If the treebank has few paragraphs, random sentences begin others.
    """
    others = Substitutes.of(sentences) if options.renamed else Substitutes()
    if LONG_PARAGRAPH * sum(sentence.paragraph for sentence in sentences) < len(sentences):
        opening = (random.random(len(sentences)) < 1 / SHORT_PARAGRAPH).tolist()
        sentences = [
            replace(one, paragraph=True) if opens else one for one, opens in zip(sentences, opening, strict=True)
        ]
    opens = [number for number, sentence in enumerate(sentences) if sentence.paragraph or not number]
    spans = list(zip(opens, [*opens[1:], len(sentences)], strict=True))
    order = random.permutation(len(spans)).tolist()
    out = []
    for start in range(0, len(order), PARAGRAPHS):
        chosen = [
            _changed(sentence, others, options, random)
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
        _joined([part.marks for part in out]),
        _joined([part.tags for part in out]),
    )


def _changed(
    sentence: RawSentence, others: Substitutes, options: SegmenterTraining, random: np.random.Generator
) -> RawSentence:
    out = altered(sentence, random) if random.random() < options.altered else sentence
    out = renamed(out, others, random) if others.names and random.random() < options.renamed else out
    return ended(out, others, random) if random.random() < ENDED else out


@dataclass(frozen=True, slots=True)
class Substitutes:
    """Words of a treebank that take the place of others.

    `names` has its proper names, each as often as it occurs, `initials` whether tokens such as `A.` stand before them.
    `verbs` has its different verbs by their last letters, and nouns, since many are verbs as well: *thanks*, *follows*.
    `marks` has different pairs of tokens at the beginning and the end of a sentence, such as `¿` and `?`. `finals` has
    the marks with which sentences of the treebank and of its script end.
    """

    names: tuple[str, ...] = ()
    initials: bool = False
    verbs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marks: tuple[tuple[RawToken, RawToken], ...] = ()
    finals: tuple[str, ...] = ()

    @classmethod
    def of(cls, sentences: Sequence[RawSentence]) -> Substitutes:
        """Collect the names, verbs, nouns and marks of sentences."""
        tokens = [token for sentence in sentences for token in sentence.tokens if token.tag in {NAME, VERB, NOUN}]
        whole = [token for token in tokens if token.text.isalpha() and len(token.words) == 1]
        names = [token.text for token in tokens if token.tag == NAME]
        initials = sum(len(text) == 2 and text[0].isupper() and text[1] == "." for text in names)
        names = [token.text for token in whole if token.tag == NAME]
        alone = sum(len(text) == 1 for text in names)
        verbs: dict[str, list[str]] = {}
        for text in sorted({token.text for token in whole if token.tag != NAME and token.text.islower()}):
            verbs.setdefault(text[-ENDING:], []).append(text)
        ends = ((sentence.tokens[0], sentence.tokens[-1]) for sentence in sentences if len(sentence.tokens) > 2)
        marks = {
            (first.text, last.text): (first, last)
            for first, last in ends
            if not (first.after or _is_word(first) or _is_word(last))
        }
        last = {sentence.tokens[-1].text for sentence in sentences} & FINALS
        if last:
            seen = {token.text for sentence in sentences for token in sentence.tokens if len(token.text) == 1}
            last.update(next((own for mark, own in SCRIPT_FINALS.items() if mark in seen), LATIN_FINALS))
        names = [text for text in names if len(text) > 1]
        return cls(tuple(names), initials > alone, verbs, tuple(marks.values()), tuple(sorted(last)))

    def name(self, random: np.random.Generator) -> list[str]:
        """Return a random name; now and then with one or two initials before it."""
        name, *others = (self.names[int(random.integers(len(self.names)))] for _ in range(3))
        many = int(random.integers(1, 3)) if self.initials and random.random() < WITH_INITIALS else 0
        return [*(f"{other[0].upper()}." for other in others[:many]), name]

    def verb(self, text: str, random: np.random.Generator) -> str:
        """Return a random verb or noun that ends like the verb `text`; the same verb if there is no other."""
        others = self.verbs.get(text[-ENDING:], [text])
        return others[int(random.integers(len(others)))]


def _is_word(token: RawToken) -> bool:
    return any(map(str.isalnum, token.text))


def renamed(sentence: RawSentence, others: Substitutes, random: np.random.Generator) -> RawSentence:
    """Return a sentence with random names in place of half of its nouns, pronouns and names.

    A verb just before such a name is replaced by any other with its last letters. Treebanks have few sentences such as
    *Mary loves Paul.*: without them, a network takes a capital after a verb for the beginning of a sentence. Some
    sentences get an opening and a closing mark, because questions are rare in many treebanks.
    """
    tokens: list[RawToken] = []
    for token in sentence.tokens:
        if token.tag not in REPLACED or len(token.words) > 1 or random.random() < 0.5:
            tokens.append(token)
            continue
        if tokens and tokens[-1].tag == VERB and len(tokens[-1].words) == 1:
            verb = others.verb(tokens[-1].text, random)
            tokens[-1] = tokens[-1]._replace(text=verb, words=(verb,))
        *initials, name = others.name(random)
        tokens += [RawToken(text, (text,), " ", NAME) for text in initials]
        tokens.append(token._replace(text=name, words=(name,), tag=NAME))
    if others.marks and _is_word(tokens[0]) and random.random() < MARKED:
        opening, closing = others.marks[int(random.integers(len(others.marks)))]
        after = tokens[-1].after
        inner = [*tokens[:-1], tokens[-1]._replace(after="")] if _is_word(tokens[-1]) else tokens[:-1]
        tokens = [opening, *inner, closing._replace(after=after)]
    return replace(sentence, tokens=tuple(tokens))


def ended(sentence: RawSentence, others: Substitutes, random: np.random.Generator) -> RawSentence:
    """Return a sentence with another final mark, if it has one: many treebanks have few questions and exclamations."""
    *tokens, last = sentence.tokens
    if not tokens or last.text not in others.finals:
        return sentence
    final = others.finals[int(random.integers(len(others.finals)))]
    return replace(sentence, tokens=(*tokens, last._replace(text=final, words=(final,))))


def _joined(arrays: Sequence[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Concatenate arrays, with a zero between two of them."""
    return np.concatenate([part for array in arrays for part in (array, np.zeros(1, dtype=np.uint8))][:-1])


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
    if network.features is not None:
        if network.grams is not None:
            inputs["grams"] = torch.zeros(sizes["characters"], dtype=torch.int64)
        inputs["features"] = torch.zeros((sizes["characters"], network.features.in_features), dtype=torch.uint8)
    return traced(Computed(lambda own, given: own.network(**given), network=network), inputs, ["odds"])


def _samples(trained: Trained, text: str) -> list[dict[str, npt.NDArray[Any]]]:
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
