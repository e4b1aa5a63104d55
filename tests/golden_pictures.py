"""The pictures that must not change unnoticed; `python tests/golden_pictures.py` writes them anew."""

from __future__ import annotations

from pathlib import Path

from ropewalk import Sentence, Treebank, conllu
from ropewalk.core.graphs import Graph
from ropewalk.core.trees import Tree
from ropewalk.drawing import Picture, PictureOptions, draw, scene, to_html, to_steps, trace
from ropewalk.treebank.surface import Heading

FOLDER = Path(__file__).parent / "golden"
SAMPLE = FOLDER.parent.parent / "examples" / "sample.conllu"


def sentence(
    forms: tuple[str, ...],
    upos: tuple[str, ...],
    heads: tuple[int, ...],
    relations: tuple[str, ...],
    heading: Heading | None = None,
) -> Sentence:
    """Make a sentence."""
    bank = Treebank.of([Tree(heads, relations)], [upos]).with_columns({"form": forms})
    return bank.with_headings([heading or Heading()])[0]


HEBREW = sentence(
    ("החבל", "ארוך", "מאוד", "."), ("NOUN", "ADJ", "ADV", "PUNCT"), (2, 0, 2, 2), ("nsubj", "root", "advmod", "punct")
)
HOSTILE = sentence(
    ("<script>alert(1)</script>", "&amp;", "50%_{}", "\x1b[31m", "👩‍👩‍👧", "e\u0301te\u0301", "\\"),
    ("X", "<b>", "SYM", "X", "X", "NOUN", "PUNCT"),
    (2, 0, 2, 2, 6, 2, 2),
    ("a<b", "root", 'say:"x"', "$x$", "amod", "obj", "~^#"),
    Heading("</title><script>", "<b>&"),
)
GRAPH = Graph(
    14,
    [(7, 2), (1, 3), (7, 4), (8, 5), (9, 6), (1, 7), (3, 8), (4, 9), (14, 10), (9, 11), (9, 12), (9, 13), (11, 14)],
)
LONG = Tree(
    [max(word - 4, 0) if word % 4 == 3 else word - (word - 1) % 4 + 2 for word in range(1, 41)],
    ["root" if word == 3 else ("det", "amod", "conj", "nmod")[(word - 1) % 4] for word in range(1, 41)],
)


def pictures() -> dict[str, str]:
    """Draw every picture, by the name of its file."""
    bank = conllu.read(SAMPLE)
    ids = {one.id: one for one in bank}
    knot, hemp, maker = ids["en-4"], ids["en-2"], ids["en-1"]
    other = Tree([2, 3, 4, 0, 4, 7, 5, 4], ["det", "compound", "obj", "root", "advmod", "det", "obl", "punct"])
    drawn: dict[str, Picture] = {
        "projective": draw(maker, tags=True),
        "crossing": draw(knot),
        "labels": draw(hemp, labels=["optimal", "four-bit", "hexatags", "relative"]),
        "lifted": draw(knot, PictureOptions(labels=["optimal"], relations=False)),
        "cover-proper": draw(knot, cover="proper", bracketing=True),
        "cover-farthest": draw(Tree([0, 4, 4, 0, 6, 7, 4]), cover="farthest", bracketing=True),
        "cover-all": draw(Tree([0, 4, 4, 0, 6, 7, 4]), cover="all", bracketing=True),
        "indexed-graph": draw(GRAPH, cover="proper", bracketing=True),
        "errors": draw(maker, PictureOptions(against=other)),
        "wide": draw(ids["ja-1"], tags=True),
        "right-to-left": draw(HEBREW, tags=True, labels=["optimal"]),
        "hostile": draw(HOSTILE, tags=True),
        "probabilities": draw(maker, PictureOptions(probabilities=[0.999, 0.5, None, 1, 0.25, 0.1, 0.75, 1])),
    }
    out = {f"{name}.txt": str(picture) for name, picture in drawn.items()}
    out["wrapped.txt"] = draw(LONG, labels=["optimal", "absolute"]).text(width=60)
    out["coloured.txt"] = drawn["cover-proper"].text(width=50, colour=True)
    out |= {f"{name}.svg": drawn[name].svg() for name in ("projective", "errors", "right-to-left", "hostile")}
    out |= {f"{name}.tex": drawn[name].tikz() for name in ("projective", "indexed-graph", "errors", "hostile")}
    out["hostile.html"] = to_html([scene(HOSTILE), scene(HEBREW)], theme="dark")
    broken = trace(["<", "<", ">^/^", "\\^>", ">^", "<"], "optimal")
    out["broken-steps.html"] = to_steps(broken, words=["<script>", "b", "c", "d", "e", "</script>"])
    return out


if __name__ == "__main__":
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
