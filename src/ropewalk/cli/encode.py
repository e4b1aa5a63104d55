"""`ropewalk encode`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import EncodingOption, File, OutputOption, plural, say, warn_if_uncompiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.treebank import Treebank


class Policy(StrEnum):
    """What to do with trees that the encoding does not cover."""

    LIFT = "lift"
    REFUSE = "refuse"
    PUBLISHED = "published"


PolicyOption = Annotated[
    Policy | None,
    typer.Option(
        help="What to do with a tree that the encoding does not cover: lift its crossing arcs (unless the encoding "
        "says otherwise), refuse it with an error, or write it as in the published figures.",
        show_default=False,
    ),
]


def encode(file: File, encoding: EncodingOption, policy: PolicyOption = None, output: OutputOption = "-") -> None:
    """Write the trees of a CoNLL-U file as labels, one word per line.

    Each line has the form, the label columns and the relation, separated by tabs; an empty line follows each
    sentence, and the first line names the encoding and the columns. `ropewalk encodings` lists all encodings, and
    `ropewalk decode` reads the labels back. The file is read piece by piece: its size does not matter.
    """
    from ropewalk import conllu, labels_file
    from ropewalk.encodings import get

    chosen = get(encoding, **({} if policy is None else {"policy": policy.value}))
    warn_if_uncompiled()
    lifted = trees = 0

    def counted() -> "Iterator[Treebank]":
        nonlocal lifted, trees
        for bank in conllu.stream(file, trees="required"):
            trees += len(bank)
            lifted += int((~chosen.covers(bank)).sum()) if chosen.loses_lifted else 0
            yield bank

    labels_file.write(output, chosen, counted())
    if lifted:
        say(
            f"{lifted:,} of {plural(trees, 'tree')} had crossing arcs that {chosen.spec} cannot write and were lifted: "
            "they will not come back; a scheme (+head) or a non-projective encoding keeps them"
        )
