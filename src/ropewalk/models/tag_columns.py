"""The registry of tag columns: all columns that are predicted for each word, except heads and relations.

Ropewalk's own are in `OWN`. Another package adds one through the entry point group `ropewalk.tag_columns`: the entry's
name is the name of the tag column, and its object is a `TagColumn`. Training, prediction, scores and the server read
this registry; docs/own-tag-column.md is a worked example.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, final

from ropewalk.core.plugins import plugins
from ropewalk.errors import demand_known

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.core.columns import Column
    from ropewalk.treebank.treebank import Treebank

GROUP: Final = "ropewalk.tag_columns"


@final
@dataclass(frozen=True, slots=True)
class TagColumn:
    """A kind of tag that every word has, stored in the CoNLL-U column `column`.

    `read` returns the tag of every word of a treebank. `write` returns the values of `column` for a treebank and the
    tags that were predicted for its words. Without `read` and `write`, the tag is the whole value of the column.
    """

    column: str
    read: Callable[[Treebank], Column] | None = None
    write: Callable[[Treebank, Column], Column] | None = None

    def values(self, treebank: Treebank) -> Column:
        """Return the tag of every word of a treebank."""
        return treebank.column(self.column) if self.read is None else self.read(treebank)

    def written(self, treebank: Treebank, tags: Column) -> Treebank:
        """Return a copy of `treebank` with these `tags` of its words, stored in the CoNLL-U column `column`."""
        return treebank.with_columns({self.column: tags if self.write is None else self.write(treebank, tags)})


# Lemmas are learnt as rules, and features may be learnt one by one: see `tags`.
OWN: Final = {name: TagColumn(name) for name in ("lemma", "upos", "xpos", "feats")}


@cache
def known() -> dict[str, TagColumn]:
    """Return all tag columns by name, Ropewalk's own first."""
    return OWN | {name: column for name, column in plugins(GROUP, TagColumn).items() if name not in OWN}


def get(name: str) -> TagColumn:
    """Return a tag column by name; raise `UnknownNameError` if there is none."""
    if name in OWN:  # without a search through other packages
        return OWN[name]
    demand_known("tag column", name, known())
    return known()[name]
