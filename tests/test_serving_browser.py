"""The page in a real browser: typed, clicked and keyed as people do."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import ropewalk
from browser_tools import BROWSER, Browser, browsing
from ropewalk import conllu
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving_tools import Served

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
AXE = os.environ.get("ROPEWALK_AXE", "")  # axe-core's axe.min.js

TEXT = "They don't twist hemp. She walks backwards."
VIEWS = ("tree", "ropes", "labels", "steps", "table", "conllu", "json")
READY = 'document.querySelector("#sentences[aria-busy=false] > *")'
ARCS = """[...document.querySelectorAll("article")].map(article => {
  const found = [...article.querySelectorAll("g.arc:has(.line)")].map(g => [+g.dataset.dependent, +g.dataset.head]);
  return found.sort((a, b) => a[0] - b[0]).map(pair => pair[1]);
})"""
CROSSING = "".join(
    f"{number}\t{form}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n"
    for number, (form, head) in enumerate([("a", 3), ("b", 4), ("c", 0), ("d", 3)], start=1)
)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving() as one:
        yield one


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as one:
        yield one


def visit(browser: Browser, server: Served, hash_part: str = "") -> None:
    browser.open("about:blank")
    browser.open(f"{server.address}/{hash_part}")
    browser.wait(f"!!{READY}")


def write(browser: Browser, text: str, sentences: int) -> None:
    """Type a text in place of what is there, and wait for its trees."""
    browser.run('document.getElementById("sentences").replaceChildren(); document.getElementById("text").select()')
    browser.run('document.getElementById("text").focus()')
    browser.type(text)
    browser.wait(f'document.querySelectorAll("#sentences > article").length === {sentences}')
    browser.wait(f"!!{READY}")


def calm(browser: Browser, server: Served) -> None:
    """See that nothing failed and nothing left the machine."""
    assert browser.failures() == []
    assert all(address.startswith((server.address, "data:", "blob:")) for address in browser.requests())


def test_typing_shows_the_right_arcs(browser: Browser, server: Served) -> None:
    visit(browser, server)
    parser = ropewalk.load(threads=1)
    for text in (TEXT, "The rope that the old man made yesterday is already worn."):
        document = parser(text)
        write(browser, text, len(document))
        assert browser.run(ARCS) == [[word["head"] for word in one.to_json()["words"]] for one in document]
    names = browser.run('[...document.querySelectorAll("g.arc text.relation")].map(one => one.textContent).sort()')
    assert names == sorted(word.relation for word in document.words)
    unsure = {word.index for word in document.words if word.probability is not None and word.probability < 0.5}
    found = browser.run('[...document.querySelectorAll("g.arc.unsure:has(.line)")].map(g => +g.dataset.dependent)')
    assert set(found) == unsure
    browser.run('document.getElementById("text").select()')
    browser.type(" ")
    browser.wait('!!document.querySelector(".empty")')
    calm(browser, server)


def test_every_view_shows_what_it_should_and_its_link_shows_it_again(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#text={quote(TEXT)}")
    local = ropewalk.load(threads=1)(TEXT)
    for view in VIEWS:
        browser.run(f'document.getElementById("tab-{view}").click()')
        browser.wait(f"""document.getElementById("tab-{view}").ariaSelected === "true" && !!{READY}""")
        shown = browser.run('document.getElementById("sentences").innerHTML')
        if view == "ropes":
            assert browser.run('document.querySelectorAll("g.arc.structural, g.arc.auxiliary").length') > 0
            assert browser.run('document.querySelectorAll("text.brackets").length') == len(local.words) + len(local)
        elif view == "labels":
            assert browser.run('document.querySelectorAll("article:first-child text.label").length') == 3 * len(
                local[0]
            )
        elif view == "steps":
            assert browser.run('document.querySelectorAll(".steps .slider").length') == len(local)
        elif view == "table":
            tokens = sum(token.is_multiword for sentence in local for token in sentence.tokens)
            assert browser.run('document.querySelectorAll("tbody tr:not(.token)").length') == len(local.words)
            assert browser.run('document.querySelectorAll("tbody tr.token").length') == tokens == 1
        elif view == "conllu":
            assert browser.run('document.querySelector("pre").textContent') == local.to_conllu()
        elif view == "json":
            text = browser.run('document.querySelector("pre").textContent')
            first = json.loads(text)[0]
            assert first["words"] == local[0].to_json()["words"]
        link = browser.run("location.hash")
        visit(browser, server, link)
        assert browser.run(f'document.getElementById("tab-{view}").ariaSelected') == "true"
        assert browser.run('document.getElementById("sentences").innerHTML') == shown
        calm(browser, server)


def test_the_steps_play_and_take_other_labels(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#view=steps&text={quote('She twists hemp')}")
    browser.run('document.querySelector(".steps .last").click()')
    heads = browser.run('[...document.querySelectorAll("g.arc.seen:has(.line)")].map(g => +g.dataset.head)')
    assert sorted(heads) == [0, 2, 2]
    browser.run(
        """{const field = document.querySelector(".steps input[type=text]");
        field.value = "< < >^/^"; field.dispatchEvent(new Event("change"));}"""
    )
    browser.wait('document.querySelector(".steps input[type=text]").value === "< < >^/^"')
    browser.wait('document.querySelectorAll(".steps .bracket").length === 4')
    calm(browser, server)


def test_keys_alone_walk_through_tabs_and_words_and_change_an_arc(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#text={quote('She walks backwards')}")
    browser.run('document.getElementById("text").focus()')
    for _ in range(30):
        browser.press("Tab")
        if browser.run("document.activeElement.id") == "tab-tree":
            break
    assert browser.run("document.activeElement.id") == "tab-tree"
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.id") == "tab-ropes"
    browser.wait('document.querySelectorAll("g.arc.structural").length > 0')
    browser.press("Home")
    browser.wait('document.querySelectorAll("g.arc.plain").length > 0')
    for _ in range(30):
        browser.press("Tab")
        if browser.run('document.activeElement.classList.contains("target")'):
            break
    label = 'document.activeElement.getAttribute("aria-label")'
    assert browser.run(label).startswith("1 She; PRON; nsubj of walks")
    browser.press("ArrowUp")
    assert browser.run(label).startswith("2 walks; VERB; root")
    assert browser.run('document.querySelectorAll(".target.inside").length') == 2
    assert "She walks backwards" in browser.run('document.querySelector(".details").textContent')
    browser.press("End")
    assert browser.run(label).startswith("3 backwards")
    for _ in range(6):
        browser.press("Tab")
        if browser.run('document.activeElement.textContent.startsWith("Choose its head")'):
            break
    browser.press("Enter")
    browser.press("Home")
    browser.press("Enter")
    browser.wait(f"JSON.stringify({ARCS}) === '[[2,0,1]]'")
    assert browser.run(label).startswith("3 backwards")  # the focus follows
    assert "edited by hand" in browser.run('document.getElementById("status").textContent')
    browser.run('document.getElementById("undo").click()')
    browser.wait(f"JSON.stringify({ARCS}) === '[[2,0,2]]'")
    calm(browser, server)


def test_an_edited_arc_changes_labels_or_says_why_there_are_none(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#view=labels&conllu={quote(CROSSING + chr(10))}")
    reasons = 'document.querySelector(".coverage").textContent'
    assert "cross" in browser.run(reasons)
    before = browser.run('[...document.querySelectorAll("text.label")].map(one => one.textContent).join(" ")')
    edit = """{document.querySelectorAll(".target")[%d].dispatchEvent(new MouseEvent("click"));
    const head = document.querySelector(".edit select"); head.value = "%d"; head.dispatchEvent(new Event("change"));}"""
    browser.run(edit % (1, 1))
    browser.wait(f'!{reasons}.includes("cross")')
    assert browser.run(reasons).count("comes back") == 3
    assert browser.run('[...document.querySelectorAll("text.label")].map(one => one.textContent).join(" ")') != before
    browser.run(edit % (2, 1))
    browser.wait(f'{reasons}.includes("cycle")')
    calm(browser, server)


def test_two_parses_beside_each_other_mark_their_differences(browser: Browser, server: Served) -> None:
    words = ["She", "walks", "backwards"]
    wrong = "".join(
        f"{n}\t{word}\t_\t_\t_\t_\t{h}\tdep\t_\t_\n"
        for n, (word, h) in enumerate(zip(words, (0, 1, 1), strict=True), 1)
    )
    visit(browser, server, f"#against=en&conllu={quote(wrong + chr(10))}")
    assert browser.run('document.querySelectorAll("g.arc.missed:has(.line)").length') == 3
    assert browser.run('document.querySelectorAll("g.arc.wrong:has(.line)").length') == 3
    assert "3 of 3 words hang otherwise" in browser.run('document.getElementById("status").textContent')
    calm(browser, server)


def test_two_models_beside_each_other_differ_where_their_trees_over_the_same_words_do(browser: Browser) -> None:
    tiny = Path(__file__).parent / "fixtures" / "version-1" / "exported"
    with serving("--model", "en", "--model", str(tiny)) as two:
        visit(browser, two, f"#model=en&against=exported&text={quote(TEXT)}")
        mine = ropewalk.load("en", threads=1)(TEXT).treebank
        theirs = ropewalk.load(tiny, threads=1).treebank(mine)
        rows = [list(zip(bank.heads.tolist(), bank.relations.texts(), strict=True)) for bank in (mine, theirs)]
        differing = sum(one != other for one, other in zip(*rows, strict=True))
        assert 0 < differing < mine.words
        said = browser.run('document.getElementById("status").textContent')
        assert f"{differing} of {mine.words} words hang otherwise by exported, which is given the same words" in said
        moved = int((mine.heads != theirs.heads).sum())
        assert browser.run('document.querySelectorAll("g.arc.missed:has(.line)").length') == moved
        calm(browser, two)


def test_a_file_can_be_dropped_and_is_shown_as_it_is(browser: Browser, server: Served, sample: Path) -> None:
    visit(browser, server)
    given = sample.read_text(encoding="utf-8")
    drop(browser, given, "sample.conllu")
    bank = conllu.read(sample)
    browser.wait(f'document.querySelectorAll("#sentences > article").length === {min(len(bank), 10)}')
    browser.run('document.getElementById("tab-conllu").click()')
    browser.wait('!!document.querySelector("pre")')
    assert browser.run('document.querySelector("pre").textContent') == given
    calm(browser, server)


def drop(browser: Browser, content: str, name: str = "file.conllu") -> None:
    """Drop a file on the page."""
    browser.run(
        f"""{{const data = new DataTransfer();
        data.items.add(new File([{json.dumps(content)}], {json.dumps(name)}));
        document.dispatchEvent(new DragEvent("drop", {{dataTransfer: data, bubbles: true}}));}}"""
    )


def edit(browser: Browser, word: int, head: int) -> None:
    """Hang a word of the first sentence on another head, by its list of heads."""
    browser.run(
        f"""{{document.querySelectorAll(".target")[{word - 1}].dispatchEvent(new MouseEvent("click"));
        const head = document.querySelector(".edit select");
        head.value = "{head}"; head.dispatchEvent(new Event("change"));}}"""
    )


def heads_are(browser: Browser, *heads: int) -> None:
    browser.wait(f"JSON.stringify({ARCS}) === '{json.dumps([heads], separators=(',', ':'))}'")
    browser.wait(f"!!{READY}")


def sentence_of(*heads: int, features: str = "_") -> str:
    rows = (f"{n}\tw{n}\t_\tX\t_\t{features}\t{head}\tdep\t_\t_\n" for n, head in enumerate(heads, start=1))
    return "".join(rows) + "\n"


def test_a_pattern_shows_the_sentences_that_match_and_marks_their_words(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#text={quote(TEXT)}")
    field = 'document.getElementById("pattern")'

    def find(pattern: str) -> None:
        browser.run(f'document.getElementById("status").textContent = ""; {field}.value = {json.dumps(pattern)}')
        browser.run(f'{field}.dispatchEvent(new Event("change"))')

    marked = """[...document.querySelectorAll("article")].map(article =>
      [...article.querySelectorAll(".target.hit text.word")].map(word => +word.dataset.node))"""
    local = ropewalk.load(threads=1)(TEXT)
    pattern = "{upos:VERB}=verb >obj {}=object"
    found = local.search(pattern)
    assert [match.sentence.number for match in found] == [0]
    find(pattern)
    browser.wait('document.getElementById("status").textContent.includes("1 match in 1 sentence")')
    browser.wait(f"{marked}.length === 1")
    assert browser.run(marked) == [[word.index for word in found[0].hits]]
    assert browser.run('document.querySelectorAll(".arcs tr.hit").length') == 2
    link = browser.run("location.hash")
    visit(browser, server, link)
    assert browser.run(f"{field}.value") == pattern
    assert browser.run(marked) == [[word.index for word in found[0].hits]]
    find("{upos:NUM}")
    browser.wait('document.querySelector(".empty")?.textContent === "No sentence matches the pattern."')
    find("{upos:NUM")
    browser.wait('document.getElementById("problem").textContent.includes("character 10")')
    find("")
    browser.wait('document.querySelectorAll("#sentences > article").length === 2')
    assert browser.run("document.querySelectorAll('.target.hit').length") == 0
    calm(browser, server)


def test_the_table_shows_features(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#view=table&conllu={quote(sentence_of(2, 0, features='Case=Nom|Number=Sing'))}")
    shown = browser.run('document.querySelector("table").textContent')
    assert "[object" not in shown
    assert shown.count("Case=Nom Number=Sing") == 2


def test_the_json_view_is_one_value_with_all_sentences(browser: Browser, server: Served) -> None:
    visit(browser, server)
    browser.run('document.getElementById("tab-json").click()')
    drop(browser, sentence_of(2, 0) * 25)
    browser.wait('document.getElementById("status").textContent.startsWith("25 sentences")')
    found = json.loads(browser.run('document.querySelector("pre").textContent'))
    assert [[word["head"] for word in one["words"]] for one in found] == [[2, 0]] * 25
    calm(browser, server)


def test_a_wrong_label_leaves_the_field_to_mend_it(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#view=steps&conllu={quote(sentence_of(2, 0))}")
    field = 'document.querySelector(".steps .wide input")'
    before = browser.run(f"{field}.value")

    def change(labels: str) -> None:
        assign = f"const field = {field}; field.value = {json.dumps(labels)};"
        browser.run(f'{{{assign} field.dispatchEvent(new Event("change"));}}')

    change("< nonsense")
    browser.wait('!!document.querySelector(".steps .problem")')
    assert browser.run(f"{field}.value") == "< nonsense"
    assert not browser.run('!!document.querySelector(".steps svg")')
    change(before)
    browser.wait('!!document.querySelector(".steps svg")')
    assert not browser.run('!!document.querySelector(".steps .problem")')


def test_a_large_file_does_not_go_into_the_address(browser: Browser, server: Served) -> None:
    visit(browser, server)
    drop(browser, sentence_of(*range(40)) * 200)
    browser.wait('document.getElementById("status").textContent.startsWith("200 sentences")')
    assert browser.run("location.href.length") < 2000
    browser.run('document.getElementById("link").click()')
    browser.wait('document.getElementById("status").textContent.includes("too long for a link")')
    drop(browser, sentence_of(2, 0))
    browser.wait('location.hash.includes("conllu=")')


def test_edits_are_undone_and_redone_one_by_one(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(0, 1, 2))}")
    assert browser.run('document.getElementById("undo").hidden')
    edit(browser, 3, 1)
    heads_are(browser, 0, 1, 1)
    edit(browser, 2, 3)
    heads_are(browser, 0, 3, 1)
    browser.run('document.getElementById("undo").click()')
    heads_are(browser, 0, 1, 1)
    browser.run('document.getElementById("redo").click()')
    heads_are(browser, 0, 3, 1)
    browser.run('document.getElementById("undo").click()')
    heads_are(browser, 0, 1, 1)
    browser.run('document.getElementById("undo").click()')
    heads_are(browser, 0, 1, 2)
    assert browser.run('document.getElementById("undo").disabled')
    edit(browser, 3, 1)
    heads_are(browser, 0, 1, 1)
    assert browser.run('document.getElementById("redo").disabled')  # a new edit takes the place of those undone
    calm(browser, server)


def test_choosing_a_head_is_a_mode_that_can_be_seen_and_left(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(0, 1, 2))}")
    mode = '!!document.querySelector(".mode") && !!document.querySelector("svg.picking .target.picked")'
    choose = """{document.querySelectorAll(".target")[2].dispatchEvent(new MouseEvent("click"));
    [...document.querySelectorAll(".edit button")].find(one => one.textContent.startsWith("Choose")).click();}"""
    assert not browser.run(mode)
    browser.run(choose)
    assert browser.run(mode)
    assert "Choose the head of w3" in browser.run('document.querySelector(".mode").textContent')
    browser.press("Escape")
    assert not browser.run('!!document.querySelector(".mode, svg.picking")')
    browser.run(choose)
    browser.run('document.querySelectorAll(".target")[0].dispatchEvent(new MouseEvent("click"))')
    heads_are(browser, 0, 1, 1)
    assert not browser.run('!!document.querySelector(".mode, svg.picking")')
    calm(browser, server)


def test_an_edit_that_makes_no_tree_is_told(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(0, 1, 2))}")
    faults = '[...document.querySelectorAll(".fault")].map(one => one.textContent).join(" ")'
    assert browser.run(faults) == ""
    edit(browser, 2, 3)
    browser.wait(f'{faults}.includes("in a cycle: w2 → w3 → w2")')
    assert "1 sentence without a tree" in browser.run('document.getElementById("status").textContent')
    browser.run('document.getElementById("undo").click()')
    browser.wait(f'{faults} === ""')
    edit(browser, 1, 2)
    browser.wait(f'{faults}.includes("No word is the root.")')
    browser.run('document.getElementById("undo").click()')
    browser.wait(f'{faults} === ""')
    edit(browser, 2, 0)
    browser.wait(f'{faults}.includes("2 words are roots")')
    calm(browser, server)


@pytest.mark.parametrize(
    ("content", "said"),
    [(sentence_of(2, 9), "HEAD is 9"), ("\0\x01\x02PNG", "is no text")],
    ids=["bad heads", "binary"],
)
def test_an_unreadable_file_leaves_no_old_tree(browser: Browser, server: Served, content: str, said: str) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(0, 1, 2))}")
    assert browser.run('document.querySelectorAll("article").length') == 1
    drop(browser, content)
    browser.wait('!document.getElementById("problem").hidden')
    assert said in browser.run('document.getElementById("problem").textContent')
    assert browser.run('document.querySelectorAll("article").length') == 0
    drop(browser, sentence_of(2, 0))
    heads_are(browser, 2, 0)
    assert browser.run('document.getElementById("problem").hidden')


def test_a_comparison_calls_neither_parse_wrong(browser: Browser, server: Served) -> None:
    words = "".join(f"{n}\t{word}\t_\t_\t_\t_\t{n - 1}\tdep\t_\t_\n" for n, word in enumerate(["She", "walks"], 1))
    visit(browser, server, f"#against=en&conllu={quote(words + chr(10))}")
    shown = browser.run('document.getElementById("result").textContent')
    assert "wrong" not in shown
    assert "missed" not in shown
    assert "only in the second tree" in shown
    assert "only by en" in shown


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_keeps_its_own_security_policy(browser: Browser, server: Served, view: str) -> None:
    browser.call("Log.enable")
    visit(browser, server, f"#view={view}&text={quote(TEXT)}")
    logged = [event["params"]["entry"]["text"] for event in browser.events if event.get("method") == "Log.entryAdded"]
    assert [text for text in logged if "Content Security Policy" in text] == []


def test_every_tab_can_be_seen_on_a_narrow_screen(browser: Browser, server: Served) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=375, height=800, deviceScaleFactor=1, mobile=True)
    try:
        visit(browser, server)
        edges = browser.run(
            '[...document.querySelectorAll("[role=tab]")].map(one => one.getBoundingClientRect()).map(one => '
            "[one.left, one.right])"
        )
        assert len(edges) == len(VIEWS)
        assert all(0 <= left < right <= 375 for left, right in edges)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


def test_right_to_left_sentences_begin_on_the_right(browser: Browser, server: Served) -> None:
    words = [("הילדה", 2), ("שוזרת", 0), ("חבל", 2)]
    text = "".join(f"{n}\t{form}\t_\tX\t_\t_\t{head}\td\t_\t_\n" for n, (form, head) in enumerate(words, start=1))
    visit(browser, server, f"#conllu={quote(text + chr(10))}")
    places = browser.run(
        '[...document.querySelectorAll("text.word")].map(t => [+t.dataset.node, t.getBoundingClientRect().x])'
    )
    ordered = [node for node, _ in sorted(places, key=lambda pair: pair[1])]
    assert ordered == [3, 2, 1]
    calm(browser, server)


@pytest.mark.parametrize("view", VIEWS)
def test_markup_in_a_sentence_stays_text(browser: Browser, server: Served, view: str) -> None:
    hostile = "<script>window.hurt = 1</script> <img src=x onerror=window.hurt=1> &amp; </svg>"
    visit(browser, server, f"#view={view}&text={quote(hostile)}")
    assert browser.run("window.hurt") is None
    assert browser.run('document.querySelectorAll("#sentences script, #sentences img").length') == 0
    assert "script" in browser.run('document.getElementById("sentences").textContent')
    calm(browser, server)


def test_downloads_are_whole(browser: Browser, server: Served, tmp_path: Path) -> None:
    visit(browser, server, f"#text={quote('She walks backwards.')}")
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for name, begin in {"svg": b"<svg", "png": b"\x89PNG", "tex": b"\\begin{dependency}"}.items():
        label = {"tex": "TikZ"}.get(name, name.upper())
        browser.run(
            f'[...document.querySelectorAll(".saves button")].find(one => one.textContent === "{label}").click()'
        )
        _arrived(browser, tmp_path / f"tree-1.{name}", begin)
    browser.run('document.getElementById("conllu").click()')
    _arrived(browser, tmp_path / "trees.conllu", b"# generator = ropewalk")
    calm(browser, server)


def _arrived(browser: Browser, file: Path, begin: bytes) -> None:
    for _ in range(600):
        if file.exists() and file.stat().st_size > 100:
            break
        browser.run("new Promise(done => setTimeout(done, 50))")
    assert file.read_bytes().startswith(begin)


def test_problems_are_told(browser: Browser, server: Served) -> None:
    visit(browser, server)
    browser.run('document.getElementById("text").select()')
    browser.type("and " * 1500)
    browser.wait('!document.getElementById("problem").hidden', 90)
    assert "at most 1000" in browser.run('document.getElementById("problem").textContent')


def test_the_page_of_the_api_tries_it(browser: Browser, server: Served) -> None:
    browser.open("about:blank")
    browser.open(f"{server.address}/docs")
    browser.wait('document.querySelectorAll("article").length > 8')
    browser.run('document.querySelector("[aria-label=\\"Send POST /api/v1/parse\\"]").click()')
    browser.wait('[...document.querySelectorAll("pre")].some(one => one.textContent.startsWith("200 in"))')
    calm(browser, server)


def broken_rules(browser: Browser) -> list[Any]:
    """Run axe-core on the page and list the rules that it breaks."""
    browser.call("Page.setBypassCSP", enabled=True)
    browser.run(Path(AXE).read_text(encoding="utf-8") + ";0")
    found = browser.run("axe.run(document).then(result => JSON.stringify(result.violations))")
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in json.loads(found)]


@pytest.mark.skipif(not AXE, reason="ROPEWALK_AXE names no axe.min.js")
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(browser: Browser, server: Served, width: int, colours: str) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
    try:
        for view in VIEWS:
            visit(browser, server, f"#view={view}&text={quote(TEXT)}")
            browser.run('document.querySelector(".target")?.focus()')
            assert browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{view} is too wide"
            assert broken_rules(browser) == [], view
        browser.open(f"{server.address}/docs")
        browser.wait('document.querySelectorAll("article").length > 8')
        assert broken_rules(browser) == []
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
        browser.call("Emulation.setEmulatedMedia", features=[])


LONG = "".join(sentence_of(2, 0, 2) for _ in range(2000))
MULTIWORD = (
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)


def test_the_pager_walks_through_a_file_of_thousands(browser: Browser, server: Served) -> None:
    visit(browser, server)
    drop(browser, LONG)
    shown = '[...document.querySelectorAll("#sentences > article")].map(one => one.getAttribute("aria-labelledby"))'
    browser.wait(f"""{shown}[0] === "sentence-0" && {shown}.length === 10 &&
        document.getElementById("of").textContent === "of 2,000" """)
    assert browser.run('document.getElementById("previous").disabled') is True
    browser.run('document.getElementById("next").click()')
    browser.wait(f'{shown}[0] === "sentence-1"')
    browser.run("""{const field = document.getElementById("at");
        field.value = "2000"; field.dispatchEvent(new Event("change"));}""")
    browser.wait(f'{shown}.join() === "sentence-1999"')
    assert browser.run('document.getElementById("next").disabled') is True
    browser.run('document.getElementById("previous").click()')
    browser.wait(f'{shown}.join() === "sentence-1998,sentence-1999"')
    calm(browser, server)


def test_a_file_larger_than_a_request_is_searched_compared_and_shown_whole(browser: Browser, server: Served) -> None:
    sentences = 600
    content = "".join(
        sentence_of(2, 0, features=f"Number=Sing|Ref={number}{'x' * 1000}") for number in range(sentences)
    )
    assert len(content) > 1_000_000  # more than the server takes at once
    status = 'document.getElementById("status").textContent'

    def asked(path: str) -> int:
        return sum(address.endswith(path) for address in browser.requests())

    visit(browser, server)
    drop(browser, content)
    browser.wait(f'{status}.startsWith("600 sentences")')
    browser.run("""{const field = document.getElementById("pattern");
        field.value = "{upos:X}"; field.dispatchEvent(new Event("change"));}""")
    browser.wait(f'{status}.includes("1200 matches in 600 sentences")')
    browser.run("""{const field = document.getElementById("against");
        field.value = "en"; field.dispatchEvent(new Event("change"));}""")
    browser.wait(f'{status}.includes("of 1200 words hang otherwise by en")')
    before = asked("/search"), asked("/parse")
    browser.run('document.getElementById("next").click()')
    browser.wait(f'document.querySelector("article").getAttribute("aria-labelledby") === "sentence-1" && !!{READY}')
    assert (asked("/search"), asked("/parse")) == before  # nothing changed, so nothing is asked again
    edit(browser, 1, 0)
    browser.wait(f'{status}.includes("edited by hand") && !!{READY}')
    assert asked("/search") == before[0] + 1  # of the sentence's group alone
    browser.run('document.getElementById("undo").click()')
    browser.wait(f'!{status}.includes("edited by hand") && !!{READY}')
    pre = 'document.querySelector("pre").textContent'
    browser.run('document.getElementById("tab-json").click()')
    browser.wait('!!document.querySelector("pre")')
    assert len(json.loads(browser.run(pre))) == sentences
    browser.run('document.getElementById("tab-conllu").click()')
    browser.wait('document.getElementById("tab-conllu").ariaSelected === "true" && !!document.querySelector("pre")')
    browser.wait(f'{pre}.startsWith("1\\tw1")')
    assert browser.run(pre) == content
    assert browser.run('document.querySelectorAll("pre > .piece").length') > 20
    calm(browser, server)


def test_annotation_is_edited_and_undone(browser: Browser, server: Served) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(2, 0))}")

    def change(script: str, expected: str) -> None:
        browser.run('document.querySelector(".target:has([data-node=\'1\'])").dispatchEvent(new Event("click"))')
        browser.wait("!document.querySelector('.details').hidden")
        browser.run(f'{{{script}; field.dispatchEvent(new Event("change"));}}')
        browser.wait(f"decodeURIComponent(location.hash).replaceAll('+', ' ').includes({json.dumps(expected)})")

    change('const field = document.querySelector("[data-cell=lemma]"); field.value = "word"', "1\tw1\tword\tX")
    change(
        """const field = [...document.querySelectorAll(".details select")].at(-1); field.value = "NOUN" """,
        "1\tw1\tword\tNOUN",
    )
    change(
        'const field = document.querySelector("[data-cell=feats]"); field.value = "Number=Sing|Case=Nom"',
        "NOUN\t_\tCase=Nom|Number=Sing",
    )
    browser.run("""{const field = document.querySelector("[data-cell=feats]"); field.value = "Case";
        field.dispatchEvent(new Event("change"));}""")
    browser.wait('document.getElementById("status").textContent.startsWith("Features are pairs")')
    browser.run('document.getElementById("undo").click()')
    browser.wait("!location.hash.includes('Case') && location.hash.includes('NOUN')")
    calm(browser, server)


@pytest.mark.parametrize("grasped", [".target:has([data-node='3']) rect", ".arc[data-dependent='3'] .tip"])
def test_a_word_or_its_arc_is_dragged_onto_its_new_head(browser: Browser, server: Served, grasped: str) -> None:
    visit(browser, server, f"#conllu={quote(sentence_of(2, 0, 2))}")

    def middle(selector: str) -> tuple[float, float]:
        x, y = browser.run(
            f"""(box => [box.x + box.width / 2, box.y + box.height / 2])
            (document.querySelector({json.dumps(selector)}).getBoundingClientRect())"""
        )
        return x, y

    word = ".target:has([data-node='{}']) rect"
    browser.run('document.querySelector("svg.ropewalk").scrollIntoView({block: "center"})')
    for kind, (x, y) in (
        ("mousePressed", middle(grasped)),
        ("mouseMoved", middle(word.format(2))),
        ("mouseMoved", middle(word.format(1))),
        ("mouseReleased", middle(word.format(1))),
    ):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    heads_are(browser, 2, 0, 1)
    browser.run('document.getElementById("undo").click()')
    heads_are(browser, 2, 0, 2)
    calm(browser, server)


def test_tokens_of_several_words_are_in_tree_and_table(browser: Browser, server: Served) -> None:
    for size in ("scroll", "upright"):
        visit(browser, server, f"#size={size}&conllu={quote(MULTIWORD)}")
        assert browser.run('document.querySelector("svg .token text").textContent') == "don't"
        inside = browser.run(
            """(box => (edge => edge.bottom <= box.bottom + 1 && edge.right <= box.right + 1)
            (document.querySelector("svg .token text").getBoundingClientRect()))
            (document.querySelector("svg.ropewalk").getBoundingClientRect())"""
        )
        assert inside
    for view in ("ropes", "labels"):
        visit(browser, server, f"#view={view}&conllu={quote(MULTIWORD)}")
        rows = browser.run(
            """["text.tag", "text.label", ".token text", "g > .note"]
            .map(name => [...document.querySelectorAll(`svg ${name}`)].map(one => one.getBoundingClientRect()))
            .filter(boxes => boxes.length)
            .map(boxes => [Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom))])"""
        )
        assert len(rows) == {"ropes": 4, "labels": 3}[view]
        assert all(above[1] <= below[0] + 1 for above, below in pairwise(rows))  # a legend is under the tokens
    visit(browser, server, f"#view=table&conllu={quote(MULTIWORD)}")
    assert browser.run('document.querySelector("tbody tr").innerText.trim()').split() == ["1-2", "don't"]
    calm(browser, server)


def test_a_long_tree_fits_or_stands_upright(browser: Browser, server: Served) -> None:
    long = sentence_of(0, *range(1, 60))
    wide = """(holder => holder.scrollWidth > holder.clientWidth)(document.querySelector(".scroll"))"""
    visit(browser, server, f"#conllu={quote(long)}")
    assert browser.run(wide) is True
    for size in ("fit", "upright"):
        visit(browser, server, f"#size={size}&conllu={quote(long)}")
        assert browser.run(wide) is False
        assert browser.run(ARCS) == [[0, *range(1, 60)]]
        assert browser.run('document.querySelectorAll(".target").length') >= 60
    calm(browser, server)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_explains_itself(browser: Browser, server: Served, view: str) -> None:
    visit(browser, server, f"#view={view}&text={quote('She twists hemp')}")
    browser.run('document.getElementById("explain").click()')
    browser.wait('!!document.querySelector("#help svg")')
    assert browser.run('[...document.querySelectorAll("#help dt")].map(one => one.textContent)') == [
        "rope", "structural", "auxiliary", "cover",
    ]  # fmt: skip
    texts = browser.run('[...document.querySelectorAll("#help > p, #help dd")].map(one => one.textContent)')
    assert all(text.count(". ") == 1 and text.endswith(".") for text in texts)
    assert browser.run('document.querySelectorAll("#help .structural, #help .auxiliary").length') > 0
    if AXE:
        browser.run(Path(AXE).read_text(encoding="utf-8"))
        assert broken_rules(browser) == []
    browser.run('document.getElementById("explain").click()')
    assert browser.run('document.getElementById("help").hidden')
    calm(browser, server)


def test_brackets_are_written_the_same_way_in_every_view(browser: Browser, server: Served) -> None:
    text = quote("The old rope holds")
    cells = """[...document.querySelectorAll("text.label")].map(one => one.textContent)"""
    visit(browser, server, f"#view=labels&encodings=optimal&text={text}")
    labels = browser.run(cells)
    visit(browser, server, f"#view=ropes&text={text}")
    ropes = browser.run(cells)
    assert ropes[-len(labels) :] == labels
    assert any("^" in one for one in labels)
    visit(browser, server, f"#view=steps&text={text}")
    assert browser.run('document.querySelector(".steps input[type=text]").value').split() == labels
    calm(browser, server)


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_sticks_out_on_a_narrow_screen(browser: Browser, server: Served, view: str) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=375, height=800, deviceScaleFactor=1, mobile=False)
    try:
        for size in ("scroll", "fit", "upright"):
            visit(browser, server, f"#view={view}&size={size}&text={quote(TEXT)}")
            browser.run('document.getElementById("explain").click()')
            browser.wait('!!document.querySelector("#help svg")')
            browser.run('document.querySelector(".target")?.dispatchEvent(new Event("click"))')
            assert browser.run("document.documentElement.scrollWidth") <= 375
        pager = browser.run(
            '["previous", "at", "next"].map(id => document.getElementById(id).getBoundingClientRect().y)'
        )
        assert view in {"conllu", "json"} or max(pager) - min(pager) < 10  # in one line
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
    calm(browser, server)
