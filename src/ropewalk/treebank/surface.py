"""Parts of a treebank: the tokens and spaces of its text, metadata of sentences, probabilities of predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.treebank.treebank import Treebank

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """Probabilities that predictions are right, as a model estimates them; NaN where unknown.

    `arcs` has a value for each word's head, and `trees` one for each sentence's tree. `tags` has, for the name of a
    column of tags, a value for each word.
    """

    arcs: Floats | None = None
    trees: Floats | None = None
    tags: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[object, ...]:
        return Probabilities, (self.arcs, self.trees, dict(self.tags))  # a `MappingProxyType` cannot be pickled

    def select(self, words: npt.NDArray[Any], sentences: npt.NDArray[Any]) -> Probabilities:
        """Return the probabilities of the words and sentences with these indices, in this order."""
        return Probabilities(
            None if self.arcs is None else frozen_array(self.arcs[words]),
            None if self.trees is None else frozen_array(self.trees[sentences]),
            MappingProxyType({name: frozen_array(values[words]) for name, values in self.tags.items()}),
        )

    def without(self, column: str, words: npt.NDArray[Any], offsets: Offsets) -> Probabilities:
        """Return the probabilities with NaN for the values of `column` of these `words`, which were edited.

        If `column` is `head`, the probabilities of their trees become NaN too.
        """
        tags = {name: _unknown(values, words) if name == column else values for name, values in self.tags.items()}
        if column != "head":
            return Probabilities(self.arcs, self.trees, MappingProxyType(tags))
        arcs = None if self.arcs is None else _unknown(self.arcs, words)
        trees = None if self.trees is None else _unknown(self.trees, offsets.owners_of(words))
        return Probabilities(arcs, trees, MappingProxyType(tags))

    @classmethod
    def concat(cls, banks: Sequence[Treebank]) -> Probabilities:
        """Return the probabilities of all `banks` in one object, one treebank after the other."""
        parts = [bank.probabilities or cls() for bank in banks]
        words = [bank.words for bank in banks]

        def joined(values: list[Floats | None], sizes: list[int]) -> Floats | None:
            if all(part is None for part in values):
                return None
            pairs = zip(values, sizes, strict=True)
            return frozen_array(
                np.concatenate([np.full(size, np.nan) if part is None else part for part, size in pairs])
            )

        tags = {name: joined([part.tags.get(name) for part in parts], words) for part in parts for name in part.tags}
        return cls(
            joined([part.arcs for part in parts], words),
            joined([part.trees for part in parts], [len(bank) for bank in banks]),
            MappingProxyType({name: values for name, values in tags.items() if values is not None}),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The tokens of a text: token t consists of the words `first[t]:first[t+1]` of the treebank.

    - `texts`: the text of each multiword token, by its index. The text of any other token is its word.
    - `after`: the spaces after each token.
    - `before`: the spaces before the first token of a sentence, if there are any, by the index of the sentence. Text of
      only spaces has no sentences; its spaces are those of index 0.
    - `starts`, `stops`: the character offsets of each token in the text, -1 where unknown.
    - `written`: the exact text of each token that contains spaces other than single ones, by its index.
    """

    first: Ints
    texts: Mapping[int, str]
    after: Column
    before: Mapping[int, str]
    starts: Ints
    stops: Ints
    written: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of_words(cls, words: int) -> Surface:
        """Return the tokens of `words` words if every word is a token with one space after it."""
        unknown = frozen_ints(np.full(words, -1, dtype=np.int32))
        after = Column(frozen_ints(np.zeros(words, dtype=np.int32)), (" ",))
        return cls(frozen_ints(np.arange(words + 1)), {}, after, {}, unknown, unknown)

    def __len__(self) -> int:
        return len(self.first) - 1

    def offsets(self, words: Offsets) -> Offsets:
        """Convert sentence offsets that count words into sentence offsets that count tokens."""
        return Offsets(np.searchsorted(self.first, words.array))

    def select(self, words: Offsets, sentences: npt.NDArray[Any]) -> Surface:
        """Return the tokens of the `sentences` with these indices; `words` are the sentence offsets of words."""
        _, tokens = self.offsets(words).select(sentences)
        sizes = np.diff(self.first)[tokens]
        before = {new: self.before[old] for new, old in enumerate(sentences.tolist()) if old in self.before}
        return Surface(
            frozen_ints(starts_of(sizes)),
            _chosen(self.texts, tokens),
            self.after.take(tokens),
            before if self.before else {},
            frozen_ints(self.starts[tokens]),
            frozen_ints(self.stops[tokens]),
            _chosen(self.written, tokens),
        )

    @classmethod
    def concat(cls, banks: Sequence[Treebank]) -> Surface:
        """Return the tokens of all `banks` in one object, one treebank after the other."""
        parts = [bank.surface for bank in banks]
        tokens = starts_of([len(part) for part in parts]).tolist()
        words = starts_of([bank.words for bank in banks]).tolist()
        sentences = starts_of([len(bank) for bank in banks]).tolist()
        return cls(
            frozen_ints(np.concatenate([*(p.first[:-1] + w for p, w in zip(parts, words, strict=False)), words[-1:]])),
            {t + base: text for part, base in zip(parts, tokens, strict=False) for t, text in part.texts.items()},
            Column.concat([part.after for part in parts]),
            {s + base: text for part, base in zip(parts, sentences, strict=False) for s, text in part.before.items()},
            frozen_ints(np.concatenate([part.starts for part in parts])),
            frozen_ints(np.concatenate([part.stops for part in parts])),
            {t + base: text for part, base in zip(parts, tokens, strict=False) for t, text in part.written.items()},
        )


def _unknown(values: Floats, places: npt.NDArray[Any]) -> Floats:
    """Return a copy of `values` with NaN at the indices `places`."""
    changed = values.copy()
    changed[places] = np.nan
    return frozen_array(changed)


def _chosen(texts: Mapping[int, str], tokens: npt.NDArray[Any]) -> dict[int, str]:
    """Return the texts of the chosen `tokens`; the keys are indices into `tokens`."""
    return {new: texts[old] for new, old in enumerate(tokens.tolist()) if old in texts} if texts else {}


class Heading(NamedTuple):
    """Metadata of a sentence, as in the comments of CoNLL-U: `id` is its `sent_id`, and `text` its running text.

    `document` is the name of the document that begins with the sentence. It is empty if that document has no name, and
    None if no document begins there. `paragraph` is true if a paragraph begins with the sentence. `language` is a code
    such as `fr`, if the language was identified.
    """

    id: str | None = None
    text: str | None = None
    document: str | None = None
    paragraph: bool = False
    language: str | None = None
