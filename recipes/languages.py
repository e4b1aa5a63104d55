"""Make the model packages of many languages, all with the same command, from a table of treebanks.

    python recipes/languages.py TREEBANKS [TREEBANKS …] -o WORK [--only de fr] [--jobs 2] [--list] [--models FOLDER]
                                [-- OPTIONS OF ropewalk build]

TREEBANKS are folders that contain treebanks in UD's layout; of a treebank that several of them have, the first with a
train file is used. The table, `languages.tsv` beside this file, has a row for each language: code, name, treebanks, the
main one first. For each language the script

1. runs `ropewalk build` into WORK/CODE, with its output in WORK/CODE.log,
2. writes the package WORK/packages/CODE with the licences of all treebanks,
3. copies it to FOLDER/CODE (by default `models/` of the repository).

Each language is a process of its own, `--jobs` of them at a time. What is finished is skipped, and an interrupted build
continues. `--list` prints the state of every language and does nothing. Options after `--` go to every build.
`measure_models.py` adds speed and calibration to the models' cards.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk.autobuild.record import FILE
from ropewalk.autobuild.stages import STAGES, work_folder
from ropewalk.autobuild.treebank_files import licence
from ropewalk.errors import FormatError
from ropewalk.laboratory.splits import find
from ropewalk.models.catalogue import in_folder
from ropewalk.models.packages import module_of
from ropewalk.models.packaging import package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.laboratory.splits import SplitSource

HERE = Path(__file__).resolve().parent
TABLE = HERE / "languages.tsv"
MODELS = HERE.parent / "models"
OPTIONS = ("--threads", "1", "--minutes", "0", "--set", "parser.training.precision=bf16")  # of every build


@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table: a code, which names the model, the language's name, and treebanks, the main one first."""

    code: str
    name: str
    treebanks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """The folder of a run, the options of all builds, and the folder that packages are copied to."""

    home: Path
    options: tuple[str, ...]
    models: Path

    def model(self, language: Language) -> Path:
        """Return the folder of a language's model."""
        return self.home / language.code

    def record(self, language: Language) -> Path:
        """Return the file that says that a language is finished."""
        return self.home / f"{language.code}.json"

    def package(self, language: Language) -> Path:
        """Return the folder of a language's package."""
        return self.home / "packages" / language.code


def table(path: Path = TABLE) -> list[Language]:
    """Read the table of languages."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [Language(row["code"], row["language"], tuple(row["treebanks"].split())) for row in rows]


def treebanks_in(folders: Sequence[str]) -> dict[str, SplitSource]:
    """Return all treebanks with a train file in some folders, by name; the first folder counts."""
    found: dict[str, SplitSource] = {}
    for folder in folders:
        for path in sorted(Path(folder).iterdir()):
            try:
                sources = find(path) if path.is_dir() else []
            except FormatError:
                continue
            for source in sources:
                if "train" in source.files:
                    found.setdefault(source.name, source)
    return found


def state(language: Language, work: Work, known: dict[str, SplitSource]) -> str:
    """Return in a few words how far a language is."""
    missing = [name for name in language.treebanks if name not in known]
    record = _json(work.record(language))
    if record is not None:
        if record["options"] != [*work.options] or record["treebanks"] != [*language.treebanks]:
            return "finished with other options or treebanks: remove its files to make it again"
        model = in_folder(work.package(language) / module_of(language.code) / language.code)
        score = model.score("las")
        return f"finished: {model.hash}, {model.size / 1e6:.1f} MB" + (f", LAS {100 * score:.2f}" if score else "")
    if missing:
        return f"cannot be built: no train file of {', '.join(missing)}"
    build = _json(work_folder(work.model(language)) / FILE)
    if build is None:
        return "not begun"
    done = [name for name in STAGES if name in build["stages"]]
    return f"begun: {', '.join(done) or 'no stage'} done"


def _json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def make(language: Language, work: Work, known: dict[str, SplitSource]) -> str:
    """Build, measure and package the model of a language; return a line about it."""
    sources = [known[name] for name in language.treebanks]
    folders = [str(next(iter(source.files.values())).parent) for source in sources]
    model = work.model(language)
    command = [sys.executable, "-m", "ropewalk", "build", *folders, "-o", str(model), *work.options]
    begun = time.monotonic()
    with (work.home / f"{language.code}.log").open("ab") as log:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    if done.returncode:
        return f"{language.code}: failed, see {work.home / language.code}.log"
    home = work.package(language)
    shutil.rmtree(home, ignore_errors=True)
    text = work.home / f"{language.code}-licences.txt"
    text.write_text(licences(sources), encoding="utf-8")
    written = package(model, home, name=language.code, licence_file=text)
    shutil.rmtree(work.models / language.code, ignore_errors=True)
    shutil.copytree(home, work.models / language.code)
    facts = {"options": [*work.options], "treebanks": [*language.treebanks], "hash": written.model.hash}
    work.record(language).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    minutes = (time.monotonic() - begun) / 60
    return f"{language.code}: {state(language, work, known)}; this took {minutes:.0f} minutes"


def licences(sources: Sequence[SplitSource]) -> str:
    """Return the licence texts of treebanks, each after the treebank's name."""
    parts = []
    for source in sources:
        folder = source.files["train"].parent
        text = (folder / "LICENSE.txt").read_text(encoding="utf-8", errors="replace")
        name = licence(folder) or "as follows"
        parts.append(f"{'=' * 100}\nThe licence of the treebank {source.name}: {name}\n{'=' * 100}\n\n{text.strip()}\n")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; return its exit code."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    extra = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="TREEBANKS")
    parser.add_argument("-o", "--output", required=True, metavar="WORK")
    parser.add_argument("--only", nargs="+", default=[], metavar="CODE")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--models", default=str(MODELS), metavar="FOLDER")
    parser.add_argument("--table", default=str(TABLE), metavar="FILE")
    options = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    languages = table(Path(options.table))
    unknown = {*options.only} - {language.code for language in languages}
    if unknown:
        parser.error(f"the table has no {', '.join(sorted(unknown))}")
    chosen = [language for language in languages if not options.only or language.code in options.only]
    known = treebanks_in(options.folders)
    work = Work(Path(options.output).resolve(), (*OPTIONS, *extra), Path(options.models).resolve())
    states = {language: state(language, work, known) for language in chosen}
    if options.list:
        for language, text in states.items():
            print(f"{language.code}\t{language.name}\t{' '.join(language.treebanks)}\t{text}")
        return 0
    work.home.mkdir(parents=True, exist_ok=True)
    work.models.mkdir(parents=True, exist_ok=True)
    left = [language for language, text in states.items() if text.startswith(("not begun", "begun"))]
    failed = False
    for language, text in states.items():
        if text.startswith("cannot"):
            failed = True
            print(f"{language.code}: {text}")
    with ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda language: _made(language, work, known), left):
            failed |= ": failed" in line
            print(line, flush=True)
    return 1 if failed else 0


def _made(language: Language, work: Work, known: dict[str, SplitSource]) -> str:
    """Make a language's model; one that fails does not stop the others."""
    try:
        return make(language, work, known)
    except Exception as failure:  # noqa: BLE001 - it is reported, and others go on
        return f"{language.code}: failed: {failure}"


if __name__ == "__main__":
    sys.exit(main())
