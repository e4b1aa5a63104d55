"""Write what the documentation says about languages: the page `languages.md`, and a paragraph in two first pages.

The rows are the models of the catalogue. `results/models.csv` has their scores and speed, `recipes/treebanks.tsv` the
words of treebanks, `results/published-languages.json` the figures of other parsers.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from ropewalk.files import creating
from ropewalk.models.catalogue import offered
from ropewalk.reporting.tables import Table, TableColumn, to_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.models.catalogue import ModelSummary
    from ropewalk.reporting.tables import Cell

DOCS = Path(__file__).resolve().parent
REPOSITORY = DOCS.parent
TREEBANKS = REPOSITORY / "recipes" / "treebanks.tsv"
PUBLISHED = DOCS / "results" / "published-languages.json"
PAGE = DOCS / "languages.md"
FIRST_PAGES = {REPOSITORY / "README.md": "docs/", DOCS / "README.md": ""}  # with the path from there to the docs
BEGIN, END = "<!-- languages: written by make models -->\n", "<!-- end of languages -->\n"
MEASURED = DOCS / "results" / "models.csv"


@dataclass(frozen=True, slots=True)
class Row:
    """A model of the table, and what was measured of it; nothing if it was not measured."""

    model: ModelSummary
    measured: Mapping[str, float]  # words a second, and scores from raw text: F1 in percent
    published: Mapping[str, float]  # the LAS of other systems, in percent

    @property
    def treebanks(self) -> list[str]:
        """The names of the treebanks, the main one first."""
        return self.model.treebank.split(", ")


def published() -> list[Mapping[str, Any]]:
    """Return the other systems, each with its `name`, `release`, `source` and `las` by treebank."""
    systems: list[Mapping[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))["systems"]
    return systems


def treebanks() -> dict[str, dict[str, str]]:
    """Return the rows of the table of treebanks by name."""
    with TREEBANKS.open(encoding="utf-8", newline="") as file:
        return {row["treebank"]: row for row in csv.DictReader(file, delimiter="\t")}


def rows() -> list[Row]:
    """Return the models of the catalogue, sorted by language and size."""
    systems = published()
    with MEASURED.open(encoding="utf-8", newline="") as file:
        measured = {row.pop("model"): row for row in csv.DictReader(file)}
    found = []
    for model in sorted(offered(), key=lambda model: (model.language, model.bytes)):
        main = model.treebank.split(", ")[0]
        figures = {key: float(value) for key, value in measured.get(model.name, {}).items()}
        others = {system["name"]: system["las"][main] for system in systems if main in system["las"]}
        found.append(Row(model, figures, others))
    return found


def languages() -> list[str]:
    """Return the names of the languages that have a model, sorted."""
    return sorted({model.language for model in offered()})


def named(treebank: str, known: Mapping[str, Mapping[str, str]]) -> str:
    """Return the name of a treebank without its language, with its release or commit."""
    release = known[treebank]["release"].removeprefix("commit ").partition(" ")[0] if treebank in known else ""
    return f"{treebank.partition('-')[2] or treebank} {release}".strip()


def table(models: Sequence[Row]) -> str:
    """Return the table of models as Markdown."""
    known = treebanks()

    def words(names: Sequence[str], part: str) -> Cell:
        counts = [int(known[name][part]) for name in names if name in known]
        return sum(counts) if len(counts) == len(names) else None

    def figure(measure: str) -> Any:  # noqa: ANN401 - a function for a column
        return lambda row: row.measured.get(measure)

    def others(name: str) -> Any:  # noqa: ANN401 - a function for a column
        return lambda row: row.published.get(name)

    cells: dict[TableColumn, Any] = {
        TableColumn("language", numeric=False): lambda row: row.model.language,
        TableColumn("model", numeric=False): lambda row: row.model.name,
        TableColumn("treebanks", numeric=False): lambda row: ", ".join(named(name, known) for name in row.treebanks),
        TableColumn("train, words"): lambda row: words(row.treebanks, "train"),
        TableColumn("test, words"): lambda row: words(row.treebanks[:1], "test"),
        **{TableColumn(name, decimals=2): figure(name) for name in ("Words", "UPOS", "UFeats", "Lemmas", "LAS")},
        TableColumn("words/s", decimals=0): figure("words_per_second"),
        TableColumn("MB", decimals=1): lambda row: row.model.bytes / 1e6,
        **{
            TableColumn(f"{system['name']}, {system['release']}", decimals=2): others(system["name"])
            for system in published()
        },
    }
    return re.sub(r"^\*\*.*\*\*\n\n", "", to_markdown(Table.of("Languages", models, cells)))


def conclusions(models: Sequence[Row]) -> str:
    """Return what the table shows: sizes, and the mean distance from each other system."""
    sizes = sorted(row.model.bytes / 1e6 for row in models)
    half = sizes[(len(sizes) - 1) // 2]
    total = f"{len(languages())} languages, {len(models)} models, {sum(sizes):.0f} MB in all"
    lines = [f"- {total}. Half of the models have at most {half:.1f} MB."]
    for system in published():
        gaps = [
            row.published[system["name"]] - las
            for row in models
            if system["name"] in row.published and (las := row.measured.get("LAS")) is not None
        ]
        if gaps:
            gap = f"{abs(mean(gaps)):.1f} points {'above' if mean(gaps) > 0 else 'below'} ours"
            lines.append(
                f"- {system['name']} has figures for {len(gaps)} of these treebanks. Its LAS is {gap} on average; "
                f"ours is higher on {sum(gap < 0 for gap in gaps)}."
            )
    return "\n".join(lines)


def page() -> str:
    """Return the page of languages."""
    models = rows()
    sources = "\n".join(
        f"- {system['name']}, {system['release']}: [{system['page']}]({system['source']}); {system['models']}."
        for system in published()
    )
    return f"""# Languages

After this page you know which languages Ropewalk parses, how well, and how far larger parsers are ahead.

{conclusions(models)}

```bash
ropewalk models                    # the same list in the terminal, with licences, and what is installed
```

[Models](models.md#available-models) says how to install one, [Languages of texts](identification.md) how one is chosen
by the text. [UDPipe 1](udpipe.md) was trained on the same files as some of these models, and measured beside them.

## All models, from raw text

{table(models).strip()}

- Scores are F1 by the rules of CoNLL 2018, from the raw text of the test file of the first treebank: relations without
  subtypes, punctuation included, one seed. A column that the treebank leaves empty scores like Words. Scores and
  *words/s*, CPU time from text to trees on one core, are those of `python recipes/measure_models.py UD…`.
- After each treebank is the release of Universal Dependencies, or the commit, from which it was taken. *train* counts
  the words of all their train files, *test* those of the test file (`python recipes/count_words.py UD…`). The English
  models also learnt from other text.
- Chinese-GSD has traditional characters; text in simplified ones is parsed badly.
- The last {len(published())} columns are the LAS from raw text that the authors of other parsers print. **They were not
  measured here, and not under equal terms.** Those parsers learnt from all training data of their release. Ours often
  had less: for many treebanks only a part of it, as *train* shows. Releases differ too: some treebanks were corrected
  or split anew between them, so that test files differ. Their models need torch or TensorFlow.

## Sources

{sources}

`docs/results/published-languages.json` holds the figures of others. `make models` writes this page.
"""


def paragraph(docs: str) -> str:
    """Return what a first page says; `docs` is the path from that page to the documentation."""
    names = languages()
    return (
        f"**{len(names)} languages**: {', '.join(names)}. [Scores, sizes and speed]({docs}languages.md). English is in "
        f"the package; `ropewalk models install NAME` installs others from a clone, without network.\n"
    )


def with_paragraph(text: str, docs: str) -> str:
    """Return the text of a first page with the paragraph between its marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"a first page has no lines {BEGIN.strip()} and {END.strip()}; put them back")
    return f"{before}{begin}{paragraph(docs)}{end}{after}"


def written() -> dict[Path, str]:
    """Return the files that this script writes, with their content."""
    first = {path: with_paragraph(path.read_text(encoding="utf-8"), docs) for path, docs in FIRST_PAGES.items()}
    return {PAGE: page(), **first}


if __name__ == "__main__":
    for path, text in written().items():
        with creating(path) as file:
            file.write(text.encode())
