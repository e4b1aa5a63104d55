"""displaCy: what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ropewalk.documents import Sentence


def sentence(given: Sentence) -> dict[str, Any]:
    """Give the words and arcs of a sentence."""
    arcs = []
    for place, (head, relation) in enumerate(zip(given.heads, given.relations, strict=True)):
        if head > 0:
            start, end = sorted((place, head - 1))
            arcs.append({"start": start, "end": end, "label": relation, "dir": "left" if start == place else "right"})
    words = [{"text": text, "tag": tag} for text, tag in zip(given.forms, given.upos, strict=True)]
    return {"words": words, "arcs": arcs}
