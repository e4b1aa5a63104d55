"""The command `ropewalk train-segmenter`: train a segmenter for raw text."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import folder_option, prepare_torch, say, set_option, warn_if_uncompiled

if TYPE_CHECKING:
    from ropewalk.training.segmenter_training import SegmenterProgress


def train_segmenter(
    config: Annotated[str, typer.Argument(metavar="CONFIG.toml", help="The configuration; see docs/options.md.")],
    out: Annotated[str, folder_option("The folder for the segmenter, which may be a parser's.")],
    changes: Annotated[list[str] | None, set_option("Change an option, such as training.epochs=5")] = None,
) -> None:
    """Train a segmenter for raw text.

    A segmenter finds sentences, tokens and words. Writes segmenter.json and segmenter.onnx; a parser with them in its
    folder parses raw text. The raw text for training is rebuilt from the treebank.
    """
    prepare_torch()
    warn_if_uncompiled()
    from ropewalk.segmentation import segmenter_config as configuration
    from ropewalk.training.segmenter_training import train

    outcome = train(configuration.load(config, changes or ()), out, report=_line)
    for part, scores in outcome.scores.items():
        say(f"{part}: {_shown(scores)}")
    say(f"the segmenter is in {outcome.home}")


def _line(progress: "SegmenterProgress") -> None:
    say(
        f"epoch {progress.epoch}/{progress.epochs}: loss {progress.loss:.4f}, dev {_shown(progress.scores)}, "
        f"{progress.characters_per_second:,.0f} characters/s"
    )


def _shown(scores: dict[str, float]) -> str:
    return "F1 of " + ", ".join(f"{measure} {100 * value:.2f}" for measure, value in scores.items())
