"""Search of patterns in treebanks.

The conditions of each node of a pattern select candidate words. A kernel joins the candidates by their relations and
begins with the most selective node. Matches are views of the treebank.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final, final, overload

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_array
from ropewalk.errors import OptionError, SearchLimitError, demand_known, demand_type
from ropewalk.formats import deps
from ropewalk.kernels import codes, view
from ropewalk.kernels import compiled as is_compiled
from ropewalk.kernels import search as kernel
from ropewalk.reporting.escaping import clean
from ropewalk.search.attributes import number_column, search_index, text_column, written_column
from ropewalk.search.plans import PatternBlock, PatternEdge, PatternWord, blocks_of
from ropewalk.search.syntax import NUMBER_ATTRIBUTES, PatternCondition, PatternValue, parse
from ropewalk.treebank.documents import SHOWN_SENTENCES, Sentence, Word
from ropewalk.treebank.treebank import Treebank, position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk.core.arrays import Bools, Ints

SECONDS: Final = 1.2  # of a search, and one more for each million words
MOST_MATCHES: Final = 1_000_000
SLICE_STEPS: Final = 2_000_000  # steps between two looks at the clock
WORD_STEPS: Final = 30_000_000  # steps that one word of the treebank may take
PURE_SLOWNESS: Final = 100
FIRST_ROWS: Final = 1 << 14
GRAPH_CODES: Final = frozenset({codes.ARC_TO, codes.PATH_TO, codes.ARC_SIBLING_OF})
ORDERS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge}
COSTS: Final = {  # of candidates that an edge generates, by relation and side of the new word
    (codes.SAME, 0): 1,
    (codes.SAME, 1): 1,
    (codes.HEAD_OF, 0): 1,
    (codes.HEAD_OF, 1): 2,
    (codes.ARC_TO, 0): 2,
    (codes.ARC_TO, 1): 3,
    (codes.SIBLING_OF, 0): 4,
    (codes.SIBLING_OF, 1): 4,
    (codes.ANCESTOR_OF, 0): 5,
    (codes.ANCESTOR_OF, 1): 6,
}


@final
class Match:
    """One match of a pattern: `match["verb"]` is the word that matches the node named `verb`."""

    __slots__ = ("_matches", "_row")

    def __init__(self, matches: Matches, row: int) -> None:
        self._matches = matches
        self._row = row

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={word.text!r}" for name, word in self.words.items())
        return f"Match({named})"

    def __getitem__(self, name: str) -> Word:
        """Return the word that matches the node named `name`; raise a `KeyError` if this match has no such word."""
        return self._word(self._matches.names.index(name) + 1 if name in self._matches.names else -1, name)

    @property
    def word(self) -> Word:
        """The word that matches the first node of the pattern."""
        return self._word(0, "")

    @property
    def words(self) -> dict[str, Word]:
        """The named words of this match by their names, in the order of the names in the pattern."""
        present = self._matches.rows[self._row, 1:].tolist()
        return {name: self[name] for name, at in zip(self._matches.names, present, strict=True) if at >= 0}

    @property
    def hits(self) -> tuple[Word, ...]:
        """The word of the pattern's first node and all named words, each once, in the order of the sentence."""
        indices = sorted({at for at in self._matches.rows[self._row].tolist() if at >= 0})
        return tuple(self._at(at) for at in indices)

    @property
    def sentence(self) -> Sentence:
        """The sentence that contains this match."""
        return self._matches.sentence(self._row)

    def _word(self, column: int, name: str) -> Word:
        at = int(self._matches.rows[self._row, column]) if column >= 0 else -1
        if at < 0:
            raise KeyError(f"no word is named {name!r}; this match names {', '.join(self.words) or 'none'}")
        return self._at(at)

    def _at(self, at: int) -> Word:
        sentence = self.sentence
        start: int = self._matches.treebank.offsets[sentence.number].start
        return sentence[at - start]


@final
class Matches(Sequence[Match]):
    """All matches of a pattern in a treebank, in text order.

    `rows` is an array [matches, 1 + names] of word indices in the treebank. The first column has the word that matches
    the pattern's first node; the others have the words of the nodes named `names`, or -1 if a match has no such word.
    """

    __slots__ = ("_sentence", "names", "rows", "sentence_numbers", "treebank")

    def __init__(
        self, treebank: Treebank, names: tuple[str, ...], rows: Ints, sentence: Sentence | None = None
    ) -> None:
        self._sentence = sentence  # if all matches are in one that was there before
        self.treebank = treebank
        self.names = names
        self.rows = frozen_array(rows)
        self.sentence_numbers: list[int] = treebank.offsets.owners_of(rows[:, 0]).tolist()

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        if isinstance(index, slice):
            return [Match(self, row) for row in range(len(self))[index]]
        return Match(self, position(index, len(self), "match", "result"))

    def __repr__(self) -> str:
        return f"<{self._counted()}>"

    def _counted(self) -> str:
        return f"{len(self):,} matches in {len(set(self.sentence_numbers)):,} sentences"

    def _repr_html_(self) -> str:
        numbers = np.array(self.sentence_numbers, dtype=np.int64)
        different, first = np.unique(numbers, return_index=True)
        many = f", the first {SHOWN_SENTENCES}:" if len(different) > SHOWN_SENTENCES else ""
        lines = [f"<p>{self._counted()}{many}</p>"]
        for number, row in list(zip(different.tolist(), first.tolist(), strict=True))[:SHOWN_SENTENCES]:
            hits = set(self.rows[numbers == number].ravel().tolist())
            lines.append(_with_hits(self.sentence(row), self.treebank.offsets[number].start, hits))
        return "\n".join(lines)

    def sentence(self, row: int) -> Sentence:
        """Return the sentence that contains the match with index `row`."""
        return self._sentence or Sentence(self.treebank, self.sentence_numbers[row])

    def values(self, name: str, attribute: str = "lemma") -> list[str]:
        """Return for each match the attribute of the word named `name`, as text; `_` for nothing.

        Attributes are those of patterns, such as `lemma`, `Number`, `misc.Gloss` or `depth`.
        """
        if not self.names:
            raise OptionError(f"the pattern names no word {name!r}; name a word with ={name} after its braces")
        demand_known("word of the pattern", name, self.names)
        rows = self.rows[:, self.names.index(name) + 1]
        texts = written_column(self.treebank, attribute, np.maximum(rows, 0))
        return ["_" if row < 0 else text for row, text in zip(rows.tolist(), texts, strict=True)]

    def count_by(self, *attributes: str) -> Counter[tuple[str, ...]]:
        """Count matches by attributes of named words, each written as `name.attribute`: `"verb.lemma"`.

        A name alone means the lemma. The keys of the counter are tuples of values, in the order of `attributes`.
        """
        pairs = [attribute.partition(".")[::2] for attribute in attributes]
        return Counter(zip(*(self.values(name, rest or "lemma") for name, rest in pairs), strict=True))


def _with_hits(sentence: Sentence, start: int, hits: set[int]) -> str:
    """Return the text of a sentence as a paragraph of HTML, with the tokens of all words in `hits` in bold.

    `hits` are indices in the treebank; the first word of the sentence has the index `start`.
    """
    parts = []
    for token in sentence.tokens:
        text = escape(clean(token.text))
        is_hit = any(start + index - 1 in hits for index in range(token.first, token.last + 1))
        parts.append(f"{f'<b>{text}</b>' if is_hit else text}{' ' * token.space_after}")
    return f'<p dir="auto">{"".join(parts).rstrip()}</p>'


@final
class Pattern:
    """A compiled pattern, which can be searched in any treebank; `ropewalk.search.compile` makes one from text."""

    def __init__(self, text: str) -> None:
        syntax = parse(text)
        self.text = text
        self._blocks = blocks_of(syntax)
        names = [word.name for block in self._blocks for word in block.words if word.name]
        self.names = tuple(dict.fromkeys(names))

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Pattern, (self.text,)

    def search(self, treebank: Treebank, *, max_matches: int = MOST_MATCHES, seconds: float | None = None) -> Matches:
        """Return all matches in a treebank.

        Raise a `SearchLimitError` if there are more than `max_matches`, or if the search takes longer than `seconds`.
        By default it may take 1.2 seconds, plus one second for each million words.
        """
        demand_type("what to search", treebank, Treebank)
        return Matches(treebank, self.names, self._rows(treebank, max_matches, seconds))

    def unmet(self, treebank: Treebank) -> dict[str, tuple[str, ...]]:
        """Return the conditions of the pattern that no word of the treebank fulfils, such as `upos:VERBB`.

        Each has the distinct values that words have instead. Conditions of negated nodes and of parts that must not
        match are left out, and so are those with a regular expression or an order.
        """
        demand_type("what to search", treebank, Treebank)
        out: dict[str, tuple[str, ...]] = {}
        words = (word for block in self._blocks for word in block.words)
        clauses = (conditions for word in words for conditions, negated in word.clauses if not negated)
        for condition in (item for conditions in clauses for item in conditions):
            is_plain = all(value.expression is None and not value.ignore_case for value in condition.values)
            if condition.negated or not condition.values or not is_plain or condition.attribute in NUMBER_ATTRIBUTES:
                continue
            ids, texts = text_column(treebank, condition.attribute)
            present = {texts[number] for number in np.unique(ids).tolist()}
            if not any(_fitting(list(present), condition.values, lambda: None)):
                values = "|".join(value.text + ":*" * value.subtypes for value in condition.values)
                out[f"{condition.attribute}:{values}"] = tuple(sorted(text for text in present if text is not None))
        return out

    def search_sentence(self, sentence: Sentence) -> Matches:
        """Return the matches in one sentence; other sentences of its treebank are not searched."""
        demand_type("what to search", sentence, Sentence)
        treebank = sentence.treebank
        rows = self._rows(treebank.select([sentence.number]), MOST_MATCHES, None)
        start = treebank.offsets[sentence.number].start
        return Matches(treebank, self.names, np.where(rows < 0, rows, rows + start).astype(np.int32), sentence)

    def _rows(self, treebank: Treebank, max_matches: int, seconds: float | None) -> Ints:
        if not max_matches >= 1:
            raise OptionError(f"max_matches is {max_matches}; expected at least 1")
        allowed = SECONDS + treebank.words / 1e6 if seconds is None else seconds
        limits = _Limits(max_matches, allowed, time.perf_counter() + allowed)
        parts = []
        for block in self._blocks:
            run = _Run(treebank, block, limits)
            parts.append(run.rows(self.names))
        rows = np.concatenate(parts)
        is_repeated = len(parts) > 1 or any(word.name == "" for block in self._blocks for word in block.words[1:])
        order = np.lexsort(rows.T[::-1])
        rows = rows[order]
        if is_repeated and len(rows):
            rows = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
        limits.check_matches(len(rows))
        return rows


def compile(pattern: str | Pattern) -> Pattern:  # noqa: A001 - as `re.compile`
    """Compile the text of a pattern; return a `Pattern` unchanged.

    Raise a `PatternError` that points at the wrong character if the text is no pattern.
    """
    return pattern if isinstance(pattern, Pattern) else Pattern(pattern)


@dataclass(frozen=True, slots=True)
class _Limits:
    matches: int
    seconds: float
    deadline: float

    def check_matches(self, count: int) -> None:
        if count > self.matches:
            raise SearchLimitError(
                f"more than {self.matches:,} matches; add conditions, leave words unnamed, or raise max_matches"
            )

    def check_time(self) -> None:
        if time.perf_counter() > self.deadline:
            raise SearchLimitError(
                f"the search took longer than {self.seconds:.1f} seconds; add conditions or relations, or raise seconds"
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Web:
    """The enhanced graphs of a treebank in the `buffers` of the search kernel.

    The relation of arc i is `relation_names[relation_ids[i]]`. `nodes` is the number of words and empty nodes.
    """

    buffers: Any
    relation_ids: npt.NDArray[np.integer[Any]]
    relation_names: tuple[str, ...]
    nodes: int


def _web(treebank: Treebank) -> _Web:
    graphs = deps.read(treebank)
    starts = graphs.offsets.starts.astype(np.int64)[graphs.arc_sentences]
    heads = np.where(graphs.heads > 0, starts + graphs.heads - 1, -1).astype(np.int32)
    dependents = graphs.arc_nodes.astype(np.int32)
    nodes = np.flatnonzero(~graphs.empty).astype(np.int32)
    words = np.full(graphs.nodes, -1, dtype=np.int32)
    words[nodes] = np.arange(len(nodes))
    inner = np.flatnonzero(heads >= 0)
    out_arcs = inner[np.argsort(heads[inner], kind="stable")].astype(np.int32)
    out_starts = np.zeros(graphs.nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(heads[inner], minlength=graphs.nodes), out=out_starts[1:])
    arrays = (nodes, words, graphs.node_arcs.astype(np.int32), heads, dependents, out_starts, out_arcs)
    return _Web(kernel.SearchedGraphs(*map(view, arrays)), graphs.relations.ids, graphs.relations.names, graphs.nodes)


def _no_web() -> _Web:
    nothing = np.zeros(1, dtype=np.int32)
    return _Web(kernel.SearchedGraphs(*[view(nothing)] * 7), np.zeros(0, dtype=np.int32), (), 1)


class _Run:
    """The search of one block of a pattern in one treebank."""

    def __init__(self, treebank: Treebank, block: PatternBlock, limits: _Limits) -> None:
        self._bank = treebank
        self._block = block
        self._limits = limits
        self._trees = search_index(treebank)
        needs_graphs = any(edge.code in GRAPH_CODES for edge in _all_edges(block))
        self._web = treebank.kept("search graphs", lambda: _web(treebank)) if needs_graphs else _no_web()
        self._masks: dict[PatternWord, Bools] = {}
        self._counts: dict[PatternWord, int] = {}

    def rows(self, names: tuple[str, ...]) -> Ints:
        """Return the word indices of each match: first the word of the first node, then those of the nodes `names`.

        The index is -1 for a name that this block does not have.
        """
        for word in _all_words(self._block):
            mask = self._mask(word)
            self._masks[word], self._counts[word] = mask, int(np.count_nonzero(mask))
            self._limits.check_time()
        shown = [self._block.words[0], *(self._named(name) for name in names)]
        empty = np.zeros((0, len(shown)), dtype=np.int32)
        if not self._bank.words or any(not self._counts[word] for word in self._block.words):
            return empty
        program = _Program(self._counts)
        program.add(self._block, ())
        level_of = program.levels
        enumerated = 1 + max(level_of[word] for word in shown if word is not None)
        columns = np.array([-1 if word is None else level_of[word] for word in shown], dtype=np.int32)
        plan = program.arrays(self._masks, self._label_masks(program.labels))
        plan.size(len(self._block.words), enumerated)
        first = program.order[0]
        return self._join(np.flatnonzero(self._masks[first]).astype(np.int32), columns, plan, len(program.order))

    def _named(self, name: str) -> PatternWord | None:
        return next((word for word in self._block.words if word.name == name), None)

    def _join(self, firsts: Ints, columns: Ints, plan: Any, levels: int) -> Ints:  # noqa: ANN401 - of the kernel
        slower = 1 if is_compiled() else PURE_SLOWNESS
        work = kernel.SearchWork(levels, self._bank.offsets.longest, self._web.nodes)
        most = WORD_STEPS // slower
        capacity = min(FIRST_ROWS, self._limits.matches + 1)
        out = np.empty((capacity, len(columns)), dtype=np.int32)
        parts, count, at = [], 0, 0
        while at < len(firsts):
            work.allow(most)
            at = kernel.join(
                view(firsts),
                at,
                view(columns),
                view(out),
                plan,
                self._trees,
                self._web.buffers,
                work,
                SLICE_STEPS // slower,
            )
            steps, rows, full = work.counts()
            if steps > most:
                raise SearchLimitError(
                    "the pattern has too many ways to match in one sentence; add conditions, or relations between words"
                )
            self._limits.check_time()
            if full or at >= len(firsts) or rows > len(out) // 2:
                parts.append(out[:rows].copy())
                count += rows
                work.restart()
                overflows = full and not rows  # a single word has more matches than `out` has rows
                self._limits.check_matches(count + (len(out) if overflows else 0))
                if overflows:
                    capacity = min(2 * len(out), self._limits.matches + 1)
                    out = np.empty((capacity, len(columns)), dtype=np.int32)
        return np.concatenate(parts) if parts else out[:0]

    def _mask(self, word: PatternWord) -> Bools:
        out = np.ones(self._bank.words, dtype=np.bool_)
        for conditions, negated in word.clauses:
            clause = np.ones(self._bank.words, dtype=np.bool_)
            for condition in conditions:
                self._limits.check_time()
                mask = self._condition(condition)
                clause &= ~mask if condition.negated else mask
            out &= ~clause if negated else clause
        return out

    def _condition(self, condition: PatternCondition) -> Bools:
        name = condition.attribute
        if name == "$":
            return np.asarray(self._bank.heads == 0)
        if name in NUMBER_ATTRIBUTES:
            return _compared(number_column(self._bank, name), condition)
        ids, texts = text_column(self._bank, name)
        if not condition.values:
            texts = [None if text == "_" else text for text in texts]
        fits = np.array([*_fitting(texts, condition.values, self._limits.check_time), False], dtype=np.bool_)
        return np.asarray(fits[ids])

    def _label_masks(self, labels: list[tuple[PatternValue, ...]]) -> npt.NDArray[np.uint8]:
        out = np.ones((max(1, len(labels)), max(1, len(self._web.relation_ids))), dtype=np.uint8)
        for row, values in enumerate(labels):
            if values and len(self._web.relation_ids):
                fits = _fitting(self._web.relation_names, values, self._limits.check_time)
                out[row] = np.array(fits, dtype=np.uint8)[self._web.relation_ids]
        return out


def _all_words(block: PatternBlock) -> Iterator[PatternWord]:
    yield from block.words
    for part in block.parts:
        yield from _all_words(part.block)


def _all_edges(block: PatternBlock) -> Iterator[PatternEdge]:
    yield from block.edges
    for part in block.parts:
        yield from _all_edges(part.block)


def _compared(numbers: npt.NDArray[Any], condition: PatternCondition) -> Bools:
    values = [float(value.text) for value in condition.values]
    if not values:
        return np.asarray(~np.isnan(numbers))
    if condition.comparison == ":":
        return np.isin(numbers, values)
    return np.asarray(ORDERS[condition.comparison](numbers, values[0]))


def _fitting(texts: Sequence[str | None], values: tuple[PatternValue, ...], check: Callable[[], None]) -> list[bool]:
    """Return for each text whether it equals or matches one of `values`; without values, whether it is not None.

    `check` is called again and again, and raises an error if the search took too long.
    """
    if not values:
        return [text is not None for text in texts]
    exact = {value.text for value in values if not value.expression and not value.ignore_case}
    folded = {value.text.casefold() for value in values if not value.expression and value.ignore_case}
    bases = tuple(f"{value.text}:" for value in values if value.subtypes)
    out = [
        text is not None
        and (text in exact or (bool(bases) and text.startswith(bases)) or (bool(folded) and text.casefold() in folded))
        for text in texts
    ]
    for value in values:
        if value.expression is not None:
            matched = value.expression.matches(("" if text is None else text for text in texts), check)
            pairs = zip(out, matched, texts, strict=True)
            out = [fits or (match and text is not None) for fits, match, text in pairs]
    return out


class _Program:
    """The order in which a search looks for the words of a pattern.

    A block is a pattern, or a pattern nested in another: a part of it. Each word has a level. A level has the edges to
    words of earlier levels, and the parts whose matches can be counted as soon as its word is found.
    """

    def __init__(self, counts: Mapping[PatternWord, int]) -> None:
        self._counts = counts
        self.order: list[PatternWord] = []
        self.levels: dict[PatternWord, int] = {}
        self.labels: list[tuple[PatternValue, ...]] = []
        self._edges: list[list[list[int]]] = []
        self._parts: list[list[list[int]]] = []

    def add(self, block: PatternBlock, known: tuple[PatternWord, ...]) -> tuple[int, int]:
        """Add a search step (level) for each word of `block`, the most selective first, then those of nested patterns.

        `known` are words of outer blocks, which are found earlier. Return the first level of the block's words and the
        level after their last.
        """
        first_level = len(self.order)
        bound = list(known)
        left = list(block.words)
        while left:
            is_first = len(left) == len(block.words)
            word = block.counted if is_first and block.counted is not None else self._cheapest(block, left, bound)
            left.remove(word)
            level = len(self.order)
            self.order.append(word)
            self.levels[word] = level
            edges = [edge for edge in block.edges if _other(edge, word) in bound and _other(edge, word) is not word]
            edges += [edge for edge in block.edges if edge.a is word and edge.b is word]
            edges.sort(key=lambda edge: COSTS.get((edge.code, _side(edge, word)), 9) if edge.a is not edge.b else 99)
            self._edges.append([self._row(edge, word) for edge in edges])
            self._parts.append([])
            bound.append(word)
        last_level = len(self.order)
        for part in block.parts:
            needed = [self.levels[word] for word in part.block.outer()]
            home = max([first_level, *(level for level in needed if level < last_level)])
            present = tuple(word for word, level in self.levels.items() if level <= home and word in bound)
            first, last = self.add(part.block, present)
            self._parts[home].append([first, last, part.fewest, part.most])
        return first_level, last_level

    def _cheapest(self, block: PatternBlock, left: list[PatternWord], bound: list[PatternWord]) -> PatternWord:
        def cost(word: PatternWord) -> tuple[float, int]:
            sides = [
                COSTS.get((edge.code, _side(edge, word)), 9)
                for edge in block.edges
                if _other(edge, word) in bound and edge.a is not edge.b
            ]
            return (min(sides, default=100 if bound else 0), self._counts[word])

        return min(left, key=cost)

    def _row(self, edge: PatternEdge, word: PatternWord) -> list[int]:
        label = 0
        if edge.code in GRAPH_CODES:
            label = len(self.labels)
            self.labels.append(edge.labels)
        other = _other(edge, word)
        level = self.levels[word] if other is None else self.levels[other]
        return [edge.code, _side(edge, word), level, edge.low, edge.high, label]

    def arrays(self, masks: Mapping[PatternWord, Bools], labels: npt.NDArray[np.uint8]) -> Any:  # noqa: ANN401
        """Return the program as the `SearchPlan` of the kernel.

        `masks` marks the candidates of each word. `labels` has a row for each edge of the enhanced graph, which marks
        the arcs with an allowed relation.
        """
        stacked = np.stack([masks[word].view(np.uint8) for word in self.order])
        edges, edge_starts = _flat(self._edges, 6)
        parts, part_starts = _flat(self._parts, 4)
        arrays: tuple[npt.NDArray[Any], ...] = (stacked, edges, edge_starts, parts, part_starts, labels)
        return kernel.SearchPlan(*map(view, arrays))


def _flat(rows: list[list[list[int]]], width: int) -> tuple[Ints, Ints]:
    starts = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum([len(part) for part in rows], out=starts[1:])
    flat = [row for part in rows for row in part]
    return np.array(flat or [[0] * width], dtype=np.int32).reshape(-1, width), starts


def _side(edge: PatternEdge, word: PatternWord) -> int:
    return 0 if edge.a is word else 1


def _other(edge: PatternEdge, word: PatternWord) -> PatternWord | None:
    if edge.a is word:
        return edge.b
    return edge.a if edge.b is word else None
