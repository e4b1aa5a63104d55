"""displaCy: the data that spaCy's `displacy.render(…, style="dep", manual=True)` draws."""

from __future__ import annotations

from typing import Any

from ropewalk.errors import demand_type
from ropewalk.treebank.documents import Sentence


def sentence(sentence: Sentence) -> dict[str, Any]:
    """Return the words and arcs of a sentence as displaCy expects them; the arc of the root is left out."""
    demand_type("a sentence to draw", sentence, Sentence)
    arcs = []
    for index, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if head > 0:
            start, end = sorted((index, head - 1))
            arcs.append({"start": start, "end": end, "label": relation, "dir": "left" if start == index else "right"})
    words = [{"text": text, "tag": tag} for text, tag in zip(sentence.forms, sentence.upos, strict=True)]
    return {"words": words, "arcs": arcs}
