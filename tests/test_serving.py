"""UDPipe's REST protocol and our own API, asked over HTTP as clients ask them."""

from __future__ import annotations

import json
import math
import re
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ropewalk
from pipeline_tools import salad
from program_tools import run
from ropewalk import Document, conllu
from ropewalk.cli.serve import serve
from ropewalk.errors import MismatchError, OptionError, RequestError
from ropewalk.integrations.client import Client
from ropewalk.options import ParserOptions
from ropewalk.serving import Settings
from ropewalk.serving.bodies import form_fields
from ropewalk.serving.computing import Computer
from ropewalk.serving.process import listen
from serving_tools import read_to_end, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ropewalk.pipeline import Parser
    from serving_tools import Answer, Served

TEXT = "They don't twist hemp. She walks\nbackwards."
WORDS = "They do n't twist hemp .\nShe walks backwards .\n"
BARE = [f"{place}\t{word}" + "\t_" * 8 + "\n" for place, word in enumerate(WORDS.partition("\n")[0].split(" "), 1)]
TREE = "1\tShe\tshe\tX\tQ\tA=b\t0\troot\t_\tNote=yes\n2\twalks\t_\tY\t_\t_\t1\tdep\t_\t_\n\n"
SENTENCE = "The old rope maker walks slowly backwards all day while his children twist long strands of hemp."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two models: the English one, and the same under another name."""
    folder = tmp_path_factory.mktemp("models") / "english-two"
    from ropewalk.models.catalogue import locate

    shutil.copytree(locate("en"), folder)
    with serving("--model", "en", "--model", str(folder), "--max-words", "60", "--max-bytes", "300000") as one:
        yield one


@pytest.fixture(scope="module")
def parser() -> Parser:
    return ropewalk.load(threads=1)


WAYS: dict[str, Callable[..., Answer]] = {
    "query": lambda served, **fields: served.get("/process", **fields),
    "form": lambda served, **fields: served.form("/process", **fields),
    "multipart": lambda served, **fields: served.parts("/process", **fields),
}
way = pytest.mark.parametrize("ask", WAYS.values(), ids=WAYS)


def result(answer: Answer) -> str:
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    found = json.loads(answer.body)
    assert list(found) == ["model", "acknowledgements", "result"]
    assert found["acknowledgements"] == ["UD_English-EWT, CC-BY-SA-4.0"]  # of a model by name and by folder
    return str(found["result"])


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]


# ------------------------------------------------------------------ UDPipe's protocol


def test_models_lists_them_and_the_default(server: Served) -> None:
    for answer in (server.get("/models"), server.form("/models"), server.get("//models")):
        assert answer.status == 200
        found = json.loads(answer.body)
        assert list(found) == ["models", "default_model"]
        assert found["default_model"] == "en"
        assert found["models"] == {name: ["tokenizer", "tagger", "parser"] for name in ("en", "english-two")}


@way
def test_process_gives_the_parsers_trees(server: Served, parser: Parser, ask: Callable[..., Answer]) -> None:
    found = rows(result(ask(server, data="She walks backwards.", tokenizer="", tagger="", parser="")))
    local = rows(parser("She walks backwards.").to_conllu())
    assert [row[:8] for row in found] == [row[:8] for row in local]
    assert [row[9] for row in found] == ["_", "_", "SpaceAfter=No", "SpaceAfter=No"]


@way
@pytest.mark.parametrize(
    ("switches", "tags", "trees"),
    [
        ({}, False, False),
        ({"tagger": ""}, True, False),
        ({"parser": ""}, False, True),
        ({"tagger": "", "parser": ""}, True, True),
    ],
)
def test_only_what_is_asked_for_is_done(
    server: Served, ask: Callable[..., Answer], switches: dict[str, str], *, tags: bool, trees: bool
) -> None:
    found = rows(result(ask(server, data=TEXT.replace("\n", " "), tokenizer="", **switches)))
    words = [row for row in found if row[0].isdecimal()]
    assert all((row[3] != "_") == tags for row in words)
    assert all((row[6] != "_") == trees and (row[7] != "_") == trees for row in words)
    given = rows(result(ask(server, data=TREE, **switches)))
    assert [row[3] for row in given] == (["PRON", "VERB"] if tags else ["X", "Y"])
    assert [row[6] for row in given] == (["2", "0"] if trees else ["0", "1"])
    assert given[0][9] == "Note=yes"


@way
def test_tokenizer_options(server: Served, ask: Callable[..., Answer]) -> None:
    text = "She walks.  He rests. They run.\nWe sleep. "
    plain = rows(result(ask(server, data=text.replace("\n", " "), tokenizer="")))
    assert not any("TokenRange" in row[9] for row in plain)
    assert plain[2][9] == r"SpacesAfter=\s\s"
    ranged = rows(result(ask(server, data=text.replace("\n", " "), tokenizer="ranges;normalized_spaces")))
    for row in ranged:
        start, end = row[9].split("TokenRange=")[1].split(":")
        assert text.replace("\n", " ")[int(start) : int(end)] == row[1]
        assert "SpacesAfter" not in row[9]
    segmented = result(ask(server, data=text, tokenizer="presegmented;ranges"))
    assert segmented.count("# sent_id") == 2
    assert segmented.count("# text = She walks. He rests. They run.\n") == 1
    sent = text.replace("\n", "\r\n") if ask is WAYS["multipart"] else text  # as mail ends its lines
    for row in rows(segmented):
        start, end = row[9].split("TokenRange=")[1].split(":")
        assert sent[int(start) : int(end)] == row[1]


@way
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("horizontal", WORDS),
        ("vertical", WORDS.replace("\n", "\n\n").replace(" ", "\n")),
        ("conllu", "".join(BARE)),
        ("generic_tokenizer", "They do n't twist hemp. She walks backwards."),
    ],
)
def test_inputs(server: Served, ask: Callable[..., Answer], name: str, data: str) -> None:
    found = result(ask(server, data=data, input=name, output="horizontal"))
    assert found == (WORDS.split("\n", maxsplit=1)[0] + "\n" if name == "conllu" else WORDS)


def test_a_space_inside_a_word_is_a_no_break_space_outside(server: Served) -> None:
    found = result(server.form("/process", data="a\u00a0b c\n", input="horizontal"))
    assert [row[1] for row in rows(found)] == ["a b", "c"]
    assert result(server.form("/process", data=found, output="horizontal")) == "a\u00a0b c\n"


@way
def test_outputs(server: Served, ask: Callable[..., Answer]) -> None:
    text = "They don't twist hemp.  She walks backwards."
    vertical = result(ask(server, data=text, tokenizer="", output="vertical"))
    assert vertical == WORDS.replace("\n", "\n\n").replace(" ", "\n")
    assert result(ask(server, data=text, tokenizer="", output="plaintext")) == text
    normal = result(ask(server, data=text, tokenizer="", output="plaintext=normalized_spaces"))
    assert normal == "They don't twist hemp.\nShe walks backwards.\n"
    assert result(ask(server, data=text, tokenizer="", output="horizontal")) == WORDS
    assert result(ask(server, data="One. \n\nTwo.", tokenizer="", output="horizontal=paragraphs")) == "One .\n\nTwo .\n"


@way
@pytest.mark.parametrize(
    ("name", "expected"), [("", "en"), ("en", "en"), ("english-two", "english-two"), ("eng", "english-two")]
)
def test_a_model_is_named_by_an_unambiguous_beginning(
    server: Served, ask: Callable[..., Answer], name: str, expected: str
) -> None:
    answer = ask(server, data="Hemp.", model=name, tokenizer="", parser="")
    assert json.loads(answer.body)["model"] == expected
    assert result(answer)


@way
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "'data' is missing"),
        ({"data": "a", "model": "e"}, "ambiguous"),
        ({"data": "a", "model": "french"}, "known: en, english-two"),
        ({"data": "a", "input": "pdf"}, "input format 'pdf' is unknown"),
        ({"data": "a", "output": "../etc"}, "output format '../etc' is unknown"),
        ({"data": "a", "tokenizer": "fast"}, "no option 'fast'"),
        ({"data": "no tabs here", "input": "conllu"}, "<conllu>:1"),
        ({"data": "a\tb\n", "input": "horizontal"}, "no tab"),
    ],
)
def test_what_is_wrong_is_said_in_plain_text(
    server: Served, ask: Callable[..., Answer], fields: dict[str, str], reason: str
) -> None:
    answer = ask(server, **fields)
    assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert reason in answer.text
    assert answer.text.count("\n") == 1


def test_paths_methods_and_sizes(server: Served) -> None:
    assert server.get("/nothing").status == 404
    assert server.ask("DELETE", "/process").status == 405
    big = server.form("/process", data="a " * 200_000)
    assert (big.status, big.headers["content-type"]) == (413, "text/plain; charset=utf-8")
    assert "at most 300000" in big.text
    long = server.form("/process", data="and " * 80, tokenizer="", parser="")
    assert long.status == 413
    assert "at most 60" in long.text
    announced = server.ask("POST", "/process", None, {"content-length": "1000000000"})
    assert announced.status == 413


def test_the_same_field_twice_is_refused(server: Served) -> None:
    assert "given twice" in server.ask("GET", "/process?data=a&data=b").text
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert "in the query and in the body" in server.ask("POST", "/process?data=a", "data=b", form).text
    assert result(server.ask("POST", "/process?tokenizer&parser", "data=Hemp.", form))


NAMED = b'Content-Disposition: form-data; name="data"'
PARTS = "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ('multipart/form-data; boundary="a b"', b"--a b\r\n" + NAMED + b"\r\n\r\n1 2\r\n--a b--\r\n"),
        (PARTS, b"preamble\r\n--x\r\ncontent-disposition:form-data;name=data\r\n\r\n1 2\r\n--x--"),
        ("Multipart/Form-Data; charset=utf-8; BOUNDARY=x", b"--x\r\n" + NAMED + b"\r\n\r\n1 2\r\n--x--\n"),
        (PARTS, b"--x\r\nContent-Type: text/plain; charset=UTF-8\r\n" + NAMED + b"\r\n\r\n1 2\r\n--x--\r\nend"),
        (PARTS, b"--x\r\n" + NAMED + b'; filename="f.txt"\r\n\r\n1 2\r\n--x--'),
        (PARTS, b"--x\r\n" + NAMED + b"\r\nContent-Transfer-Encoding: base64\r\n\r\nMSAy\r\n--x--"),
    ],
)
def test_multipart_as_it_may_be_written(header: str, body: bytes) -> None:
    assert form_fields(header, body) == {"data": "1 2"}


@pytest.mark.parametrize(
    ("header", "body", "reason"),
    [
        ("multipart/form-data", b"", "no boundary"),
        (PARTS, b"--x\r\n", "has no end"),
        (PARTS, b"--x\r\nno empty line\r\n--x--", "empty line before each value"),
        (PARTS, b"--x\r\n\r\nno name\r\n--x--", "name not found"),
        (PARTS, b"--x\r\nwhat\r\n\r\nis this\r\n--x--", "invalid character 13 in header"),
        (PARTS, b"--x\n" + NAMED + b"\n\n1 2\n--x--\n", "lines that end in CR LF"),
        (PARTS, b"--x  \r\n" + NAMED + b"\r\n\r\n1 2\r\n--x--", "end of boundary"),
        (PARTS, b"--x\r\n" + NAMED + b";\r\n a=b\r\n\r\n1 2\r\n--x--", "invalid character 32 in header"),
        (PARTS, b"--x\r\n" + NAMED + b"\r\nContent-Transfer-Encoding: x-uue\r\n\r\nMQ==\r\n--x--", "x-uue"),
        (PARTS, b"--x\r\n" + NAMED + b"\r\nContent-Transfer-Encoding: base64\r\n\r\n!?=\r\n--x--", "cannot be read"),
        (
            PARTS,
            b"".join(b'--x\r\nContent-Disposition: form-data; name="%d"\r\n\r\n1\r\n' % n for n in range(300)),
            "than 100",
        ),
        (PARTS, b"--x\r\n" + NAMED + b"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\na\r\n--x--", "'utf-16'"),
        (PARTS, b"--x\r\n" + NAMED + b"\r\n\r\n\xff\r\n--x--", "not UTF-8"),
        ("application/x-www-form-urlencoded", b"data=%ff", "not UTF-8"),
        ("application/json", b"{}", "send a form"),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=" % n for n in range(300)), "more than 100"),
    ],
)
def test_forms_that_cannot_be_read_say_why(header: str, body: bytes, reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        form_fields(header, body)


FORMS = st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=4)


@given(FORMS)
def test_any_form_comes_back_from_parts(fields: dict[str, str]) -> None:
    fields = {name: value.replace("\r", "") for name, value in fields.items() if not set('"\\\r\n') & set(name)}
    body = b"".join(
        f'--b0rder\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    )
    assert form_fields("multipart/form-data; boundary=b0rder", body + b"--b0rder--\r\n") == fields


# ------------------------------------------------------------------ requests that are wrong

HOSTILE = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
API_PATHS = ("parse", "stream", "convert", "draw", "labels", "steps")
SOURCES = ("text", "tokens", "conllu", "against", "labels", "words")
NAMES = st.sampled_from([*SOURCES, "model", "output", "encodings", "encoding", "cover", "sentence"])
CELLS = st.sampled_from(["1", "2", "a", "_", "0", "1-2", "1.1", "\x00", "é", ""])
LINES = st.lists(st.lists(CELLS, min_size=8, max_size=11).map("\t".join), max_size=4).map("\n".join)
PARAMETERS = st.sampled_from(["data", "model", "tokenizer", "tagger", "parser", "input", "output"])
MEANT = st.sampled_from(["conllu", "vertical", "horizontal=paragraphs", "presegmented", "ranges;", "en"])
FORM = "application/x-www-form-urlencoded"
KINDS = st.sampled_from([FORM, PARTS, 'multipart/form-data; boundary="', "application/json", "text/plain", "", "\x80"])
STARTS = st.sampled_from(
    [
        b"",
        b"GET /models HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /process HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /process HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]
)
HURTFUL = [
    b"[" * 100_000,
    b'{"text": "\\ud800"}',
    b'{"tokens": [["a\\ud800"]]}',
    b'{"conllu": "\\ud800"}',
    b'{"model": "\\udfff", "text": "a"}',
    b'{"text": ' + b"9" * 5000 + b"}",
    b"\xff",
    b'{"text": "a", "output": 1e400}',
    b"null",
]


def demand_reason(answer: Answer) -> None:
    assert answer.status == 200 or 400 <= answer.status < 500, answer
    if answer.status != 200:
        assert len(answer.text) > 10
    assert b"Traceback" not in answer.body
    assert b'File "' not in answer.body


@HOSTILE
@given(st.dictionaries(PARAMETERS, st.text(max_size=30) | LINES | MEANT, max_size=7))
def test_any_parameters_are_answered_or_refused_with_a_reason(server: Served, fields: dict[str, str]) -> None:
    fields = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
    for ask in WAYS.values():
        demand_reason(ask(server, **fields))


@HOSTILE
@given(st.binary(max_size=80), KINDS, st.sampled_from(["/process", "/models", "/api/v1/parse", "/api/v1/draw"]))
def test_any_bytes_are_answered_or_refused_with_a_reason(server: Served, body: bytes, kind: str, path: str) -> None:
    demand_reason(server.ask("POST", path, body, {"content-type": kind.encode("latin-1").decode("latin-1")}))
    demand_reason(server.ask("GET", f"{path}?{quote(body, safe='=&%')}"))
    framed = b'--x\r\nContent-Disposition: form-data; name="data"\r\n' + body + b"\r\n--x--"
    demand_reason(server.ask("POST", path, framed, {"content-type": "multipart/form-data; boundary=x"}))


@HOSTILE
@given(
    st.sampled_from(API_PATHS),
    st.dictionaries(NAMES | st.text(max_size=4), VALUES | LINES | st.lists(LINES, max_size=3), max_size=4),
)
def test_any_json_is_answered_or_refused_with_a_reason(server: Served, path: str, fields: dict[str, Any]) -> None:
    answer = server.ask("POST", f"/api/v1/{path}", json.dumps(fields), {"content-type": "application/json"})
    demand_reason(answer)
    if answer.status != 200:
        found = json.loads(answer.body)["error"]
        assert found["kind"]
        assert found["message"]


@pytest.mark.parametrize("body", HURTFUL, ids=range(len(HURTFUL)))
@pytest.mark.parametrize("path", API_PATHS)
def test_json_that_hurts_is_refused(server: Served, path: str, body: bytes) -> None:
    answer = server.ask("POST", f"/api/v1/{path}", body, {"content-type": "application/json"})
    assert 400 <= answer.status < 500
    demand_reason(answer)


@settings(HOSTILE, max_examples=60)
@given(st.binary(max_size=60), STARTS)
def test_any_bytes_on_the_wire_hurt_nobody(server: Served, noise: bytes, start: bytes) -> None:
    with socket.create_connection((server.host, server.port), timeout=20) as raw:
        raw.sendall(start + noise)
        raw.shutdown(socket.SHUT_WR)
        said = read_to_end(raw)
    assert b" 500 " not in said.split(b"\r\n")[0]
    assert b"Traceback" not in said
    assert server.get("/health").status == 200


# ------------------------------------------------------------------ our own API


def api(served: Served, path: str, **fields: object) -> Answer:
    return served.ask("POST", f"/api/v1/{path}", json.dumps(fields), {"content-type": "application/json"})


def test_text_tokens_and_conllu_give_the_parsers_documents(server: Served, parser: Parser, sample: Path) -> None:
    assert json.loads(api(server, "parse", text=TEXT).body) == parser(TEXT).to_json()
    assert api(server, "parse", text=TEXT, output="conllu").text == parser(TEXT).to_conllu()
    tokens = [["She", "walks", "."], ["Hemp"]]
    assert json.loads(api(server, "parse", tokens=tokens).body) == parser.tokens(tokens).to_json()
    given = sample.read_text(encoding="utf-8")
    assert api(server, "parse", conllu=given, output="conllu").text == parser.conllu(sample).to_conllu()
    assert api(server, "convert", conllu=given, output="conllu").text == given
    drawn = api(server, "parse", text="She walks.", output="svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text == parser("She walks.")[0].draw().svg()
    assert api(server, "parse", text=TEXT, output="svg").status == 400
    assert ">walks<" in api(server, "parse", text=TEXT, output="svg", sentence=2).text
    raw = server.ask("POST", "/api/v1/parse?output=conllu", TEXT, {"content-type": "text/plain; charset=utf-8"})
    assert raw.text == parser(TEXT).to_conllu()
    assert json.loads(api(server, "parse", text="").body)["sentences"] == []


def test_a_long_text_comes_a_line_at_a_time_and_whole(server: Served, parser: Parser) -> None:
    text = "".join(f"{SENTENCE} Rope number {number} is long. " for number in range(300))
    lines = [json.loads(line) for line in api(server, "stream", text=text).text.splitlines()]
    local = parser(text)
    assert lines == [sentence.to_json() for sentence in local]
    assert api(server, "parse", text=text, output="conllu").text == local.to_conllu()
    assert api(server, "stream", text="").body == b""
    assert api(server, "stream", text="and " * 100).status == 413


def test_requests_that_come_together_get_the_answers_of_one_by_one(server: Served, parser: Parser) -> None:
    words = SENTENCE.split()
    texts = [" ".join(words[start:] + words[:start]) + "! " + TEXT * (start % 3) for start in range(len(words))] * 6
    before = _count(server, "ropewalk_batches_total")
    with ThreadPoolExecutor(48) as pool:
        answers = list(pool.map(lambda text: api(server, "parse", text=text, output="conllu").text, texts))
    assert answers == [parser(text).to_conllu() for text in texts]
    assert _count(server, "ropewalk_batches_total") - before < len(texts)


def test_one_bad_request_in_a_batch_fails_alone(server: Served) -> None:
    def ask(number: int) -> int:
        return api(server, "parse", **({"conllu": "bad"} if number % 3 == 0 else {"text": SENTENCE})).status

    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(ask, range(48))) == [400 if number % 3 == 0 else 200 for number in range(48)]


def _count(server: Served, name: str) -> float:
    lines = server.get("/metrics").text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def test_labels_pictures_and_steps(server: Served) -> None:
    words = [(1, "a", 3), (2, "b", 4), (3, "c", 0), (4, "d", 3)]
    crossing = "".join(f"{number}\t{form}\t_\tX\t_\t_\t{head}\td\t_\t_\n" for number, form, head in words) + "\n"
    found = json.loads(api(server, "labels", conllu=crossing, encodings=["optimal", "optimal-nonprojective"]).body)
    flat, full = found["sentences"][0]["encodings"]
    assert (flat["covered"], full["covered"]) == (False, True)
    assert "cross" in flat["why"]
    assert len(full["columns"][0]["labels"]) == 4
    circle = crossing.replace("\t0\t", "\t1\t")
    [drawn] = json.loads(api(server, "draw", conllu=circle, labels=["optimal"]).body)["sentences"]
    assert "cycle" in drawn["labels"][0]["why"]
    assert "<svg" in drawn["picture"]
    [compared] = json.loads(api(server, "draw", conllu=crossing, against=circle).body)["sentences"]
    assert 'class="arc missed"' in compared["picture"]
    played = json.loads(api(server, "steps", labels=["<", ">^/^", ">^"], words=["<b>", "x", "y"]).body)
    assert played["heads"] == [2, 0, 2]
    assert "<b>" not in played["html"]
    assert json.loads(api(server, "steps", conllu=TREE, encoding="four-bit").body)["heads"] == [0, 1]
    assert api(server, "steps", conllu=TREE, encoding="covington").status == 400
    loose = [">^/^", "<", "<"]
    assert json.loads(api(server, "steps", labels=loose).body)["heads"] == [0, 1, 2]
    assert json.loads(api(server, "steps", labels=loose, repair="root").body)["heads"] == [0, 1, 1]
    assert api(server, "steps", labels=loose, repair="elsewhere").status == 400
    listed = json.loads(server.get("/api/v1/encodings").body)
    assert {"optimal", "hexatags"} <= {one["name"] for one in listed["encodings"]}


def test_a_pattern_is_found_or_its_fault_is_named(server: Served, sample: Path) -> None:
    trees = sample.read_text(encoding="utf-8")
    pattern = "{upos:NOUN}=noun >det {}=article"
    found = json.loads(api(server, "search", conllu=trees, pattern=pattern).body)["matches"]
    expected = conllu.read(sample).search(pattern)
    assert [(one["sentence"], one["words"]) for one in found] == [
        (match.sentence.number + 1, {"noun": match["noun"].index, "article": match["article"].index})
        for match in expected
    ]
    assert all(one["hits"] == sorted(one["words"].values()) for one in found)
    assert len(found) > 1
    wrong = api(server, "search", conllu=trees, pattern="{upos:NOUN")
    assert wrong.status == 400
    assert "character 11" in wrong.text
    many = api(server, "search", conllu=trees, pattern="{}=a : {}=b : {}=c : {}=d")
    assert many.status == 400
    assert "more than 10,000 matches" in many.text


def test_sentences_with_matches_have_the_spans_to_mark(server: Served, parser: Parser, sample: Path) -> None:
    trees = sample.read_text(encoding="utf-8")
    found = json.loads(api(server, "search", conllu=trees, pattern="{upos:AUX|PART}=w").body)
    assert found["names"] == ["w"]
    first = found["sentences"][0]
    assert (first["sentence"], first["id"], first["hits"]) == (2, "en-2", [2, 3])
    assert [first["text"][begin:end] for begin, end in first["spans"]] == ["don't"], "both words are one token"
    other = trees.replace("They don't", "Others do not")
    assert json.loads(api(server, "search", conllu=other, pattern="{form:twist}").body)["sentences"][0]["spans"] == []
    pattern = "{}=head > {}=dependent"
    parsed = parser(TEXT)
    matches = parsed.search(pattern)
    found = json.loads(api(server, "search", text=TEXT, pattern=pattern).body)
    assert len(found["matches"]) == len(matches) > 1
    assert [one["word"] for one in found["matches"]] == [match.word.index for match in matches]
    for one in found["sentences"]:
        marked = [one["text"][begin:end] for begin, end in one["spans"]]
        tokens = {parsed[one["sentence"] - 1][hit - 1].token.text for hit in one["hits"]}
        assert set(marked) == tokens
    wrong = api(server, "search", text=TEXT, pattern="{upos:NOUN")
    assert (wrong.status, "character 11" in wrong.text) == (400, True)
    assert api(server, "search", pattern="{}").status == 400
    assert json.loads(api(server, "search", tokens=[["a"]], pattern="{form:b}").body)["matches"] == []


def test_the_description_names_every_path_and_its_examples_work(server: Served) -> None:
    found = json.loads(server.get("/openapi.json").body)
    assert found["openapi"].startswith("3.1")
    names = [about["operationId"] for methods in found["paths"].values() for about in methods.values()]
    assert len(set(names)) == len(names)
    tried = 0
    for path, methods in found["paths"].items():
        for method, about in methods.items():
            content = about.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                example = content["application/json"]["example"]
                answer = api(server, path.removeprefix("/api/v1/"), **example)
                assert answer.status == 200, (path, answer.text)
                tried += 1
            elif method == "get" and "parameters" not in about:
                assert server.get(path).status == 200
                tried += 1
    assert tried >= 9


def test_the_client_gives_the_parsers_documents(server: Served, parser: Parser, sample: Path) -> None:
    with Client(server.address) as client:
        for mine, theirs in (
            (client(TEXT), parser(TEXT)),
            (client(""), parser("")),
            (client.tokens([["a", "b"]]), parser.tokens([["a", "b"]])),
            (client.conllu(str(sample)), parser.conllu(sample)),
            (client.conllu(conllu.read(sample)), parser.conllu(sample)),
            *zip(client.pipe([TEXT, "Hemp."]), parser.pipe([TEXT, "Hemp."]), strict=True),
        ):
            assert mine.to_conllu() == theirs.to_conllu()
            assert mine.to_json() == theirs.to_json()
        with pytest.raises(RequestError, match="at most 60") as refused:
            client("and " * 100)
        assert refused.value.status == 413
    with pytest.raises(RequestError, match="no model 'xx'"):
        Client(server.address, model="xx")
    with pytest.raises(RequestError, match="is the server running"):
        Client("http://127.0.0.1:9")
    with pytest.raises(RequestError, match="no address"):
        Client("ftp://a")


def test_the_client_finds_what_the_parsers_documents_find(server: Served, parser: Parser, sample: Path) -> None:
    with Client(server.address) as client:
        pattern = "{}=head [> {}=dependent | < {}=above]"
        there, here = client.search(TEXT, pattern), parser(TEXT).search(pattern)
        assert there.names == here.names
        assert there.rows.tolist() == here.rows.tolist()
        assert [str(match) for match in there] == [str(match) for match in here]
        bank = conllu.read(sample)
        for source in (bank, Document(bank)):
            found = client.search(source, "{upos:VERB}=verb >nsubj {}=subject")
            assert found.rows.tolist() == bank.search("{upos:VERB}=verb >nsubj {}=subject").rows.tolist()
            assert found[0]["verb"] == bank[0][3]
        assert len(client.search(bank, "{form:none}")) == 0
        with pytest.raises(RequestError, match="character 2"):
            client.search(bank, "{")
        with pytest.raises(MismatchError, match="what to search"):
            client.search(3, "{}")  # type: ignore[arg-type]


# ------------------------------------------------------------------ the rest


def test_headers_of_a_careful_page(server: Served) -> None:
    page = server.get("/")
    assert page.status == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert (
        "access-control-allow-origin"
        not in server.ask("GET", "/models", headers={"origin": "http://a.example"}).headers
    )
    again = server.ask("GET", "/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    for name in ("page.js", "style.css", "drawing.css", "steps.js"):
        assert server.get(f"/static/{name}").status == 200
    for path in (
        "/static/../application.py",
        "/static/%2e%2e/application.py",
        "/static//etc/passwd",
        "/static/",
        "/application.py",
    ):
        assert server.get(path).status == 404


def test_health_and_counts(server: Served) -> None:
    assert server.get("/health").text == "alive\n"
    assert server.get("/ready").text == "ready\n"
    before = _count(server, "ropewalk_words_total")
    api(server, "parse", tokens=[["a", "b", "c"]])
    assert _count(server, "ropewalk_words_total") == before + 3
    text = server.get("/metrics").text
    assert 'ropewalk_requests_total{route="parse",status="2xx"}' in text
    assert 'ropewalk_request_seconds_bucket{le="+Inf"}' in text
    assert _count(server, "ropewalk_requests_in_flight") == 0


def test_other_origins_only_when_allowed() -> None:
    with serving("--allow-origin", "http://good.example", "--log") as one:
        good = one.ask("GET", "/models", headers={"origin": "http://good.example"})
        assert good.headers["access-control-allow-origin"] == "http://good.example"
        assert (
            "access-control-allow-origin"
            not in one.ask("GET", "/models", headers={"origin": "http://bad.example"}).headers
        )
        assert one.ask("OPTIONS", "/api/v1/parse", headers={"origin": "http://good.example"}).status == 204
        one.get("/process", data="secret words", tokenizer="", parser="")
        one.process.terminate()
        assert one.process.stderr is not None
        log = one.process.stderr.read()
        assert "GET /process 200" in log
        assert "secret" not in log
    with serving("--log-text") as one:
        one.form("/process", data="secret words")
        one.process.terminate()
        assert one.process.stderr is not None
        assert "secret" in one.process.stderr.read()


@pytest.mark.parametrize("option", ["--log", "--log-text"])
def test_no_request_forges_a_line_of_the_log_or_reaches_a_terminal(option: str) -> None:
    paths = (
        b"/a%0d%0a2020-01-01%20GET%20/process%20200",
        b"/%1b[31mred%9b1m%c2%9b%e2%80%a8%e2%80%ae",
        b"/x?a=%0aGET%20/&b=%1b",
        b"/y?\x1b[31m",
        b"/z?\x9b31m\xc2\x9b\x85",
        b"/w\x1b[31m",
        b"/end",
    )
    with serving(option) as one:
        for path in paths:
            with socket.create_connection((one.host, one.port), timeout=30) as raw:
                raw.sendall(b"GET " + path + b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                while raw.recv(65536):
                    pass
        one.process.terminate()
        assert one.process.stderr is not None
        log = one.process.stderr.read()
    assert "GET /a%0D%0A2020-01-01%20GET%20/process%20200 404 " in log
    lines = log.removesuffix("\n").split("\n")
    assert all(re.fullmatch(r"[\d-]+ [\d:,]+ GET /\S* \d{3} [\d.]+ ms( \S*)?", line) for line in lines), lines
    assert log.isascii()
    assert log.replace("\n", "").isprintable()
    assert "GET /end 404 " in lines[-1]


# ------------------------------------------------------------------ which hosts


def asked_for(server: Served, *hosts: str, path: str = "/models", version: str = "1.1") -> tuple[int, str]:
    head = "".join(f"host: {host}\r\n" for host in hosts)
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        raw.sendall(f"GET {path} HTTP/{version}\r\n{head}connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
    return int(answer.split(" ")[1]), answer.partition("\r\n\r\n")[2]


OWN = ("localhost", "LOCALHOST:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:80", "localhost.", "a.localhost")
OTHER = ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1", "")
ODD = ("user@localhost", "localhost:80:80", "localhost/", "[::1", "[]", "::1", "127.1", "localhost, evil.example")


def test_on_a_loopback_address_requests_for_other_hosts_are_refused(server: Served) -> None:
    for host in OWN:
        assert asked_for(server, host)[0] == 200, host
    for host in (*OTHER, *ODD):
        status, why = asked_for(server, host)
        assert status == 421, host
        assert "use 127.0.0.1, [::1], localhost, or allow the name with --allow-host" in why
        assert asked_for(server, host, path="/")[0] == 421
    assert asked_for(server, "localhost", "evil.example")[0] == 421
    assert asked_for(server, version="1.0")[0] == 200  # from no browser
    found = json.loads(asked_for(server, "evil.example", path="/api/v1/models")[1])
    assert found["error"]["kind"] == "request"


def test_other_hosts_when_allowed() -> None:
    with serving("--allow-host", "ropes.example", "--allow-host", "192.0.2.1", "--allow-host", "2001:db8::1") as one:
        for host in (*OWN, "ropes.example", "Ropes.Example.:80", "192.0.2.1:8080", "[2001:db8::1]"):
            assert asked_for(one, host)[0] == 200, host
        for host in OTHER[:-2]:
            assert asked_for(one, host)[0] == 421, host
    with serving("--host", "0.0.0.0") as one:  # noqa: S104 - for a moment
        assert asked_for(one, "evil.example")[0] == 200
    with serving("--allow-host", "*") as one:
        assert asked_for(one, "evil.example")[0] == 200


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", "a/b", "[::1]:80", "u@a"])
def test_an_allowed_host_is_a_name_or_an_address(name: str) -> None:
    with pytest.raises(OptionError, match="use a name or an address without a port"):
        Settings(allow_hosts=(name,))


def test_an_empty_or_impossible_host_to_listen_at_is_refused() -> None:
    done = run("serve", "--host", "")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: the host is empty; expected an address: 127.0.0.1 for this machine only" in done.stderr
    for host in ("a" * 100, "a..b"):
        with pytest.raises(OptionError, match="cannot listen at"):
            listen(host, 0)


def test_models_decode_and_repair_as_asked() -> None:
    texts = [salad(seed) for seed in range(8)]
    found = set()
    for decoder, repair in ((None, None), ("greedy", "nearest"), ("greedy", "root")):
        options = ParserOptions(decoder=decoder, repair=repair)
        served = Computer.load(Settings(parsing=options)).parsers["en"]
        heads = served.parse_together(texts)[0].heads.tolist()
        own = ropewalk.load("en", options, threads=1)
        assert heads == own.parse_together(texts)[0].heads.tolist()
        found.add(tuple(heads))
    assert len(found) == 3


@pytest.mark.parametrize(
    ("columns", "components"),
    [
        (None, ["tokenizer", "tagger", "parser"]),
        (("upos",), ["tokenizer", "tagger"]),
        (("tree",), ["tokenizer", "parser"]),
    ],
)
def test_models_predict_and_are_listed_as_asked(columns: tuple[str, ...] | None, components: list[str]) -> None:
    served = Computer.load(Settings(parsing=ParserOptions(columns=columns)))
    assert served.models["en"].components == components
    (word, *_) = served.parsers["en"]("She walks.")[0]
    assert (word.upos == "PRON", word.head is not None) == ("tagger" in components, "parser" in components)


def test_the_command_hands_on_what_to_predict(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    monkeypatch.setattr("ropewalk.serving.run", lambda settings, **_: begun.append(settings))
    serve(columns=("tree", "upos"), graph_decoder="arcs")
    serve()
    assert begun == [Settings(parsing=ParserOptions(columns=("tree", "upos"), graph_decoder="arcs")), Settings()]


def test_settings_that_make_no_sense_are_refused() -> None:
    wrong: dict[str, Any]
    for wrong in ({"models": ()}, {"models": ("en", "en")}, {"max_words": 0}, {"max_seconds": 0.0}):
        with pytest.raises(OptionError):
            Settings(**wrong)
    for seconds in (math.nan, math.inf, -math.inf, -1.0, 1e9):
        for name in ("max_seconds", "batch_seconds"):
            wrong = {name: seconds}
            with pytest.raises(OptionError, match=f"{name} is .*expected 0 to 86,400 seconds"):
                Settings(**wrong)


@pytest.mark.parametrize(("seconds", "code"), [("nan", 1), ("inf", 2), ("-inf", 2), ("-1", 2), ("0", 2), ("1e9", 2)])
def test_seconds_that_make_no_sense_are_refused(seconds: str, code: int) -> None:
    done = run("serve", f"--max-seconds={seconds}")
    assert done.returncode == code
    assert re.search(r"max_seconds is nan; expected|is not in the range 0.1<=x<=86400", done.stderr)
