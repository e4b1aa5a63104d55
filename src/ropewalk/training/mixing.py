"""Train data from several files: the style of each file, and the tag columns that a file lacks.

A style is a treebank's way of annotating. The encoder has a vector for each style. A column that a file does not
annotate, although others do, is not learnt from that file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.errors import ConfigError
from ropewalk.models import tag_columns
from ropewalk.treebank.features import NONE
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.training.config import DataOptions

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
PRESENT = 0.02  # least share of words with a value for which a file has a column


@dataclass(frozen=True, slots=True, eq=False)
class MixedData:
    """Train data from one or several files.

    `parts` are the treebanks of the files, `styles` their styles. `lacking` has for each file the tag columns that it
    lacks and another file has.
    """

    parts: tuple[Treebank, ...]
    styles: tuple[str, ...]
    lacking: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, parts: Sequence[Treebank], options: DataOptions, columns: Sequence[str]) -> MixedData:
        """Find out which of `columns` each file lacks; raise `ConfigError` if there is not one style for each file."""
        if options.styles and len(options.styles) != len(parts):
            problem = f"has {len(options.styles)} names; expected one for each of the {len(parts)} files of data.train"
            raise ConfigError("configuration", "data.styles", problem)
        own = [name for name in columns if name in tag_columns.known()] if len(parts) > 1 else []
        lacking = [frozenset(name for name in own if filled(bank, name) < PRESENT) for bank in parts]
        nowhere = frozenset(own).intersection(*lacking)
        if not options.styles and not any(some - nowhere for some in lacking):
            return cls((Treebank.concat(list(parts)),), ("",), (frozenset(),))
        return cls(tuple(parts), options.styles or ("",) * len(parts), tuple(some - nowhere for some in lacking))

    @property
    def bank(self) -> Treebank:
        """All sentences as one treebank."""
        return Treebank.concat(list(self.parts))

    def annotated(self, columns: Sequence[str]) -> Treebank:
        """Return the sentences of the files that have all of `columns`; those of all files if no file has."""
        kept = [bank for bank, lacks in zip(self.parts, self.lacking, strict=True) if lacks.isdisjoint(columns)]
        return Treebank.concat(kept or list(self.parts))

    def with_copies(self, change: Callable[[Treebank, int], Treebank], count: int) -> MixedData:
        """Return the data followed by `count` changed copies of all parts; `change` gets a part and a copy's number."""
        copies = [change(bank, number) for number in range(count) for bank in self.parts]
        return replace(
            self,
            parts=(*self.parts, *copies),
            styles=self.styles * (count + 1),
            lacking=self.lacking * (count + 1),
        )

    def style_numbers(self, known: Sequence[str]) -> Numbers:
        """Return the index in `known` of each sentence's style; 0 for all if the data have no styles.

        Raise `ConfigError` if the encoder does not know a style.
        """
        lengths = [len(bank) for bank in self.parts]
        for name in self.styles:
            if name and name not in known:
                problem = (
                    f"has {name!r}, which the encoder does not know; expected some of: {', '.join(known) or 'none'}"
                )
                raise ConfigError("configuration", "data.styles", problem)
        return np.repeat([known.index(name) if name else 0 for name in self.styles], lengths).astype(np.int64)

    def unlearnt(self) -> Mapping[str, Bools]:
        """Return for each tag column that some file lacks whether a word is of such a file."""
        words = [bank.words for bank in self.parts]
        columns = sorted(frozenset().union(*self.lacking))
        return {name: np.repeat([name in lacks for lacks in self.lacking], words) for name in columns}


def filled(bank: Treebank, name: str) -> float:
    """Return the fraction of a treebank's words that have a value in the tag column `name`.

    Words without letters and digits do not count: some treebanks annotate nothing but punctuation in a column.
    """
    column, forms = tag_columns.get(name).values(bank), bank.column("form")
    empty = np.array([text == NONE for text in column.names], dtype=np.bool_)
    lettered = np.array([any(map(str.isalnum, form)) for form in forms.names], dtype=np.bool_)
    counted = lettered[forms.ids]
    return float(1.0 - empty[column.ids[counted]].mean()) if counted.any() else 0.0
