"""A review as one HTML page without external files: readers keep, replace or edit annotations and save the treebank."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from math import isnan
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.drawing.html import colours, page
from ropewalk.formats import conllu

if TYPE_CHECKING:
    from ropewalk.review.suspects import Review, Suspect

MODULES = ("serving/static/dom.js", "serving/static/conllu.js")  # whose functions the script uses
BODY = """<header><h1>Review of <span id="file">{file}</span></h1>
<p class="about">{about}</p>
<div class="bar"><p id="status" role="status" aria-live="polite"></p>
<button type="button" id="save">Save CoNLL-U</button></div></header>
<main id="cards"></main>
<p class="more"><button type="button" id="more" hidden>Show more</button></p>
<datalist id="relations"></datalist>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
"""
ABOUT = (
    "Words whose annotation the model finds improbable, the most suspicious first. Keys on a word: "
    "<kbd>k</kbd> keeps the annotation, <kbd>m</kbd> takes the model's, <kbd>e</kbd> edits. Nothing leaves this page "
    "until you save."
)


def to_page(review: Review, count: int | None = None) -> str:
    """Return an HTML page with the `count` most suspicious words.

    Without `count`, it has all words whose annotation the model contradicts or doubts. The page contains the whole
    treebank. The file that it saves differs from the original only where the reader changed it.
    """
    suspects = review.suspects(count)
    numbers = sorted({suspect.word.sentence.number for suspect in suspects})
    predicted = {
        number: list(zip(review.predicted[number].heads, review.predicted[number].relations, strict=True))
        for number in numbers
    }
    content = {
        "file": PurePath(review.treebank.file).name,
        "sentences": [block.decode("utf-8") for block in conllu.sentences(review.treebank)],
        "predicted": predicted,
        "suspects": [_row(suspect) for suspect in suspects],
        "relations": sorted({*review.treebank.relations.names, *review.predicted.relations.names}),
    }
    # `<` could end the script element
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = "".join(_static(name).replace("export ", "") for name in MODULES) + _static("review/static/review.js")
    body = BODY.format(file=escape(str(content["file"])), about=ABOUT, data=data, script=script)
    return page(f"Review of {content['file']}", _static("review/static/review.css") + colours("auto"), body)


def _row(suspect: Suspect) -> list[float | None]:
    word = suspect.word
    shares = (None if isnan(share) else round(share, 6) for share in (suspect.head, suspect.relation))
    return [word.sentence.number, word.index, *shares]


def _static(name: str) -> str:
    with files.reading(Path(str(resources.files("ropewalk") / name))) as file:
        return file.read().decode("utf-8")
