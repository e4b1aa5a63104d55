"""The command `ropewalk export`: export a trained model to run without torch."""

from typing import Annotated, Literal

import typer

from ropewalk.cli.shell import Moved, demand_output, demand_outside, folder_option, plural, prepare_torch, say


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A trained model's folder.")],
    moved: Moved = None,
    output: Annotated[str | None, folder_option("The folder to write.")] = None,
    weights: Annotated[
        Literal["fp32", "int8"],
        typer.Option(help="fp32: store weights as they are; int8: rounded to 8 bits, a quarter of the size."),
    ] = "fp32",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The model's name in its output; by default that of -o.")
    ] = "",
    segmenter: Annotated[
        str, typer.Option(metavar="FOLDER", help="A segmenter's folder, for models that parse raw text.")
    ] = "",
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="CoNLL-U to score the new model on, for its card and `ropewalk models`; repeatable."
        ),
    ] = None,
) -> None:
    """Export a trained model to run without torch.

    Writes a folder for `ropewalk parse --model FOLDER`, which computes with ONNX Runtime; transformers also need the
    package tokenizers. The new model is compared with the trained one on invented sentences, and kept only if both
    predict the same.
    """
    out = demand_output(moved, output, "FOLDER")
    demand_outside(out, [model, *(test or [])])
    prepare_torch()
    from ropewalk.training.export import export as write

    report = write(model, out, weights=weights, name=name, segmenter=segmenter or None, test=test or ())
    say(f"{report.name} {report.hash}: {report.bytes / 1e6:.1f} MB in {report.path}")
    say(f"compared on {plural(report.words, 'word')}: scores differ by at most {report.difference:.1e}")
    if weights == "int8":
        say(
            f"8 bits move probabilities by {report.rounding:.1e} on average; "
            f"{100 * report.same_heads:.1f} % of the heads stay the same"
        )
    if report.scores:
        say(f"test: UAS {100 * report.scores['uas']:.2f}, LAS {100 * report.scores['las']:.2f} over words")
