"""Model cards: a model's data, options and scores, and how to train it again."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.training.construction import head_shape, reader_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.training.config import Config, TeacherOptions
    from ropewalk.training.loop import TrainingState

PACKAGES = ("ropewalk", "torch", "transformers", "tokenizers", "accelerate", "safetensors", "numpy")
FOLDERS = re.compile(r"(?<![\w.~-])/(?:[^\s/=,'\"]+/)+")  # of absolute paths, which mean nothing on other machines
SHOWN = {
    "uas": "UAS, over words",
    "las": "LAS, over words",
    "clas": "CLAS",
    "uas_sentences": "UAS, over sentences",
    "las_sentences": "LAS, over sentences",
    "um": "unlabelled exact match (UM)",
    "lm": "labelled exact match (LM)",
    "upos": "UPOS, over words",
    "xpos": "XPOS, over words",
    "feats": "FEATS, over words",
    "lemma": "LEMMA, over words",
    "elas": "ELAS",
    "eulas": "EULAS",
    "graph_f1": "F1 of labelled arcs of graphs",
    "graph_uf1": "F1 of unlabelled arcs of graphs",
    "graph_lm": "whole graphs",
}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that training uses."""
    out = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


def card(
    config: Config, state: TrainingState, scores: Mapping[str, Mapping[str, float]], command: str, sources: str = ""
) -> str:
    """Return the text of a model card; `scores` has the measures of each part of the data that was scored.

    `command` is the command line of the training. `sources` describes the texts without trees that a teacher annotated.
    """
    data, model = config.data, config.model
    shape = head_shape(model)
    parser = f"`{model.encoding}`" if shape.labels else model.parser
    licence = data.licence or "that of the treebank; not stated in the configuration"
    reader = reader_name(model.encoder)
    source = "relations from word and head" if shape.relations_need_heads else "relations from the word alone"
    source += f", enhanced graphs by `{model.graph.encoding}`" if model.graph.encoding else ""
    run = f"Seed {config.seed}; {state.epoch} of {config.training.epochs} epochs, the best was epoch {state.best_epoch}"
    tags = f" It predicts {', '.join(name.upper() for name in model.tags)} too." if model.tags else ""
    shown = SHOWN | {name: f"{name.upper()}, over words" for name in model.tags if name not in SHOWN}
    names = [name for name in shown if any(name in table for table in scores.values())]
    lines = [
        "---",
        "library_name: ropewalk",
        "tags: [dependency-parsing]",
        *([f"license: {data.licence.lower()}"] if data.licence else []),
        "---",
        f"# {data.name or 'A dependency parser'}",
        "",
        f"A dependency parser for Ropewalk: {parser} on {reader}, {source}.{tags}",
        "",
        "## Data",
        "",
        f"Trained on {names_of(data.train)}; the best epoch was chosen on {names_of(data.dev)}.",
        *_styles(data.styles),
        *_taught(config.teacher),
        f"Licence: {licence}.",
        *(["", sources.strip()] if sources else []),
        "",
        "## Scores",
        "",
        f"Relations with subtypes, punctuation included, {config.decoding.decoder} decoding.",
        "",
        "| measure | " + " | ".join(scores) + " |",
        "| --- |" + " ---: |" * len(scores),
        *(
            f"| {shown[name]} | " + " | ".join(f"{100 * table[name]:.2f}" for table in scores.values()) + " |"
            for name in names
        ),
        "",
        "## Training",
        "",
        f"{run} by `{config.training.metric}`; {state.step:,} steps.",
        *([f"Energy: {energy}."] if (energy := _energy(state)) else []),
        "",
        "```",
        FOLDERS.sub("", command),
        "```",
        "",
        "Versions: " + ", ".join(f"{name} {text}" for name, text in versions().items()) + ".",
        "All options are in `config.json`.",
        "",
    ]
    return "\n".join(lines)


def names_of(paths: Sequence[str]) -> str:
    """Return the names of files, without folders."""
    return ", ".join(f"`{Path(path).name}`" for path in paths)


def _styles(styles: Sequence[str]) -> list[str]:
    """Return a sentence for the card about the treebanks that a model keeps apart; none if it has one style."""
    names = [f"`{name}`" for name in dict.fromkeys(styles)]
    if len(names) < 2:
        return []
    return [f"The output follows the conventions of {names[0]}; `--style` chooses those of {' or '.join(names[1:])}."]


def _taught(teacher: TeacherOptions) -> list[str]:
    """Return sentences for the card about the teachers and the texts that they annotated; none without a teacher."""
    if not teacher.model:
        return []
    names = names_of(teacher.model)
    learnt = f"It was also trained on the probabilities of a teacher: {names}."
    if len(teacher.model) > 1:
        learnt = f"It was also trained on the mean probabilities of {len(teacher.model)} teachers: {names}."
    return [
        learnt,
        *([f"The teacher annotated text without trees: {names_of(teacher.texts)}."] if teacher.texts else []),
    ]


def _energy(state: TrainingState) -> str:
    used = sum(entry.get("energy_kwh", 0.0) for entry in state.history)
    carbon = sum(entry.get("co2_kg", 0.0) for entry in state.history)
    return f"{used:.3f} kWh, {carbon:.3f} kg of CO2" if used else ""
