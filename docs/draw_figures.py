"""Write the figures of the documentation; the paper's are made from nothing but their heads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import conllu, deps
from ropewalk.core.graphs import Graph
from ropewalk.core.trees import Tree
from ropewalk.drawing import PictureOptions, draw, enhanced_scene, to_steps, to_svg, trace

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

FOLDER = Path(__file__).parent / "figures"
SAMPLE = Path(__file__).parent.parent / "examples" / "sample.conllu"

SIMPLE = Tree([0, 4, 4, 0, 6, 7, 4])
# A step of the proof that the proper cover is the smallest: 6→2 leans on 1→6, and 2→5 takes its place.
PROOF = Graph(6, [(1, 6), (2, 3), (2, 4), (2, 5), (6, 2)])
# The sentence of the README, with its tree as a treebank would have it.
WALKS = Tree(
    [2, 0, 2, 5, 2, 7, 2, 7, 10, 7, 2],
    ["nsubj", "root", "advmod", "det", "obl:tmod", "punct", "advcl", "obj", "case", "obl", "punct"],
)
WORDS = ["She", "walks", "backwards", "all", "day", ",", "twisting", "hemp", "into", "rope", "."]
# The sentence of docs/idea.md, and the same with a clause about its first noun, whose arc crosses others.
BOATS = Tree([2, 3, 0, 6, 6, 3], ["amod", "nsubj", "root", "det", "amod", "obj"])
BOATS_WORDS = ["Old", "ropes", "hold", "the", "heavy", "boats"]
CROSSED = Tree(
    [2, 3, 0, 6, 6, 3, 9, 9, 2], ["amod", "nsubj", "root", "det", "amod", "obj", "nsubj", "advmod", "acl:relcl"]
)
CROSSED_WORDS = [*BOATS_WORDS, "that", "never", "break"]
STEPWISE = [(7, 2), (1, 3), (7, 4), (8, 5), (9, 6), (1, 7), (3, 8), (4, 9)]


def figures() -> dict[str, str]:
    """Draw every figure, by the name of its file."""
    bank = conllu.read(SAMPLE)
    maker, knot = bank[0], bank[3]
    other = Tree([2, 3, 4, 0, 4, 7, 5, 4], ["det", "compound", "obj", "root", "advmod", "det", "obl", "punct"])
    complex_graph = Graph(14, [*STEPWISE, (14, 10), (9, 11), (9, 12), (9, 13), (11, 14)])
    drawn = {
        "paper-proof-before": draw(PROOF, cover={(1, 6), (6, 2)}),
        "paper-proof-after": draw(PROOF, cover={(1, 6), (2, 5)}),
        "paper-naive": draw(SIMPLE, bracketing=True, cover="all"),
        "paper-optimal": draw(SIMPLE, bracketing=True),
        "paper-four-bit": draw(SIMPLE, bracketing=True, cover="farthest"),
        "paper-semibrackets": draw(Tree([4, 0, 5, 5, 0]), bracketing=True),
        "paper-superbrackets": draw(Tree([2, 0, 0, 1, 2]), bracketing=True),
        "paper-auxiliary": draw(Tree([0, 5, 0, 5, 0]), bracketing=True),
        "paper-stepwise-1": draw(Graph(9, [arc for arc in STEPWISE if max(arc) <= 7]), bracketing=True),
        "paper-stepwise-2": draw(Graph(9, [arc for arc in STEPWISE if max(arc) <= 8]), bracketing=True),
        "paper-stepwise": draw(Graph(9, STEPWISE), bracketing=True),
        "paper-complex": draw(complex_graph, bracketing=True),
        "readme-tree": draw(WALKS, words=WORDS),
        "readme-ropes": draw(WALKS, PictureOptions(words=WORDS, bracketing=True, relations=False)),
        "idea-tree": draw(BOATS, words=BOATS_WORDS),
        "idea-naive": draw(BOATS, words=BOATS_WORDS, labels=["brackets(stacks=1)"], cover="all"),
        "idea-ropes": draw(BOATS, words=BOATS_WORDS, labels=["optimal"], cover="proper"),
        "idea-four-bit": draw(BOATS, words=BOATS_WORDS, labels=["four-bit"], cover="farthest"),
        "idea-crossing": draw(CROSSED, words=CROSSED_WORDS, labels=["optimal-nonprojective"], cover="proper"),
        "idea-labels": draw(BOATS, words=BOATS_WORDS, labels=["optimal", "four-bit", "hexatags"]),
        "tree": draw(maker, tags=True),
        "labels": draw(maker, labels=["optimal", "four-bit", "hexatags"]),
        "cover": draw(knot, bracketing=True),
        "errors": draw(maker, PictureOptions(against=other)),
    }
    labels = ["<", "<", ">^/^", "\\^>", ">^", "<"]
    return {f"{name}.svg": picture.svg() for name, picture in drawn.items()} | {
        "graph.svg": enhanced(bank, 1),
        "steps.html": to_steps(trace(labels, "optimal"), words=["The", "old", "rope", "is", "long", "."]),
    }


def enhanced(bank: Treebank, sentence: int) -> str:
    """Draw the basic tree of a sentence, and below it what its enhanced graph adds."""
    graphs, basic, forms = deps.read(bank), bank.basic_graphs(), deps.forms(bank).texts()
    return to_svg(enhanced_scene(graphs.select([sentence]), basic[sentence], forms[graphs.offsets[sentence]]))


if __name__ == "__main__":
    for name, text in figures().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
