"""Train the peers on English EWT, as far as each gets: `python bench/peers/train.py [spacy] [udpipe]`.

The treebank is read from the folder named by ROPEWALK_UD; `train.py udpipe --treebank UD_Wolof-WTB` takes another. What
is trained lies in HOME, one folder for each system, in a folder of its own for each other treebank, and is not trained
again; a folder appears only when it is complete. UDPipe's tokenizer and tagger are kept when its parser is interrupted.
`--sentences`, `--steps` and `--iterations` make it short, to try the scripts out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from places import HOME, english, files_of, home_of

from ropewalk import conllu
from ropewalk.files import creating_folder, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.treebank.treebank import Treebank

    Recipe = dict[str, Any]

MADE = "made.json"
PIPELINE = ("tagger", "morphologizer", "trainable_lemmatizer", "parser")  # of spaCy: all columns that we predict
GROUP = 10  # sentences to a Doc, as spaCy's guide to converting treebanks recommends
METHOD = "morphodita_parsito"  # the only kind of model that UDPipe 1 has
# As UDPipe's authors train treebanks of this kind: one model for tags and features, one for lemmas, 20 iterations each,
# of which the best on the development data is kept.
UDPIPE_TAGGER = (
    "models=2"
    ";templates_1=tagger;guesser_suffix_rules_1=8;guesser_enrich_dictionary_1=6;guesser_prefixes_max_1=0"
    ";use_lemma_1=0;provide_lemma_1=0;use_xpostag_1=1;provide_xpostag_1=1;use_feats_1=1;provide_feats_1=1"
    ";templates_2=lemmatizer;guesser_suffix_rules_2=6;guesser_enrich_dictionary_2=4;guesser_prefixes_max_2=4"
    ";use_lemma_2=1;provide_lemma_2=1;use_xpostag_2=0;provide_xpostag_2=0;use_feats_2=0;provide_feats_2=0"
)
UDPIPE_TOKENIZER = "dimension=64;epochs=100;batch_size=50;learning_rate=0.005;dropout=0.2;early_stopping=1"
# What UDPipe's authors chose for English EWT, but for word vectors computed beforehand; the rest are defaults. Other
# treebanks are trained with the same.
UDPIPE_PARSER = "iterations=30;learning_rate=0.01;learning_rate_final=0.001;l2=0.5;structured_interval=8"


def made(folder: Path, recipe: Recipe, build: Callable[[Path], None]) -> Path:
    """Fill a folder by a recipe, unless that was done; refuse to replace what another recipe made."""
    note = folder / MADE
    if note.is_file():
        found = json.loads(note.read_text(encoding="utf-8"))["recipe"]
        if found != recipe:
            differ = ", ".join(sorted(key for key in {*found, *recipe} if found.get(key) != recipe.get(key)))
            sys.exit(f"{folder} was trained otherwise ({differ} differ): choose another --home, or remove it")
        print(f"{folder}: done before", flush=True)
        return folder
    print(f"{folder}: training", flush=True)
    wall, cpu = time.perf_counter(), time.process_time()
    with creating_folder(folder) as part:
        build(part)
        times = {"wall": round(time.perf_counter() - wall), "cpu": round(time.process_time() - cpu)}
        (part / MADE).write_text(
            json.dumps({"recipe": recipe, "seconds": times}, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
    print(f"{folder}: done in {times['wall']} s", flush=True)
    return folder


def read(file: Path, most: int) -> Treebank:
    """Read a treebank, or its first sentences."""
    bank = conllu.read(file)
    return bank.select(np.arange(min(most, len(bank)))) if most else bank


def train_spacy(home: Path, parts: dict[str, Treebank], recipe: Recipe, steps: int) -> None:
    """Train the pipeline of `spacy init config --lang en --optimize efficiency` with the components of PIPELINE."""
    from spacy.cli.init_config import init_config
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train

    recipe = recipe | {"version": version("spacy"), "pipeline": list(PIPELINE), "steps": steps}

    def build(folder: Path) -> None:
        config = init_config(lang="en", pipeline=list(PIPELINE), optimize="efficiency", gpu=False)
        if steps:
            config["training"]["max_steps"] = steps
        with tempfile.TemporaryDirectory() as work:
            for part, bank in parts.items():
                write_docs(bank, Path(work) / f"{part}.spacy")
                config["paths"][part] = str(Path(work) / f"{part}.spacy")
            train(init_nlp(config), Path(work))
            shutil.copytree(Path(work) / "model-best", folder / "model")

    made(home / "spacy", recipe, build)


def write_docs(bank: Treebank, file: Path) -> None:
    """Convert a treebank for spaCy: ten sentences to a Doc, XPOS as its tags, relations with their subtypes.

    No spaces are told: that makes spaCy train on the treebank's words, as it is tested, and not on its own tokens.
    """
    import spacy
    from spacy.tokens import Doc, DocBin

    vocab = spacy.blank("en").vocab
    forms, relations = (bank.column(name).texts() for name in ("form", "deprel"))
    columns = [bank.column(name).texts() for name in ("lemma", "upos", "xpos", "feats")]
    columns[3] = ["" if feats == "_" else feats for feats in columns[3]]
    heads, offsets = bank.heads.tolist(), bank.offsets.array.tolist()
    docs = DocBin()
    for first in range(0, len(bank), GROUP):
        starts = offsets[first : first + GROUP + 1]
        begin, end = starts[0], starts[-1]
        absolute = [
            (start + heads[word] - 1 if heads[word] else word) - begin
            for start, stop in pairwise(starts)
            for word in range(start, stop)
        ]
        deps = [name if name != "root" else "ROOT" for name in relations[begin:end]]
        lemmas, pos, tags, morphs = (values[begin:end] for values in columns)
        docs.add(
            Doc(
                vocab,
                words=forms[begin:end],
                lemmas=lemmas,
                pos=pos,
                tags=tags,
                morphs=morphs,
                heads=absolute,
                deps=deps,
            )
        )
    docs.to_disk(file)


def train_udpipe(home: Path, parts: dict[str, Treebank], recipe: Recipe, options: tuple[str, str, str]) -> None:
    """Train UDPipe's tokenizer, its tagger, then its parser on what that tagger says; `options` are theirs."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

    recipe = recipe | {"version": version("ufal.udpipe")}
    tokenizer, tagger, parser = options

    def sentences(bank: Treebank) -> Sentences:
        reader, out, error = InputFormat.newConlluInputFormat(), Sentences(), ProcessingError()
        reader.setText(conllu.dumps(bank).decode())
        while reader.nextSentence(sentence := Sentence(), error):
            out.push_back(sentence)
        if error.occurred():
            sys.exit(f"UDPipe cannot read the treebank: {error.message}")
        return out

    def train(folder: Path, *options: str) -> None:
        error = ProcessingError()
        train, dev = sentences(parts["train"]), sentences(parts["dev"])
        model = Trainer.train(METHOD, train, dev, *options, error)
        if error.occurred():
            sys.exit(f"UDPipe cannot be trained: {error.message}")
        (folder / "model").mkdir()
        (folder / "model" / "model.udpipe").write_bytes(model)

    none = Trainer.NONE
    words = made(
        home / "udpipe-tokenizer",
        recipe | {"tokenizer": tokenizer},
        lambda folder: train(folder, tokenizer, none, none),
    )
    tags = made(home / "udpipe-tagger", recipe | {"tagger": tagger}, lambda folder: train(folder, none, tagger, none))
    chosen = [f"from_model=file:{part / 'model' / 'model.udpipe'}" for part in (words, tags)]
    whole = recipe | {"tokenizer": tokenizer, "tagger": tagger, "parser": parser}
    made(home / "udpipe", whole, lambda folder: train(folder, *chosen, parser))


def main() -> None:
    """Train what is asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("systems", nargs="*", metavar="SYSTEM", help="spacy, udpipe; by default both")
    options.add_argument("--treebank", type=Path, default=english(), help="a folder in UD's layout; by default EWT's")
    options.add_argument("--home", type=Path, default=HOME, help=f"where they are kept; by default {HOME}")
    options.add_argument("--sentences", type=int, default=0, help="train on so many sentences; 0 is all")
    options.add_argument("--steps", type=int, default=0, help="at most so many of spaCy's steps; 0 is its default")
    options.add_argument("--iterations", type=int, default=0, help="so many of UDPipe's iterations; 0 is as below")
    options.add_argument("--udpipe-tokenizer", default=UDPIPE_TOKENIZER, help=f"by default {UDPIPE_TOKENIZER}")
    options.add_argument("--udpipe-tagger", default=UDPIPE_TAGGER, help=f"by default {UDPIPE_TAGGER}")
    options.add_argument("--udpipe-parser", default=UDPIPE_PARSER, help=f"by default {UDPIPE_PARSER}")
    given = options.parse_args()
    systems = given.systems or ["spacy", "udpipe"]
    if unknown := set(systems) - {"spacy", "udpipe"}:
        options.error(f"there is no system {', '.join(sorted(unknown))}; expected spacy or udpipe")
    if "spacy" in systems and given.treebank != english():
        options.error("spaCy is trained on English EWT alone; name udpipe for another treebank")
    sources = {part: file for part, file in files_of(given.treebank).items() if part != "test"}
    parts = {part: read(file, given.sentences) for part, file in sources.items()}
    recipe: Recipe = {part: hashlib.sha256(file.read_bytes()).hexdigest() for part, file in sources.items()}
    recipe["sentences"] = given.sentences
    home = make_folder(home_of(given.treebank, given.home.resolve()))
    if "spacy" in systems:
        train_spacy(home, parts, recipe, given.steps)
    if "udpipe" in systems:
        tokenizer, tagger, parser = given.udpipe_tokenizer, given.udpipe_tagger, given.udpipe_parser
        if few := given.iterations:
            tokenizer += f";epochs={few}"
            tagger += f";iterations_1={few};iterations_2={few}"
            parser += f";iterations={few}"
        train_udpipe(home, parts, recipe, (tokenizer, tagger, parser))


if __name__ == "__main__":
    main()
