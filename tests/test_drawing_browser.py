"""The page of steps in a real browser: keys move it, its arcs become the tree, and nothing is fetched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from ropewalk import conllu, encodings
from ropewalk.drawing import scene, to_html, to_steps, trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and writes answers to 4.
START = (
    "import os, sys; a, b = map(int, sys.argv[1:3]); os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
SEEN = """[...document.querySelectorAll("g.arc.seen:not(.refused)")]
.map(g => [+g.dataset.head, +g.dataset.dependent])"""
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, " ": 32}


class Browser:
    """One page of a headless browser, driven through the DevTools protocol."""

    def __init__(self, commands: int, answers: int) -> None:
        self.commands = commands
        self.answers = answers
        self.rest = b""
        self.count = 0
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its answer, keeping the events that come before it."""
        self.count += 1
        command: dict[str, object] = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self.count:
                assert "error" not in message, message
                return dict(message["result"])
            self.events.append(message)

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def run(self, script: str) -> Any:  # noqa: ANN401 - whatever the script gives
        """Evaluate a script on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS[key])

    def requests(self) -> list[str]:
        """List the addresses asked for since the page was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def failures(self) -> list[object]:
        """List what went wrong in scripts."""
        return [event for event in self.events if event.get("method") == "Runtime.exceptionThrown"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 65536)
            assert piece, "the browser has ended"
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(text))


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """Start a browser with a fresh profile, and end it."""
    theirs, commands = os.pipe()
    answers, ours = os.pipe()
    program = [sys.executable, "-c", START, str(theirs), str(ours), str(BROWSER), *FLAGS, f"--user-data-dir={folder}"]
    child = subprocess.Popen(
        program, pass_fds=(theirs, ours), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    os.close(ours)
    try:
        yield Browser(commands, answers)
    finally:
        os.close(commands)  # a browser whose pipe is closed ends by itself
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        os.close(answers)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as one:
        yield one


def arcs(browser: Browser) -> set[tuple[int, int]]:
    return {(head, dependent) for head, dependent in browser.run(SEEN)}


@pytest.mark.parametrize(
    ("sentence", "spec"),
    [
        (0, "optimal"),
        (0, "four-bit"),
        (0, "brackets(stacks=1)"),
        (2, "optimal-nonprojective"),
        (3, "optimal-nonprojective"),
    ],
)
def test_keys_play_the_labels_and_the_arcs_become_the_tree(
    browser: Browser, tmp_path: Path, sample: Path, sentence: int, spec: str
) -> None:
    given = conllu.read(sample)[sentence]
    found = trace(encodings.get(spec).encode(given.tree).texts(), spec)
    page = tmp_path / "steps.html"
    page.write_text(to_steps(found, words=given.forms, title=given.text or ""), encoding="utf-8")
    browser.open(page)
    last = len(found.steps) - 1
    assert browser.run("player.at()") == 0
    assert arcs(browser) == set()
    made: set[tuple[int, int]] = set()
    for number, step in enumerate(found.steps[1:], start=1):
        browser.press("ArrowRight")
        assert browser.run("player.at()") == number
        made |= {(arc.head, arc.dependent) for arc in step.arcs}
        assert arcs(browser) == made
        assert browser.run('document.querySelectorAll(".stack li").length') == len(step.stack)
    assert made == set(given.tree.arcs())
    browser.press("ArrowRight")
    assert browser.run("player.at()") == last
    browser.press("ArrowLeft")
    assert browser.run("player.at()") == last - 1
    browser.press("Home")
    assert browser.run("player.at()") == 0
    assert arcs(browser) == set()
    browser.press("End")
    assert arcs(browser) == set(given.tree.arcs())
    assert browser.run('document.querySelector(".message").textContent').startswith("All labels are read")
    assert browser.requests() == [page.as_uri()]
    assert browser.run('performance.getEntriesByType("resource").length') == 0
    assert browser.failures() == []


def test_broken_labels_show_where_they_broke_and_what_was_repaired(browser: Browser, tmp_path: Path) -> None:
    found = trace(["<", "<", ">^/^", "\\^>", ">^", "<"], "optimal")
    page = tmp_path / "steps.html"
    page.write_text(to_steps(found, words=["<script>", "b", "c", "d", "e", "&"]), encoding="utf-8")
    browser.open(page)
    broken = []
    for number in range(1, len(found.steps)):
        browser.run('document.querySelector(".next").click()')
        if browser.run('document.querySelector(".message").classList.contains("broken")'):
            broken.append(number)
    assert broken == [number for number, step in enumerate(found.steps) if step.faults]
    assert arcs(browser) == {(head, word) for word, head in enumerate(found.heads, start=1)}
    assert browser.run('document.querySelectorAll("g.arc.repaired.seen").length') == 1
    assert "Repair" in browser.run('document.querySelector(".message").textContent')
    assert browser.run('document.querySelector("text.word").textContent') == "<script>"
    assert browser.run('document.querySelector(".next").disabled')
    browser.press(" ")  # from the end, it plays from the start
    assert browser.run("player.at()") == 0
    assert browser.run('document.querySelector(".play").getAttribute("aria-pressed")') == "true"
    browser.press(" ")
    assert not browser.run("player.playing()")
    assert browser.requests() == [page.as_uri()]
    assert browser.failures() == []


def test_words_do_not_overlap_on_a_page_of_pictures(browser: Browser, tmp_path: Path, sample: Path) -> None:
    """The estimate of text widths is good enough for the fonts of a real browser."""
    bank = conllu.read(sample)
    page = tmp_path / "trees.html"
    page.write_text(to_html([scene(bank[number], tags=True) for number in range(len(bank))]), encoding="utf-8")
    browser.open(page)
    boxes = browser.run(
        """[...document.querySelectorAll("svg")].map(svg => [...svg.querySelectorAll("text.word")]
        .map(text => { const box = text.getBoundingClientRect(); return [box.left, box.right]; }))"""
    )
    assert len(boxes) == len(bank)
    for row in boxes:
        ordered = sorted(row)
        for (_, right), (left, _) in pairwise(ordered):
            assert right <= left + 1
    assert browser.requests() == [page.as_uri()]
