# ruff: noqa: A005 - other programs that import `profile` get the standard library's module, see the end
"""The shares of CPU time that the parts of `parser.pipe` take.

    python bench/profile.py [--model en] [--paragraphs 1500] [--file FILE]

Paragraphs come from the CoNLL-U file FILE, by default the training file of English EWT in the folder that ROPEWALK_UD
names; without it they are invented. Every word of every document is read, as in `bench/api.py`. The time of a part does
not include the parts that it calls. All word types are known in the second table, as in a long text. The last line is
a document's own time: that of many documents of one sentence, less that of one document with the same paragraphs.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5
DOCUMENTS = 400  # of one sentence
SHORT = "Twist the hemp."
VIEWS = "documents, sentences, words: views"
# the modules that call functions, and the functions or methods that belong to a part
PARTS = {
    "segmenter: characters": ("segmentation.reading", "CharacterReader.read CharacterReader.glued"),
    "segmenter: windows, marks": ("segmentation.segmenter", "mark_many"),
    "segmenter: rules": ("segmentation.rules", "Rules.apply"),
    "segmenter: words, sentences": ("segmentation.segmenter", "build_many"),
    "word types: features": ("models.features", "Lookup.features"),
    "word types: cached rows": ("models.onnx.word_types", "WordTypes.rows"),
    "encoder: batches (bilstm)": ("models.onnx.bilstm", "OnnxBiLSTM.vectors"),
    "encoder: batches (sru)": ("models.onnx.sru", "OnnxSRU.vectors"),
    "encoder: batches (transformer)": ("models.onnx.transformer", "OnnxTransformer.vectors"),
    "encoder: recurrence (sru)": ("kernels.recurrence", "read"),
    "scores: laid out": ("models.scorer", "Scores._of GroupScores.arcs GroupScores.relations"),
    "trees: search": ("models.tree_decoding", "decode"),
    "trees: probabilities": ("models.calibration", "confidences"),
    "trees: other": ("models.tree_decoding", "LabelDecoder.decode ArcDecoder.decode"),
    "tags: lexicon": ("models.lexicon", "Lexicon.find Lexicon.add"),
    "tags: combinations": ("models.combinations", "Combinations.best"),
    "tags: lemmas": ("models.tags", "_lemmas"),
    "tags: other": ("models.model", "best_tags"),
    "treebank": ("models.model", "Model.parse"),
    "batches": ("pipeline", "Parser.parse_together"),
}


class Clock:
    """CPU time by part; a call inside another is not counted in the outer part."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._parts = [VIEWS]
        self._since = 0.0

    def start(self) -> None:
        """Forget all times and begin."""
        self.spent.clear()
        self._since = time.process_time()

    def _lap(self) -> None:
        now = time.process_time()
        self.spent[self._parts[-1]] += now - self._since
        self._since = now

    def stop(self) -> dict[str, float]:
        """Return the time of each part, in seconds."""
        self._lap()
        return dict(self.spent)

    def timed(self, function: Callable[..., Any], part: str | Callable[[Any], str]) -> Callable[..., Any]:
        """Return `function` with its time counted for `part`, or for what `part` returns for its first argument."""

        @functools.wraps(function, assigned=("__doc__",))
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - those of any function
            self._lap()
            self._parts.append(part if isinstance(part, str) else part(arguments[0]))
            try:
                return function(*arguments, **options)
            finally:
                self._lap()
                self._parts.pop()

        return call


def watch(clock: Clock) -> None:
    """Replace the functions of all parts by timed ones; sessions of ONNX Runtime are parts named after their files."""
    from ropewalk.models.onnx.session import Session

    for part, (module, names) in PARTS.items():
        home = importlib.import_module(f"ropewalk.{module}")
        for name in names.split():
            *owner, last = name.split(".")
            target = functools.reduce(getattr, owner, home)
            setattr(target, last, clock.timed(getattr(target, last), part))
    files: dict[int, str] = {}
    made = Session.__init__

    def init(session: Session, network: bytes, file: str, *more: Any, **options: Any) -> None:  # noqa: ANN401
        files[id(session)] = f"ONNX Runtime: {Path(file).name}"
        made(session, network, file, *more, **options)

    Session.__init__ = init  # type: ignore[method-assign, assignment]
    Session.run = clock.timed(Session.run, lambda session: files[id(session)])  # type: ignore[method-assign]


def table(title: str, spent: dict[str, float], words: int) -> str:
    """Return the shares of the parts as text, the largest first."""
    whole = sum(spent.values())
    rows = sorted(spent.items(), key=lambda row: -row[1])
    lines = [f"{part:<40}{seconds / whole:8.1%}{1e6 * seconds / words:10.2f}" for part, seconds in rows]
    head = f"{title}: {words / whole:,.0f} words/s\n{'part':<40}{'share':>8}{'µs/word':>10}"
    return "\n".join([head, *lines])


def main() -> None:
    """Measure and print."""
    sys.path.insert(0, str(Path(__file__).parent))
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--paragraphs", type=int, default=1500)
    options.add_argument("--file", type=Path, default=None)
    given = options.parse_args()
    import ropewalk
    from api import best, invented, looked_into, paragraphs_of  # type: ignore[import-not-found]
    from ropewalk import conllu

    home = os.environ.get("ROPEWALK_UD")
    file = given.file or (next(Path(home).rglob("en_ewt-ud-train.conllu"), None) if home else None)
    texts = invented(given.paragraphs) if file is None else paragraphs_of(conllu.read(file), given.paragraphs)
    plain = ropewalk.load(given.model, threads=1)
    words = looked_into(plain, texts)
    alone, joined = [SHORT] * DOCUMENTS, ["\n\n".join([SHORT] * DOCUMENTS)]
    own = (best(lambda: list(plain.pipe(alone))) - best(lambda: list(plain.pipe(joined)))) / DOCUMENTS
    clock = Clock()
    watch(clock)
    rounds: list[dict[str, float]] = []
    for _ in range(RUNS):
        parser = ropewalk.load(given.model, threads=1)
        parser("Twist it.")  # the first call builds what all later ones use
        for _ in ("new", "known"):
            clock.start()
            looked_into(parser, texts)
            rounds.append(clock.stop())
    print(f"{len(texts):,} paragraphs, {words:,} words, {'invented' if file is None else file.name}, {parser.name}")
    for title, some in (("new word types", rounds[::2]), ("known word types", rounds[1::2])):
        print(f"\n{table(title, min(some, key=lambda spent: sum(spent.values())), words)}")
    print(f"\na document on its own: {1e3 * own:.3f} ms")


if __name__ == "__main__":
    main()
elif __name__ == "profile":  # `cProfile`, imported by a script in this folder, means the standard library's module
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    _spec = PathFinder.find_spec("profile", [str(Path(os.__file__).parent)])
    assert _spec is not None  # noqa: S101 - it is there
    assert _spec.loader is not None  # noqa: S101 - likewise
    sys.modules["profile"] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["profile"])
