"""Tools for the tests of corpora: invented documents, and their annotation in one process."""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import ropewalk
from ropewalk.formats import arrow

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.pipeline import Parser

COMMON = (
    "the a old new long rope ship harbour maker walker hemp day night line knot anchor sail water storm he she they we "
    "it walks twists holds carries breaks says sees and or but when because don't isn't always never again in on under"
)


@functools.cache
def parser() -> Parser:
    return ropewalk.load(threads=1)


def text(seed: int, sentences: int) -> str:
    """Invent some sentences."""
    rng = random.Random(seed)  # noqa: S311 - invented sentences
    made = (" ".join(rng.choices(COMMON.split(), k=rng.randint(3, 20))).capitalize() + "." for _ in range(sentences))
    return " ".join(made)


def expected(texts: dict[str, str]) -> list[dict[str, Any]]:
    """Return the annotation of texts by id, made by one process without tables of documents."""
    out = []
    for name, given in texts.items():
        document = parser()(given)
        out.append({"id": name, "sentences": arrow.sentences(document.treebank).to_pylist()})
    return out


def rows(out: Path) -> list[dict[str, Any]]:
    """Read all shards of an output folder, in order."""
    shards = sorted((out / "data").glob("*.parquet"))
    return [row for shard in shards for row in pq.read_table(shard).to_pylist()]
