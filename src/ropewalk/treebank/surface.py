"""Parts of a treebank: the tokens and spaces of its text, headings of sentences, probabilities of predictions."""

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

    `arcs` has a value for each word's head, `trees` one for each sentence, `tags` those of each column of tags by name.
    """

    arcs: Floats | None = None
    trees: Floats | None = None
    tags: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[object, ...]:
        return Probabilities, (self.arcs, self.trees, dict(self.tags))  # a mapping that cannot be changed has no pickle

    def select(self, words: npt.NDArray[Any], sentences: npt.NDArray[Any]) -> Probabilities:
        """Pick words and sentences by their numbers."""
        return Probabilities(
            None if self.arcs is None else frozen_array(self.arcs[words]),
            None if self.trees is None else frozen_array(self.trees[sentences]),
            MappingProxyType({name: frozen_array(values[words]) for name, values in self.tags.items()}),
        )

    @classmethod
    def concat(cls, banks: Sequence[Treebank]) -> Probabilities:
        """Return the probabilities of treebanks joined end to end."""
        parts = [bank.probabilities or cls() for bank in banks]
        words = [bank.words for bank in banks]

        def joined(found: list[Floats | None], sizes: list[int]) -> Floats | None:
            if all(one is None for one in found):
                return None
            pairs = zip(found, sizes, strict=True)
            return frozen_array(np.concatenate([np.full(size, np.nan) if one is None else one for one, size in pairs]))

        tags = {name: joined([part.tags.get(name) for part in parts], words) for part in parts for name in part.tags}
        return cls(
            joined([part.arcs for part in parts], words),
            joined([part.trees for part in parts], [len(bank) for bank in banks]),
            MappingProxyType({name: values for name, values in tags.items() if values is not None}),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The tokens that stand in a text: token t is written for the words `first[t]:first[t+1]` of the treebank.

    `texts` has what is written for a token of several words; any other is written as its word. `after` has the spaces
    after each token, `before` those before the first token of a sentence, if there are any, by the sentence's number;
    text of nothing but spaces, which has no sentences, has them as if before a first.
    `starts` and `stops` count characters from the beginning of the text, -1 where nobody knows. `written` has
    tokens with other than single spaces inside as they stand there.
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
        """Return a surface on which every word is a token with one space after it."""
        unknown = frozen_ints(np.full(words, -1, dtype=np.int32))
        after = Column(frozen_ints(np.zeros(words, dtype=np.int32)), (" ",))
        return cls(frozen_ints(np.arange(words + 1)), {}, after, {}, unknown, unknown)

    def __len__(self) -> int:
        return len(self.first) - 1

    def offsets(self, words: Offsets) -> Offsets:
        """Return where the tokens of each sentence are, from where its words are."""
        return Offsets(np.searchsorted(self.first, words.array))

    def select(self, words: Offsets, sentences: npt.NDArray[Any]) -> Surface:
        """Keep the tokens of some sentences."""
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
        """Return the tokens of treebanks joined end to end."""
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


def _chosen(texts: Mapping[int, str], tokens: npt.NDArray[Any]) -> dict[int, str]:
    """Number the texts of some tokens anew."""
    return {new: texts[old] for new, old in enumerate(tokens.tolist()) if old in texts} if texts else {}


class Heading(NamedTuple):
    """Facts about a whole sentence: its name, its running text, and what begins with it.

    `document` is the name of the document that begins with it, empty if that has none, and None if none begins.
    """

    id: str | None = None
    text: str | None = None
    document: str | None = None
    paragraph: bool = False
