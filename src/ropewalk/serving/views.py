"""API answers that need no parser: pictures of trees, labels of encodings, steps of decoding, matches of patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ropewalk import PictureOptions, draw, encodings, search
from ropewalk.core.repair import POLICIES
from ropewalk.core.ropes import COVERS
from ropewalk.drawing import steps, trace
from ropewalk.drawing.trace import can_be_traced
from ropewalk.errors import RequestError, RopewalkError
from ropewalk.serving.sources import demand_lengths, read_conllu
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from ropewalk import Picture
    from ropewalk.drawing.svg import Theme
    from ropewalk.serving.fields import Fields
    from ropewalk.treebank.documents import Sentence

FORMS = {"svg": "image/svg+xml", "tikz": "text/x-tex", "text": "text/plain", "html": "text/html"}
THEMES = ("auto", "light", "dark")
MOST_SENTENCES = 200
MOST_ENCODINGS = 20
MOST_MATCHES = 10_000
LONGEST_STEPS = 250  # words: each step shows the whole stack


def sentences(fields: Fields, max_words: int, name: str = "conllu") -> Treebank:
    """Read the CoNLL-U in the field `name`; raise a `RequestError` if it has too many or too long sentences."""
    bank = read_conllu(fields.text(name))
    demand_lengths(bank.lengths, max_words)
    if len(bank) > MOST_SENTENCES:
        raise RequestError(413, f"{name} has {len(bank)} sentences; send at most {MOST_SENTENCES} at a time")
    return bank


def pictures(fields: Fields, max_words: int) -> dict[str, Any]:
    """Return for each sentence its picture, its words as JSON, and its labels in each requested encoding."""
    bank = sentences(fields, max_words)
    against = sentences(fields, max_words, "against") if "against" in fields else None
    if against is not None and len(against) != len(bank):
        raise RequestError(
            400, f"against has {len(against)} sentences and conllu {len(bank)}; send the same sentences in both"
        )
    form = fields.choice("form", FORMS, "svg")
    out = []
    for number in range(len(bank)):
        labels = labels_of(bank[number], fields)
        written = [row["encoding"] for row in labels if row["columns"]]
        other = None if against is None else against[number]
        picture = picture_of(bank, number, fields, labels=written, against=other)
        out.append(
            {"picture": picture_text(picture, form, fields), "sentence": bank[number].to_json(), "labels": labels}
        )
    return {"sentences": out}


def picture_of(
    bank: Treebank,
    number: int,
    fields: Fields,
    *,
    labels: list[str] | None = None,
    against: Sentence | None = None,
) -> Picture:
    """Draw the sentence with index `number`, with the picture options in `fields`.

    `labels` names the encodings whose labels are drawn, by default those in `fields`. Differences from `against` are
    marked.
    """
    options = PictureOptions(
        tags=fields.flag("tags", default=True),
        relations=fields.flag("relations", default=True),
        probabilities=bank[number].probabilities if fields.flag("probabilities") else None,
        labels=fields.texts("labels", most=MOST_ENCODINGS) if labels is None else labels,
        cover=fields.choice("cover", COVERS, "") if "cover" in fields else None,
        bracketing=fields.flag("bracketing"),
        against=against,
        title="",
    )
    return draw(bank[number], options)


def picture_text(picture: Picture, form: str, fields: Fields) -> str:
    """Return a picture as text in the format `form`, one of `FORMS`; `fields` may choose the colours."""
    if form in {"svg", "html"}:
        theme = _theme(fields)
        return picture.svg(theme=theme) if form == "svg" else picture.html(theme=theme)
    return picture.tikz() if form == "tikz" else picture.text()


def _theme(fields: Fields) -> Theme:
    return cast("Theme", fields.choice("theme", THEMES, THEMES[0]))


def labels_of(sentence: Sentence, fields: Fields, name: str = "labels") -> list[dict[str, Any]]:
    """Return the labels of a sentence's tree in each encoding that the field `name` lists.

    If an encoding does not cover the tree, `why` is the reason, and the labels are those of a lifted tree, or absent.
    """
    out = []
    for spec in fields.texts(name, most=MOST_ENCODINGS):
        encoding = encodings.get(spec)
        covered, why, columns = True, None, []
        try:
            encoded = encoding.encode(_bank_of(sentence))
            columns = [{"name": name, "labels": encoded.texts(column)} for column, name in enumerate(encoding.columns)]
            covered = bool(encoding.covers(sentence.tree).all())
            if not covered:
                why = _why(spec, sentence)
        except RopewalkError as problem:
            covered, why = False, str(problem)
        out.append({"encoding": encoding.spec, "covered": covered, "why": why, "columns": columns})
    return out


def _why(spec: str, sentence: Sentence) -> str:
    name = encodings.get(spec).name
    try:
        encodings.get(name, policy="refuse").encode(_bank_of(sentence))
    except RopewalkError as problem:
        return str(problem).partition("this tree: ")[2].partition("; use")[0] or str(problem)
    return "its labels are those of a tree with some arcs lifted"


def _bank_of(sentence: Sentence) -> Treebank:
    return Treebank.of([sentence.tree], [sentence.upos])


def label_answers(fields: Fields, max_words: int) -> dict[str, Any]:
    """Return the words of each sentence, and its labels in each encoding of the field `encodings`."""
    bank = sentences(fields, max_words)
    rows = [
        {"words": list(bank[number].forms), "encodings": labels_of(bank[number], fields, "encodings")}
        for number in range(len(bank))
    ]
    return {"sentences": rows}


def step_answers(fields: Fields, max_words: int) -> dict[str, Any]:
    """Decode labels step by step; return the heads, the data of each step, and HTML that shows the steps.

    The labels are those in the field `labels`, or those of a tree in the field `conllu`.
    """
    encoding = encodings.get(fields.text("encoding", "optimal"))
    if fields.one_of("conllu", "labels") == "labels":
        labels = fields.texts("labels", most=min(max_words, LONGEST_STEPS))
        words = fields.texts("words", most=len(labels)) if "words" in fields else None
        if not labels:
            raise RequestError(400, "labels is empty; expected at least one label")
        lifted = False
    else:
        bank = sentences(fields, min(max_words, LONGEST_STEPS))
        if not len(bank):
            raise RequestError(400, "conllu has no sentence; expected one")
        sentence = bank[fields.number("sentence", 1, low=1, high=len(bank)) - 1]
        labels = encoding.encode(_bank_of(sentence)).texts()
        words, lifted = list(sentence.forms), not bool(encoding.covers(sentence.tree).all())
    repair = fields.choice("repair", tuple(POLICIES), "nearest")
    played = trace(labels, encoding, repair_policy=repair)
    return {
        "encoding": played.encoding,
        "labels": labels,
        "lifted": lifted,
        "heads": list(played.heads),
        "steps": steps.describe(played, words),
        "html": steps.panel(played, words=words, theme=_theme(fields), heading=3),
    }


def search_answers(pattern: str, treebank: Treebank) -> dict[str, Any]:
    """Search a treebank for a pattern; return its matches, and the texts of their sentences with the spans to mark.

    Sentences and words count from 1. `words` maps the names in the pattern to words, and `hits` are all words to mark.
    `spans` are the positions of the hits in `text`, in characters; there are none if the words are not in the text.
    """
    matches = search.compile(pattern).search(treebank, max_matches=MOST_MATCHES)
    rows, hits = [], dict[int, set[int]]()
    for match in matches:
        number, marked = match.sentence.number, [word.index for word in match.hits]
        words = {name: word.index for name, word in match.words.items()}
        rows.append({"sentence": number + 1, "word": match.word.index, "words": words, "hits": marked})
        hits.setdefault(number, set()).update(marked)
    marked_sentences = [_marked(treebank[number], sorted(marked)) for number, marked in hits.items()]
    return {"names": list(matches.names), "matches": rows, "sentences": marked_sentences}


def check_pattern(pattern: str) -> None:
    """Raise a `PatternError` if a text is no pattern."""
    search.compile(pattern)


def search_conllu(pattern: str, text: str) -> dict[str, Any]:
    """Search the trees of CoNLL-U for a pattern."""
    return search_answers(pattern, read_conllu(text))


def _marked(sentence: Sentence, hits: list[int]) -> dict[str, Any]:
    text, at = sentence.text, 0
    spans: list[list[int]] = []
    for token in sentence.tokens:
        begin = text.find(token.text, at)
        if begin < 0:  # the comment with the text has other words
            spans = []
            break
        at = begin + len(token.text)
        if any(token.first <= hit <= token.last for hit in hits):
            spans.append([begin, at])
    return {"sentence": sentence.number + 1, "id": sentence.id, "text": text, "hits": hits, "spans": spans}


def encoding_list() -> dict[str, Any]:
    """Return a description of every encoding, and the names of those whose decoder can be shown step by step."""
    out = []
    for name in encodings.known():
        encoding = encodings.get(name)
        out.append(
            {
                "name": name,
                "symbol": encoding.symbol,
                "covers": encoding.summary,
                "cites": encoding.cites,
                "columns": list(encoding.columns),
                "labels": None if encoding.alphabet is None else list(encoding.alphabet),
                "options": encodings.options_of(name),
            }
        )
    return {"encodings": out, "steps": list(encodings.names_where(can_be_traced))}
