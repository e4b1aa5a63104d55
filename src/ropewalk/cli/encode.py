"""The command `ropewalk encode`: encode trees or graphs as labels, a word a line."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.encodings.base import Encoding
    from ropewalk.encodings.graphs import GraphEncoding


PolicyOption = Annotated[
    Literal["lift", "refuse", "published", "drop"] | None,
    typer.Option(
        help="For a tree that the encoding does not cover: lift its crossing arcs (the default of most encodings), "
        "refuse it with an error, or write it as in the published figures. For a graph: drop the arcs that do not fit "
        "(the default), or refuse it."
    ),
]


def encode(
    file: shell.File,
    encodings: Annotated[
        list[str] | None,
        typer.Option(
            "--encoding",
            "-e",
            metavar="NAME",
            show_default="with --graphs, optimal-nonprojective",
            help="An encoding, with options if any: optimal, optimal+head, 'brackets(planes=2)'. Not repeatable.",
        ),
    ] = None,
    graphs: shell.GraphsOption = False,
    policy: PolicyOption = None,
    output: shell.OutputOption = "-",
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Encode trees or graphs as labels, a word a line.

    Each line has the form, the label columns and the relation, separated by tabs; an empty line follows each
    sentence, and the first line names the encoding and the columns. `ropewalk encodings` lists all encodings, and
    `ropewalk decode` reads the labels. The file is read piece by piece: its size does not matter. Labels of graphs
    have a line for each empty node too, and the relations of all heads of a word.
    """
    shell.demand_other(output, [file], overwrite=overwrite)
    encoding = _only(encodings)
    options: dict[str, str | int] = {} if policy is None else {"policy": policy}
    if graphs:
        _encode_graphs(file, encoding, options, output)
        return
    shell.demand_conllu(file, ", or --graphs to write them")
    if encoding is None:
        raise typer.BadParameter("missing; name one of those that `ropewalk encodings` lists", param_hint="--encoding")
    _encode_trees(file, encoding, options, output)


def _only(encodings: list[str] | None) -> str | None:
    """Return the encoding that is named, or None; raise if there are several."""
    if encodings and len(encodings) > 1:
        problem = clean(f"found {', '.join(encodings)}; expected one: run the command once for each")
        raise typer.BadParameter(problem, param_hint="--encoding")
    return encodings[0] if encodings else None


def _encode_trees(file: str, encoding: str, options: dict[str, str | int], output: str) -> None:
    from ropewalk import conllu
    from ropewalk.encodings import get
    from ropewalk.formats import label_files

    chosen = get(encoding, **options)
    pieces = (
        (
            label_files.text_of(chosen, bank),
            (~chosen.covers(bank)).tolist() if chosen.loses_lifted else [False] * len(bank),
        )
        for bank in conllu.stream(file, trees="required")
    )
    loss = (
        f"crossing arcs that {chosen.spec} cannot write and were lifted: they will not come back; a scheme (+head) or "
        "a non-projective encoding keeps them"
    )
    _write(output, chosen, pieces, "tree", loss)


def _encode_graphs(file: str, encoding: str | None, options: dict[str, str | int], output: str) -> None:
    from ropewalk.encodings.graphs import DEFAULT, get
    from ropewalk.formats import label_files

    chosen = get(encoding or DEFAULT, **options)
    pieces = (
        (label_files.graph_text_of(chosen, nodes), (~chosen.covers(nodes.graphs)).tolist())
        for nodes in map(label_files.Nodes.of, shell.graph_banks(file))
    )
    loss = (
        f"arcs that {chosen.spec} cannot write and that were left out: they will not come back; more planes or "
        "optimal-nonprojective keep them"
    )
    _write(output, chosen, pieces, "graph", loss)


def _write(
    output: str,
    encoding: "Encoding | GraphEncoding",
    pieces: "Iterable[tuple[str, Sequence[bool]]]",
    unit: str,
    loss: str,
) -> None:
    """Write labels, and say how many sentences they do not preserve.

    A piece is the text of some labels, and for each of its sentences whether it is lost. The message calls sentences
    `unit`, and ends with `loss`.
    """
    from ropewalk.formats import label_files

    shell.warn_if_uncompiled()
    many = lost = 0

    def texts() -> "Iterator[str]":
        nonlocal many, lost
        for text, losses in pieces:
            many += len(losses)
            lost += sum(losses)
            yield text

    label_files.write(output, encoding, texts())
    if lost:
        shell.say(f"{lost:,} of {shell.plural(many, unit)} had {loss}")
