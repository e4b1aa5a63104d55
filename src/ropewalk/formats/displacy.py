"""displaCy: what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""

from __future__ import annotations

from typing import Any

from ropewalk.errors import demand_type
from ropewalk.treebank.documents import Sentence


def sentence(given: Sentence) -> dict[str, Any]:
    """Return the words and arcs of a sentence."""
    demand_type("a sentence to draw", given, Sentence)
    arcs = []
    for place, (head, relation) in enumerate(zip(given.heads, given.relations, strict=True)):
        if head > 0:
            start, end = sorted((place, head - 1))
            arcs.append({"start": start, "end": end, "label": relation, "dir": "left" if start == place else "right"})
    words = [{"text": text, "tag": tag} for text, tag in zip(given.forms, given.upos, strict=True)]
    return {"words": words, "arcs": arcs}
