"""The CoNLL 2018 scores, figure by figure beside those of the official program on files that differ in everything."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING, Any

import pytest
from udtools import udeval

from ropewalk import conllu
from ropewalk.errors import FormatError, MismatchError, RopewalkError
from ropewalk.scoring import conll18

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.treebank.treebank import Treebank

SCORER: Any = udeval  # it has no types
PAIRS = 400
UPOS = ("NOUN", "VERB", "DET", "PUNCT")
RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "case", "aux:pass", "cc", "mark", "punct", "unheard", "conj")
FEATS = ("_", "Number=Sing", "Number=Plur|Case=Nom", "Case=Nom|Number=Plur", "Own=Yes", "Own=Yes|Number=Sing")
Row = tuple[str, ...]


def official(text: bytes) -> Any:  # noqa: ANN401 - it has no types
    return SCORER.load_conllu(io.StringIO(text.decode("utf-8"), newline="\n"), "a file", {})


def figures(text: bytes, other: bytes) -> dict[str, tuple[float | None, ...]]:
    found = SCORER.evaluate(official(text), official(other))
    return {
        name: (one.precision, one.recall, one.f1, one.aligned_accuracy)
        for name, one in found.items()
        if name not in {"ELAS", "EULAS"}
    }


def ours(text: bytes, other: bytes) -> dict[str, tuple[float | None, ...]]:
    found = conll18.evaluate(conllu.loads(text, "gold.conllu"), conllu.loads(other, "system.conllu"))
    return {name: (one.precision, one.recall, one.f1, one.aligned_accuracy) for name, one in found.items()}


def heads(rng: random.Random, words: int, broken: float = 0.0) -> list[int]:
    """One tree with one root, projective or not; now and then something else."""
    order = rng.sample(range(1, words + 1), words)
    found = [0] * words
    for place, word in enumerate(order[1:], start=1):
        found[word - 1] = rng.choice(order[:place])
    if rng.random() < broken:
        found[rng.randrange(words)] = rng.randint(0, words)
    return found


def cut(rng: random.Random, text: str, mean: float) -> list[str]:
    """Cut a text into pieces."""
    places = sorted(place for place in range(1, len(text)) if rng.random() < 1 / mean)
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def form(rng: random.Random, token: str) -> str:
    """Add spaces of several kinds inside a token, and change nothing else."""
    if rng.random() < 0.15:
        at = rng.randint(0, len(token))
        return token[:at] + rng.choice((" ", "\u00a0", "\u2003")) + token[at:]
    return token


def written(rng: random.Random, text: str, broken: float = 0.0) -> bytes:
    """Write the text as CoNLL-U with tokens, words, sentences and annotation drawn at random."""
    lines: list[str] = []
    for part in cut(rng, text, rng.choice((6, 15))):
        rows: list[Row] = []
        for token in cut(rng, part, rng.choice((1.3, 2.5))):
            many = rng.choice((1, 1, 1, 2, 3))
            start = sum(row[0].isdigit() for row in rows) + 1
            if many > 1 or rng.random() < 0.05:
                rows.append((f"{start}-{start + many - 1}", form(rng, token), *"________"))
            for number in range(many):
                # Words of a multiword token need not spell it; few letters make for many choices of alignment.
                word = form(rng, token) if many == 1 else rng.choice(("a", "b", "A", "a b", token))
                rows.append(
                    (
                        str(start + number), word, rng.choice(("_", "a", "b")), rng.choice(UPOS), rng.choice("xy"),
                        rng.choice(FEATS), "HEAD", rng.choice(RELATIONS), "_", "_",
                    )
                )  # fmt: skip
                if rng.random() < 0.05:
                    rows.append((f"{start + number}.1", "empty", *"______", "_", "_"))
        tree = heads(rng, sum(row[0].isdigit() for row in rows), broken)
        lines.append("# text = something")
        lines += [
            "\t".join(row).replace("HEAD", str(tree[int(row[0]) - 1]) if row[0].isdigit() else "_") for row in rows
        ]
        lines.append("")
    return "".join(f"{line}\n" for line in lines).encode()


def noisy(rng: random.Random, text: bytes, share: float) -> bytes:
    """Change some lemmas, tags, features and relations, and hang some words elsewhere, keeping one tree."""
    out = []
    for line in text.decode("utf-8").split("\n"):
        row = line.split("\t")
        if row[0].isdigit():
            for at, choices in ((2, ("_", "a")), (3, UPOS), (4, "xy"), (5, FEATS), (7, RELATIONS)):
                if rng.random() < share:
                    row[at] = rng.choice(choices)
        out.append("\t".join(row))
    bank = conllu.loads("\n".join(out))
    found = bank.heads.copy()
    for where in bank.offsets:
        if rng.random() < share:
            found[where] = heads(rng, where.stop - where.start)
    return conllu.dumps(bank.with_trees(found, bank.relations))


def pair(seed: int) -> tuple[bytes, bytes]:
    """Draw a gold and a system file over one text: a third differ in annotation alone, others are no tree at times."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    text = "".join(rng.choices("abcdé", k=rng.randint(1, 60)))
    gold = written(rng, text)
    return gold, noisy(rng, gold, 0.3) if seed % 3 == 0 else written(rng, text, broken=0.2 * (seed % 3 == 1))


@pytest.mark.parametrize("seed", range(PAIRS))
def test_the_figures_are_those_of_the_official_program(seed: int) -> None:
    gold, system = pair(seed)
    try:
        expected = figures(gold, system)
    except udeval.UDError:
        with pytest.raises(RopewalkError, match=r"system\.conllu:\d+: word \d+"):
            ours(gold, system)
    else:
        assert ours(gold, system) == expected


def test_the_generated_pairs_hold_what_they_are_for() -> None:
    refused = differing = partial = multiword = 0
    for seed in range(PAIRS):
        gold, system = pair(seed)
        try:
            found = figures(gold, system)
        except udeval.UDError:
            refused += 1
            continue
        differing += found["Tokens"][2] != 1
        partial += 0 < (found["MLAS"][2] or 0) < 1
        multiword += b"-" in gold
    assert refused >= 20
    assert PAIRS - refused >= 200
    assert min(differing, partial, multiword) >= 100


@pytest.mark.parametrize(
    ("gold", "system", "right"),
    [
        ("abc", "a bc", 0),
        ("a b", "a b", 2),
        ("a bc d", "a b c d", 2),
        ("abcd:a+b+c+d", "ab:a+b cd:c+d", 4),  # one stretch that no multiword token sticks out of
        ("abc:a+BX+c def:d+EX+f", "ab:a+b cd:c+d ef:e+f", 4),
        ("a b", "ab:A+B", 2),  # a word may meet one of a multiword token, in any case of letters
    ],
)
def test_words_are_aligned_as_the_task_describes(gold: str, system: str, right: int) -> None:
    def file(tokens: str) -> Treebank:
        rows: list[Row] = []
        words = 0
        for token in tokens.split():
            whole, _, parts = token.partition(":")
            inner = parts.split("+") if parts else [whole]
            if parts:
                rows.append((f"{words + 1}-{words + len(inner)}", whole, *"________"))
            for word in inner:
                words += 1
                rows.append((str(words), word, *"____", str(int(words > 1)), "dep", "_", "_"))
        return conllu.loads("".join("\t".join(row) + "\n" for row in rows) + "\n")

    assert conll18.evaluate(file(gold), file(system))["Words"].correct == right


def test_texts_that_differ_are_named_where_they_part() -> None:
    gold = b"1\tab\t_\t_\t_\t_\t0\troot\t_\t_\n2\tcd\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
    with pytest.raises(MismatchError, match=r"gold\.conllu:2 and system\.conllu:2: .* after 3 char.*'d' .* 'x'"):
        ours(gold, gold.replace(b"cd", b"cx"))
    with pytest.raises(MismatchError, match=r"gold\.conllu:2 and system\.conllu:1: .* after 2 char.*'cd' .* ''"):
        ours(gold, gold.split(b"2\t", maxsplit=1)[0] + b"\n")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("1\tab", "1\t\u00a0 "), "system.conllu:1: FORM has only spaces"),
        (("\t1\tobj", "\t0\troot"), "system.conllu:2: word 2: a second root"),
        (("\t1\tobj", "\t_\tobj"), "system.conllu:2: word 2: it has no head"),
        (("\t0\troot", "\t2\troot"), "system.conllu:1: word 1: heads form a cycle"),
    ],
)
def test_what_the_task_calls_invalid_is_refused_with_its_place(found: tuple[str, str], expected: str) -> None:
    gold = "1\tab\t_\t_\t_\t_\t0\troot\t_\t_\n2\tcd\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
    system = gold.replace(*found)
    with pytest.raises((udeval.UDError, ValueError), match=r"."):
        official(system.encode())
    with pytest.raises(FormatError) as caught:
        ours(gold.encode(), system.encode())
    assert str(caught.value).startswith(expected)


@pytest.mark.treebanks
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_ewt_dev_against_itself_with_noise(treebanks: Path, share: float) -> None:
    gold = next(treebanks.rglob("en_ewt-ud-dev.conllu")).read_bytes()
    system = noisy(random.Random(1), gold, share)  # noqa: S311 - no secret
    found = ours(gold, system)
    assert found == figures(gold, system)
    assert (found["MLAS"][2] == 1) == (share == 0)
