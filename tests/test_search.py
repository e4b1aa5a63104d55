"""Search: matches are those of a brute-force matcher, errors point at a character, hostile patterns end in time."""

from __future__ import annotations

import pickle
import random
import re
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ropewalk
from conftest import REPOSITORY
from ropewalk import Treebank, conllu, search
from ropewalk.errors import OptionError, PatternError, SearchLimitError, TreeError, UnknownNameError
from ropewalk.search.expressions import Expression
from search_tools import brute_force
from strategies import trees

if TYPE_CHECKING:
    from pathlib import Path

PATTERNS = (
    "{}",
    "{upos:VERB}",
    "{upos:VERB|AUX}=v",
    "{upos!=VERB; depth<2}",
    "!{upos:NOUN}",
    "{lemma:/.*(e|y)/}=x",
    "{form:/THE/i}=x",
    '{form:"the"i}=x',
    "{relation:nsubj:*}=s",
    "{relation:/nsubj(:.*)?/; position>2}=s",
    "{$}=root",
    "{!$; depth>=3}=x",
    "{Number:Plur}=x",
    "{Number; !Case}=x",
    "{children>3; length<20}=x",
    "{position:1|2}=x",
    "{upos:VERB}=v >nsubj {}=s >obj {}=o",
    "{upos:VERB}=v >nsubj|nsubj:pass {}=s",
    "{upos:NOUN}=n <obj ({upos:VERB}=v >nsubj {upos:PRON}=s)",
    "{}=a >> {upos:PROPN}=b",
    "{}=a 2,3>> {}=b",
    "{}=c 0,>> {upos:NOUN}=a 0,>> {upos:VERB}=b",
    "{upos:ADP}=p << {upos:VERB}=v",
    "{upos:ADP}=p <<case {upos:VERB}=v",
    "{}=a $ {upos:DET}=b",
    "{}=a $+ {}=b",
    "{}=a $- {upos:PUNCT}=b",
    "{upos:ADJ}=a $++ {upos:NOUN}=b",
    "{upos:NOUN}=a $-- {upos:ADJ}=b",
    "{upos:ADJ}=a . {upos:NOUN}=n",
    "{upos:NOUN}=n - {upos:ADJ}=a",
    "{upos:DET}=d 2,4.. {upos:NOUN}=n",
    "{upos:NOUN}=n -- {upos:DET}=d",
    "{upos:VERB}=v >++obj {}=o",
    "{upos:VERB}=v >--nsubj {}=s",
    "{upos:NOUN}=o <--obj {}=v",
    "{upos:NOUN}=o <++nsubj {}=v",
    "{upos:NOUN}=a ~ {upos:VERB}=b",
    "{upos:VERB}=v !>nsubj {}",
    "{upos:VERB}=v !> ({upos:NOUN} > {upos:DET})",
    "{upos:NOUN}=n !<nsubj {}",
    "{upos:VERB}=v #2,>obl {}",
    "{upos:VERB}=v #1>punct {} #0,1>/.*mod/ {}",
    "{upos:VERB}=v >obj {}=o without {}=o > {upos:DET}",
    "{upos:VERB}=v without {}=v >aux {} without {lemma:not}",
    "{upos:VERB}=v [>obj {}=o | >nsubj {}=s]",
    "{upos:VERB}=v [>obj {}=o >nsubj {} | >iobj {} | <xcomp {}]",
    "{upos:VERB}=v !> ({} [< {lemma:be} | > {upos:DET}])",
    "{upos:VERB}=v >conj {}=w : {}=w >obj {}=o",
    "{upos:VERB}=v > {}=a > {}=b : {}=a != {}=b : {}=a .. {}=b",
    "{}=a > {}=b : {}=b == {}=c",
    "{}=a > {}=a",
    "{upos:VERB}=v @>nsubj {}=s",
    "{upos:VERB}=v @>/conj.*/ ({}=w @>obj {}=o)",
    "{}=a @>>conj:and {}=b",
    "{upos:PRON}=p @<nsubj {}=v",
    "{upos:PRON}=p @<< {upos:NOUN}=v",
    "{upos:NOUN}=a @$ {upos:PRON}=b",
    "{upos:VERB}=v @>nsubj {}=s without {}=v >nsubj {}=s",
)


def rows(treebank: Treebank, pattern: str) -> list[tuple[int, ...]]:
    return sorted(map(tuple, treebank.search(pattern).rows.tolist()))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_find_what_brute_force_finds_in_the_sample(pattern: str) -> None:
    bank = conllu.read(REPOSITORY / "examples" / "sample.conllu")
    assert rows(bank, pattern) == brute_force(bank, pattern, search.compile(pattern).names)


@pytest.mark.treebanks
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_find_what_brute_force_finds_in_ewt(pattern: str, treebanks: Path) -> None:
    bank = conllu.read(treebanks / "UD_English-EWT" / "en_ewt-ud-dev.conllu")
    short = [number for number, length in enumerate(bank.lengths.tolist()) if length < 22]
    bank = bank.select(short[::6])
    assert len(bank) > 150
    assert rows(bank, pattern) == brute_force(bank, pattern, search.compile(pattern).names)


CONDITIONS = (
    "",
    "upos:A",
    "upos:A|B",
    "upos!=B",
    "relation:obj",
    "relation:/.*s.*/",
    "depth>1",
    "children:0",
    "position<3",
)
SIGNS = (
    ">", "<", ">>", "<<", "$", "$+", "$-", "$++", "$--", ".", "-", "..", "--", "~", "!=", ">++", ">--", "<++", "<--",
    ">obj", "<nsubj", ">>obj|det", "2,3>>", "0,1<<", "2..", "1,2--", "@>", "@<obj", "@>>", "@<<", "@$",
)  # fmt: skip


@st.composite
def patterns(draw: st.DrawFn, depth: int = 0) -> str:
    name = draw(st.sampled_from(["", "=a", "=b", "=c"]))
    text = f"{{{draw(st.sampled_from(CONDITIONS))}}}{name}"
    for _ in range(draw(st.integers(0, 2 if depth < 2 else 0))):
        sign = draw(st.sampled_from(SIGNS))
        mark = draw(st.sampled_from(["", "", "", "", "!", "#2,", "#0,1"]))
        mark = "" if sign == "!=" and mark == "!" else mark
        text += f" {mark} {sign} ({draw(patterns(depth + 1))})"
    if depth == 0 and draw(st.integers(0, 3)) == 0:
        text += f" : {draw(patterns(1))}"
    if depth == 0 and draw(st.integers(0, 3)) == 0:
        text += f" without {draw(patterns(1))}"
    if depth == 0 and draw(st.integers(0, 3)) == 0:
        text += "" if "without" in text or " : " in text else f" [> {draw(patterns(2))} | . {draw(patterns(2))}]"
    return text


@settings(max_examples=300)
@given(
    pattern=patterns(),
    some=st.lists(trees(max_words=5, single_root=False), min_size=1, max_size=2),
    seed=st.integers(0, 99),
)
def test_random_patterns_find_what_brute_force_finds_in_random_trees(
    pattern: str, some: list[ropewalk.Tree], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secrets
    bank = Treebank.of(some, [chance.choices("ABC", k=len(tree)) for tree in some])
    bank = conllu.loads(conllu.dumps(bank.with_graphs(bank.basic_graphs())))
    assert rows(bank, pattern) == brute_force(bank, pattern, search.compile(pattern).names)


def test_matches_are_views_with_named_words() -> None:
    bank = conllu.read(REPOSITORY / "examples" / "sample.conllu")
    pattern = search.compile("{upos:VERB}=verb >nsubj {}=subject")
    matches = bank.search(pattern)
    match = matches[0]
    assert (match["verb"].text, match["subject"].text, match.word.text) == ("walks", "maker", "walks")
    assert match.sentence == bank[0]
    assert [word.index for word in match.hits] == [3, 4]
    assert list(match.words) == ["verb", "subject"]
    assert repr(match) == "Match(verb='walks', subject='maker')"
    assert [one["verb"] for one in bank[0].search(pattern)] == [bank[0][3]]
    whole = ropewalk.Document(bank)
    assert len(whole.search(pattern)) == len(matches) == sum(len(sentence.search(pattern)) for sentence in bank)
    with pytest.raises(KeyError, match="no word is named 'object'"):
        match["object"]
    either = bank.search("{upos:VERB} [>obj {}=object | >nsubj {}=subject]")
    assert {tuple(one.words) for one in either} == {("object",), ("subject",)}
    again = pickle.loads(pickle.dumps(pattern))  # noqa: S301 - our own
    assert (again.text, again.names) == (pattern.text, pattern.names)


def test_matches_are_counted_by_attributes_of_named_words() -> None:
    bank = conllu.read(REPOSITORY / "examples" / "sample.conllu")
    matches = bank.search("{upos:VERB}=verb [>nsubj {}=subject | >obj {}=object]")
    for attribute, value in (
        ("form", lambda word: word.text),
        ("lemma", lambda word: word.lemma),
        ("relation", lambda word: word.relation),
        ("position", lambda word: str(word.index)),
        ("depth", lambda word: str(len(word.ancestors))),
        ("children", lambda word: str(len(word.children))),
        ("misc.SpaceAfter", lambda word: "No" if "SpaceAfter=No" in word.misc else "_"),
        ("Number", lambda word: word.feats.get("Number", "_")),
        ("probability", lambda _: "_"),
    ):
        expected = [value(match["subject"]) if "subject" in match.words else "_" for match in matches]
        assert matches.values("subject", attribute) == expected, attribute
    pairs = Counter(
        (match["verb"].lemma, match.words["object"].upos if "object" in match.words else "_") for match in matches
    )
    assert matches.count_by("verb", "object.upos") == pairs
    with pytest.raises(UnknownNameError, match=r"unknown word of the pattern 'verbs'; did you mean 'verb'"):
        matches.count_by("verbs.lemma")
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'lema'; did you mean 'lemma'"):
        matches.count_by("verb.lema")
    with pytest.raises(OptionError, match="names no word 'verb'; name a word with =verb"):
        bank.search("{upos:VERB}").values("verb")


def test_conditions_that_no_word_fulfils_are_named() -> None:
    bank = conllu.read(REPOSITORY / "examples" / "sample.conllu")
    pattern = search.compile("{upos:VERBB|AUXX; lemma!=x} >nsbj:* {form:/q+/; depth<0} !>x {} without {upos:Y}")
    unmet = pattern.unmet(bank)
    assert list(unmet) == ["upos:VERBB|AUXX", "relation:nsbj:*"]
    assert "VERB" in unmet["upos:VERBB|AUXX"]
    assert "nsubj" in unmet["relation:nsbj:*"]
    assert search.compile("{upos:VERB} >nsubj {}").unmet(bank) == {}


def test_unnamed_words_need_only_exist() -> None:
    bank = Treebank.of([ropewalk.Tree([0, 1, 1], ["root", "obj", "obj"])])
    assert len(bank.search("{} >obj {}")) == 1
    assert len(bank.search("{} >obj {}=o")) == 2


def test_probabilities_are_compared() -> None:
    from ropewalk.treebank.surface import Probabilities

    bank = Treebank.of([ropewalk.Tree([0, 1], ["root", "obj"])])
    assert len(bank.search("{probability<0.9}")) == 0
    bank = bank.with_probabilities(Probabilities(np.array([0.99, 0.5])))
    assert [match.word.index for match in bank.search("{probability<0.9}")] == [2]


def test_heads_may_be_missing_but_not_run_in_circles() -> None:
    text = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    bank = conllu.loads(text.encode())
    assert len(bank.search("{} > {}")) == 1
    assert len(bank.search("{$}")) == 0
    circle = Treebank(np.array([0, 2]), np.array([2, 1]), dict(bank.columns))  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="cycle"):
        circle.search("{}")


@pytest.mark.parametrize(
    ("pattern", "position", "problem"),
    [
        ("", 0, "expected a node"),
        ("upos", 0, "expected a node"),
        ("{lema:be}", 1, "did you mean 'lemma'"),
        ("{upos:VERB", 10, "expected ;"),
        ("{upos:}", 6, "expected a value"),
        ("{upos<VERB}", 5, "no order"),
        ("{depth:two}", 7, "expected a number"),
        ("{} >nsubj", 9, "expected a node"),
        ("{} $nsubj {}", 4, "takes no relation"),
        ("{} 2,3> {}", 6, "a distance goes with"),
        ("{} @.. {}", 4, "@ goes with"),
        ("{} > ({} > {}", 5, "without a )"),
        ("{} [> {} ", 3, "without a ]"),
        ("{}= > {}", 4, "expected a name"),
        ("{form:/a(/}", 8, "without a )"),
        ("{form:/(?=a)/}", 7, "no lookaround"),
        ("{form:/a**+/}", 10, "more than two"),
        ("{form:/[b-a]/}", 8, "is empty"),
        ("{form:/a", 6, "without another /"),
        ('{form:"a', 6, "without another"),
        ("{} 3,2>> {}", 3, "expected low,high"),
        ("{} }", 3, "expected a relation"),
    ],
)
def test_errors_point_at_the_character(pattern: str, position: int, problem: str) -> None:
    with pytest.raises(PatternError, match=re.escape(problem)) as caught:
        search.compile(pattern)
    assert caught.value.position == position
    message, shown, caret = str(caught.value).split("\n")
    assert message.startswith(f"character {position + 1}: ")
    assert shown == f"  {pattern}"
    assert caret.index("^") == 2 + position


def long_sentence(words: int) -> Treebank:
    return Treebank.of([ropewalk.Tree([0] + [1] * (words - 1), ["root"] + ["obj"] * (words - 1))])


HOSTILE = (
    " : ".join(f"{{}}=a{number}" for number in range(12)),
    " ".join(["{}=a", *(f".. {{}}=b{number}" for number in range(12))]),
    "{} " + " ".join(["$ {upos:X}", *("$ {}" for _ in range(20))]),
    " : ".join([*(f"{{relation:obj}}=a{number}" for number in range(8)), "{upos:X}=z != {}=a0 == {}=a1 != {}=a1"]),
    "{}=x without " + " : ".join([*(f"{{}}=a{number}" for number in range(12)), "{}=a0 . {}=a1 . {}=a0"]),
    "{} #5, .. ({} #5, -- ({} #5, .. ({} #5, -- ({} #5, .. {}))))",
    "{} " + "> ({} " * 2000,
    "(" * 5000,
    "{form:/" + "(" * 3000 + "a" + ")" * 3000 + "/}",
    "{form:/(((a{100}){100}){100}){100}/}",
    "{form:/" + "(a|b|ab)*" * 200 + "c/}",
    "{lemma:/(.*)*(.*)*(.*)*x/}",
    "{} " + "[> {} | < {}]" * 30,
    "{} " + "> {} " * 40,
    "x" * 100_000,
    "{form:/(_|b)*_(_|b){900}/}",
    "{" + "; ".join(f"form:/(_|b)*_(_|b){{{number}}}/" for number in range(300, 490)) + "}",
    "{form:" + "|".join(f"/(_|b)*_(_|b){{{number}}}/" for number in range(10, 30)) + "}",
    "{" + "; ".join(["form:/(a?b?c?){330}/"] * 400) + "}",
    "{" + "; ".join(["!form:x"] * 1000) + "}",
)


@pytest.mark.parametrize("pattern", HOSTILE, ids=lambda pattern: pattern[:30])
def test_hostile_patterns_end_in_time(pattern: str) -> None:
    bank = long_sentence(400)
    long_words = ["_" * 900 + str(number) for number in range(400)]
    bank = bank.with_columns({"form": long_words, "lemma": long_words})
    began = time.process_time()
    try:
        bank.search(pattern)
    except (PatternError, SearchLimitError) as error:
        assert len(str(error)) < 1000  # noqa: PT017 - an answer is fine too
    assert time.process_time() - began < 2


def test_limits_are_options() -> None:
    bank = long_sentence(300)
    pattern = search.compile("{}=a .. {}=b")
    assert len(pattern.search(bank)) == 300 * 299 // 2
    with pytest.raises(SearchLimitError, match="more than 1,000 matches"):
        pattern.search(bank, max_matches=1000)
    with pytest.raises(SearchLimitError, match=r"longer than 0\.0 seconds"):
        pattern.search(bank, seconds=0)


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "A", ".", "[ab]", "[^a]", r"\w", r"\.", "[a-c]"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.lists(st.text("abcA.", max_size=6), min_size=1, max_size=20), st.booleans())
def test_expressions_match_as_those_of_python(text: str, texts: list[str], ignore_case: bool) -> None:  # noqa: FBT001
    flags = re.IGNORECASE if ignore_case else 0
    assert Expression(text, ignore_case=ignore_case).matches(texts) == [
        bool(re.fullmatch(text, one, flags)) for one in texts
    ]
