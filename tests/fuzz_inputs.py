"""Damaged CoNLL-U and labels, nasty texts and odd JSON, against all that reads them.

    python tests/fuzz_inputs.py KIND [--rounds N] [--minutes M] [--seed S] [--first R] [--trace FILE]

KIND is conllu, labels, texts or json. Each round damages something good, drawn from its own seed, and hands it over.
What comes back must be an answer that holds together (the same bytes, the same text) or a `RopewalkError`; see
`fuzz_arrays`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ropewalk
from fuzz_tools import answered, arguments, run
from ropewalk import conllu, deps, sdp
from ropewalk.corpus import readers as corpus_readers
from ropewalk.corpus.options import Options, Slice
from ropewalk.drawing import draw
from ropewalk.encodings import get
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.errors import FormatError, RopewalkError
from ropewalk.formats import conllx, label_files, ud
from ropewalk.formats.text import token_banks
from ropewalk.models.storage import parsed_json
from ropewalk.segmentation.reading import is_space
from ropewalk.segmentation.segmenter import LINE_UNITS
from ropewalk.segmentation.tokens import text_of
from ropewalk.serving import api, views
from ropewalk.serving.endpoints import source_of
from ropewalk.serving.fields import Fields
from ropewalk.serving.sources import read_conllu as read_pasted
from ropewalk.treebank import summary
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.pipeline import Parser

SAMPLE = """\
# newdoc id = a
# newpar
# sent_id = 1
# text = Don't walk the ropewalk, Ana.
1-2	Don't	_	_	_	_	_	_	_	TokenRange=0:5
1	Do	do	AUX	VB	Mood=Imp|VerbForm=Fin	3	aux	3:aux	_
2	n't	not	PART	RB	_	3	advmod	3:advmod	_
3	walk	walk	VERB	VB	VerbForm=Inf	0	root	0:root	Confidence=0.93
4	the	the	DET	DT	Definite=Def	5	det	5:det	_
5	ropewalk	ropewalk	NOUN	NN	Number=Sing	3	obj	3:obj	SpaceAfter=No
6	,	,	PUNCT	,	_	7	punct	7:punct	_
7	Ana	Ana	PROPN	NNP	_	3	vocative	3:vocative	SpaceAfter=No
8	.	.	PUNCT	.	_	3	punct	3:punct	SpacesAfter=\\s\\n

# sent_id = 2
# text = She came and then left it to fall
1	She	she	PRON	PRP	_	2	nsubj	2:nsubj|5:nsubj	_
2	came	come	VERB	VBD	_	0	root	0:root	_
3	and	and	CCONJ	CC	_	5	cc	5:cc	_
3.1	ran	run	VERB	VBD	_	_	_	2:conj:and	_
4	then	then	ADV	RB	_	5	advmod	3.1:advmod	_
5	left	leave	VERB	VBD	_	2	conj	2:conj:and	_
6	it	it	PRON	PRP	_	8	obj	8:obj	_
7	to	to	PART	TO	_	8	mark	8:mark	_
8	fall	fall	VERB	VB	_	5	xcomp	5:xcomp	_

"""
SEMANTIC = """\
#1
1	They	they	PRP	-	-	_	ARG1
2	left	leave	VBD	+	+	v:1	_
3	.	.	.	-	-	_	_

"""
SPECS = ("optimal", "optimal+head", "optimal-nonprojective", "four-bit", "seven-bit", "brackets(planes=2)", "hexatags",
         "absolute", "relative", "pos-offset", "arc-standard", "covington")  # fmt: skip
GRAPH_SPECS = ("brackets", "six-bit", "relative", "optimal-nonprojective")
FIELDS = (
    b"", b"_", b"0", b"-1", b"99", b"1-2", b"1.1", b"0.1", b"2147483648", b"9" * 30, b"\xff", b"\xed\xa0\x80", b" ",
    b"a b", b"\xc2\xa0", b"root", b"0:root|0:root", b"99:x|a:b", b"SpaceAfter=No|SpaceAfter=No", b"SpacesAfter=\\u00",
    b"=", b"Confidence=nan", b"TokenRange=5:1", b"TokenRange=9999999999999:1", b"|", b"#",
    b"a" * 300, b"\r", b"\x00", b"\\",
)  # fmt: skip
PIECES = (
    " ", "  ", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", "\u200b", "\ufeff", "\u2028", "\u2029", "\x00", "\x0b",
    "\x0c", "\x1b[31m", "\x85", "\u200d", "👩\u200d👩\u200d👧", "❤️", "🇫🇷", "e\u0301", "\u0301", "字漢", "ǅ", "İ",
    "ß", "٣", "\u202e", "don't", "CAN'T", "dunno", "a" * 45, "w" * 1_100, ".", "?!", "...", "…", "—", "|", "\\",
    "#", "##", "_", "=", '"', "'", ")", "(", "1.5", "cf.", "Fig. ", "et al. ", "- ", "a) ", "> ", "• ", "#tag",
    "@name", "x@y.org", "mailto:", "https://a.org/b_(c", "www.", "://", "github.com/a", ".js", "C++", "<3", "she",
    "She", "IV", "rope", "the rope is wet.", "1\tx\t_", "\n- ",
)  # fmt: skip


class Chance(random.Random):
    """The random values of one round."""

    def damaged(self, raw: bytes) -> bytes:
        """Damage some bytes a few times, or not at all."""
        for _ in range(self.choice((0, 1, 1, 1, 2, 5))):
            raw = self.choice((self._bytes, self._lines, self._fields))(raw)
        return raw

    def _bytes(self, raw: bytes) -> bytes:
        at = self.randrange(len(raw) + 1)
        end = min(at + self.choice((0, 1, 3, 40)), len(raw))
        put = self.choice((b"", b"\n", b"\n\n", b"\t", b"\r\n", b" ", b"#", self.randbytes(1), self.choice(FIELDS)))
        return raw[:at] + put + raw[end:]

    def _lines(self, raw: bytes) -> bytes:
        lines = raw.split(b"\n")
        one, other = self.randrange(len(lines)), self.randrange(len(lines))
        how = self.randrange(4)
        if how == 0:
            del lines[one]
        elif how == 1:
            lines.insert(one, lines[other])
        elif how == 2:
            lines[one], lines[other] = lines[other], lines[one]
        else:
            lines = lines[: one + 1]
        return b"\n".join(lines)

    def _fields(self, raw: bytes) -> bytes:
        lines = raw.split(b"\n")
        at = self.randrange(len(lines))
        fields = lines[at].split(b"\t")
        fields[self.randrange(len(fields))] = self.choice(FIELDS)
        if self.random() < 0.1:
            fields.insert(0, b"x")
        lines[at] = b"\t".join(fields)
        return b"\n".join(lines)

    def text(self) -> str:
        """Draw a text of what is hard, at times with any characters between."""
        most = self.choice((0, 2, 10, 40))
        found = [self.choice(PIECES) for _ in range(self.randrange(most + 1))]
        if self.random() < 0.1:
            found.append("\ud83d")  # half a character, which is none
        if self.random() < 0.3:
            found += [chr(self.choice((self.randrange(0x3000), self.randrange(0xE000, 0x110000)))) for _ in range(5)]
            self.shuffle(found)
        return "".join(found)

    def cut(self, text: str) -> list[str]:
        """Cut a text into pieces."""
        cuts = sorted(self.randrange(len(text) + 1) for _ in range(self.randrange(5)))
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def value(self, depth: int = 0) -> Any:  # noqa: ANN401 - anything that JSON can hold, and some that it cannot
        """Draw a value of JSON."""
        kind = self.randrange(12 if depth < 3 else 9)
        if kind < 9:
            return (
                None, self.random() < 0.5, self.choice((0, 1, -1, 2**31, 10**40)),
                self.random() * 10.0 ** self.randrange(40),
                self.choice((float("nan"), float("inf"))), self.text(), self.choice(SPECS), SAMPLE, "",
            )[kind]  # fmt: skip
        if kind < 11:
            return [self.value(depth + 1) for _ in range(self.randrange(4))]
        return {self.text()[:9]: self.value(depth + 1) for _ in range(self.randrange(3))}

    def body(self, names: tuple[str, ...], good: dict[str, Any]) -> bytes:
        """Draw the body of a request: what is good, with some fields that are not, at times damaged as bytes."""
        fields = {name: value for name, value in good.items() if self.random() < 0.9}
        for _ in range(self.randrange(3)):
            fields[self.choice((*names, "x"))] = self.value()
        raw = json.dumps(fields).encode()
        return self._bytes(raw) if self.random() < 0.2 else raw


@cache
def parser() -> Parser:
    return ropewalk.load("en", threads=1)


@cache
def line_parser(unit: str) -> Parser:
    return ropewalk.load("en", ropewalk.ParserOptions(each_line=unit), threads=1)


def _seen(bank: Treebank) -> None:
    """Do with a treebank what people do."""
    raw = conllu.dumps(bank)
    again = conllu.loads(raw)
    assert conllu.dumps(again) == raw
    Document(bank).to_json()
    for sentence in bank:
        sentence.to_displacy()
        assert str(sentence)
    summary.summarize(bank)


def read_conllu(chance: Chance, home: Path) -> None:
    raw = chance.damaged(SAMPLE.encode() * chance.choice((1, 2)))
    bank = conllu.loads(raw)
    assert conllu.dumps(bank) == raw
    _seen(bank)
    del home


def skip_conllu(chance: Chance, home: Path) -> None:
    file = home / "a.conllu"
    file.write_bytes(raw := chance.damaged(SAMPLE.encode() * 2))
    reader = conllu.stream(file, on_error="skip", chunk_bytes=chance.choice((1, 7, 100, 1 << 20)))
    found = Treebank.concat(reader)
    assert conllu.dumps(found) == conllu.dumps(conllu.read(file, on_error="skip"))
    assert all(sentence + b"\n\n" in raw + b"\n\n" for sentence in conllu.dumps(found).split(b"\n\n") if sentence)
    if not reader.problems:
        assert conllu.dumps(found).rstrip(b"\n") == raw.rstrip(b"\n")  # a last empty line may be lacking
    raise_first(reader.problems)


def raise_first(found: list[Any]) -> None:
    """Count what had problems as refused."""
    if found:
        assert isinstance(found[0], RopewalkError)
        raise found[0]


def validate_conllu(chance: Chance, home: Path) -> None:
    file = home / "a.conllu"
    file.write_bytes(chance.damaged(SAMPLE.encode()))
    found = [*conllu.problems(file, also=(ud.Checker().problems, deps.problems))]
    assert all(str(problem) and problem.line >= 0 for problem in found)
    raise_first(found)


def encode_conllu(chance: Chance, home: Path) -> None:
    bank = conllu.loads(chance.damaged(SAMPLE.encode()))
    graphs = deps.read(bank)
    assert deps.write(bank, graphs)
    encoding = get(chance.choice(SPECS))
    file = home / "a.labels"
    label_files.write(file, encoding, [label_files.text_of(encoding, bank)])
    draw(bank[0], labels=(encoding.spec,)).svg()


def read_others(chance: Chance, home: Path) -> None:
    del home
    if chance.random() < 0.5:
        bank = sdp.loads(chance.damaged(SEMANTIC.encode()))
        assert sdp.dumps(sdp.loads(sdp.dumps(bank))) == sdp.dumps(bank)
    else:
        conllu.loads(b"".join(conllx.to_conllu([chance.damaged(conllx.from_conllu(SAMPLE.encode()))])))


@cache
def labels(spec: str) -> bytes:
    encoding, bank = get(spec), conllu.loads(SAMPLE)
    return (label_files.header(encoding) + label_files.text_of(encoding, bank)).encode()


@cache
def graph_labels(spec: str) -> bytes:
    encoding, bank = graph_encodings.get(spec), conllu.loads(SAMPLE)
    nodes = label_files.Nodes.of(bank)
    return (label_files.header(encoding) + label_files.graph_text_of(encoding, nodes)).encode()


def demand_readable(raw: bytes) -> None:
    """Demand that what was written can be read, trees and graphs."""
    try:
        deps.read(conllu.loads(raw))
    except RopewalkError as error:
        raise AssertionError(f"what was written cannot be read: {error}") from error


def read_labels(chance: Chance, home: Path) -> None:
    file = home / "a.labels"
    file.write_bytes(chance.damaged(labels(chance.choice(SPECS))))
    reader = label_files.LabelReader(file, chunk_bytes=chance.choice((1, 30, 1 << 20)))
    trees = label_files.LabelTrees(reader, repair_policy=chance.choice(("nearest", "root")))
    for piece in trees:
        bank = piece.content
        assert all(sum(head == 0 for head in tree.heads) == 1 for tree in bank.trees())
        demand_readable(conllu.dumps(bank))


def fill_labels(chance: Chance, home: Path) -> None:
    file = home / "a.labels"
    file.write_bytes(chance.damaged(labels(chance.choice(SPECS))))
    original = conllu.loads(chance.damaged(SAMPLE.encode()) if chance.random() < 0.3 else SAMPLE.encode())
    found = label_files.fill([original], label_files.LabelTrees(label_files.LabelReader(file)))
    assert b"".join(map(conllu.dumps, found)).count(b"\n") == conllu.dumps(original).count(b"\n")


def read_graph_labels(chance: Chance, home: Path) -> None:
    file = home / "a.labels"
    file.write_bytes(chance.damaged(graph_labels(chance.choice(GRAPH_SPECS))))
    found = label_files.LabelGraphs(label_files.GraphLabelReader(file))
    filled = b"".join(label_files.fill_graphs([conllu.loads(SAMPLE)], found))
    demand_readable(filled)


def cut_text(chance: Chance, home: Path) -> None:
    del home
    text = chance.text()
    unit = chance.choice((None, *LINE_UNITS))
    segmenter = (line_parser(unit) if unit else parser()).segmenter
    assert segmenter is not None
    whole, counts = segmenter.segment_many([text])
    assert text_of(whole) == text
    assert counts == [len(whole)]
    other = chance.text()
    together, (first, _) = segmenter.segment_many([text, other])
    assert conllu.dumps(together.select(range(first))) == conllu.dumps(whole)
    assert conllu.dumps(together.select(range(first, len(together)))) == conllu.dumps(
        segmenter.segment_many([other])[0]
    )
    parts = [*segmenter.stream(chance.cut(text))]
    assert text_of(parts) == text
    assert b"".join(map(conllu.dumps, parts)) == conllu.dumps(whole)
    forms = whole.column("form").names
    assert not any(is_space(one) for form in forms for one in form)
    _seen(whole)


def parse_text(chance: Chance, home: Path) -> None:
    del home
    texts = [chance.text() for _ in range(chance.randrange(1, 4))]
    for text, document in zip(texts, parser().pipe(texts), strict=True):
        assert document.text == text
        _seen(document.treebank)
        assert all(head.text for word in document.words for head in [word.head] if head is not None)


def read_tokens(chance: Chance, home: Path) -> None:
    del home
    bank = Treebank.concat(token_banks(chance.cut(chance.text()), "<tokens>"))
    _seen(parser().treebank(bank))


def draw_text(chance: Chance, home: Path) -> None:
    del home
    words = chance.text().split() if chance.random() < 0.8 else [chance.text()]
    document = parser().tokens([words])
    picture = document[0].draw()
    assert picture.text(width=chance.choice((None, 1, 20, 80)))
    assert picture.svg()
    assert picture.tikz()


REQUESTS: dict[str, dict[str, Any]] = {
    "parse": {"text": "A rope. It is wet.", "output": "json"},
    "convert": {"conllu": SAMPLE, "output": "svg", "sentence": 2},
    "draw": {"conllu": SAMPLE, "labels": ["optimal"], "cover": "proper"},
    "labels": {"conllu": SAMPLE, "encodings": ["four-bit", "hexatags"]},
    "steps": {"conllu": SAMPLE, "encoding": "optimal"},
}
KNOWN = {
    one.label: tuple(one.operations["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"])
    for one in api.ENDPOINTS
    if "post" in one.operations
}


def answer_json(chance: Chance, home: Path) -> None:
    del home
    what = chance.choice(tuple(REQUESTS))
    fields = Fields.of(chance.body(KNOWN[what], REQUESTS[what]), KNOWN[what])
    if what == "parse":
        found: object = Document(source_of(fields).read(parser(), 1000)).to_json()
    elif what == "convert":
        bank = read_pasted(fields.text("conllu"))
        number = fields.number("sentence", 1, low=1, high=len(bank)) - 1
        form = fields.choice("output", views.FORMS, "svg")
        found = views.picture_text(views.picture_of(bank, number, fields), form, fields)
    else:
        found = {"draw": views.pictures, "labels": views.label_answers, "steps": views.step_answers}[what](fields, 1000)
    json.dumps(found, allow_nan=False)


def read_json_lines(chance: Chance, home: Path) -> None:
    file = home / "a.jsonl"
    lines = [chance.body(("text", "id", "more"), {"text": chance.text(), "id": 7, "more": 1}) for _ in range(3)]
    file.write_bytes(raw := b"\n".join(lines))
    options = Options(keep=("more",), id=chance.choice((None, "id")))
    part = Slice(str(file), "", 0, len(raw), 0)
    found = [*corpus_readers.records(part, options)]
    assert all((record.content is None) != (record.reason is None) for record in found)
    raise_first([FormatError(str(file), one.number, "document", one.reason) for one in found if one.reason])


def read_own_json(chance: Chance, home: Path) -> None:
    del home
    raw = chance.body(("a", "b"), {"a": 1})
    if chance.random() < 0.1:
        raw = chance.choice((b"[" * 100_000, b"1" * 5_000, b'{"a":' * 50_000, b"\xff", b"", b"NaN"))
    parsed_json(raw, "<json>")


KINDS: dict[str, tuple[Callable[[Chance, Path], None], ...]] = {
    "conllu": (read_conllu, skip_conllu, validate_conllu, encode_conllu, read_others),
    "labels": (read_labels, fill_labels, read_graph_labels),
    "texts": (cut_text, parse_text, read_tokens, draw_text),
    "json": (answer_json, read_json_lines, read_own_json),
}


def main() -> int:
    """Run rounds of one kind of input."""
    options = arguments("Damaged inputs against all that reads them.")
    options.add_argument("kind", choices=sorted(KINDS))
    given = options.parse_args()
    targets = {target.__name__: target for target in KINDS[given.kind]}
    with tempfile.TemporaryDirectory() as home:

        def one_round(seed: tuple[int, int]) -> tuple[str, bool]:
            chance = Chance("{} {}".format(*seed))
            name = chance.choice(tuple(targets))
            return name, answered(lambda: targets[name](chance, Path(home)))

        return run(given, targets, one_round)


if __name__ == "__main__":
    sys.exit(main())
