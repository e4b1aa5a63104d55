"""Bounded in memory and time: what is too much is refused with its place and the limit, the rest stays linear."""

from __future__ import annotations

import lzma
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ropewalk
from ropewalk import conllu, encodings
from ropewalk.core.arcs import Arcs
from ropewalk.core.projectivity import MOST_CROSSED, lift, lift_until
from ropewalk.core.trees import Tree, Trees, projective
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.errors import ConfigError, FormatError, ModelError, OptionError
from ropewalk.formats.text import SPACES, text_pieces, token_banks
from ropewalk.models import model
from ropewalk.models.model import LongSentenceWarning
from ropewalk.models.onnx import bilstm
from ropewalk.parallel.workers import count_of
from ropewalk.scoring.attachment import Parts
from ropewalk.scoring.significance import compare

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-c", "from ropewalk.cli import main; main()"]
MEBIBYTE = 1 << 20


# Starts the program and reports its peak memory. What it is started from must be small: until a new process has loaded
# its own program, it counts the memory of the one that started it as its own.
LAUNCHER = """
import resource, subprocess, sys
megabytes, seconds, report, *program = sys.argv[1:]
def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes) << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds),) * 2)
done = subprocess.run(program, preexec_fn=limit)
open(report, "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(done.returncode)
"""
MOST_MEMORY = 600  # MB, of any input here


def run(*words: str | Path, megabytes: int = 1000, seconds: int = 20) -> subprocess.CompletedProcess[str]:
    """Run the program in little memory, on one core's time; demand that it needs no more than `MOST_MEMORY`."""
    with tempfile.NamedTemporaryFile("r") as report:
        done = subprocess.run(
            [
                sys.executable,
                "-S",
                "-c",
                LAUNCHER,
                str(megabytes),
                str(seconds),
                report.name,
                *PROGRAM,
                *map(str, words),
            ],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        peak = int(report.read()) / (1 << (20 if sys.platform == "darwin" else 10))
    assert peak < MOST_MEMORY, (words, peak)
    return done


def refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    """Demand one line of error that says all of this."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert all(text in done.stderr for text in said), done.stderr


def chain(words: int) -> str:
    rows = [f"{w}\tw{w % 50}\t_\tX\t_\t_\t{w - 1}\t{'dep' if w > 1 else 'root'}\t_\t_\n" for w in range(1, words + 1)]
    return "".join(rows) + "\n"


def random_heads(words: int, seed: int = 1) -> list[int]:
    """Return a tree whose arcs cross at random."""
    chance = random.Random(seed)  # noqa: S311 - the same tree each time
    order = list(range(1, words + 1))
    chance.shuffle(order)
    heads = [0] * (words + 1)
    for place, word in enumerate(order[1:], start=1):
        heads[word] = chance.choice(order[:place])
    return heads[1:]


def packed(file: Path, begin: bytes, filling: bytes, times: int) -> Path:
    """Write the same many times; an .xz file may be several behind each other, so that it is packed only once."""
    file.write_bytes(lzma.compress(begin, preset=0) + lzma.compress(filling, preset=0) * times)
    return file


def test_a_small_file_that_unpacks_to_much(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "comment.conllu.xz", chain(3).encode() + b"# ", b"x" * MEBIBYTE, 3_000)
    for command in (["info"], ["validate"], ["encode", "-e", "optimal"], ["draw"], ["parse"]):
        done = run(*command, bomb, megabytes=400)
        assert done.returncode == 1
        assert f"{bomb}:5: the sentence that begins here has more than 16,777,216 bytes" in done.stderr + done.stdout
    labels = packed(
        tmp_path / "labels.xz",
        b"# ropewalk encoding = optimal | columns = form, label, relation\n",
        b"x" * MEBIBYTE,
        3_000,
    )
    refused(run("decode", labels, megabytes=400), f"{labels}:1: ", "16,777,216 bytes")


def test_a_long_field_is_neither_held_nor_printed(tmp_path: Path) -> None:
    file = tmp_path / "field.conllu"
    file.write_bytes(chain(1).encode().replace(b"w1", b"w" * 100_000_000))
    refused(run("evaluate", file, file, megabytes=400), f"{file}:1: ", "16,777,216 bytes")
    file.write_bytes(chain(1).encode().replace(b"w1", b"w" * 1_000_000))
    other = tmp_path / "other.conllu"
    other.write_bytes(chain(1).encode().replace(b"w1", b"v" * 1_000_000))
    done = run("evaluate", file, other, megabytes=400)
    assert done.returncode == 1
    assert len(done.stderr + done.stdout) < 2_000


def test_the_limit_can_be_changed_and_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "some.conllu"
    file.write_text(chain(3) + chain(60) + chain(2), encoding="utf-8")
    stream = conllu.stream(file, longest=500, chunk_bytes=100)
    with pytest.raises(FormatError, match="more than 500 bytes") as caught:
        stream.read()
    assert caught.value.line == 5
    assert len(conllu.read(file, longest=10_000)) == 3
    many = tmp_path / "many.conllu"
    many.write_text(chain(3) * 300, encoding="utf-8")
    for size in (1, 7, 64, 1000):
        assert sum(map(len, conllu.stream(many, longest=200, chunk_bytes=size))) == 300


@pytest.mark.parametrize("form", ["text", "tokens"])
def test_spaces_without_end(form: str, tmp_path: Path) -> None:
    file = packed(tmp_path / "spaces.txt.xz", b"Hello.\nThere", b" " * MEBIBYTE, 1_500)
    refused(run("parse", "--input", form, file, megabytes=500), f"{file}:2: more than 1,048,576 spaces in a row")


NO_TOKENS = {
    "NUL": "\0",
    "control characters": "\x07\x1b\x7f\x9f",
    "zero-width spaces": "\u200b",
    "byte order marks": "\ufeff",
    "spaces of all kinds": "\t\u00a0\u1680\u2003\u202f\u205f\u3000",
    "lines": "\r\n\x0b\x0c\x85\u2028\u2029",
    "a mix": " \0\u200b\n\ufeff\x9f\u3000",
}


@pytest.mark.parametrize("name", NO_TOKENS)
def test_characters_that_make_no_token_are_limited_as_spaces_are(name: str, tmp_path: Path) -> None:
    file = tmp_path / "nothing.txt"
    file.write_bytes((NO_TOKENS[name] * (50_000_000 // len(NO_TOKENS[name].encode()))).encode())
    for end in ([], ["--jobs", "2"]):
        done = run("parse", file, *end, "-o", tmp_path / "out.conllu")
        refused(done, f"{file}:", "more than 1,048,576 spaces in a row, control characters included")


@pytest.mark.parametrize("name", NO_TOKENS)
def test_few_words_among_what_makes_no_token_are_limited(name: str, tmp_path: Path) -> None:
    file = tmp_path / "sparse.txt"
    stretch = "word" + (NO_TOKENS[name] * 1_000_000)[:1_000_000]
    file.write_text(stretch * 30, encoding="utf-8")
    refused(
        run("parse", file, "-o", tmp_path / "out.conllu"),
        f"{file}:",
        "more than 4,194,304 characters without a sentence",
    )
    parser = ropewalk.load("en", threads=1)
    with pytest.raises(FormatError, match=r"<text>:1: more than 4,194,304 characters"):
        parser("word" + " " * 5_000_000)


def test_format_characters_that_make_tokens_pass_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "format.txt"
    file.write_text("\u2061\u2060\u00ad\u2062\u200d" * 200_000 + " " + "\u2060" * 1_000_000, encoding="utf-8")
    done = run("parse", file, "-o", tmp_path / "out.conllu")
    assert (done.returncode, done.stderr) == (0, "ropewalk: 2,000 words parsed\n")


@pytest.mark.parametrize(
    "command",
    [
        ["parse"],
        ["parse", "--input", "tokens"],
        ["parse", "--input", "conllu"],
        ["info"],
        ["info", "--graphs"],
        ["validate"],
        ["draw"],
        ["encode", "-e", "optimal"],
        ["decode"],
        ["decode", "--graphs", "--into", "/dev/zero"],
        ["enhance"],
        ["evaluate", "/dev/zero"],
        ["compare", "/dev/zero", "/dev/zero"],
        ["stats", "--train"],
        ["coverage", "--train"],
    ],
    ids=" ".join,
)
def test_a_device_without_end_is_refused(command: list[str]) -> None:
    done = run(*command, "/dev/zero")
    assert done.returncode == 1, done.stderr
    assert "/dev/zero:1: " in done.stdout + done.stderr


@pytest.mark.parametrize("command", [["info"], ["draw"], ["encode"], ["evaluate", "FILE"]], ids=" ".join)
def test_graphs_of_a_device_without_end_are_refused(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "endless.sdp"
    file.symlink_to("/dev/zero")
    refused(run(*(str(file) if word == "FILE" else word for word in command), "--graphs", file), f"{file}:1: ", "bytes")
    refused(run("validate", file), f"{file}:1: ", "bytes")


def test_spaces_are_the_characters_that_no_token_holds() -> None:
    every = map(chr, range(0x110000))
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    no_token = {
        one
        for one in every
        if unicodedata.category(one) in {"Cc", "Zs", "Zl", "Zp"}
        or unicodedata.bidirectional(one) in directions
        or one in "\u200b\u200e\u200f\ufeff"
    }
    assert set(SPACES) == no_token


def test_a_line_of_tokens_without_end(tmp_path: Path) -> None:
    file = packed(tmp_path / "tokens.txt.xz", b"a b\n", b"word " * 200_000, 40)
    refused(run("parse", "--input", "tokens", file, megabytes=700), f"{file}:2: ", "16,777,216 characters")
    assert sum(map(len, token_banks(["a b\n", "c" * 1000, "\nd"], "x"))) == 3
    file = tmp_path / "short.txt"
    file.write_text("a " * 8_000_000, encoding="utf-8")
    refused(run("parse", "--input", "tokens", file), "the sentence has 8,000,000 words; at most 100,000 are parsed")


def test_spaces_below_the_limit_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "spaces.txt"
    text = " " * 70_000 + "a" + " \n" * 300_000 + "b"
    file.write_text(text, encoding="utf-8")
    assert "".join(text_pieces(file)) == text


@pytest.mark.parametrize(("words", "megabytes"), [(20_000, 500), (100_000, 1_000)])
def test_time_and_memory_of_a_long_sentence_are_linear(words: int, megabytes: int, tmp_path: Path) -> None:
    file = tmp_path / "long.conllu"
    file.write_text(chain(words), encoding="utf-8")
    done = run("parse", file, "-o", tmp_path / "out.conllu", megabytes=megabytes)
    assert done.returncode == 0, done.stderr
    assert f"{file}:1: the sentence has {words:,} words; arcs are scored up to 2,000" in done.stderr
    assert "labels alone decide" in done.stderr
    bank = conllu.read(tmp_path / "out.conllu", trees="required")
    assert bank.words == words
    assert bank.probabilities is None


def test_many_sentences_just_below_the_limit_do_not_add_up(tmp_path: Path) -> None:
    file = tmp_path / "brackets.txt"
    file.write_text("(" * 18_000, encoding="utf-8")  # cut into sentences of 2,000 words
    done = run("parse", file, "-o", tmp_path / "out.conllu", megabytes=400)
    assert done.returncode == 0, done.stderr
    assert conllu.read(tmp_path / "out.conllu", trees="required").lengths.tolist() == [2_000] * 9


def test_pieces_by_arcs_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = ropewalk.load("en", threads=1)
    words = ["The", "rope", "maker", "walks", "backwards", "all", "day", "."]
    sentences = [words[:size] * times for size, times in ((3, 1), (8, 9), (5, 2), (8, 1), (7, 30), (8, 9), (1, 1))]
    whole = parser.tokens(sentences).treebank
    for most in (1, 100, 6_000):
        monkeypatch.setattr(model, "PIECE_ARCS", most)
        cut = parser.tokens(sentences).treebank
        assert conllu.dumps(cut) == conllu.dumps(whole)


def test_sentences_beside_a_long_one_are_parsed_as_alone() -> None:
    parser = ropewalk.load("en", threads=1)
    words = ["The", "rope", "maker", "walks", "backwards", "all", "day", "."]
    alone = parser.tokens([words])[0]
    with pytest.warns(LongSentenceWarning, match="2,500 words"):
        found = parser.tokens([words, ["word"] * 2_500, words])
    for number in (0, 2):
        assert list(found[number].tree.heads) == list(alone.tree.heads)
        assert found[number].probability == alone.probability
    assert found[1].probability is None


def test_long_sentences_are_read_in_windows_that_cover_each_word_once() -> None:
    size, margin = bilstm.WINDOW, bilstm.MARGIN
    offsets = np.cumsum([0, 3, size, size + 1, 0, 5 * size + 17]).astype(np.int32)
    starts, stops, first, last = bilstm.windows(offsets, size, margin)
    covered = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    assert covered.tolist() == list(range(offsets[-1]))
    assert (stops - starts).max() <= size
    for a, b in pairwise(offsets.tolist()):
        mine = (first >= a) & (last <= b) & (last > first)
        assert ((starts[mine] == a) | (starts[mine] <= first[mine] - margin)).all()
        assert ((stops[mine] == b) | (stops[mine] >= last[mine] + margin)).all()


def test_windows_hardly_change_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = ropewalk.load("en", threads=1)
    words = [
        "The",
        "old",
        "rope",
        "maker",
        "walked",
        "backwards",
        "all",
        "day",
        ",",
        "and",
        "nobody",
        "said",
        "so",
        ".",
    ]
    text = words * 14
    whole = parser.tokens([text])[0]
    monkeypatch.setattr(bilstm, "WINDOW", 120)
    monkeypatch.setattr(bilstm, "MARGIN", 40)
    cut = parser.tokens([text])[0]
    same = [a.upos == b.upos for a, b in zip(whole, cut, strict=True)]
    assert np.mean(same) > 0.99


def test_pictures_of_very_long_sentences_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.conllu"
    file.write_text(chain(2) + chain(100_000), encoding="utf-8")
    refused(run("draw", file), f"{file}:4: ", "100,000 words", "at most 2,000")
    refused(run("draw", "--steps", "--sentence", "2", file), f"{file}:4: ", "100,000 words", "at most 2,000")
    with pytest.raises(OptionError, match="at most 2,000"):
        ropewalk.draw(Tree([0, *range(1, 3000)]))
    assert run("draw", "--sentence", "1", file).returncode == 0


def test_trees_of_random_crossing_arcs_are_not_lifted_for_hours(tmp_path: Path) -> None:
    heads = random_heads(3000)
    file = tmp_path / "crossing.conllu"
    rows = [f"{w}\tw\t_\tX\t_\t_\t{h}\t{'dep' if h else 'root'}\t_\t_\n" for w, h in enumerate(heads, start=1)]
    file.write_text(chain(2) + "".join(rows) + "\n", encoding="utf-8")
    for encoding in ("optimal+head", "optimal", "brackets(planes=2)", "optimal+path"):
        refused(run("encode", "-e", encoding, file, "-o", tmp_path / "out"), f"{file}:4: ", f"at most {MOST_CROSSED}")
    for command in ("stats", "coverage"):
        done = run(command, "--train", file, "--dev", file, "--test", file)
        refused(done, f"{file}:4: ", f"at most {MOST_CROSSED}")
    bank = conllu.read(file)
    for lifting in (lift, partial(lift_until, covers=projective), encodings.get("optimal").lift):
        with pytest.raises(FormatError, match=rf"crossing.conllu:4: .* at most {MOST_CROSSED}"):
            bank.lifted(lifting)
    begun = time.process_time()
    few = Trees.of(Tree(random_heads(400)))
    assert encodings.get("optimal").covered(lift(few)).all()
    assert time.process_time() - begun < 10


def treebank_of(heads: list[int], deps: list[list[int]] | None = None) -> str:
    """Write a tree, and a graph of these heads of each word."""
    rows = []
    for word, head in enumerate(heads, start=1):
        above = "|".join(f"{one}:{'dep' if one else 'root'}" for one in (deps[word - 1] if deps else ())) or "_"
        rows.append(f"{word}\tw\t_\tX\t_\t_\t{head}\t{'dep' if head else 'root'}\t{above}\t_\n")
    return "".join(rows) + "\n"


MANY = 100_000
HALF = MANY // 2
LONG_TREES = {
    "two heads in turn": [0, 1, *(1 + word % 2 for word in range(3, MANY + 1))],
    "all on the last word": [*[MANY] * (MANY - 1), 0],
}
LONG_GRAPHS = {
    "a star": [[0], *([1] for _ in range(MANY - 1))],
    "one word with all heads": [[0, *range(2, MANY + 1)], *([1] for _ in range(MANY - 1))],
    "arcs inside each other": [[0], *([MANY + 1 - word] if word > HALF else [] for word in range(2, MANY + 1))],
    "arcs that all cross": [[0], *([word - HALF] if word > HALF else [word - 1] for word in range(2, MANY + 1))],
    "a way to and fro": [[0], *([MANY + 1 - word + (word <= HALF)] for word in range(2, MANY + 1))],
}


@pytest.mark.parametrize("name", LONG_TREES)
def test_planes_of_a_long_tree_take_no_square_of_its_length(name: str, tmp_path: Path) -> None:
    file = tmp_path / "long.conllu"
    file.write_text(treebank_of(LONG_TREES[name]), encoding="utf-8")
    done = run("encode", "-e", "brackets(planes=3)", file, "-o", tmp_path / "out", seconds=4)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", LONG_GRAPHS)
def test_planes_and_cycles_of_a_long_graph_take_no_square_of_its_length(name: str, tmp_path: Path) -> None:
    file = tmp_path / "long.conllu"
    file.write_text(treebank_of([0, *[1] * (MANY - 1)], LONG_GRAPHS[name]), encoding="utf-8")
    for command in (["info", "--graphs"], *(["encode", "--graphs", "-e", kind] for kind in ("brackets", "six-bit"))):
        done = run(*command, file, "-o", tmp_path / "out", seconds=5)
        assert done.returncode == 0, (command, done.stderr)


def test_relations_of_a_long_sentence_are_enhanced_in_time(tmp_path: Path) -> None:
    file = tmp_path / "long.conllu"
    for heads, relation in (([0, *[1] * 29_999], "conj"), (list(range(30_000)), "acl:relcl")):
        file.write_text(treebank_of(heads).replace("\tdep\t", f"\t{relation}\t"), encoding="utf-8")
        assert run("enhance", file, "-o", tmp_path / "out", seconds=10).returncode == 0


@pytest.mark.parametrize("words", [1, 2, 5, 30, 200])
def test_crossed_arcs_are_counted_as_by_looking_at_all_pairs(words: int) -> None:
    for seed in range(20):
        heads = random_heads(words, seed)
        arcs = [(min(h, d), max(h, d)) for d, h in enumerate(heads, start=1)]
        crossed = sum(any(a < c < b < d or c < a < d < b for c, d in arcs) for a, b in arcs)
        assert Arcs.of_trees(Trees.of(Tree(heads))).crossed().sum() == crossed


def test_numbers_that_no_machine_has(sample: Path, tmp_path: Path) -> None:
    refused(run("parse", "Hello.", "--text", "--threads", "99999"), "threads is 99999", "256")
    with pytest.raises(ConfigError, match="256"):
        ropewalk.load("en", threads=257)
    with pytest.raises(OptionError, match="1024"):
        count_of(99_999)
    refused(run("compare", sample, sample, sample, "--samples", "1000000000"), "1,000,000,000", "1,000,000")
    parts = Parts(np.ones(3), np.ones(3))
    with pytest.raises(OptionError, match="1,000,000"):
        compare([parts], [parts], samples=10**9)
    for name in ("brackets(planes=1000000000)", "brackets(planes=101)"):
        with pytest.raises(OptionError, match="1 to 100"):
            encodings.get(name)
        with pytest.raises(OptionError, match="1 to 100"):
            graph_encodings.get(name)
    labels = tmp_path / "labels.tsv"
    labels.write_text("# ropewalk encoding = brackets(planes=1000000000) | columns = form, label, relation\n")
    refused(run("decode", labels), f"{labels}:1: ", "1 to 100")


def test_an_encoder_that_is_not_here_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from huggingface_hub import constants

    from ropewalk.training import hub

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "getproxies", dict)
    begun = time.monotonic()
    with pytest.raises(ModelError, match="cannot be reached"):
        hub.demand("nobody/nothing-at-all")
    assert time.monotonic() - begun < 8


DIGITS = "9" * 5_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["encode", "-e", f"brackets(planes={DIGITS})", "FILE"], "5000 digits"),
        (["encode", "--graphs", "-e", f"brackets(planes={DIGITS})", "FILE"], "5000 digits"),
        (["draw", "FILE", "--sentence", DIGITS], "there is no sentence"),
        (["draw", "--graphs", "FILE", "--sentence", DIGITS], "there is no sentence"),
    ],
)
def test_numbers_of_thousands_of_digits_are_refused(words: list[str], said: str, sample: Path) -> None:
    done = run(*[str(sample) if word == "FILE" else word for word in words])
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.parametrize("places", [f"{DIGITS}:{DIGITS}", "3000000000:3000000001", "0:3000000000", "x:1", ""])
def test_places_beyond_any_text_are_taken_for_none(places: str) -> None:
    bank = conllu.loads(f"1\tgo\t_\t_\t_\t_\t0\troot\t_\tTokenRange={places}\n\n")
    assert (bank[0][0].start, bank[0][0].end) == (None, None)
    near = conllu.loads("1\tgo\t_\t_\t_\t_\t0\troot\t_\tTokenRange=7:9\n\n")
    assert (near[0][0].start, near[0][0].end) == (7, 9)


@pytest.mark.parametrize("kind", [[], ["--graphs"]])
def test_indices_that_would_fill_the_memory_are_refused(kind: list[str], tmp_path: Path) -> None:
    """Of words that hang on any word before them in a random order, the index of a bracket grows with the sentence."""
    rng = random.Random(1)  # noqa: S311 - an invented tree
    order = list(range(1, 100_001))
    rng.shuffle(order)
    above = dict(zip(order, [0, *(order[rng.randrange(at)] for at in range(1, len(order)))], strict=True))
    rows = (
        f"{word}\tx\t_\t_\t_\t_\t{head}\t{name}\t{head}:{name}\t_\n"
        for word in range(1, len(order) + 1)
        for head in [above[word]]
        for name in ["dep" if head else "root"]
    )
    file = tmp_path / "crossing.conllu"
    file.write_text("".join([*rows, "\n"]), encoding="utf-8")
    done = run("encode", "-e", "optimal-nonprojective", *kind, file, "-o", tmp_path / "labels")
    refused(done, "characters long", "relative")
    assert not (tmp_path / "labels").exists()
