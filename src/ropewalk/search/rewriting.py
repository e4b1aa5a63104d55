"""Rewriting of treebanks with rules.

A pass applies a rule to all its matches. If matches contradict each other, only the first of them is applied. Edits
that would make a tree invalid are refused. docs/rewriting.md describes passes, overlapping matches and refusals.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.trees import is_root_relation
from ropewalk.errors import FormatError, OptionError, demand_known, demand_type
from ropewalk.formats import conllu
from ropewalk.search.rewrite_rules import ROOT, ChangeArc, Reattach, RewriteRule, RuleCell, SetCell, compile_rules
from ropewalk.treebank.features import features_of, features_text
from ropewalk.treebank.source import UNWRITABLE
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ropewalk.search.matching import Matches
    from ropewalk.search.rewrite_rules import Action, RuleValue

OnRefusal = Literal["stop", "skip"]

MOST_PASSES: Final = 100
NOTHING: Final = "_"
REMEDY: Final = "the edit is refused: add a condition to the pattern, or edit this sentence by hand"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The rewritten treebank, and counts of what the rules did.

    `changes` is the number of matches that changed something, and `words` the number of words that they changed.
    `refused` has an error for each match whose edit would make a tree invalid or write an invalid value. `waiting` is
    the number of matches that were left out in the last pass of a rule, because they contradict earlier matches.
    """

    treebank: Treebank
    changes: int = 0
    words: int = 0
    refused: tuple[FormatError, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class _Place:
    """The target of an edit: a column of a word or a part of it, its head, or an arc of the enhanced graph.

    The column is `head` for the head and `deps` for an arc into the word.
    """

    word: int
    cell: RuleCell

    @property
    def column(self) -> tuple[int, str]:
        return self.word, self.cell.column


_Edit = dict[_Place, str]  # all that one match writes


def rewrite(
    treebank: Treebank,
    rules: str | RewriteRule | Iterable[RewriteRule],
    *,
    passes: int = 1,
    on_refusal: OnRefusal = "stop",
) -> Rewriting:
    """Apply `rules` one after the other, and return the new treebank.

    Each rule is applied at most `passes` times, until it changes nothing. An edit that would make a tree invalid, or
    write an invalid value, raises a `FormatError`; with `on_refusal="skip"` it is left out.
    """
    demand_type("what to rewrite", treebank, Treebank)
    if not isinstance(passes, int) or not 1 <= passes <= MOST_PASSES:
        raise OptionError(f"passes is {passes!r}; expected 1 to {MOST_PASSES}")
    demand_known("policy for refusals", on_refusal, ("stop", "skip"))
    compiled = (
        [rules] if isinstance(rules, RewriteRule) else compile_rules(rules) if isinstance(rules, str) else list(rules)
    )
    done = Rewriting(treebank)
    changed: set[int] = set()
    for rule in compiled:
        demand_type("a rule", rule, RewriteRule)
        for number in range(passes):
            current_pass = _Pass(done.treebank, rule)
            if current_pass.refused and on_refusal == "stop":
                raise current_pass.refused[0]
            changed |= {place.word for edit in current_pass.edits for place in edit}
            is_last = number == passes - 1
            done = replace(
                done,
                treebank=current_pass.treebank(),
                changes=done.changes + len(current_pass.edits),
                refused=done.refused + (tuple(current_pass.refused) if is_last or not current_pass.edits else ()),
                waiting=done.waiting + (current_pass.waiting if is_last else 0),
            )
            if not current_pass.edits:
                break
    return replace(done, words=len(changed))


@dataclass(slots=True, eq=False)
class _Pass:
    """One pass of a rule over the treebank `before`.

    `edits` are those of all matches, without matches that contradict earlier ones (`waiting` is their number) and
    matches that would make a tree invalid or write an invalid value (`refused` has their errors).
    """

    before: Treebank
    rule: RewriteRule
    edits: list[_Edit] = field(default_factory=list)
    refused: list[FormatError] = field(default_factory=list)
    waiting: int = 0

    def __post_init__(self) -> None:
        matches = self.rule.pattern.search(self.before)
        by_sentence: dict[int, list[_Edit]] = {}
        written = _Written()
        for sentence, edit in self._edits_of(matches):
            if written.contradicts(edit):
                self.waiting += 1
            else:
                written.add(edit)
                by_sentence.setdefault(sentence, []).append(edit)
        self.edits = [edit for edits in self._sound(by_sentence).values() for edit in edits]

    def treebank(self) -> Treebank:
        """Return the treebank after all edits of the pass."""
        return _edited(self.before, self.edits)

    def _edits_of(self, matches: Matches) -> Iterator[tuple[int, _Edit]]:
        """Yield the sentence number and the edit of each match that changes something.

        Matches without a word that an action needs are left out. Edits with invalid values are added to `refused`.
        """
        columns = {name: at for at, name in enumerate(matches.names, 1)}
        needed = [
            columns[name] for name in dict.fromkeys(name for action in self.rule.actions for name in action.words)
        ]
        for sentence, row in zip(matches.sentence_numbers, matches.rows.tolist(), strict=True):
            if any(row[at] < 0 for at in needed):
                continue
            words = {name: row[at] for name, at in columns.items()}
            edit: _Edit = {}
            try:
                for action in self.rule.actions:
                    edit.update(self._written_by(action, words, sentence))
            except FormatError as error:
                self.refused.append(error)
                continue
            if any(_current(self.before, place) != value for place, value in edit.items()):
                yield sentence, edit

    def _written_by(self, action: Action, words: Mapping[str, int], sentence: int) -> _Edit:
        word = words[action.word]
        start: int = self.before.offsets[sentence].start
        if isinstance(action, Reattach):
            head = 0 if action.head == ROOT else words[action.head] - start + 1
            return {_Place(word, RuleCell("head")): str(head)}
        if isinstance(action, SetCell):
            value = self._text(action.value, words)
            self._demand_value(action.cell, value, word, sentence)
            return {_Place(word, action.cell): value}
        return self._arcs(action, words, sentence, start)

    def _arcs(self, action: ChangeArc, words: Mapping[str, int], sentence: int, start: int) -> _Edit:
        word = words[action.word]
        head = 0 if action.head == ROOT else words[action.head] - start + 1
        if not action.relation:
            present = [item for item in _items(self.before, word) if item.partition(":")[0] == str(head)]
            return {_Place(word, RuleCell("deps", item)): NOTHING for item in present}
        relation = self._text(action.relation, words)
        self._demand_value(RuleCell("deprel"), relation, word, sentence)
        if action.adds and head == word - start + 1:
            raise self._refusal(sentence, word, "deps-self", "the rule would join the word to itself in DEPS")
        if action.adds and is_root_relation(relation) != (head == 0):
            problem = f"the rule would add {head}:{relation} to DEPS, where the head is 0 if and only if it is root"
            raise self._refusal(sentence, word, "deps-root", problem)
        item = f"{head}:{relation}"
        return {_Place(word, RuleCell("deps", item)): item if action.adds else NOTHING}

    def _text(self, value: RuleValue, words: Mapping[str, int]) -> str:
        """Return the text of `value` for the matched `words`, or `_` if a cell that it refers to is empty."""
        parts = []
        for part in value:
            text = part.text if part.cell is None else _current(self.before, _Place(words[part.text], part.cell))
            if part.cell is not None and text == NOTHING:
                return NOTHING
            parts.append(text.lower() if part.lower else text)
        return "".join(parts)

    def _demand_value(self, cell: RuleCell, value: str, word: int, sentence: int) -> None:
        """Raise a `FormatError` if `cell` must not contain `value`, for instance because of a tab."""
        unfit = "|=" if cell.part and cell.column == "feats" else "|" if cell.part or cell.column == "deprel" else ""
        if cell.column == "deprel" and value == NOTHING:
            raise self._refusal(sentence, word, "relation", "the rule would leave the word without a relation")
        if UNWRITABLE.search(value) or any(sign in value for sign in unfit):
            problem = f"the rule would write {value!r} into {cell.column.upper()}, which cannot hold it"
            raise self._refusal(sentence, word, "unwritable-text", problem)

    def _refusal(self, sentence: int, word: int, kind: str, problem: str) -> FormatError:
        place = str(word - self.before.offsets[sentence].start + 1)
        line = self.before.line(sentence, word)
        return FormatError(self.before.file, line, kind, f"{problem}; {REMEDY}", word=place)

    def _sound(self, edits: dict[int, list[_Edit]]) -> dict[int, list[_Edit]]:
        """Return the edits that keep all trees valid, by sentence.

        If the edits of a sentence together make its tree invalid, they are tried one after the other, and refused if
        they fail.
        """
        sentences = [
            number for number, some in edits.items() if any(_is_of_tree(place) for edit in some for place in edit)
        ]
        if not sentences:
            return edits
        chosen = [edit for number in sentences for edit in edits[number]]
        broken = self._broken(sentences, chosen)
        out = dict(edits)
        for number in broken:
            kept: list[_Edit] = []
            for edit in edits[number]:
                problem = self._broken([number], [*kept, edit]).get(number)
                if problem is None:
                    kept.append(edit)
                else:
                    message = f"after the rule this would be no tree: {problem.message}; {REMEDY}"
                    error = FormatError(problem.file, problem.line, problem.kind, message, word=problem.word)
                    self.refused.append(error)
            out[number] = kept
        self.refused.sort(key=lambda error: error.line)
        return out

    def _broken(self, sentences: Sequence[int], edits: Iterable[_Edit]) -> dict[int, FormatError]:
        """Return the first new problem of each sentence whose tree `edits` would make invalid.

        A problem is new if the sentence has no problem of that kind before the edits.
        """
        after = _tree_problems(self.before, sentences, edits)
        if not after:
            return {}
        before = _tree_problems(self.before, list(after), ())
        known = {number: {error.kind for error in some} for number, some in before.items()}
        new = {
            number: [error for error in some if error.kind not in known.get(number, ())]
            for number, some in after.items()
        }
        return {number: some[0] for number, some in new.items() if some}


class _Written:
    """All edits that a pass has accepted so far."""

    def __init__(self) -> None:
        self._values: _Edit = {}
        self._whole: set[tuple[int, str]] = set()
        self._parts: set[tuple[int, str]] = set()

    def contradicts(self, edit: _Edit) -> bool:
        """Return whether `edit` contradicts an accepted edit.

        It does if both write different values to the same place, or if one writes a column and the other a part of it.
        """
        return any(
            self._values.get(place, value) != value or place.column in (self._whole if place.cell.part else self._parts)
            for place, value in edit.items()
        )

    def add(self, edit: _Edit) -> None:
        self._values.update(edit)
        for place in edit:
            (self._parts if place.cell.part else self._whole).add(place.column)


def _is_of_tree(place: _Place) -> bool:
    return place.cell.column in {"head", "deprel"}


def _tree_problems(
    treebank: Treebank, sentences: Sequence[int], edits: Iterable[_Edit]
) -> dict[int, list[FormatError]]:
    """Return the problems that the trees of `sentences` would have after `edits`, by sentence number.

    All edits must be of these sentences.
    """
    offsets, words = treebank.offsets.select(np.asarray(sentences))
    trees = Treebank(offsets, treebank.heads[words], {"deprel": treebank.relations.take(words)})
    places = {word: place for place, word in enumerate(words.tolist())}
    moved = [{replace(place, word=places[place.word]): text for place, text in edit.items()} for edit in edits]
    tree_edits = [{place: text for place, text in edit.items() if _is_of_tree(place)} for edit in moved]
    bare = _edited(trees, tree_edits)
    lines = [bare.line(number) for number in range(len(bare))]
    out: dict[int, list[FormatError]] = {}
    for problem in conllu.tree_problems(bare):
        number = sentences[bisect(lines, problem.line) - 1]
        line = treebank.line(number, treebank.offsets[number].start + int(problem.word) - 1)
        error = FormatError(treebank.file, line, problem.kind, problem.message, word=problem.word)
        out.setdefault(number, []).append(error)
    return out


def _items(treebank: Treebank, word: int) -> list[str]:
    text = treebank.column("deps")[word]
    return [] if text == NOTHING else text.split("|")


def _current(treebank: Treebank, place: _Place) -> str:
    """Return the present text at `place`, or `_` if there is none."""
    column, part = place.cell.column, place.cell.part
    if column == "head":
        return str(treebank.heads[place.word])
    if column == "deps":
        return part if part in _items(treebank, place.word) else NOTHING
    text = treebank.column(column)[place.word]
    return features_of(text).get(part, NOTHING) if part else text


def _edited(treebank: Treebank, edits: Iterable[_Edit]) -> Treebank:
    """Return the treebank after `edits`, which must not contradict each other."""
    by_column: dict[str, dict[int, str]] = {}
    heads = treebank.heads.copy()
    for edit in edits:
        for place, value in edit.items():
            column, part = place.cell.column, place.cell.part
            if column == "head":
                heads[place.word] = int(value)
                continue
            cells = by_column.setdefault(column, {})
            text = cells.get(place.word) or treebank.column(column)[place.word]
            cells[place.word] = _with_part(column, text, part, value) if part else value
    columns = {name: _replaced(treebank.column(name), cells) for name, cells in by_column.items()}
    if (heads != treebank.heads).any():
        treebank = treebank.with_trees(frozen_ints(heads), columns.pop("deprel", treebank.relations))
    return treebank.with_columns(columns) if columns else treebank


def _with_part(column: str, text: str, part: str, value: str) -> str:
    """Return the `text` of a column with `value` in its `part`; if `value` is `_`, without that part.

    Features and arcs are sorted; the parts of MISC keep their order.
    """
    if column == "feats":
        features = features_of(text)
        features.pop(part, None)
        return features_text(features if value == NOTHING else {**features, part: value})
    items = [] if text == NOTHING else text.split("|")
    if column == "deps":
        items = [item for item in items if item != part] + ([] if value == NOTHING else [value])
        return "|".join(sorted(items, key=_arc_order)) or NOTHING
    named = [item.partition("=")[0] for item in items]
    if value == NOTHING:
        items = [item for item, name in zip(items, named, strict=True) if name != part]
    elif part in named:
        items[named.index(part)] = f"{part}={value}"
    else:
        items.append(f"{part}={value}")
    return "|".join(items) or NOTHING


def _arc_order(item: str) -> tuple[int, int, str]:
    head, _, relation = item.partition(":")
    major, _, minor = head.partition(".")
    return int(major), int(minor or 0), relation


def _replaced(column: Column, cells: Mapping[int, str]) -> Column:
    """Return the column with the texts of some words replaced; `cells` maps word indices to new texts."""
    numbers = {name: number for number, name in enumerate(column.names)}
    ids = column.ids.astype(np.int32)
    for word, text in cells.items():
        ids[word] = numbers.setdefault(text, len(numbers))
    return Column(ids, tuple(numbers))
