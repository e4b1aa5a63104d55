"""The command `ropewalk decode`: decode labels into CoNLL-U."""

from collections.abc import Mapping
from typing import Annotated

import typer

from ropewalk.cli import shell


def decode(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Labels as `ropewalk encode` writes them, also .gz or .xz; - is standard input."
        ),
    ],
    into: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A CoNLL-U file with the same words: only its heads and relations change, or with --graphs its DEPS "
            "and empty nodes. With --graphs also an .sdp file.",
        ),
    ] = None,
    graphs: Annotated[bool, typer.Option("--graphs", help="Decode labels of graphs; needs --into.")] = False,
    repair: shell.RepairOption = shell.Repair.NEAREST,
    output: shell.OutputOption = "-",
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Decode labels into CoNLL-U.

    Labels may have faults: they are counted on standard error, and every sentence becomes a tree with one root. Graphs
    are not repaired. The file is read piece by piece: its size does not matter.
    """
    from ropewalk import conllu
    from ropewalk.formats import label_files

    if file == into == "-":
        raise typer.BadParameter("standard input can be read once; name a file for the labels or for --into")
    shell.demand_other(output, [file, *([into] if into else [])], overwrite=overwrite)
    shell.warn_if_uncompiled()
    if graphs:
        if into is None:
            raise typer.BadParameter("--graphs needs --into, the file with the words of the graphs")
        _decode_graphs(file, into, output)
        return
    trees = label_files.LabelTrees(label_files.LabelReader(file), repair_policy=repair.value)
    conllu.write(output, label_files.named(trees) if into is None else label_files.fill(conllu.stream(into), trees))
    _tell("faults in the labels", trees.faults)
    _tell("repairs", trees.repairs)


def _decode_graphs(file: str, into: str, output: str) -> None:
    from ropewalk import conllu, sdp
    from ropewalk.formats import label_files

    graphs = label_files.LabelGraphs(label_files.GraphLabelReader(file))
    if shell.is_semantic(into):
        sdp.write(output, label_files.fill_semantic(sdp.read(into), graphs))
    else:
        shell.put(output, label_files.fill_graphs(conllu.stream(into), graphs))
    _tell("faults in the labels", graphs.faults)


def _tell(what: str, counts: Mapping[str, int]) -> None:
    named = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    shell.say(f"{what}: {named or 'none'}")
