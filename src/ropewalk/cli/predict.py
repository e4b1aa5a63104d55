"""`ropewalk predict`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import (
    OnError,
    OnErrorOption,
    bytes_of,
    followed,
    plural,
    prepare_torch,
    put,
    say,
    warn_if_uncompiled,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class Decoder(StrEnum):
    """How labels become trees."""

    EXACT = "exact"
    GREEDY = "greedy"


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's folder, or its name on the hub.")],
    source: Annotated[str, typer.Argument(metavar="IN", help="CoNLL-U, also .gz or .xz; - is standard input.")] = "-",
    out: Annotated[str, typer.Argument(metavar="OUT", help="Where to write; - is standard output.")] = "-",
    decoder: Annotated[
        Decoder | None, typer.Option("--decoder", help="Best tree, or best label of each word and repair.")
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Write arc probabilities into MISC, and tree probabilities into comments."),
    ] = False,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Tokens that pass the network together.")] = 4096,
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads to use; 0 is torch's own choice.")] = 0,
    offline: Annotated[bool, typer.Option("--offline", help="Never ask the hub; use what was downloaded.")] = False,
    on_error: OnErrorOption = OnError.STOP,
) -> None:
    """Parse CoNLL-U with a trained model.

    Puts the model's trees, and tags if it has any, over the words of each sentence. Everything else stays as it is,
    byte for byte and in the same order. Files are read piece by piece: their size does not matter.
    """
    prepare_torch()
    warn_if_uncompiled()
    from ropewalk import conllu
    from ropewalk.errors import ModelError
    from ropewalk.tagging import use_threads
    from ropewalk.tagging.tagger import Tagger

    if threads:
        use_threads(threads)
    tagger = Tagger.from_pretrained(model, local_files_only=offline).with_decoding(batch=batch)
    if decoder is not None:
        tagger = tagger.with_decoding(decoder=decoder.value)
    if confidence:
        if decoder is Decoder.GREEDY:
            raise typer.BadParameter("only trees of the exact decoder have probabilities; leave out --decoder greedy")
        if not tagger.tells_confidence:
            raise ModelError(model, "its trees have no probabilities; those of optimal and four-bit labels have")
        tagger = tagger.with_decoding(confidence=True)
    stream = conllu.stream(source, on_error=on_error.value, chunk_bytes=1 << 19)
    words = 0

    def parsed() -> "Iterator[bytes]":
        nonlocal words
        for bank in followed(stream, source, bytes_of):
            words += bank.words
            yield from conllu.sentences(tagger.parse(bank))

    put(out, parsed())
    for problem in stream.problems:
        say(f"skipped: {problem}")
    say(f"{plural(words, 'word')} parsed")
