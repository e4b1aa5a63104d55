"""What can be seen of trees without a parser: pictures, labels of encodings, the steps of the decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ropewalk import PictureOptions, draw, encodings
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
LONGEST_STEPS = 250  # words: each step shows the whole stack


def sentences(fields: Fields, max_words: int, name: str = "conllu") -> Treebank:
    """Read the sentences of a field, not too many and none too long."""
    bank = read_conllu(fields.text(name))
    demand_lengths(bank.lengths, max_words)
    if len(bank) > MOST_SENTENCES:
        raise RequestError(413, f"{name} has {len(bank)} sentences; at most {MOST_SENTENCES} are drawn at a time")
    return bank


def pictures(fields: Fields, max_words: int) -> dict[str, Any]:
    """Draw every sentence; beside each picture, its words, and for each encoding whether it covers the tree."""
    bank = sentences(fields, max_words)
    against = sentences(fields, max_words, "against") if "against" in fields else None
    if against is not None and len(against) != len(bank):
        raise RequestError(400, f"against has {len(against)} sentences and conllu {len(bank)}; expected as many")
    form = fields.choice("form", FORMS, "svg")
    out = []
    for number in range(len(bank)):
        found = labels_of(bank[number], fields)
        written = [one["encoding"] for one in found if one["columns"]]
        other = None if against is None else against[number]
        picture = picture_of(bank, number, fields, labels=written, against=other)
        out.append(
            {"picture": picture_text(picture, form, fields), "sentence": bank[number].to_json(), "labels": found}
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
    """Draw one sentence as the fields ask."""
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
    """Write a picture in one of `FORMS`."""
    if form in {"svg", "html"}:
        theme = _theme(fields)
        return picture.svg(theme=theme) if form == "svg" else picture.html(theme=theme)
    return picture.tikz() if form == "tikz" else picture.text()


def _theme(fields: Fields) -> Theme:
    return cast("Theme", fields.choice("theme", THEMES, THEMES[0]))


def labels_of(sentence: Sentence, fields: Fields, name: str = "labels") -> list[dict[str, Any]]:
    """Write a tree's labels in each encoding asked for, or say why it has none, or only those of another tree."""
    out = []
    for spec in fields.texts(name, most=MOST_ENCODINGS):
        encoding = encodings.get(spec)
        covered, why, columns = True, None, []
        try:
            found = encoding.encode(_bank_of(sentence))
            columns = [{"name": name, "labels": found.texts(place)} for place, name in enumerate(encoding.columns)]
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
    """Write the labels of every sentence."""
    bank = sentences(fields, max_words)
    rows = [
        {"words": list(bank[number].forms), "encodings": labels_of(bank[number], fields, "encodings")}
        for number in range(len(bank))
    ]
    return {"sentences": rows}


def step_answers(fields: Fields, max_words: int) -> dict[str, Any]:
    """Play the decoder over labels, those given or those of a tree: HTML to show, and every step as data."""
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


def encoding_list() -> dict[str, Any]:
    """Describe every encoding, and name those whose decoder can be watched."""
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
